"""List the bundled scenarios."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tracer.requests.command import Command
from tracer.scenario.loading import bundled, title_of


@dataclass(kw_only=True)
class Scenarios(Command):
    examples = ("scenarios", "tutorial pizza")

    def run(self) -> int:
        """Print a line for each."""
        found = {name: title_of(path) for name, path in bundled().items()}
        widest = max(map(len, found))
        for name, title in found.items():
            sys.stdout.write(f"{name:{widest}}  {title}\n")
        return 0
