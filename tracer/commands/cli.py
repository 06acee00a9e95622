"""The command line: the only place that prints or exits."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from tracer import __version__
from tracer.audit import Report
from tracer.console import pager, progress, streams
from tracer.errors import Problem, TracerError, printable
from tracer.files.inputs import registered
from tracer.renderers import Format
from tracer.requests import completion
from tracer.requests.options import COMMANDS, SCENARIOS, WRITE, add, register
from tracer.requests.request import ARGUMENTS, Request, check
from tracer.requests.usage import Commands
from tracer.requests.values import file_name, one_of, refuse, some, whole

INSTALL_LIVE = "pip install 'decoder-trace[live]' (in a checkout: pip install -e '.[live]')"
SCENARIO = ARGUMENTS["SCENARIO"]

app = typer.Typer(
    name="decoder-trace",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show(request: Request) -> None:
    """Print the answer to a request, or write it without color to a file; write its other files.

    The exit code is 1 if a check finds something wrong.
    """
    from tracer.lesson.document import Document
    from tracer.requests.output import files_beside, rendered
    from tracer.requests.pipeline import answer

    if request.writes:
        from tracer.files import targets

        # Nothing has been computed yet; an input among them is refused as soon as it is opened.
        names = filter(None, (request.output, request.save, request.key))
        targets.check(names, force=request.force)
    with progress.show_activity(f"{request.command} {request.scenario}"):
        check(request)
        answered = answer(request)
        files, content = files_beside(request, answered), answered.content
        if isinstance(content, Document):
            if request.output is None and request.format is Format.TERMINAL:
                from tracer.renderers import terminal

                content = terminal.shown(terminal.laid_out(content))
            else:
                content = rendered(request, content)
    if request.output is not None:
        files.append((request.output, content))
    elif isinstance(content, str) and (request.no_pager or not pager.page(content)):
        sys.stdout.write(content)
    if files:
        from tracer.files.writing import write

        sys.stdout.flush()  # nothing is written where not all can be
        write(files, make=request.figures, force=request.force)
    if not answered.holds:
        raise typer.Exit(1)


for each in COMMANDS:
    if each != "check":  # the help lists it after weave
        register(app, each, show)


@add(app, "weave", WRITE, ("weave text.md", "weave text.md --check"))
def weave(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="A Markdown file with marks.")
    ],
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; print a diff and exit 1 if a mark is stale."),
    ] = False,
) -> None:
    """Refresh the marked blocks and numbers of your Markdown files."""
    from tracer.files.writing import write
    from tracer.weave.files import woven

    with progress.show_activity("weave"):
        found = woven(files)
    for file in found:
        if not file.marks:
            message = "no marks to weave, expected <!-- decoder-trace: … -->"
            typer.echo(str(Problem(message, str(file.path))), err=True)
    stale = {file.path: file for file in found if file.is_stale}  # one that is named twice, once
    if check:
        difference = "".join(file.difference for file in stale.values())
        # A patch is applied as it is; on a terminal, it is only looked at.
        shown = printable(difference, "\n\t") if sys.stdout.isatty() else difference
        sys.stdout.write(shown)
        raise typer.Exit(1 if stale else 0)
    texts = {path: file.text for path, file in stale.items()}
    write(texts.items(), held={path: file.old for path, file in stale.items()})


register(app, "check", show)


@add(app, "serve", WRITE, ("serve alex", "serve my.yaml --compare --open"))
def serve(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            parser=SCENARIO.reads,
            autocompletion=SCENARIO.offers,
            help=SCENARIO.help,
        ),
    ],
    port: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole(1, 65535), help="The port. Default: a free one."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show the page of the file beside the changed one.")
    ] = False,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show a page on which the numbers of a scenario can be changed.

    The program computes everything again after each change. The page follows the scenario's file;
    nothing is written to it. The page is for this computer only, at a URL that the command prints.
    """
    from tracer.scenario.loading import file_of, text_of
    from tracer.serve.session import Session

    try:
        from tracer.serve.server import listening, run
    except ModuleNotFoundError as error:
        message = f"needs {error.name}, which is not installed: {INSTALL_LIVE}"
        raise TracerError(Problem(message, address="serve")) from None
    with progress.show_activity(f"serve {scenario}"):
        session = Session.of(*text_of(scenario), beside=compare)
    run(session, file_of(scenario), listening(port), opens=opens)


def _codes(typed: str) -> list[str]:
    """Parse codes of findings, or prefixes of them, with commas between."""
    from tracer.audit.project.codes import unknown

    found = [each.strip() for each in typed.split(",")]
    wrong = [message for each in found if (message := unknown(each))]
    if wrong:
        raise typer.BadParameter("; ".join(wrong))
    return found


def _patterns(typed: str) -> list[str]:
    """Parse patterns of files, with commas between."""
    found = [each.strip() for each in typed.split(",")]
    if "" in found:
        refuse(typed, "patterns such as drafts,*.tex")
    return found


