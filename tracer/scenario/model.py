"""What a scenario can say. Every model is frozen; numbers are Decimals with the digits typed."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    WrapValidator,
    model_validator,
)

from tracer.names import count
from tracer.scenario import fields
from tracer.scenario.carry import Carry
from tracer.scenario.fields import Frozen, Matrix, Names, OrNone, Row, Rows, Word, Words, described
from tracer.scenario.layers import Layer
from tracer.scenario.loss import Loss
from tracer.scenario.networks import Weights
from tracer.scenario.norms import Normalization
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.part import tower_keys, with_keys_of_parts
from tracer.scenario.rounding import Rounding
from tracer.tokenization.tokenization import Tokenization
from tracer.tokenization.typed import encode

MASKS = ("[MASK]", "<mask>")
"""Tokens that hide a word, which a model with the objective `masked` predicts."""

NO_TARGET = "none"
"""In place of a target, where a position has none; unless it is a word of the vocabulary."""

GRADIENT = "gradient."
"""The beginning of a gradient's address."""
UPDATE = "update."
"""The beginning of the address of what an optimizer computes."""

TARGETS = described(
    "The correct word at each position, or none. Default: the next token; with the objective "
    "masked, none.",
    "[cat, none]",
    None,
)
GIVEN = described(
    "Numbers that replace computed values, by address: a single number, a row or rows; or a "
    ".npz or .safetensors file in this folder that holds them. A gradient, such as "
    "gradient.layer1.attention.output, is where the backward pass begins, without a loss.",
    "{layer1.attention.output: [[1, 2], [3, 4]]}",
    {},
)
GIVEN_SHAPE = fields.Shape((), learned=False)
"""The shape of given values depends on their addresses."""

INTRO = described(
    "The text's opening, in Markdown paragraphs; {value ADDRESS[ROW,COLUMN]} prints a number, "
    "and `as percent` behind the brackets prints it as a percentage.",
    "Four friends discuss where to eat.",
    None,
)
NOTES = described(
    "What to say at a step, in Markdown paragraphs, by the step's name or address.",
    "{softmax: 'Alex listens to {value layer1.attention.head1.weights[Alex,Frank]} of Frank.'}",
    {},
)
SUMMARY = described(
    "The text's end, in Markdown paragraphs.", "Alex leans toward the street stall.", None
)


class Sinusoidal(Frozen):
    """The encoding of Vaswani et al. 2017; `start` is the position of the first token."""

    start: fields.Position = described("The position of the first token.", "1", 1)


@with_keys_of_parts
class Positions(Frozen):
    """How the model encodes positions: added vectors, rotated queries and keys, or lower scores.

    A table has one row per token.
    """

    sinusoidal: Sinusoidal | None = described(
        "Sines and cosines (Vaswani et al. 2017).", "{start: 1}", None
    )
    table: Annotated[Rows | None, fields.Shape(("positions", "width"))] = described(
        "One row per position.", "[[0, 1], [1, 0]]", None
    )

    @property
    def is_added(self) -> bool:
        """Whether they are vectors that are added to the embeddings."""
        return self.sinusoidal is not None or self.table is not None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        ways = type(self).model_fields.items()
        if sum(getattr(self, name) != field.default for name, field in ways) != 1:
            said = [f"{name}: true" if field.annotation is bool else name for name, field in ways]
            raise ValueError(f"expected one of {', '.join(said[:-1])} or {said[-1]}")
        return self


class FixedPositions(Positions):
    """A table that training does not change."""

    table: Rows | None = None


