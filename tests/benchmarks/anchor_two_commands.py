"""A small program with two commands, which tells its version: what a start costs with Typer."""

from typing import Annotated

import typer

app = typer.Typer()


@app.callback(invoke_without_command=True)
def main(version: Annotated[bool, typer.Option("--version", is_eager=True)] = False) -> None:
    """Tell the version, or go on to a command."""
    if version:
        typer.echo("anchor 1.0.0")
        raise typer.Exit


@app.command()
def greet(name: str) -> None:
    """Print a line."""
    typer.echo(f"Hello {name}")


@app.command()
def part(name: str) -> None:
    """Print another line."""
    typer.echo(f"Goodbye {name}")


if __name__ == "__main__":
    app()