@add(app, "audit", WRITE, ("audit text.md", "audit text.md --strict --format json"))
def audit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            parser=some("a file, a folder or -"),
            help="A text: Markdown, LaTeX, reStructuredText, HTML, a notebook or plain text; a "
            "folder of texts; or - for standard input.",
        ),
    ],
    show_skipped: Annotated[
        bool,
        typer.Option(
            "--show-skipped",
            help="Also list the signs that were not read, and what is doubtful, with the reason.",
        ),
    ] = False,
    list_read: Annotated[
        bool, typer.Option("--list-read", help="Also list the equations that were read.")
    ] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select",
            metavar="CODES",
            parser=_codes,
            help="Report only these codes, such as A01,A03; A0 stands for all that begin so.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="CODES",
            parser=_codes,
            help="Do not report these codes; A08 is reported with --strict only.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="PATTERNS",
            parser=_patterns,
            help="Do not read these files: drafts, docs/old, *.tex. In a folder, files that git "
            "ignores are not read either.",
        ),
    ] = None,
    force_exclude: Annotated[
        bool,
        typer.Option(
            "--force-exclude",
            help="Also exclude files given as FILE that the configuration excludes; for hooks.",
        ),
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="FILE",
            help="Do not report what is in an earlier report, written by -f json -o FILE.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Also exit 1 for warnings, and note results that hold only for numbers that "
            "were not rounded.",
        ),
    ] = False,
    form: Annotated[
        Report,
        typer.Option(
            *("--format", "-f"),
            metavar="FORMAT",
            parser=one_of(Report),
            autocompletion=completion.choices(Report),
            help="The format: terminal, json, sarif or github.",
        ),
    ] = Report.TERMINAL,
    output: Annotated[
        Path | None,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            parser=file_name,
            help="Write to this file instead of the screen.",
        ),
    ] = None,
) -> None:
    """Find false arithmetic in any text; exit 1 if there is any.

    Equations that could mean something else, or cannot be read, are skipped, so no finding is no
    proof. The comments “audit: ignore A01”, for a line, and “audit: off” to “audit: on” switch
    findings off. A project configures it under [tool.decoder-trace.audit] in its pyproject.toml.
    """
    from tracer.audit.auditing import audited
    from tracer.audit.project.baseline import known, new
    from tracer.audit.project.settings import settings
    from tracer.audit.reports.report import colored, rendered
    from tracer.audit.reports.results import Kind
    from tracer.files.targets import check

    check([] if output is None else [output])
    kinds = [Kind.READ] * list_read + [Kind.DOUBTFUL, Kind.UNREAD] * show_skipped
    chosen = settings(
        select=list(chain(*select or ())),
        ignore=list(chain(*ignore or ())),
        exclude=list(chain(*exclude or ())),
        force_exclude=force_exclude,
        strict=strict,
        kinds=kinds,
    )
    old = None if baseline is None else known(baseline)
    with progress.show_activity("audit"):
        found = audited(files, chosen)
        results = list(found if old is None else new(found, old))
    if output is not None:
        from tracer.files.writing import write

        write([(output, rendered(form, results, kinds, __version__))])
    elif form is Report.TERMINAL:
        sys.stdout.write(colored(results, kinds))
    else:
        sys.stdout.write(rendered(form, results, kinds, __version__))
    for warning in (each for result in results for each in result.warnings):
        typer.echo(str(warning), err=True)
    if problems := [problem for result in results for problem in result.problems]:
        raise TracerError(*problems)
    counting = ("error", "warning") if chosen.strict else ("error",)
    wrong = any(finding.level in counting for each in results for finding in each.findings)
    raise typer.Exit(1 if wrong else 0)


@add(app, "scenarios", SCENARIOS, ("scenarios", "tutorial pizza"))
def scenarios() -> None:
    """List the bundled scenarios."""
    from tracer.scenario.loading import bundled, title_of

    found = {name: title_of(path) for name, path in bundled().items()}
    widest = max(map(len, found))
    for name, title in found.items():
        sys.stdout.write(f"{name:{widest}}  {title}\n")


@add(app, "new", SCENARIOS, ("new first.yaml", "new two-heads.yaml"))
def new(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            parser=file_name,
            help="The file to write; an existing file is not overwritten.",
        ),
    ],
) -> None:
    """Write a small commented scenario to start from."""
    import shlex

    from tracer.files.writing import create
    from tracer.scenario.schema import template

    create(file, template())
    # As a shell takes it for one word, and the program for no option.
    typed = shlex.quote(f"./{file}" if str(file).startswith("-") else str(file))
    sys.stdout.write(printable(f"{file} is written; now: decoder-trace run {typed}") + "\n")


@add(app, "schema", SCENARIOS, ("schema", "new first.yaml"))
def schema() -> None:
    """Print the JSON Schema of a scenario, for completion in editors."""
    from tracer.scenario.schema import schema

    sys.stdout.write(schema())


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Worked calculations of a transformer decoder in which every printed equation is true."""
    if version:
        sys.stdout.write(f"decoder-trace {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def start(arguments: Sequence[str] | None = None) -> None:
    """Run a command, that of the command line if no other is given. It ends with SystemExit."""
    words = sys.argv[1:] if arguments is None else arguments
    with streams.report_problems(), registered():
        program = _program(*words[:1])
        try:
            code = program(arguments, prog_name="decoder-trace", standalone_mode=False)
        except typer.TyperException as error:
            error.message = printable(error.message, "\n")
            error.show()  # type: ignore[attr-defined]  # each kind of it has one
            code = error.exit_code
        raise SystemExit(code or 0)


def _program(name: str = "") -> Any:
    """The program with the command of this name alone; with all, if there is none.

    Typer takes as long to build all commands as a small scenario takes to run.
    """
    program, commands = copy(app), app.registered_commands
    program.registered_commands = [each for each in commands if each.name == name] or commands
    return typer.main.get_command(program)