@with_keys_of_parts
class Tower(Frozen):
    """What reads tokens: embeddings, positions, layers, a norm behind them."""

    tokens: fields.Tokens = described(
        "The tokens to read: a list, or a sentence that is split at its spaces.", "[I, like]"
    )
    features: Names | None = described(
        "A name for each feature of the embedding.", "[size, age]", None
    )
    embeddings: Annotated[fields.Embeddings | None, fields.Shape(("words", "width"))] = described(
        "One row of numbers for each word, or for each position.",
        "{big: [0.9, 0.1], cat: [0.4, 0.8]}",
        None,
    )
    positions: OrNone[Positions] = described(
        "Vectors to add to the embeddings, rotary positions, or none.",
        "{sinusoidal: {start: 1}}",
        None,
    )
    embedding_scale: fields.Scale = described(
        "A factor of the embeddings, before positions are added: sqrt, which is the root of the "
        "number of features; a number; or none.",
        "sqrt",
        "none",
    )
    layers: tuple[Layer, ...] = described(
        "The layers, in order. Without any ([]), the input vectors are the model's output.",
        "[{attention: {heads: […]}, ffn: {W_1: …, W_2: …}}]",
        (),
    )
    embedding_norm: OrNone[Normalization] = described(
        "A norm of the embeddings, after their factor and the sum with positions, or none (BERT, "
        "Devlin et al. 2019; BLOOM, Le Scao et al. 2022).",
        "{epsilon: 0.00001}",
        None,
    )
    final_norm: OrNone[Normalization] = described(
        "A norm after the last layer, or none.", "{epsilon: 0.00001}", None
    )

    @property
    def embedding(self) -> Matrix:
        """The embeddings of the tokens, one row per position."""
        table = self.embeddings
        assert table is not None
        if isinstance(table, Mapping):
            return tuple(table[token] for token in self.tokens)
        return table


class Encoder(Tower):
    """What cross-attention looks at: an encoder without a mask, or the vectors that one has made.

    Its vectors may have any width.
    """

    vectors: Annotated[Rows | None, fields.Shape(("keys", "source"), learned=False)] = described(
        "Instead of embeddings and layers: the encoder's output, one row per token.",
        "[[0.1, 0.2], [0.3, 0.4]]",
        None,
    )

    @property
    def is_computed(self) -> bool:
        """Whether its vectors are computed; else they are given, or only its tokens are."""
        return self.embeddings is not None

    @model_validator(mode="after")
    def _given_or_computed(self) -> Self:
        computed = (
            *("embeddings", "positions", "embedding_scale", "embedding_norm", "layers"),
            *("final_norm", *tower_keys()),
        )
        beside = [n for n in computed if getattr(self, n) != Tower.model_fields[n].default]
        if self.vectors is not None and beside:
            raise ValueError(f"vectors and {beside[0]}, expected only one of them")
        return self


class Generation(Frozen):
    """How a text begins and ends when the decoder goes on by itself."""

    start: fields.Beginning = described(
        "The token or tokens to start with. Default: the first.", "[the, cat]", None
    )
    end: Word | None = described("The word that ends the text.", "<END>", None)
    max_tokens: fields.Count = described("The most words to add.", "10", 10)


GENERATION = described(
    "How a generated text begins and ends.", "{max_tokens: 5}", Generation.model_construct()
)


def _rows_or_none(value: Any, rows: Callable[[Any], Any]) -> Any:
    """Return no rows for `tied`, which has been written out before if it could be."""
    return () if value == "tied" else rows(value)


MatrixOrTied = Annotated[Weights, WrapValidator(_rows_or_none), fields.Or({"const": "tied"})]


@with_keys_of_parts
class Unembedding(Frozen):
    """The projection to the vocabulary: W_U of shape (d, words)."""

    W_U: Annotated[MatrixOrTied, fields.Shape(("width", "words"))] = described(
        "One row per feature, one column per word; or tied, to use the embeddings of the words.",
        "[[1, 0], [0, 1]]",
    )
    b_U: Row | None = described("Bias, one number per word.", "[0, 0]", None)
    scale: fields.Positive | None = described(
        "The divisor of the logits, before the soft cap (Granite).", "8", None
    )
    softcap: fields.Positive | None = described(
        "c of the soft cap c·tanh(z/c), which keeps each logit z between −c and c.", "30", None
    )


class Tied(Unembedding):
    """A projection that shares its weights with the embeddings of the words."""


def _tied(value: Any) -> Any:
    """`tied` is written out before; where it could not be, why is told elsewhere."""
    return None if value == "tied" else value


OrTied = Annotated[Unembedding | None, BeforeValidator(_tied), fields.Or({"const": "tied"})]


class Example(Frozen):
    """A training example: what is read, and the right next token at each position."""

    tokens: fields.Tokens = described("The tokens to read.", "[the, cat]")
    targets: Words = described("The correct next word at each position, or none.", "[cat, sat]")
    given: Annotated[dict[str, fields.Pinned], GIVEN_SHAPE] = described(
        "Given values of this example only.", "{mask: [[0]]}", {}
    )


