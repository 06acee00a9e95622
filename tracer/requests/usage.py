"""Help screens: Typer's, with commands in groups and plain names of arguments."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from typer.core import TyperCommand, TyperGroup


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


class PlainCommand(TyperCommand):
    """A command that calls its argument FILE, where Typer writes {FILE} and `FILE <Path>`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] FILE...`; the words of an ADDRESS[ROW,COLUMN] are one address."""
        pieces = super().collect_usage_pieces(ctx)
        return [re.sub(r"\{(.*)\}", r"\1", piece).replace("]...", "]") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, each as a section."""
        for kind in ("Argument", "Option"):
            params = [p for p in self.get_params(ctx) if p.param_type_name == kind.lower()]
            records = filter(None, (param.get_help_record(ctx) for param in params))
            rows = [(re.sub(r" <[^>]*>$", "", name), told) for name, told in records]
            if rows:
                with formatter.section(f"{kind}s"):
                    formatter.write_dl(rows)
