"""The options of several commands, each declared once with its help and the options it needs.

A command refers to one by its field's default. The name of the field is the same in each command.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracer.lesson.code.library import Library
from tracer.lesson.detail import Detail
from tracer.renderers import Format, HeadingLevel
from tracer.requests import completion, values
from tracer.requests.values import Rule
from tracer.scenario.carry import Carry

MOST_STEPS = 10_000

NAME_OF_SCENARIO = values.some("a file, the name of a scenario, or -")

# A command without the option `train`, `attribute` or `blanks` always does what that requests.
_BINARY = Rule(
    "run, step, lens, loss or train and --output, where it is {format}",
    lambda r: not r.format.is_binary or (r.prints_arrays and r.output is not None),
)
_CODE = Rule(
    "steps, not --attribute, as a text or with --format code, not --format {format}",
    lambda r: (
        not getattr(r, "attribute", None) and (not r.format.is_data or r.format is Format.CODE)
    ),
)
TEXT = Rule("a text, not --format {format}", lambda r: not r.format.is_data)
_MARKDOWN = Rule("--format markdown, not {format}", lambda r: r.format is Format.MARKDOWN)
_HEADING = Rule(
    "--format markdown or latex, not {format}",
    lambda r: (
        r.format in (Format.MARKDOWN, Format.LATEX)
        or (r.format is Format.TERMINAL and r.heading is HeadingLevel.NONE)
    ),
)
_LATEX = Rule("--format latex, not {format}", lambda r: r.format is Format.LATEX)
_PICTURES = Rule(
    "--format markdown or terminal, not {format}",
    lambda r: r.format in (Format.MARKDOWN, Format.TERMINAL),
)
_FORWARD = Rule("numbers of the forward pass, not of the loss", lambda r: not r.is_of_loss)
_UNCHANGED = Rule(
    "the forward pass as it is, not --given, --vary, --train, --blanks or --by, nor the loss",
    lambda r: (
        not r.is_of_loss
        and not any(getattr(r, name, None) for name in ("given", "vary", "train", "blanks"))
        and getattr(r, "by", "part") == "part"
    ),
)
_LOSS = Rule("numbers of the loss", lambda r: r.is_of_loss)
_WHOLE = Rule("the whole tutorial, not --layer or --head", lambda r: not (r.layer or r.head))
_TRAIN = Rule("--train", lambda r: getattr(r, "train", True))
ATTRIBUTE = Rule("--attribute", lambda r: getattr(r, "attribute", True))
_BLANKS = Rule("--blanks", lambda r: getattr(r, "blanks", True))
_WRITES = Rule("--output, --figures, --save or --key", lambda r: r.writes)
_SCREEN = Rule("the screen, not --output", lambda r: r.output is None)

# What is computed and explained.
SCENARIO = values.argument(
    "A file, the name of a scenario that comes with the program, or - for standard input; also "
    "after -s.",
    *("SCENARIO", NAME_OF_SCENARIO),
    offers=completion.scenarios,
)
DEFAULT_SCENARIO = values.option(
    "The scenario, as for run; also as the first of two words. The environment variable "
    "DECODER_TRACE_SCENARIO sets another default.",
    *("SCENARIO", NAME_OF_SCENARIO, "alex"),
    short="-s",
    variable="DECODER_TRACE_SCENARIO",
    offers=completion.scenarios,
)
ENTRY = values.argument(
    "The address of a value; its row and column by label, or by number from 1.",
    "ADDRESS[ROW,COLUMN]",
    is_several=True,
    offers=completion.addresses,
)
TOKEN = values.option(
    "Follow this token: its position or its text. Default: the last token. Beside an address, it "
    "is the row: logits[,pizza] --token la. Of the encoder's steps and rows, it is one of the "
    "encoder's tokens.",
    *("TOKEN", str),
    short="-t",
    offers=completion.tokens,
)
LAYER = values.count("Show only this layer.", short="-l", offers=completion.layers)
HEAD = values.count("Show only this head.", offers=completion.heads)
SEQUENCE = values.count("Use this sequence of the scenario's batch.", rule=_FORWARD)
EXAMPLE = values.count("Use this training example.", rule=_LOSS)
STEPS = values.count("Train this many steps and work out the first.", most=MOST_STEPS, rule=_TRAIN)
TRAIN = values.flag(
    "Append the backward pass and the update. In a comparison, the second run is the scenario "
    "after training.",
    rule=_WHOLE,
)
BLANKS = values.flag("Leave out numbers: a worksheet to fill in.", rule=TEXT)
LEVEL = values.count(
    "How hard a worksheet is. It leaves out: the results of lines, in a model with small whole "
    "numbers and one head (1); the results of lines (2); also products (3); also the matrix of "
    "one step (4); whole lines (5); also formulas (6). Default: 2.",
    most=6,
    rule=_BLANKS,
)
KEY = values.option(
    *("Write the key of the worksheet to this file.", "FILE", values.file_name), rule=_BLANKS
)
SEED = values.count(
    "Draw words, or the blanks of a worksheet, from this seed.", least=None, rule=_BLANKS
)
VARY = values.count(
    "Replace the scenario's numbers with random ones. The same seed gives the same numbers.",
    least=None,
    takes="SEED",
)
INSTEAD_OF = values.option(
    "Subtract the logit of this word.",
    *("WORD", str),
    offers=completion.words,
    rule=ATTRIBUTE,
)
NO_MASK = values.flag("Also show the attention weights without the mask.")
TERMS = values.option(
    "Write out this many terms of a long sum; `largest` selects the largest terms.",
    "N",
    values.terms,
)
CODE = values.choice(
    "Show the lines that compute each step with this library, numpy or pytorch. With --format "
    "code: only the program, which prints the numbers of the text.",
    *("LIBRARY", Library),
    rule=_CODE,
)
GIVEN = values.option(
    'Use these numbers instead of computing them: "input=[[1,2],[3,4]]". One number fills a '
    'value (ADDRESS=0) or the row of a token ("ADDRESS[TOKEN]=0"); mean is the mean over the '
    "tokens. Repeat the option for several.",
    "ADDRESS=VALUES",
    None,
    (),
)
VALUES = values.option(
    "Begin at the values that another program computed, in a .npz or .safetensors file or a trace "
    "as .json. Of a trained model, only the layer of --layer, or that of the address, is computed "
    "and its weights are read. Each computed value is compared with the file's.",
    *("FILE", values.some("the name of a file", Path)),
    rule=_UNCHANGED,
)
DETAIL = values.choice(
    "The answer and one head (short), everything once (normal), or every step (full).",
    *("LENGTH", Detail),
    default=Detail.FULL,
    rule=TEXT,
)

# How it is shown.
FORMAT = values.choice(
    "The format: terminal, markdown, latex or json; for the numbers of a pass also npz or "
    "safetensors; with --code also code.",
    *("FORMAT", Format),
    default=Format.TERMINAL,
    short="-f",
    rule=_BINARY,
)
HEADING = values.choice(
    "In Markdown and LaTeX: the level of the steps' titles, 1 to 6; none leaves out all titles.",
    *("LEVEL", HeadingLevel),
    rule=_HEADING,
)
STANDALONE = values.flag("In LaTeX: write a complete file instead of a fragment.", rule=_LATEX)
FIGURES = values.option(
    "Write the pictures of the text, such as each head's attention weights, to this folder; "
    "Markdown shows them.",
    *("FOLDER", values.some("the name of a folder", Path)),
    rule=_PICTURES,
)
OUTPUT = values.option(
    "Write to this file instead of the screen.", "FILE", values.file_name, short="-o"
)


@dataclass(kw_only=True)
class Rounded:
    """The rounding."""

    decimals: int | None = values.count("Round to this many decimals.", least=0, most=12)
    carry: Carry | None = values.choice(
        "Which number the next line uses: the printed one (line), the one rounded at the end of "
        "its step (step), or the unrounded one (never).",
        *("MODE", Carry),
    )


@dataclass(kw_only=True)
class Formatted:
    """The format."""

    format: Format = FORMAT


@dataclass(kw_only=True)
class Reasoned:
    """Whether a text has reasons."""

    brief: bool = values.flag(
        "Leave out reasons and parameter counts (--brief), or print them (--full, the default).",
        name="--brief/--full",
        rule=TEXT,
    )


@dataclass(kw_only=True)
class Marked:
    """The settings of titles, Markdown and LaTeX."""

    math: bool = values.flag(
        "In Markdown: write formulas and worked lines as LaTeX between $$.", rule=_MARKDOWN
    )
    heading: HeadingLevel | None = HEADING
    no_numbers: bool = values.flag("Leave out the numbers of the steps in titles.", rule=TEXT)
    standalone: bool = STANDALONE


@dataclass(kw_only=True)
class Pictured:
    """The folder for pictures."""

    figures: Path | None = FIGURES


@dataclass(kw_only=True)
class Saved:
    """The file that the output is written to."""

    output: Path | None = OUTPUT
    force: bool = values.flag(
        "Overwrite a scenario, or a file that the command reads.", rule=_WRITES
    )


@dataclass(kw_only=True)
class Paged:
    """How the output is shown on the screen."""

    no_pager: bool = values.flag("Print a long text at once instead of page by page.", rule=_SCREEN)


class Written(Saved, Paged):
    """Where the output goes: to a file or the screen."""


class Compared(Rounded, Formatted, Marked, Written):
    """The output options of comparisons, which have no reasons to leave out."""


class Text(Rounded, Formatted, Reasoned, Marked, Written):
    """The output options of every command that prints a text."""


class Illustrated(Rounded, Formatted, Reasoned, Marked, Pictured, Written):
    """The output options for texts with pictures."""
