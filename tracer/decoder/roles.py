"""Every value that a pass can record, declared once: its name, and the digits that it keeps.

An address is a role at a place: `layer1.attention.head1.query` is `QUERY` in layer 1's attention,
head 1. `tracer.lesson.steps` explains each role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from typing import Literal, TypeAlias

SubLayer: TypeAlias = Literal["attention", "cross_attention", "ffn", "lens"]
"""The parts of a layer, and the logit lens that reads its output."""

Routing: TypeAlias = Mapping[str, tuple[tuple[int, ...], ...]]
"""By the address of a choice, the columns that are chosen in each row, counted from 0."""

TowerNorm: TypeAlias = Literal["embedding_norm", "final_norm"]
"""The norm of the embeddings, and that after the last layer: the keys of a scenario."""

Phase: TypeAlias = Literal["forward", "gradient", "update", "attribution"]
"""The forward pass, the backward pass, the update of the weights; a logit's attribution."""


@dataclass(frozen=True)
class ChoiceRoles:
    """The roles of a choice of networks for each token: scores, weights, what a network reads."""

    logits: Role
    weights: Role
    rows: Role


@dataclass(frozen=True)
class Network:
    """One of the networks of an FFN: what it is called, and the key of its parameters.

    `number` counts those of the key from 1; None if the key has only this one. Without a `choice`
    it reads the rows of all tokens.
    """

    noun: str
    key: str
    number: int | None = None
    choice: ChoiceRoles | None = None

    @property
    def name(self) -> str:
        """`expert 2`, `shared expert`."""
        return f"{self.noun} {self.number}" if self.number else f"{self.key} {self.noun}"

    @property
    def prefix(self) -> str:
        """`expert2.`, `shared.`: its part of an address."""
        return f"{self.noun}{self.number}." if self.number else f"{self.key}."

    @property
    def yaml_path(self) -> tuple[int | str, ...]:
        """The path of its parameters in an FFN: ("experts", 1)."""
        return (self.key, self.number - 1) if self.number else (self.key,)


@dataclass(frozen=True)
class Place:
    """A place in the decoder or the encoder, in one phase; layers and heads from 1."""

    layer: int | None = None
    sub_layer: SubLayer | None = None
    head: int | None = None
    block: int | None = None
    """A block of a head's keys, counted from 1."""
    token: int | None = None
    """A token that a head reads after those before it, counted from 1."""
    rotary: int | None = None
    """The number of rotary positions that differ from the tower's, counted from 2."""
    tower_norm: TowerNorm | None = None
    """At a norm outside of the layers."""
    encoder: bool = False
    phase: Phase = "forward"
    example: int | None = None
    """The number of an example in a batch; None for the one that is explained."""
    network: Network | None = None

    @property
    def prefix(self) -> str:
        """`layer2.attention.head1.`, `encoder.final_`, `gradient.`, or nothing."""
        phase = "" if self.phase == "forward" else f"{self.phase}."
        example = f"example{self.example}." if self.example else ""
        within = phase + example + ("encoder." if self.encoder else "")
        if self.tower_norm:
            return within + self.tower_norm.removesuffix("norm")
        layer = f"layer{self.layer}." if self.layer else ""
        sub_layer = f"{self.sub_layer}." if self.sub_layer else ""
        head = f"head{self.head}." if self.head else ""
        block = f"block{self.block}." if self.block else ""
        token = f"token{self.token}." if self.token else ""
        rotary = f"rotary{self.rotary}." if self.rotary else ""
        network = self.network.prefix if self.network else ""
        return within + rotary + layer + sub_layer + head + block + token + network

    @property
    def yaml_path(self) -> tuple[int | str, ...]:
        """The path of this place in a scenario: ("layers", 0, "attention")."""
        tower = ("encoder",) if self.encoder else ()
        if self.tower_norm:
            return (*tower, self.tower_norm)
        layer = ("layers", self.layer - 1) if self.layer else ()
        sub_layer = (self.sub_layer,) if self.sub_layer else ()
        head = ("heads", self.head - 1) if self.head else ()
        network = self.network.yaml_path if self.network else ()
        return (*tower, *layer, *sub_layer, *head, *network)

    def address(self, role: Role) -> str:
        """The address of a role here."""
        return self.prefix + role.name

    def base_address(self, role: Role) -> str:
        """The address without the example of a batch."""
        return replace(self, example=None).address(role)


