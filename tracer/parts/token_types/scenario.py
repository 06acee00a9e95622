"""The keys of token types: the type of each token, and a row of numbers for each type."""

from __future__ import annotations

from typing import Annotated

from tracer.names import count
from tracer.scenario.expected import Known
from tracer.scenario.fields import Frozen, Matrix, Position, Shape, described
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath


class TowerKeys(Frozen):
    """The keys of a tower."""

    token_types: tuple[Position, ...] | None = described(
        "The type of the token at each position, counted from 0, such as the number of its "
        "sentence. Default: 0. In a longer text, the last type continues.",
        "[0, 0, 1]",
        None,
    )
    type_embeddings: Annotated[Matrix | None, Shape(("types", "width"))] = described(
        "One row per type of token, which is added to the embedding of each token of this type "
        "(BERT, Devlin et al. 2019).",
        "[[0.1, 0], [0, 0.1]]",
        None,
    )


def types_of(keys: TowerKeys, tokens: int) -> tuple[int, ...]:
    """Return the type of each of so many tokens, counted from 0."""
    own = keys.token_types or (0,)
    return (*own, *own[-1:] * (tokens - len(own)))[:tokens]


def check(sizes: ShapeChecker, tower: YamlPath) -> None:
    """Check that each token has a type, each type a row, and each row the embeddings' width."""
    types, table = (*tower, "token_types"), (*tower, "type_embeddings")
    if sizes.has(*types) and not sizes.has(*table):
        form = "type_embeddings: [[0.1, 0], [0, 0.1]]"
        sizes.report(types, f"types without rows to add, expected {form}")
    if not sizes.has(*table):
        return
    sizes.length(types, sizes.tokens_of(tower), "one per token")
    own = [int(each) for each in sizes.entries(*types) if str(each).isdecimal()]
    drawn = max(own, default=0) + 1 if sizes.has(*table, "random") else None
    width = sizes.widths.get((*tower, "embeddings"))
    known = {
        "types": Known(drawn, "one per type"),
        "width": Known(width, "", "one per feature of the embedding"),
    }
    sizes.matrices(TowerKeys, tower, known, {})
    rows = drawn or len(sizes.entries(*table) or sizes.entries(*table, "transposed", 0))
    for position, each in enumerate(sizes.entries(*types)):
        if rows and str(each).isdecimal() and int(each) >= rows:
            message = f"{each}, but type_embeddings has {count(rows, 'row')}, counted from 0"
            sizes.report((*types, position), message)


PART = ScenarioPart(
    keys={"Tower": TowerKeys},
    tower=check,
    variants=(
        (
            "without token types",
            TowerKeys,
            lambda _: {"token_types": None, "type_embeddings": None},
        ),
        ("with all tokens of type 0", TowerKeys, lambda _: {"token_types": None}),
    ),
)
