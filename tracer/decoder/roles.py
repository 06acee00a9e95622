"""Every value that a pass can record, declared once: its name, and the digits that it keeps.

An address is a role at a place: `layer1.attention.head1.query` is `QUERY` in layer 1's attention,
head 1. What is told of each role stands in `tracer.lesson.steps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Literal, TypeAlias

from tracer.frozen import frozen

SubLayer: TypeAlias = Literal["attention", "cross_attention", "ffn", "lens"]
"""What a layer is made of; and the lens, through which it is seen what it would say."""

Phase: TypeAlias = Literal["forward", "gradient", "update"]
"""The pass; the way back, which gives each value its gradient; the new weights."""


@frozen
class Place:
    """Where in the decoder or the encoder, and in which phase; layers and heads count from 1."""

    layer: int | None = None
    sub_layer: SubLayer | None = None
    head: int | None = None
    final: bool = False
    """Behind the last layer, where there is a norm."""
    encoder: bool = False
    phase: Phase = "forward"
    example: int | None = None
    """In a batch, which example; nothing in the one that is worked."""

    @property
    def prefix(self) -> str:
        """`layer2.attention.head1.`, `encoder.final_`, `gradient.`; nothing, outside of layers."""
        phase = "" if self.phase == "forward" else f"{self.phase}."
        example = f"example{self.example}." if self.example else ""
        within = phase + example + ("encoder." if self.encoder else "")
        if self.final:
            return f"{within}final_"
        layer = f"layer{self.layer}." if self.layer else ""
        sub_layer = f"{self.sub_layer}." if self.sub_layer else ""
        head = f"head{self.head}." if self.head else ""
        return within + layer + sub_layer + head

    @property
    def yaml_path(self) -> tuple[int | str, ...]:
        """Where in a scenario it is said what happens here: ("layers", 0, "attention")."""
        tower = ("encoder",) if self.encoder else ()
        if self.final:
            return (*tower, "final_norm")
        layer = ("layers", self.layer - 1) if self.layer else ()
        sub_layer = (self.sub_layer,) if self.sub_layer else ()
        return (*tower, *layer, *sub_layer, *(("heads", self.head - 1) if self.head else ()))

    def address(self, role: Role) -> str:
        """The address of a role here."""
        return self.prefix + role.name


class RoundingRule(Enum):
    """Which digits a number keeps with `carry: step`."""

    RESULT = auto()
    """Its step ends here: the usual digits."""
    WORKING = auto()
    """Inside a step: some digits more."""
    SHARED = auto()
    """Exponentials and their sum: a row shares its decimals, which follow from its largest."""
    ALL = auto()
    """Sums of rounded numbers, in every carry mode: the next begins with the one before."""
    WHOLE = auto()
    """It is 0 or 1, and shown so."""
    EXACT = auto()
    """It is written out inside the line of another, and rounded only there."""


Derivation: TypeAlias = Literal[
    "gradient",
    "left",
    "right",
    "third",
    "fourth",
    "mean",
    "difference",
    "scaled",
    "new",
    "squares",
    "clipped",
    "decayed",
    "velocity",
    "first_moment",
    "squared",
    "second_moment",
    "unbiased_first",
    "unbiased_second",
    "direction",
]
"""What training makes of a value: its gradient, of several ways each of them (by the operand that
the value was); of a softmax, the mean of the gradients and what each is above it; of a norm the
gradient times γ; of a parameter all that its update needs, and the new one."""

UNNAMED: tuple[Derivation, ...] = ("gradient", "new")
"""They have the name of what they are of; the phase says which it is."""


@dataclass(eq=False, repr=False)
class Role:
    """A value of a pass: `name` is the end of its address."""

    name: str
    rounding_rule: RoundingRule = RoundingRule.RESULT
    parameter: bool = False
    words: bool = False
    """Words, such as a prediction; only numbers can be pinned."""
    of: Role | None = None
    """What it is derived from in training, and as what."""
    derivation: Derivation | None = None

    def __repr__(self) -> str:
        return f"Role({self.name})"


@cache
def derived(role: Role, derivation: Derivation) -> Role:
    """What training makes of a value."""
    name = role.name if derivation in UNNAMED else f"{role.name}.{derivation}"
    return Role(name, of=role, derivation=derivation)


@frozen
class Softmax:
    """The roles of a softmax: e to the scores, its row sums, the shares.

    Where the scores are shifted, each row's largest comes first, and the scores without it.
    """

    largest: Role
    shifted: Role
    exp: Role
    total: Role
    shares: Role


@frozen
class Waves:
    """The roles of positions as waves: where, the frequencies, the angles, their sin and cos."""

    index: Role
    div_term: Role
    angle: Role
    sin: Role
    cos: Role


ENCODER_OUTPUT = Role("encoder.output")
EMBEDDINGS = Role("embeddings", parameter=True)
POSITIONS = Role("positions.table", parameter=True)
TEXT_MERGES = Role("text.merges", words=True)
TEXT = Role("text", words=True)
TOKENS = Role("tokens", words=True)
TOKEN_IDS = Role("token_ids")
EMBEDDING = Role("embedding")
POSITION_INDEX = Role("position.index")
DIV_TERM = Role("position.div_term", RoundingRule.WORKING)
ANGLE = Role("position.angle", RoundingRule.WORKING)
SIN = Role("position.sin")
COS = Role("position.cos")
POSITION = Role("position")
ROTARY_INDEX = Role("position.index")
ROTARY_DIV_TERM = Role("position.div_term", RoundingRule.WORKING)
ROTARY_ANGLE = Role("position.angle", RoundingRule.WORKING)
ROTARY_SIN = Role("position.sin")
ROTARY_COS = Role("position.cos")
INPUT = Role("input")
MASK = Role("mask")

W_Q = Role("W_Q", parameter=True)
W_K = Role("W_K", parameter=True)
W_V = Role("W_V", parameter=True)
B_Q = Role("b_Q", parameter=True)
B_K = Role("b_K", parameter=True)
B_V = Role("b_V", parameter=True)
QUERY = Role("query")
KEY = Role("key")
VALUE = Role("value")
ROTATED_QUERY = Role("rotated_query")
ROTATED_KEY = Role("rotated_key")
KEYS = Role("keys")
ROTATED_KEYS = Role("keys")
VALUES = Role("values")
DOT = Role("dot", RoundingRule.EXACT)
D_K = Role("d_k")
SCALE = Role("scale", RoundingRule.EXACT)
SCORES = Role("scores")
MASKED = Role("masked")
MAX = Role("max")
SHIFTED = Role("shifted")
EXP = Role("exp", RoundingRule.SHARED)
EXP_SUM = Role("exp_sum", RoundingRule.SHARED)
WEIGHTS = Role("weights")
UNMASKED_MAX = Role("unmasked.max")
UNMASKED_SHIFTED = Role("unmasked.shifted")
UNMASKED_EXP = Role("unmasked.exp", RoundingRule.SHARED)
UNMASKED_EXP_SUM = Role("unmasked.exp_sum", RoundingRule.SHARED)
UNMASKED_WEIGHTS = Role("unmasked.weights")
HEAD_OUTPUT = Role("output")

CONCAT = Role("concat")
W_O = Role("W_O", parameter=True)
B_O = Role("b_O", parameter=True)
ATTENTION_OUTPUT = Role("output")

RESIDUAL = Role("residual")
GAIN = Role("norm.gain", parameter=True)
SHIFT = Role("norm.shift", parameter=True)
MEAN = Role("norm.mean", RoundingRule.WORKING)
DEVIATION = Role("norm.deviation", RoundingRule.WORKING)
SQUARED = Role("norm.squared", RoundingRule.WORKING)
VARIANCE = Role("norm.variance", RoundingRule.WORKING)
STD = Role("norm.std", RoundingRule.WORKING)
NORM = Role("norm")
STANDARDIZED = Role("norm.standardized")
ROOT_SQUARED = Role("norm.squared", RoundingRule.WORKING)
MEAN_SQUARE = Role("norm.mean_square", RoundingRule.WORKING)
RMS = Role("norm.rms", RoundingRule.WORKING)
RMS_NORM = Role("norm")

W_1 = Role("W_1", parameter=True)
B_1 = Role("b_1", parameter=True)
HIDDEN = Role("hidden")
ACTIVATION = Role("activation")
SLOPE = Role("slope")
OPEN = Role("slope", RoundingRule.WHOLE)
W_3 = Role("W_3", parameter=True)
B_3 = Role("b_3", parameter=True)
UP = Role("up")
GATED = Role("gated")
W_2 = Role("W_2", parameter=True)
B_2 = Role("b_2", parameter=True)
PROJECTED = Role("projected")
FFN_OUTPUT = Role("output")

OUTPUT = Role("output")
W_U = Role("unembedding.W_U", parameter=True)
B_U = Role("unembedding.b_U", parameter=True)
LOGITS = Role("logits")
WORD_MAX = Role("probabilities.max")
WORD_SHIFTED = Role("probabilities.shifted")
WORD_EXP = Role("probabilities.exp", RoundingRule.SHARED)
WORD_EXP_SUM = Role("probabilities.exp_sum", RoundingRule.SHARED)
PROBABILITIES = Role("probabilities")
PREDICTION = Role("prediction", words=True)

TARGET = Role("loss.target", words=True)
TOKEN_LOSS = Role("loss.token", RoundingRule.WORKING)
BATCH_LOSSES = Role("loss.batch")
LOSS = Role("loss")

SQUARES = Role("squares")
GRADIENT_NORM = Role("norm")
LARGEST_NORM = Role("norm.largest")
SHRINK = Role("norm.factor")

DRAWN_LOGITS = Role("sampling.logits")
TEMPERATURE = Role("sampling.temperature")
SCALED = Role("sampling.scaled", RoundingRule.WORKING)
DRAWN_MAX = Role("sampling.max")
DRAWN_SHIFTED = Role("sampling.shifted")
DRAWN_EXP = Role("sampling.exp", RoundingRule.SHARED)
DRAWN_EXP_SUM = Role("sampling.exp_sum", RoundingRule.SHARED)
DRAWN_PROBABILITIES = Role("sampling.probabilities")
CANDIDATES = Role("sampling.candidates")
CANDIDATES_SUM = Role("sampling.candidates_sum", RoundingRule.WORKING)
RENORMALIZED = Role("sampling.renormalized")
CUMULATIVE = Role("sampling.cumulative", RoundingRule.ALL)
DRAW = Role("sampling.draw")
WORD = Role("sampling.word", words=True)

ADDED_WAVES = Waves(POSITION_INDEX, DIV_TERM, ANGLE, SIN, COS)
TURNING_WAVES = Waves(ROTARY_INDEX, ROTARY_DIV_TERM, ROTARY_ANGLE, ROTARY_SIN, ROTARY_COS)

ATTENTION_SOFTMAX = Softmax(MAX, SHIFTED, EXP, EXP_SUM, WEIGHTS)
UNMASKED_SOFTMAX = Softmax(
    *(UNMASKED_MAX, UNMASKED_SHIFTED, UNMASKED_EXP, UNMASKED_EXP_SUM, UNMASKED_WEIGHTS)
)
WORD_SOFTMAX = Softmax(WORD_MAX, WORD_SHIFTED, WORD_EXP, WORD_EXP_SUM, PROBABILITIES)
DRAWN_SOFTMAX = Softmax(*(DRAWN_MAX, DRAWN_SHIFTED, DRAWN_EXP, DRAWN_EXP_SUM, DRAWN_PROBABILITIES))

MASKS = (MASK, MASKED, SHIFTED)
"""Where -∞ can stand."""

ROLES = tuple(declared for declared in list(globals().values()) if isinstance(declared, Role))
"""All of them, in the order of this file."""