def _carries_nothing(arithmetic: str, info: ValidationInfo) -> str:
    """Floats are no pencil's numbers: what is rounded on the way is decimal."""
    rounding: Rounding = info.data.get("rounding", Rounding(carry=Carry.NEVER))
    if arithmetic == "float64" and rounding.carry is not Carry.NEVER:
        raise ValueError("float64 goes with `rounding: {carry: never}` only")
    return arithmetic


def _shows_later_tokens(mask: fields.Mask) -> bool:
    if isinstance(mask, tuple):
        later = [entry for i, row in enumerate(mask) for entry in row[i + 1 :]]
        return any(entry.is_finite() for entry in later)
    return mask == "none"


class Scenario(Tower):
    """A decoder, its weights, the tokens it reads, and how its numbers are rounded."""

    on_demand: ClassVar[bool] = False
    """Whether its numbers are read, and computed with, only where somebody looks at them."""
    has_numbers: ClassVar[bool] = True
    """Whether anything can be computed; else only its shapes are known."""

    title: fields.Text = described(
        "The heading of every text. Default: the name of the file.", "Two words", "scenario"
    )
    intro: fields.Text | None = INTRO
    notes: dict[str, fields.Text] = NOTES
    summary: fields.Text | None = SUMMARY
    tokens: fields.Tokens = described(
        "The tokens to read: a list, or a sentence that is split at its spaces. Default: the first "
        "sequence of the batch, or the numbers of the typed queries.",
        "[big, cat]",
    )
    text: fields.Text | None = described(
        "Instead of tokens, together with merges: the text is split before each space, and the "
        "characters of each piece are merged to tokens.",
        "low lower lowest",
        None,
    )
    merges: fields.Merges = described(
        "Pairs of neighbors to merge, in the order in which they were learned; without merges, "
        "every character is a token. With a corpus: the number of merges to learn.",
        "[[l, o], [lo, w]]",
        None,
    )
    corpus: Annotated[dict[fields.Word, fields.Frequency] | None, Field(min_length=1)] = described(
        "Words and how often each occurs: the merges are learned from them, the most frequent "
        "pair first. The text is split into words at its spaces; a character that no word of the "
        "corpus has is the token [UNK].",
        "{hug: 10, pug: 5}",
        None,
    )
    token_ids: tuple[fields.WholeNumber, ...] | None = described(
        "The id of each token. Default for a text: the indices of its tokens in the vocabulary, "
        "counted from 0, if it contains all of them.",
        "[7, 42]",
        None,
    )
    encoder: Encoder | None = described(
        "The encoder that cross-attention attends to.",
        "{tokens: [I, like], vectors: [[0.1], [0.2]]}",
        None,
    )
    padding: Word | None = described("The token that no token attends to.", "<PAD>", None)
    mask: fields.Mask = described(
        "What a token attends to: itself and earlier tokens (causal), the last N of them (window), "
        "all tokens (none); or rows of numbers to add to the scores, -inf to hide a token. The "
        "objective masked needs none, which is its default.",
        "{window: 3}",
        "causal",
    )
    objective: Literal["next", "masked"] = described(
        "What the model predicts: the next word (next), or from all tokens the word that a token "
        "[MASK] or <mask> hides (masked; BERT, Devlin et al. 2019).",
        "masked",
        "next",
    )
    softmax: Literal["plain", "shifted"] = described(
        "Whether to subtract each row's largest score first. It is always subtracted if e to the "
        "power of a score would be too large or too small to compute with.",
        "shifted",
        "plain",
    )
    vocabulary: fields.Tokens | None = described(
        "The words that the model can predict.", "[sat, ran]", None
    )
    unembedding: OrTied = described(
        "The projection to the vocabulary; or tied, to use the embeddings of its words.",
        "{W_U: [[1, 0], [0, 1]]}",
        None,
    )
    targets: Words | None = TARGETS
    loss: Loss = described(
        "The loss that training lowers.",
        "{kind: squared, target: [[1, 0], [0, 1]]}",
        Loss.model_construct(),
    )
    batch: tuple[fields.Tokens, ...] = described(
        "Sequences of equal length; --sequence chooses one.", "[[a, b], [b, a]]", ()
    )
    training: tuple[Example, ...] = described(
        "Examples for the loss, instead of the tokens above.",
        "[{tokens: [the, cat], targets: [cat, sat]}]",
        (),
    )
    optimizer: Optimizer = described(
        "How training updates the weights.",
        "{kind: adam, learning_rate: 0.05}",
        Optimizer.model_construct(),
    )
    generation: Generation = described(
        "How a generated text begins and ends.",
        "{start: <START>, end: <END>}",
        Generation.model_construct(),
    )
    given: Annotated[fields.PinnedValues, GIVEN_SHAPE] = GIVEN
    rounding: Rounding = described(
        "How many digits are printed and used further.",
        "{decimals: 3, carry: step}",
        Rounding.model_construct(),
    )
    arithmetic: Annotated[Literal["decimal", "float64"], AfterValidator(_carries_nothing)] = (
        described("The kind of numbers; float64 needs carry: never.", "decimal", "decimal")
    )

    @model_validator(mode="before")
    @classmethod
    def _sees_all_tokens(cls, value: Any) -> Any:
        """A masked word is predicted from all tokens."""
        if isinstance(value, dict) and value.get("objective") == "masked":
            return {"mask": "none", **value}
        return value

    def __repr__(self) -> str:
        return f"<Scenario {self.title!r}: {count(len(self.tokens), 'token')}>"

    def reading(
        self,
        tokens: Names,
        targets: Names | None = None,
        given: dict[str, fields.Pinned] | None = None,
    ) -> Self:
        """The same decoder with other tokens before it."""
        changed: dict[str, Any] = {"tokens": tokens, "text": None, "token_ids": None}
        changed |= {"targets": targets, "loss": self.loss.model_copy(update={"target": None})}
        pinned = {**self.given, **(given or {})}
        return self.without_words().model_copy(update={**changed, "given": pinned})

    def without_words(self) -> Self:
        """The same scenario without its author's words, which are about its own numbers."""
        return self.model_copy(update={"intro": None, "notes": {}, "summary": None})

    def reading_example(self, example: Example) -> Self:
        """The same decoder with a training example before it."""
        return self.reading(example.tokens, example.targets, example.given)

    @property
    def fills_in(self) -> bool:
        """Whether it predicts the words that masks hide, not the next ones."""
        return self.objective == "masked"

    def followed(self, tokens: Names) -> int:
        """Return the position of the token to follow, unless another is asked for: the last.

        It is the first mask for a model that predicts what masks hide.
        """
        masks = (i for i, token in enumerate(tokens) if self.fills_in and token in MASKS)
        return next(masks, len(tokens) - 1)

    @property
    def has_typed_heads(self) -> bool:
        """Whether it starts with typed queries, keys and values in place of embeddings."""
        return self.embeddings is None

    @property
    def is_tied(self) -> bool:
        """Whether the embeddings are the unembedding, too."""
        return isinstance(self.unembedding, Tied)

    @property
    def shares_embeddings(self) -> bool:
        """Whether an encoder looks its tokens up in the decoder's embeddings."""
        table = self.embeddings
        return self.encoder is not None and table is not None and self.encoder.embeddings is table

    @property
    def upstream(self) -> tuple[str, ...]:
        """The addresses of the given gradients at which the backward pass begins, if any are."""
        return tuple(address for address in self.given if address.startswith(GRADIENT))

    @property
    def encodes(self) -> bool:
        """Whether there is an encoder whose vectors are computed."""
        return self.encoder is not None and self.encoder.is_computed

    @property
    def looks_ahead(self) -> bool:
        """Whether the mask of the scenario or of a layer lets a token see a later one."""
        masks = [layer.attention.mask or self.mask for layer in self.layers if layer.attention]
        return any(map(_shows_later_tokens, masks or [self.mask]))

    @property
    def tokenization(self) -> Tokenization | None:
        """How the text became tokens, where there is a text."""
        if self.text is None:
            return None
        return encode(self.text, self.merges or (), self.corpus)

    @property
    def beginning(self) -> Names:
        """What a generated text begins with, unless something else is asked for."""
        return self.generation.start or self.tokens[:1]

    @property
    def ends(self) -> Names:
        """The words that end a generated text."""
        return () if self.generation.end is None else (self.generation.end,)

    @property
    def excluded(self) -> Names:
        """The words that are never generated."""
        return ()

    def tokens_of(self, text: str) -> Names:
        """The tokens of another text: with the merges, if there are any, else its words."""
        if self.text is None:
            return tuple(text.split())
        return tuple(token.text for token in encode(text, self.merges or (), self.corpus).tokens)

    def written(self, tokens: Names) -> str:
        """Tokens as one text."""
        return " ".join(tokens)
