"""A small program with one command: what a start costs with these libraries, and no more."""

import numpy  # noqa: F401  # imported for what it costs, like the other three
import pydantic  # noqa: F401
import rich.console  # noqa: F401
import typer
import yaml  # noqa: F401

app = typer.Typer()


@app.command()
def greet(name: str) -> None:
    """Print a line."""
    typer.echo(f"Hello {name}")


if __name__ == "__main__":
    app()