class RoundingRule(Enum):
    """The digits that a number keeps with `carry: step`."""

    RESULT = auto()
    """Its step ends here: the usual digits."""
    WORKING = auto()
    """Inside a step: some digits more."""
    SHARED = auto()
    """Exponentials and their sum: the largest decides the decimals of a row."""
    ALL = auto()
    """All digits in every carry mode: running sums of rounded numbers."""
    WHOLE = auto()
    """A whole number: 0 or 1."""
    EXACT = auto()
    """Unrounded: it is computed inside the line of another value."""


Side: TypeAlias = Literal["left", "right", "third", "fourth"]
"""The operand of an operation that a part of a gradient belongs to, where it has several."""

OfTerms: TypeAlias = Literal["terms_of_left", "terms_of_right", "terms_of_third"]
OfGradient: TypeAlias = Literal["gradient", "mean", "difference", "scaled", "squares", "clipped"]
OfMoment: TypeAlias = Literal["first_moment", "second_moment", "unbiased_first", "unbiased_second"]
OfUpdate: TypeAlias = Literal["decayed", "velocity", "squared", "direction", "new"]
OfAttribution: TypeAlias = (
    Literal["word", "other_word", "attributed", "logit_direction", "before", "offset"]
    | Literal["row", "projected", "terms", "part"]
    | Literal["query_row", "query_part", "query_parts", "query_placed"]
    | Literal["key_row", "key_part", "key_parts", "key_placed"]
)

Derivation: TypeAlias = Side | OfGradient | OfTerms | OfMoment | OfUpdate | OfAttribution
"""What training or an attribution derives from a value: its gradient, new numbers, its part."""

UNNAMED: tuple[Derivation, ...] = ("gradient", "new")
"""Derived values that keep the value's name; the phase in the address distinguishes them."""


@dataclass(eq=False)
class Role:
    """A value of a pass: `name` is the end of its address."""

    name: str
    rounding_rule: RoundingRule = RoundingRule.RESULT
    significant: int = 0
    """The least significant digits, unless the author sets some: others are divided by it."""
    parameter: bool = False
    frozen: bool = False
    """Training leaves the parameter as it is."""
    of_parameters: bool = False
    """It is computed of parameters alone, so that the examples of a batch share it."""
    words: bool = False
    """Words, such as a prediction; only numbers can be pinned."""
    to_weights: bool = False
    """An (n, m) value between queries and attention weights: those of many tokens are large."""
    hides: bool = False
    """It can hold -∞."""
    of: Role | None = None
    """In training or an attribution, the role that it is computed from."""
    derivation: Derivation | None = None

    def __repr__(self) -> str:
        return f"Role({self.name})"


@cache
def derived(role: Role, derivation: Derivation) -> Role:
    """The role of a value that training or an attribution derives from another one."""
    name = role.name if derivation in UNNAMED else f"{role.name}.{derivation}"
    return Role(name, of=role, derivation=derivation)


@dataclass(frozen=True)
class SoftmaxRoles:
    """The roles of a softmax; `largest` and `shifted` exist only where scores are shifted."""

    largest: Role
    shifted: Role
    exp: Role
    total: Role
    shares: Role


@dataclass(frozen=True)
class LossRoles:
    """The roles of a loss: of each position, of all examples of a batch, and the loss itself."""

    token: Role
    batch: Role | None
    loss: Role


@dataclass(frozen=True)
class WaveRoles:
    """The roles of positions that are sines and cosines."""

    index: Role
    div_term: Role
    angle: Role
    sin: Role
    cos: Role


@dataclass(frozen=True)
class NormRoles:
    """The roles of a norm: what LayerNorm computes, what RMSNorm computes, and γ and β.

    `standardized` exists only in a backward pass; `x_hat` and `rms_x_hat` only on demand.
    """

    gain: Role
    shift: Role
    mean: Role
    deviation: Role
    squared: Role
    variance: Role
    std: Role
    layer_norm: Role
    root_squared: Role
    mean_square: Role
    rms: Role
    rms_norm: Role
    x_hat: Role
    rms_x_hat: Role
    standardized: Role


def norm_roles(name: str) -> NormRoles:
    """The roles of a norm whose result has this name."""

    def working(end: str) -> Role:
        return Role(f"{name}.{end}", RoundingRule.WORKING)

    return NormRoles(
        Role(f"{name}.gain", parameter=True),
        Role(f"{name}.shift", parameter=True),
        working("mean"),
        working("deviation"),
        working("squared"),
        working("variance"),
        working("std"),
        Role(name),
        working("squared"),
        working("mean_square"),
        working("rms"),
        Role(name),
        working("standardized"),
        working("standardized"),
        Role(f"{name}.standardized"),
    )


