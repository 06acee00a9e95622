"""The first screen of help: Typer's, with the commands in groups."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from typer.core import TyperGroup


class Commands(TyperGroup):
    """The program's commands, listed by group; Typer groups them only where Rich draws boxes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group as a section, and each command's first sentence in full."""
        widest = max(map(len, self.commands))
        commands: list[Any] = list(self.commands.values())
        for group, members in groupby(commands, lambda command: command.rich_help_panel):
            with formatter.section(group):
                formatter.write_dl(
                    [(f"{c.name:{widest}}", c.get_short_help_str(limit=1000)) for c in members]
                )
