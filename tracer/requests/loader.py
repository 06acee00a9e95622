"""Commands by name: each is a file of `tracer/commands/`, which is imported when it is called.

`run` is the class Run in `run.py`. Typer parses its words and shows its help.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from dataclasses import MISSING, Field
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from tracer.errors import Problem, TracerError
from tracer.renderers import Format
from tracer.requests.command import Command
from tracer.requests.values import Option

GROUPS = {
    "Look at the calculation": "run step steps shapes why attribute value lens compare",
    "Train and generate": "loss train generate",
    "Write a text": "tutorial page weave check serve audit",
    "Scenarios": "scenarios new schema",
}
"""The commands as the help lists them; others come last."""

FOLDER = Path(__file__).parent.parent / "commands"
FILES = {file.stem: file for file in sorted(FOLDER.glob("[!_]*.py"))}


def load(name: str) -> type[Command]:
    """Return the command of this name."""
    found: type[Command] = getattr(import_module(f"tracer.commands.{name}"), name.capitalize())
    return found


def parse(words: Sequence[str], default: Format = Format.MARKDOWN) -> Command:
    """Parse the words of a command line without running the command.

    In a mark of a text, the default format is that of the text, and there is no help.

    Raises:
        TracerError: the command line would refuse it.
    """
    name, *arguments = words
    here: dict[str, Any] = {"default_map": {"format": default.value}, "help_option_names": []}
    try:
        context = parser(name).make_context(name, arguments, **here)
        parsed: Command = context.command.invoke(context)
    except typer.TyperException as error:
        raise TracerError(Problem(error.format_message())) from None
    return parsed


@cache
def parser(name: str) -> Any:
    """Return Typer's form of a command, which parses words and shows the help."""
    command = load(name)

    def parsed(**typed: Any) -> Command:
        return command(**{k: tuple(v or ()) if k in several else v for k, v in typed.items()})

    several = {each.name for each in command.options() if each.metadata["option"].is_several}
    parameters = list(map(_parameter, command.options()))
    parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    register = app.command(
        name,
        cls=PlainCommand,
        help=import_module(command.__module__).__doc__,
        # Typer keeps the line breaks of a paragraph that begins with \b.
        epilog="\n  ".join(["\b\nExamples:", *(f"decoder-trace {x}" for x in command.examples)]),
    )
    register(parsed)
    return typer.main.get_command(app)


def _parameter(field: Field[Any]) -> inspect.Parameter:
    """Return an option as a parameter for Typer."""
    option: Option = field.metadata["option"]
    how: dict[str, Any] = {"help": option.help}
    kind: Any = bool
    if option.takes:
        how |= {"metavar": option.takes, "autocompletion": option.offers, "parser": option.reads}
        kind = list[str] if option.is_several else str
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    if default in (None, ()):
        default, kind = None, kind | None
    if option.is_argument:
        declared = typer.Argument(**how)
    else:
        name = option.name or f"--{field.name.replace('_', '-')}"
        how |= {"envvar": option.variable, "show_envvar": False}
        declared = typer.Option(*filter(None, (name, option.short)), **how)
    annotation = Annotated[kind, declared]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, keyword, default=default, annotation=annotation)


def _scenario_first(args: list[str]) -> list[str]:
    """Return the words with the scenario of -s or --scenario as the first argument."""
    for i, word in enumerate(args):
        option, is_joined, scenario = word.partition("=")
        if option == "--scenario" and is_joined:
            return [scenario, *args[:i], *args[i + 1 :]]
        if word in ("-s", "--scenario") and args[i + 1 :]:
            return [args[i + 1], *args[:i], *args[i + 2 :]]
    return args


def _scenario_named(args: list[str]) -> list[str]:
    """Return the words with -s before the scenario, if it is the first of two words.

    A single word is a step or an address, even if a scenario has the same name.
    """
    if not args[1:] or args[1].startswith("-") or "-s" in args:
        return args
    return ["-s", *args] if _is_scenario(args[0]) else args


def _is_scenario(word: str) -> bool:
    from tracer.scenario.loading import bundled

    return word.endswith((".yaml", ".yml")) or word in bundled()


class Commands(TyperGroup):
    """The program's commands, listed by what their files say; the one that is called is loaded."""

    def __init__(self, **how: Any) -> None:
        self.groups = {name: group for group, names in GROUPS.items() for name in names.split()}
        names = sorted(FILES, key=[*self.groups, *FILES].index)
        super().__init__(**{**how, "commands": dict.fromkeys(names)})

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """Return a command with its help alone, read from its file, which is not imported."""
        if cmd_name not in self.commands:
            return None
        help = ast.get_docstring(ast.parse(FILES[cmd_name].read_text(encoding="utf-8")))
        group = self.groups.get(cmd_name, "Other commands")
        return TyperCommand(cmd_name, help=help, rich_help_panel=group)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the command of the first word."""
        if args[0] not in self.commands and _is_scenario(args[0]):
            ctx.fail(f"No such command {args[0]!r}. Did you mean 'run {args[0]}'?")
        name, command, words = super().resolve_command(ctx, args)
        return name, command and parser(name), words

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group as a section, and each command's first sentence in full.

        Typer groups commands only where Rich draws boxes.
        """
        widest = max(map(len, self.commands))
        commands: list[Any] = [self.get_command(ctx, name) for name in self.commands]
        for group, members in groupby(commands, lambda command: command.rich_help_panel):
            with formatter.section(group):
                formatter.write_dl(
                    [(f"{c.name:{widest}}", c.get_short_help_str(limit=1000)) for c in members]
                )


class PlainCommand(TyperCommand):
    """A command that calls its argument FILE, where Typer writes {FILE} and `FILE <Path>`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words: a scenario is the first one, or after -s, in every command."""
        params = self.get_params(ctx)
        if any("-s" in param.opts for param in params):
            args = _scenario_named(args)
        elif params[0].name == "scenario":
            args = _scenario_first(args)
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            named = any("-s" in param.opts for param in self.get_params(ctx))
            if named and "extra argument" in error.message:
                error.message += "; a scenario is named with -s"
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] FILE...`; the words of an ADDRESS[ROW,COLUMN] are one address."""
        pieces = super().collect_usage_pieces(ctx)
        return [re.sub(r"\{(.*)\}", r"\1", piece).replace("]...", "]") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, each as a section."""
        for kind in ("Argument", "Option"):
            params = [p for p in self.get_params(ctx) if p.param_type_name == kind.lower()]
            records = filter(None, (param.get_help_record(ctx) for param in params))
            rows = [(re.sub(r" <[^>]*>$", "", name), help) for name, help in records]
            if rows:
                with formatter.section(f"{kind}s"):
                    formatter.write_dl(rows)
