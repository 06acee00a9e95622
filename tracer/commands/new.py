"""Write a small commented scenario to start from."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from tracer.errors import printable
from tracer.files.writing import create
from tracer.requests import values
from tracer.requests.command import Command
from tracer.scenario.schema import template


@dataclass(kw_only=True)
class New(Command):
    examples = ("new first.yaml", "new two-heads.yaml")

    file: Path = values.argument(
        "The file to write; an existing file is not overwritten.", "FILE", values.file_name
    )

    def run(self) -> int:
        """Write the file."""
        create(self.file, template())
        # As a shell takes it for one word, and the program for no option.
        name = str(self.file)
        typed = shlex.quote(f"./{name}" if name.startswith("-") else name)
        sys.stdout.write(printable(f"{name} is written; now: decoder-trace run {typed}") + "\n")
        return 0
