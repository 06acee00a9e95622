"""Print the JSON Schema of a scenario, for completion in editors."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tracer.requests.command import Command
from tracer.scenario.schema import schema


@dataclass(kw_only=True)
class Schema(Command):
    examples = ("schema", "new first.yaml")

    def run(self) -> int:
        """Print the schema."""
        sys.stdout.write(schema())
        return 0
