"""The command line: it finds the command, runs it and exits."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tracer.console import streams
from tracer.errors import printable
from tracer.files.inputs import registered
from tracer.requests.command import Command
from tracer.requests.loader import Commands


def run(command: Command, **_: Any) -> int:
    """Run a command that is parsed, and return its exit code."""
    return command.run()


app = typer.Typer(
    name="decoder-trace",
    cls=Commands,
    result_callback=run,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Worked calculations of a transformer decoder in which every printed equation is true."""
    if version:
        from tracer import __version__  # the distribution's metadata, which few commands need

        sys.stdout.write(f"decoder-trace {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def start(arguments: Sequence[str] | None = None) -> None:
    """Run a command, that of the command line if no other is given. It ends with SystemExit."""
    with streams.report_problems(), registered():
        program: Any = typer.main.get_command(app)
        try:
            code = program(arguments, prog_name="decoder-trace", standalone_mode=False)
        except typer.TyperException as error:
            error.message = printable(error.message, "\n")
            error.show()  # type: ignore[attr-defined]  # each kind of it has one
            code = error.exit_code
        raise SystemExit(code or 0)