ENCODER_OUTPUT = Role("encoder.output")
EMBEDDINGS = Role("embeddings", parameter=True)
POSITIONS = Role("positions.table", parameter=True)
CORPUS = Role("corpus", words=True)
CORPUS_PAIRS = Role("corpus.pairs", words=True)
CORPUS_MERGES = Role("corpus.merges", words=True)
TEXT_MERGES = Role("text.merges", words=True)
TEXT = Role("text", words=True)
TOKENS = Role("tokens", words=True)
TOKEN_IDS = Role("token_ids")
EMBEDDING = Role("embedding")
EMBEDDING_WIDTH = Role("embedding.d_model")
EMBEDDING_SCALE = Role("embedding.scale", RoundingRule.WORKING)
SCALED_EMBEDDING = Role("embedding.scaled")
POSITION_INDEX = Role("position.index")
DIV_TERM = Role("position.div_term", RoundingRule.WORKING)
ANGLE = Role("position.angle", RoundingRule.WORKING)
SIN = Role("position.sin")
COS = Role("position.cos")
POSITION = Role("position")
SUMMED_EMBEDDING = Role("embedding.sum")
INPUT = Role("input")
MASK = Role("mask", hides=True)

W_Q = Role("W_Q", parameter=True)
W_K = Role("W_K", parameter=True)
W_V = Role("W_V", parameter=True)
B_Q = Role("b_Q", parameter=True)
B_K = Role("b_K", parameter=True)
B_V = Role("b_V", parameter=True)
QUERY = Role("query")
KEY = Role("key")
VALUE = Role("value")
KEYS = Role("keys")
VALUES = Role("values")
DOT = Role("dot", RoundingRule.EXACT, to_weights=True)
D_K = Role("d_k")
SCALE = Role("scale", RoundingRule.EXACT)
SCORES = Role("scores", to_weights=True)
MASKED = Role("masked", to_weights=True, hides=True)
MAX = Role("max")
SHIFTED = Role("shifted", to_weights=True, hides=True)
EXP = Role("exp", RoundingRule.SHARED, to_weights=True)
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

NORM_AFTER = norm_roles("norm_after")
RESIDUAL = Role("residual")
GAIN = Role("norm.gain", parameter=True)
SHIFT = Role("norm.shift", parameter=True)
MEAN = Role("norm.mean", RoundingRule.WORKING)
DEVIATION = Role("norm.deviation", RoundingRule.WORKING)
SQUARED = Role("norm.squared", RoundingRule.WORKING)
VARIANCE = Role("norm.variance", RoundingRule.WORKING)
STD = Role("norm.std", RoundingRule.WORKING)
NORM = Role("norm")
X_HAT = Role("norm.standardized", RoundingRule.WORKING)
STANDARDIZED = Role("norm.standardized")
ROOT_SQUARED = Role("norm.squared", RoundingRule.WORKING)
MEAN_SQUARE = Role("norm.mean_square", RoundingRule.WORKING)
RMS = Role("norm.rms", RoundingRule.WORKING)
RMS_X_HAT = Role("norm.standardized", RoundingRule.WORKING)
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
UNSCALED_LOGITS = Role("logits.unscaled", RoundingRule.WORKING)
UNCAPPED_LOGITS = Role("logits.uncapped")
LOGITS = Role("logits")
WORD_MAX = Role("probabilities.max")
WORD_SHIFTED = Role("probabilities.shifted")
WORD_EXP = Role("probabilities.exp", RoundingRule.SHARED)
WORD_EXP_SUM = Role("probabilities.exp_sum", RoundingRule.SHARED)
PROBABILITIES = Role("probabilities")
PREDICTION = Role("prediction", words=True)

TARGET = Role("loss.target", words=True)
COUNTED_PROBABILITIES = Role("loss.probabilities")
CORRECT_LOSS = Role("loss.correct_word", RoundingRule.WORKING)
WORD_LOSS = Role("loss.words", RoundingRule.WORKING)
MEAN_WORD_LOSS = Role("loss.words_mean", RoundingRule.WORKING)
TOKEN_LOSS = Role("loss.token", RoundingRule.WORKING)
BATCH_LOSSES = Role("loss.batch")
LOSS = Role("loss")
PERPLEXITY = Role("loss.perplexity")

