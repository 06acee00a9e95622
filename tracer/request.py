"""What a command asks for. It is read by the command line, or from a mark in an author's text."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from tracer.decoder.roles import LOSS
from tracer.errors import Problem, TracerError
from tracer.frozen import frozen
from tracer.renderers import Format, Heading
from tracer.scenario.carry import Carry

if TYPE_CHECKING:
    from tracer.lesson.terms import Terms

DEFAULT_SCENARIO = "alex"

Command: TypeAlias = Literal[
    "run",
    "step",
    "steps",
    "shapes",
    "loss",
    "train",
    "lens",
    "generate",
    "tutorial",
    "page",
    "value",
    "why",
    "check",
]


@frozen
class Request:
    """A command with its options; those that it does not have are at their defaults."""

    command: Command
    scenario: str = DEFAULT_SCENARIO
    folder: Path = Path()
    """Where the scenario's path starts."""
    name: str | None = None
    """A step, a group of steps or an address."""
    entry: tuple[str, ...] = ()
    """The words of ADDRESS[ROW,COLUMN] as percent."""
    token: str | None = None
    layer: int | None = None
    head: int | None = None
    sequence: int | None = None
    example: int | None = None
    parameter: str | None = None
    steps: int | None = None
    optimizer: str | None = None
    learning_rate: Decimal | None = None
    momentum: Decimal | None = None
    weight_decay: Decimal | None = None
    clip: Decimal | None = None
    save: Path | None = None
    train: bool = False
    blanks: bool = False
    level: int | None = None
    key: Path | None = None
    vary: int | None = None
    depth: int | None = None
    length: int | None = None
    no_mask: bool = False
    terms: Terms | None = None
    given: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    max_tokens: int | None = None
    worked: bool = False
    kv_cache: bool = False
    temperature: Decimal | None = None
    top_k: int | None = None
    top_p: Decimal | None = None
    seed: int | None = None
    format: Format = Format.TERMINAL
    brief: bool = False
    math: bool = False
    heading: Heading | None = None
    standalone: bool = False
    figures: Path | None = None
    figures_file: Path | None = None
    against: Path | None = None
    tolerance: Decimal | None = None
    output: Path | None = None
    force: bool = False
    no_pager: bool = False
    decimals: int | None = None
    carry: Carry | None = None

    @property
    def writes(self) -> bool:
        """Whether a file is to be written."""
        return any((self.output, self.figures, self.save, self.key))

    @property
    def of_loss(self) -> bool:
        """Whether the loss is asked for, or one of its numbers, or what is learned from it."""
        return self.command in ("loss", "train") or self._begins(LOSS.name) or self.of_training

    @property
    def of_training(self) -> bool:
        """Whether a gradient is asked for, or a new weight."""
        return self.command == "train" or self._begins("gradient") or self._begins("update")

    def _begins(self, word: str) -> bool:
        """Whether the address of the number that is asked for begins with a word."""
        address = self.entry[0] if self.entry else ""
        return address.partition("[")[0].split(".")[0] == word

    @property
    def of_lens(self) -> bool:
        """Whether it is asked what a layer would say, or for a number of that."""
        return self.command == "lens" or any(".lens." in word for word in self.entry[:1])


@frozen
class Rule:
    """An option that means something only beside others: which, and whether a request has them."""

    option: str
    goes_with: str
    holds: Callable[[Request], bool]


OF_A_PASS = ("run", "step", "lens", "loss", "train")
"""Commands whose answer is the numbers of a pass, or a text about them."""

RULES = (
    Rule(
        *("format", "run, step, lens, loss or train and --output, where it is {format}"),
        lambda r: not r.format.is_binary or (r.command in OF_A_PASS and r.output is not None),
    ),
    Rule("brief", "a text, not --format {format}", lambda r: not r.format.is_data),
    Rule("math", "--format markdown, not {format}", lambda r: r.format is Format.MARKDOWN),
    Rule("heading", "--format markdown, not {format}", lambda r: r.format is Format.MARKDOWN),
    Rule("standalone", "--format latex, not {format}", lambda r: r.format is Format.LATEX),
    Rule(
        *("figures", "--format markdown or terminal, not {format}"),
        lambda r: r.format in (Format.MARKDOWN, Format.TERMINAL),
    ),
    Rule("force", "--output, --figures, --save or --key", lambda r: r.writes),
    Rule("no_pager", "the screen, not --output", lambda r: r.output is None),
    Rule("train", "the whole tutorial, not --layer or --head", lambda r: not (r.layer or r.head)),
    Rule("steps", "--train", lambda r: r.train or r.command == "train"),
    Rule("figures_file", "figures of a text, not --against", lambda r: r.against is None),
    Rule("tolerance", "--against", lambda r: r.against is not None),
    Rule("blanks", "a text, not --format {format}", lambda r: not r.format.is_data),
    Rule("level", "--blanks", lambda r: r.blanks),
    Rule("key", "--blanks", lambda r: r.blanks),
    Rule("seed", "--blanks", lambda r: r.blanks or r.command == "generate"),
    Rule("depth", "a text, not --format {format}", lambda r: not r.format.is_data),
    Rule("example", "numbers of the loss", lambda r: r.of_loss),
    Rule("sequence", "numbers of the forward pass, not of the loss", lambda r: not r.of_loss),
)


def check(request: Request) -> None:
    """Refuse options that would change nothing.

    Raises:
        TracerError: each of them, with what it goes with.
    """
    unset = Request(request.command)
    problems = [
        Problem(
            f"goes with {rule.goes_with.format(format=request.format)}",
            address=f"--{rule.option}".replace("_", "-"),
        )
        for rule in RULES
        if getattr(request, rule.option) != getattr(unset, rule.option) and not rule.holds(request)
    ]
    if request.command == "page" and request.output is None:
        problems.append(Problem("expected -o page.html: it is for a browser", address="--output"))
    if problems:
        raise TracerError(*problems)
