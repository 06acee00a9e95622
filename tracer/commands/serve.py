"""Show a page on which the numbers of a scenario can be changed.

The program computes everything again after each change. The page follows the scenario's file;
nothing is written to it. The page is for this computer only, at a URL that the command prints.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracer.console import progress
from tracer.errors import Problem, TracerError
from tracer.requests import options, values
from tracer.requests.command import Command
from tracer.scenario.loading import file_of, text_of
from tracer.serve.session import Session

INSTALL_LIVE = "pip install 'decoder-trace[live]' (in a checkout: pip install -e '.[live]')"


@dataclass(kw_only=True)
class Serve(Command):
    examples = ("serve alex", "serve my.yaml --compare --open")

    scenario: str = options.SCENARIO
    port: int | None = values.count("The port. Default: a free one.", most=65535)
    compare: bool = values.flag("Show the page of the file beside the changed one.")
    opens: bool = values.flag("Open the page in a browser.", name="--open")

    def run(self) -> int:
        """Serve the page until Ctrl-C."""
        try:
            from tracer.serve.server import listening, run
        except ModuleNotFoundError as error:
            message = f"needs {error.name}, which is not installed: {INSTALL_LIVE}"
            raise TracerError(Problem(message, address="serve")) from None
        with progress.show_activity(f"serve {self.scenario}"):
            session = Session.of(*text_of(self.scenario), beside=self.compare)
        run(session, file_of(self.scenario), listening(self.port), opens=self.opens)
        return 0
