"""The tokens as a setting of a page: the words that they can be, and the labels that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.operations import Given
from tracer.decoder.value import TOKEN, Value
from tracer.names import name_text
from tracer.scenario.edits import OF_THE_AUTHOR, entries_of, quoted
from tracer.scenario.nodes import Nodes

WORDS, IDS = "VALUE", "IDS"
"""What stands for the tokens and their ids in a change of the text."""

KEY = "key"
"""The axis of the tokens that are attended to."""

FOLLOW = (roles.TOKENS.name, roles.TOKEN_IDS.name, roles.EMBEDDING.name)
"""The given values that follow from the tokens."""


def words_of(trace: Trace, nodes: Nodes) -> dict[str, int | None]:
    """Return the words that tokens can be, each with its id; none where tokens cannot be changed.

    A token only chooses a row of the embeddings and, where there are ids, its id. So padding is no
    such word, because it changes the masks, and the tokens of a text have none, because they are
    joined from pieces. A word with a space would be read as two. Values about a block of keys do
    not note which tokens these are.
    """
    scenario, node = trace.scenario, nodes.at(("tokens",))
    table, embedding = scenario.embeddings, trace.values.get(roles.EMBEDDING.name)
    if node is None or nodes.is_shared(("tokens",)) or not isinstance(table, Mapping):
        return {}
    if embedding is None or not isinstance(trace.producers[embedding].operation, Given):
        return {}
    if any(record.output.place.block for record in trace.records):
        return {}
    ids: Mapping[str, int | None] = dict.fromkeys(table)
    if scenario.token_ids is not None:
        pairs = set(zip(scenario.tokens, scenario.token_ids, strict=True))
        ids = dict(pairs)
        if len(ids) < len(pairs):
            return {}
    found = {w: ids[w] for w in table if w in ids and _is_plain(w) and w != scenario.padding}
    return found if len(found) > 1 and set(scenario.tokens) <= set(found) else {}


def _is_plain(word: str) -> bool:
    return word == name_text(word) and len(word.split()) == 1


def tokens_setting(trace: Trace, nodes: Nodes, words: Iterable[str]) -> dict[str, Any]:
    """Return the setting: its values on the tape, and how the text changes.

    Targets and the author's words are about the tokens as they were, so another text has neither.
    """
    changes = [(*nodes.span(node), IDS) for node in [nodes.at(("token_ids",))] if node]
    changes += [(*span, "") for span in entries_of(nodes, ("targets", *OF_THE_AUTHOR))]
    node = nodes.at(("tokens",))
    assert node is not None
    return {
        "name": "tokens",
        "label": "tokens",
        "value": " ".join(trace.scenario.tokens),
        "choices": list(words),
        "number": False,
        "kind": "tokens",
        "values": [i for i, r in enumerate(trace.records) if r.output.address in FOLLOW],
        "change": (*nodes.span(node), WORDS),
        "also": changes,
    }


def row_of(trace: Trace, word: str, number: int | None) -> dict[str, Any]:
    """Return the numbers of a word as they are given, how YAML has it, and its id."""
    table = trace.scenario.embeddings
    assert isinstance(table, Mapping)
    numbers = arithmetic_of(trace.scenario).array(table[word]).tolist()
    found = {"written": quoted(word), "numbers": list(map(str, numbers))}
    return found if number is None else {**found, "id": str(number)}


def tokens_on_axes(value: Value, tokens: Sequence[str]) -> dict[str, Any]:
    """Return under a key which tokens each axis names; nothing if none of them names any."""
    found = [_tokens_on(value, axis, tuple(tokens)) for axis in value.axes]
    return {"tokens": found} if any(found) else {}


def _tokens_on(value: Value, axis: Axis, tokens: tuple[str, ...]) -> list[int | str] | bool:
    """Whether an axis names all tokens; or else which, and further names."""
    of_encoder = axis.name == KEY and value.place.sub_layer == "cross_attention"
    if axis.name not in (TOKEN, KEY) or value.place.encoder or of_encoder:
        return False
    n = len(tokens)
    if axis.positions is not None:
        return [n + position for position in axis.positions]
    if axis.labels[:n] != tokens:
        return False  # the features of keys
    return [*range(n), *map(name_text, axis.labels[n:])] if axis.labels[n:] else True
