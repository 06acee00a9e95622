"""A typed text with typed merges, written out as the tokens that it becomes.

They become plain data, as if somebody had typed them where the text stands.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracer.errors import Problem
from tracer.names import closest
from tracer.scenario.fields import pair_of
from tracer.scenario.parts import address
from tracer.scenario.reader import Data, Source, YamlPath
from tracer.scenario.sizes import part, words_of
from tracer.tokenization.typed import encode


def with_tokens(source: Source) -> Source:
    """With the tokens of its text; and their ids, where the vocabulary has all of them.

    Where something is wrong with the text, or there is none, it stays as it is.
    """
    text, pairs = part(source.data, ("text",)), _pairs(source.data)
    if not isinstance(text, str) or pairs is None or any(_faults(source.data)):
        return source
    tokens: list[Data] = [token.text for token in encode(text, pairs).tokens]
    words = words_of(part(source.data, ("vocabulary",))) or []
    if part(source.data, ("token_ids",)) is None and all(token in words for token in tokens):
        source = source.at("text", "token_ids", [str(words.index(each)) for each in tokens])
    return source.at("text", "tokens", tokens)


def wrong(source: Source) -> list[Problem]:
    """What is wrong with the text and its merges, but for what each of them is by itself."""
    found = _faults(source.data)
    return [source.problem(place, message, address(place)) for place, message in found]


def _faults(data: Data) -> Iterator[tuple[YamlPath, str]]:
    has_text, has_merges = (part(data, (name,)) is not None for name in ("text", "merges"))
    if has_text and part(data, ("tokens",)) is not None:
        yield ("text",), "beside tokens, expected one of both"
    if has_text and not has_merges:
        form = "merges: [[l, o], [lo, w]], or tokens in place of the text"
        yield ("text",), f"a text without merges, expected {form}"
    if has_merges and not has_text:
        yield ("merges",), "merges without a text, expected text: low lower lowest"
    yield from _unknown_symbols(_pairs(data) or [])


def _unknown_symbols(pairs: list[tuple[str, str]]) -> Iterator[tuple[YamlPath, str]]:
    """What is joined has to be there by then."""
    made, joined = set[str](), dict[tuple[str, str], int]()
    for i, pair in enumerate(pairs):
        if pair in joined:
            yield ("merges", i), f"the same as entry {joined[pair] + 1}"
        for symbol in dict.fromkeys(pair):
            if len(symbol) > 1 and symbol not in made:
                message = f"{symbol!r} is no character, and no merge before makes it"
                yield ("merges", i), message + closest(symbol, made)
        made.add("".join(pair))
        joined.setdefault(pair, i)


def _pairs(data: Data) -> list[tuple[str, str]] | None:
    """The merges; None where they are none."""
    merges = part(data, ("merges",))
    pairs = list(map(pair_of, merges)) if isinstance(merges, list) else [None]
    known = [pair for pair in pairs if pair]
    return known if len(known) == len(pairs) else None