SQUARED_OUTPUT = Role("loss.output")
SQUARED_TARGET = Role("loss.target")
ERROR = Role("loss.error", RoundingRule.WORKING)
SQUARED_ERROR = Role("loss.squared", RoundingRule.WORKING)
MULTIPLIED_ERROR = Role("loss.squared", RoundingRule.WORKING)
TOKEN_ERROR = Role("loss.token", RoundingRule.WORKING)
SQUARED_LOSS = Role("loss")

BINARY_OUTPUT = Role("loss.output")
BINARY_TARGET = Role("loss.target")
SIGMOID = Role("loss.sigmoid")
CORRECT = Role("loss.correct")
SURPRISE = Role("loss.surprise", RoundingRule.WORKING)
TOKEN_SURPRISE = Role("loss.token", RoundingRule.WORKING)
BATCH_SURPRISES = Role("loss.batch")
BINARY_LOSS = Role("loss")

SQUARES = Role("squares")
GRADIENT_NORM = Role("norm")
LARGEST_NORM = Role("norm.largest")
SHRINK = Role("norm.factor")

PAIR_DOT = Role("pairs.dot", RoundingRule.EXACT)
PAIRS = Role("pairs")
QUERY_SUMS = Role("pairs.of_query", RoundingRule.ALL)
KEY_SUMS = Role("pairs.of_key", RoundingRule.ALL)
PAIRS_SUM = Role("parts.sum", RoundingRule.ALL)
PARTS = Role("parts")
PARTS_SUM = Role("parts.sum", RoundingRule.ALL)
ROUNDING = Role("rounding", RoundingRule.ALL)

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

ADDED_WAVES = WaveRoles(POSITION_INDEX, DIV_TERM, ANGLE, SIN, COS)

ATTENTION_SOFTMAX = SoftmaxRoles(MAX, SHIFTED, EXP, EXP_SUM, WEIGHTS)
UNMASKED_SOFTMAX = SoftmaxRoles(
    UNMASKED_MAX, UNMASKED_SHIFTED, UNMASKED_EXP, UNMASKED_EXP_SUM, UNMASKED_WEIGHTS
)
WORD_SOFTMAX = SoftmaxRoles(WORD_MAX, WORD_SHIFTED, WORD_EXP, WORD_EXP_SUM, PROBABILITIES)
OF_WORDS = frozenset(
    (UNSCALED_LOGITS, UNCAPPED_LOGITS, LOGITS, *vars(WORD_SOFTMAX).values(), PREDICTION)
)
"""Values of which each row follows from the same row of the output."""
DRAWN_SOFTMAX = SoftmaxRoles(
    DRAWN_MAX, DRAWN_SHIFTED, DRAWN_EXP, DRAWN_EXP_SUM, DRAWN_PROBABILITIES
)

CROSS_ENTROPY = LossRoles(TOKEN_LOSS, BATCH_LOSSES, LOSS)
SQUARED_ERRORS = LossRoles(TOKEN_ERROR, None, SQUARED_LOSS)
BINARY_CROSS_ENTROPY = LossRoles(TOKEN_SURPRISE, BATCH_SURPRISES, BINARY_LOSS)
LOSSES = (CROSS_ENTROPY, SQUARED_ERRORS, BINARY_CROSS_ENTROPY)

HIDDEN_LAYERS = (HIDDEN, ACTIVATION, GATED)

TABLES = {EMBEDDING: EMBEDDINGS, POSITION: POSITIONS}
"""The learned table that each of these values is some rows of."""

SUB_LAYER_NORM = NormRoles(
    gain=GAIN,
    shift=SHIFT,
    mean=MEAN,
    deviation=DEVIATION,
    squared=SQUARED,
    variance=VARIANCE,
    std=STD,
    layer_norm=NORM,
    root_squared=ROOT_SQUARED,
    mean_square=MEAN_SQUARE,
    rms=RMS,
    rms_norm=RMS_NORM,
    x_hat=X_HAT,
    rms_x_hat=RMS_X_HAT,
    standardized=STANDARDIZED,
)
"""The norm of a sub-layer, or behind the layers."""

NORMS = (NORM_AFTER, SUB_LAYER_NORM)
"""The norms but those of parts."""

ROLES = tuple(
    dict.fromkeys(
        role
        for declared in list(globals().values())
        for role in (vars(declared).values() if isinstance(declared, NormRoles) else (declared,))
        if isinstance(role, Role)
    )
)
"""All roles but those of parts, in the order of this file."""
