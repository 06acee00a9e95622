"""The options of all commands, each declared once with its help and the options it needs.

A request comes from the command line or from a mark in an author's text.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from tracer.decoder.roles import LOSS
from tracer.errors import Problem, TracerError
from tracer.renderers import Format, HeadingLevel
from tracer.requests import completion, values
from tracer.scenario.carry import Carry

if TYPE_CHECKING:
    from tracer.lesson.working.sums import Terms

Command: TypeAlias = (
    Literal["run", "step", "why", "value", "lens", "loss", "train", "tutorial", "page"]
    | Literal["attribute", "steps", "shapes", "generate", "check", "compare"]
)

MOST_TOKENS = 1_000_000
"""The most tokens: each has a label."""

MOST_STEPS = 10_000

OF_A_PASS = ("run", "step", "lens", "loss", "train")
"""Commands that print the numbers of a pass, or a text about them."""


class OptimizerKind(StrEnum):
    """The kind of optimizer."""

    SGD = "sgd"
    ADAM = "adam"
    ADAMW = "adamw"


class Split(StrEnum):
    """The parts into which a logit is split: each component, source tokens of heads, neurons."""

    PART = "part"
    TOKEN = "token"
    NEURON = "neuron"


class Sweep(StrEnum):
    """What a sweep patches, one after the other."""

    HEADS = "heads"
    LAYERS = "layers"
    TOKENS = "tokens"


SCENARIO = values.some("a file, the name of a scenario, or -")
_FILE = values.some("the name of a file", Path)
_FOLDER = values.some("the name of a folder", Path)
_POSITIVE = values.number("a number above 0", lambda x: x > 0)
_MOMENTUM = values.number("a number from 0 to below 1", lambda m: 0 <= m < 1)
_DECAY = values.number("a number from 0 on", lambda d: d >= 0)
_TEMPERATURE = values.number("a number from 0.001 to 1000", lambda t: Decimal("0.001") <= t <= 1000)
_SHARE = values.number("a number above 0, at most 1", lambda p: 0 < p <= 1)
_TOLERANCE = values.number("a number from 0 to 1", lambda t: 0 <= t <= 1)

_BINARY = values.Rule(
    "run, step, lens, loss or train and --output, where it is {format}",
    lambda r: not r.format.is_binary or (r.command in OF_A_PASS and r.output is not None),
)
_TEXT = values.Rule("a text, not --format {format}", lambda r: not r.format.is_data)
_NOT_BINARY = values.Rule("a text or --format json, not {format}", lambda r: not r.format.is_binary)
_MARKDOWN = values.Rule("--format markdown, not {format}", lambda r: r.format is Format.MARKDOWN)
_LATEX = values.Rule("--format latex, not {format}", lambda r: r.format is Format.LATEX)
_PICTURES = values.Rule(
    "--format markdown or terminal, not {format}",
    lambda r: r.format in (Format.MARKDOWN, Format.TERMINAL),
)
_FORWARD = values.Rule("numbers of the forward pass, not of the loss", lambda r: not r.of_loss)
_LOSS = values.Rule("numbers of the loss", lambda r: r.of_loss)
_WHOLE = values.Rule("the whole tutorial, not --layer or --head", lambda r: not (r.layer or r.head))
_ALONE = values.Rule(
    "the whole pass, not --token, --layer, --head or --train",
    lambda r: not (r.token or r.layer or r.head or r.train),
)
_ATTRIBUTE = values.Rule("--attribute", lambda r: r.attribute or r.command == "attribute")
_TRAIN = values.Rule("--train", lambda r: r.train or r.command == "train")
_BLANKS = values.Rule("--blanks", lambda r: r.blanks)
_DRAWN = values.Rule("--blanks", lambda r: r.blanks or r.command == "generate")
_FIGURES = values.Rule("figures of a text, not --against", lambda r: r.against is None)
_AGAINST = values.Rule("--against", lambda r: r.against is not None)
_WRITES = values.Rule("--output, --figures, --save or --key", lambda r: r.writes)
_SCREEN = values.Rule("the screen, not --output", lambda r: r.output is None)


@dataclass(frozen=True)
class Request:
    """A command with its options; options of other commands have their defaults."""

    command: Command
    scenario: str = values.option(
        "The scenario, as for run. The environment variable DECODER_TRACE_SCENARIO sets another "
        "default.",
        *("SCENARIO", SCENARIO, "alex"),
        short="-s",
        offers=completion.scenarios,
    )
    folder: Path = Path()
    """The folder where a relative path of the scenario starts."""
    name: str | None = None
    """A step, a group of steps or an address."""
    entry: tuple[str, ...] = ()
    """The words of `ADDRESS[ROW,COLUMN] as percent`."""

    other: str | None = None
    """The scenario to compare with."""

    # What is computed and explained.
    token: str | None = values.option(
        "Follow this token: its position or its text. Default: the last token. If only steps of "
        "the encoder are shown, it is one of the encoder's tokens.",
        *("TOKEN", str),
        short="-t",
        offers=completion.tokens,
    )
    layer: int | None = values.count("Show only this layer.", short="-l", offers=completion.layers)
    head: int | None = values.count("Show only this head.", offers=completion.heads)
    sequence: int | None = values.count("Use this sequence of the scenario's batch.", rule=_FORWARD)
    example: int | None = values.count("Use this training example.", rule=_LOSS)
    parameter: str | None = values.option(
        "Work out the gradient of this parameter, such as layer1.ffn.W_1. Default: the first.",
        *("ADDRESS", str),
    )
    steps: int | None = values.count(
        "Train this many steps and work out the first.", most=MOST_STEPS, rule=_TRAIN
    )
    optimizer: str | None = values.choice(
        "The optimizer: sgd, adam or adamw. Default: the scenario's.",
        *("KIND", OptimizerKind),
    )
    learning_rate: Decimal | None = values.option("The learning rate.", "RATE", _POSITIVE)
    momentum: Decimal | None = values.option("The momentum of sgd.", "SHARE", _MOMENTUM)
    weight_decay: Decimal | None = values.option("The weight decay.", "RATE", _DECAY)
    clip: Decimal | None = values.option("Clip the gradients to this norm.", "NORM", _POSITIVE)
    save: Path | None = values.option(
        "Write the trained scenario to this file, as YAML that runs.", "FILE", values.file_name
    )
    train: bool = values.flag(
        "Append the backward pass and the update. In a comparison, the second run is the scenario "
        "after training.",
        rule=_WHOLE,
    )
    blanks: bool = values.flag("Leave out numbers: a worksheet to fill in.", rule=_TEXT)
    level: int | None = values.count(
        "What a worksheet leaves out: the results of lines (1), also products (2), also the "
        "matrix of one step (3). Default: 1.",
        most=3,
        rule=_BLANKS,
    )
    key: Path | None = values.option(
        "Write the key of the worksheet to this file.", "FILE", values.file_name, rule=_BLANKS
    )
    vary: int | None = values.count(
        "Replace the scenario's numbers with random ones. The same seed gives the same numbers.",
        least=None,
        takes="SEED",
    )
    text: str | None = values.option(
        "Compare with the same model reading this text.", "TEXT", values.some("a text")
    )
    patch: tuple[str, ...] = values.option(
        "Run the first again, with the second's numbers at this address or in this token's row: "
        "layer1.ffn.output[2]. Repeat the option for several.",
        *("ADDRESS[TOKEN]", None, ()),
        offers=completion.addresses,
    )
    sweep: Sweep | None = values.choice(
        "Patch each of these in turn, and rank how much of the second run's answer it restores: "
        "the output of each head (heads), the last token's row after each layer (layers), or the "
        "input row of each token (tokens).",
        *("WHAT", Sweep),
    )
    depth: int | None = values.count(
        "Go back this many steps. Default: all the way; in a trained model, 3.", least=0, rule=_TEXT
    )
    attribute: str | None = values.option(
        "Show only the parts of this logit, as the command attribute splits it.",
        *("ADDRESS[ROW,COLUMN]", str),
        offers=completion.addresses,
        rule=_ALONE,
    )
    instead_of: str | None = values.option(
        "Subtract the logit of this word.",
        *("WORD", str),
        offers=completion.words,
        rule=_ATTRIBUTE,
    )
    word: str | None = values.option(
        "Follow this word. Default: the one that the model predicts.",
        *("WORD", str),
        offers=completion.words,
        rule=_NOT_BINARY,
    )
    by: Split = values.choice(
        "Split the logit by component (part), and each head by source token (token) or each FFN "
        "by hidden unit (neuron).",
        *("PARTS", Split),
        default=Split.PART,
        rule=_ATTRIBUTE,
    )
    length: int | None = values.count(
        "Count for a text of this many tokens. Default: the scenario's.", most=MOST_TOKENS
    )
    no_mask: bool = values.flag("Also show the attention weights without the mask.")
    terms: Terms | None = values.option(
        "Write out this many terms of a long sum; `largest` selects the largest terms.",
        "N",
        values.terms,
    )
    given: tuple[str, ...] = values.option(
        'Use these numbers instead of computing them: "input=[[1,2],[3,4]]". One number fills a '
        'value (ADDRESS=0) or the row of a token ("ADDRESS[TOKEN]=0"); mean is the mean over the '
        "tokens. Repeat the option for several.",
        "ADDRESS=VALUES",
        None,
        (),
    )
    start: tuple[str, ...] = values.option(
        "Begin with this token. Repeat the option for several tokens.", "TOKEN", None, ()
    )
    max_tokens: int | None = values.count("Generate at most this many words.")
    worked: bool = values.flag("Show every step of each turn.")
    kv_cache: bool = values.flag(
        "Cache keys and values: each turn computes only the new token's row."
    )
    temperature: Decimal | None = values.option(
        "Draw words, with the logits divided by T.", "T", _TEMPERATURE
    )
    top_k: int | None = values.count("Draw words from the K most probable ones.", takes="K")
    top_p: Decimal | None = values.option(
        "Draw words from the smallest set with a total probability of at least P.", "P", _SHARE
    )
    seed: int | None = values.count(
        "Draw words, or the blanks of a worksheet, from this seed.",
        least=None,
        rule=_DRAWN,
    )
    figures_file: Path | None = values.option(
        "The figures that a text prints. Default: those beside the scenario, such as "
        "alex.figures.yaml for alex.yaml.",
        *("FILE", _FILE),
        rule=_FIGURES,
    )
    against: Path | None = values.option(
        "Compare with another program's arrays instead: .npz, .safetensors, or a trace written "
        "with --format json.",
        *("FILE", _FILE),
    )
    tolerance: Decimal | None = values.option(
        "The allowed difference, relative to the largest number of the array. Default: what fits "
        "the type of its numbers.",
        *("T", _TOLERANCE),
        rule=_AGAINST,
    )
    decimals: int | None = values.count("Round to this many decimals.", least=0, most=12)
    carry: Carry | None = values.choice(
        "Which number the next line uses: the printed one (line), the one rounded at the end of "
        "its step (step), or the unrounded one (never).",
        *("MODE", Carry),
    )

    # How it is shown.
    format: Format = values.choice(
        "The format: terminal, markdown, latex or json; for the numbers of a pass also npz or "
        "safetensors.",
        *("FORMAT", Format),
        default=Format.TERMINAL,
        short="-f",
        rule=_BINARY,
    )
    brief: bool = values.flag(
        "Leave out reasons and parameter counts (--brief), or print them (--full, the default).",
        name="--brief/--full",
        rule=_TEXT,
    )
    math: bool = values.flag(
        "In Markdown: write formulas and worked lines as LaTeX between $$.", rule=_MARKDOWN
    )
    heading: HeadingLevel | None = values.choice(
        "In Markdown: the level of the steps' titles, 1 to 6, or none for no titles.",
        *("LEVEL", HeadingLevel),
        rule=_MARKDOWN,
    )
    standalone: bool = values.flag(
        "In LaTeX: write a complete file instead of a fragment.", rule=_LATEX
    )
    figures: Path | None = values.option(
        "Write the pictures of the text, such as each head's attention weights, to this folder; "
        "Markdown shows them.",
        *("FOLDER", _FOLDER),
        rule=_PICTURES,
    )
    output: Path | None = values.option(
        "Write to this file instead of the screen.", "FILE", values.file_name, short="-o"
    )
    force: bool = values.flag("Overwrite a file even if the command reads it.", rule=_WRITES)
    no_pager: bool = values.flag("Print a long text at once instead of page by page.", rule=_SCREEN)

    @property
    def writes(self) -> bool:
        """Whether the command writes a file."""
        return any((self.output, self.figures, self.save, self.key))

    @property
    def of_loss(self) -> bool:
        """Whether the request is about the loss, gradients or updates."""
        begins = "".join(self.entry[:1]).partition("[")[0].partition(".")[0]
        return self.command in ("loss", "train") or begins in (LOSS.name, "gradient", "update")

    @property
    def trains(self) -> bool:
        """Whether training is explained after the forward pass."""
        return self.train and not self.format.is_data


ARGUMENTS = {
    "SCENARIO": values.Option(
        "A file, the name of a scenario that comes with the program, or - for standard input.",
        *("SCENARIO", SCENARIO),
        offers=completion.scenarios,
    ),
    "OTHER": values.Option(
        "Another scenario to compare with.",
        *("OTHER", SCENARIO),
        offers=completion.scenarios,
        is_optional=True,
    ),
    "NAME": values.Option(
        "A step (softmax), a group of steps (attention, ffn) or an address (layer1.ffn).",
        *("NAME", str),
        offers=completion.steps,
    ),
    "ENTRY": values.Option(
        "The address of a value; its row and column by label, or by number from 1.",
        "ADDRESS[ROW,COLUMN]",
        offers=completion.addresses,
    ),
}
"""By the name of their field, in capitals: a scenario is an option, too."""

OPTIONS: dict[str, values.Option] = {
    field.name: field.metadata["option"] for field in fields(Request) if field.metadata
}
DEFAULTS = {field.name: field.default for field in fields(Request)}


def check(request: Request) -> None:
    """Refuse options that would change nothing.

    Raises:
        TracerError: one problem for each, with what it works with.
    """
    problems = [
        Problem(
            f"works only with {option.rule.works_with.format(format=request.format)}",
            address=f"--{name}".replace("_", "-"),
        )
        for name, option in OPTIONS.items()
        if getattr(request, name) != DEFAULTS[name]
        and option.rule
        and not option.rule.holds(request)
    ]
    if request.command == "page" and request.output is None:
        problems.append(
            Problem("expected a file to open in a browser: -o page.html", address="--output")
        )
    if request.command == "compare":
        second = (request.other is not None, request.text is not None, request.train)
        if sum(second) != 1:
            message = "expected one second run: another scenario, --text or --train"
            problems.append(Problem(message, address="compare"))
    if problems:
        raise TracerError(*problems)
