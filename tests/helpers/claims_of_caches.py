"""A judge of what `shapes --caches` says: closed formulas of the papers, and arithmetic as printed.

Shazeer (2019): one head of keys and values. Ainslie et al. (2023): one for each group. DeepSeek-AI
(2024), table 1: d_c + d_R for each layer, which all heads share; 4 d_h and d_h / 2. Jiang et al.
(2023): the last w tokens. Brandon et al. (2024): two layers share. Katharopoulos et al. (2020): a
matrix of d_k × d_v numbers for each head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil


@dataclass(frozen=True)
class Layers:
    """Layers that are alike: the widths (key, value) of each head, and whose keys it reads."""

    number: int
    heads: tuple[tuple[int, int], ...]
    reads: tuple[int, ...]
    latent: tuple[int, int] | None = None
    window: int | None = None
    state: bool = False
    sums: bool = False
    """Whether a state has a sum of keys beside it."""

    @property
    def owners(self) -> list[int]:
        return sorted(set(self.reads))


@dataclass(frozen=True)
class Model:
    """The attention of a decoder, and bytes of a number."""

    layers: list[Layers]
    size: int = 2
    context: int | None = None
    source: int = 0
    lengths: tuple[int, ...] = (1000, 100_000)

    @property
    def equal_heads(self) -> bool:
        return all(len({*each.heads}) == 1 for each in self.layers)

    @property
    def own(self) -> str:
        names = {name_of(each) for each in self.layers}
        name = names.pop() if len(names) == 1 else ""
        return name if name in self.usual else "this model"

    @property
    def window(self) -> int:
        return next((each.window for each in self.layers if each.window), 4096)

    def bytes(self, kind: str, tokens: int) -> int:
        """The bytes of a cache after so many tokens."""
        found = 0
        for each in self.layers:
            window = each.window or self.window
            n = min(tokens, window) if kind == "windowed" else tokens
            if kind == "this model" and each.window:
                n = min(tokens, each.window)
            is_fixed = kind == "state" or (kind == "this model" and each.state)
            found += self.numbers(each, kind) * (1 if is_fixed else n)
        return found * self.size

    def per_token(self, kind: str) -> int:
        layers = [] if kind == "state" else self.layers
        if kind == "this model":
            layers = [each for each in layers if not each.state]
        return sum(self.numbers(each, kind) for each in layers)

    def numbers(self, each: Layers, kind: str) -> int:
        d_k, d_v = each.heads[0]
        own = sum(sum(each.heads[head]) for head in each.owners)
        own = sum(each.latent) if each.latent else own
        latent = sum(each.latent) if each.latent else 4 * d_k + ceil(d_k / 2)
        if each.state and kind == "this model":
            kind = "state"
        of_layer = {
            "multi-head": sum(a + b for a, b in each.heads),
            "grouped": (groups(each) or 0) * (d_k + d_v),
            "multi-query": d_k + d_v,
            "latent": latent,
            "state": sum(a * b + a * each.sums for a, b in each.heads),
        }.get(kind, own)
        return of_layer * (ceil(each.number / 2) if kind == "shared layers" else each.number)

    @property
    def kinds(self) -> list[str]:
        return [*self.usual, *["this model"] * (self.own == "this model")]

    @property
    def usual(self) -> list[str]:
        """The kinds that the heads and layers allow."""
        found = ["multi-head"]
        if self.equal_heads:
            found += ["grouped"] * all(groups(each) for each in self.layers)
            found += ["multi-query", "latent"]
        found += ["windowed"]
        found += ["shared layers"] * any(each.number > 1 for each in self.layers)
        return [*found, "state"]


def name_of(each: Layers) -> str:
    if each.state:
        return "state"
    if each.window:
        return "windowed"
    if each.latent:
        return "latent"
    if len(each.owners) == len(each.heads):
        return "multi-head"
    return "multi-query" if len(each.owners) == 1 else "grouped"


def has_groups(each: Layers) -> bool:
    return not each.latent and 1 < len(each.owners) < len(each.heads)


def groups(each: Layers) -> int:
    """Those of the model; else one for four heads, or for as few as divide them; 0 if none do."""
    heads = len(each.heads)
    if has_groups(each):
        return len(each.owners)
    sizes: list[int] = [4, *range(2, heads)]
    for size in sizes:
        if size < heads and heads % size == 0:
            return heads // size
    return 0


# --- arithmetic ----------------------------------------------------------------------------------


def false_products(text: str) -> list[str]:
    """The lines `2 × 12 layers × (4 + 2) × 2 bytes = 36,864 bytes` of a text that are false."""
    wrong = []
    for left, right in products(text):
        if worth(left) != number(right):
            wrong.append(f"{left} = {right}")
    return wrong


def products(text: str) -> list[tuple[str, str]]:
    """The two sides of each line with bytes."""
    form = r"([(\d][\d,() +×a-z]*×[\d,() +×a-z]*[a-z]) = ([\d,]+) bytes"
    return re.findall(form, text)


def worth(side: str) -> int:
    plain = re.sub("[a-z,]", "", side).replace("×", "*")
    assert re.fullmatch(r"[\d()+* ]+", plain), side
    found: int = eval(plain)
    return found


def number(word: str) -> int:
    return int(word.replace(",", ""))


# --- sentences -----------------------------------------------------------------------------------


def fault(sentence: str, model: Model) -> str | None:
    """What is wrong with a sentence, if anything is."""
    for form, holds in FORMS.items():
        if found := re.fullmatch(form, sentence):
            return None if holds(model, list(found.groups())) else f"false: {sentence}"
    return f"unknown: {sentence}"


def dimensions(model: Model, said: list[str]) -> bool:
    layers, heads, rows, own, window, width = said
    for each in model.layers:
        shown = (
            each.latent
            and f", which share cached rows of {each.latent[0]} and {each.latent[1]} numbers for each token"
        )
        shown = ", each of which keeps a state" if each.state else shown
        few = len(each.owners) < len(each.heads) and not each.latent and not each.state
        d_k, d_v = each.heads[0]
        widths = f"A key has {d_k} number{'s' * (d_k > 1)}, a value {d_v}."
        alike = len({*each.heads}) == 1
        if (
            number(layers) == each.number
            and number(heads) == len(each.heads)
            and (rows or None) == (shown or None)
            and (own and number(own)) == (len(each.owners) if few else None)
            and (window and number(window)) == each.window
            and (width == widths) == alike
        ):
            return True
    return False


def as_many(model: Model, said: list[str]) -> bool:
    """How many times as many bytes a multi-head cache has."""
    tokens, about, times, whose = said
    names = {"this model's own": model.own, "a state": "state"}
    names |= {"one that layers share": "shared layers"}
    kind = names.get(whose) or whose.removeprefix("a ").removesuffix(" one")
    n = number(tokens)
    ratio = Fraction(model.bytes("multi-head", n), model.bytes(kind, n))
    return n == max(model.lengths) and ratio > 1 and near(times, ratio, exact=not about)


def near(written: str, ratio: Fraction, *, exact: bool) -> bool:
    value = Fraction(written.replace(",", ""))
    unit = Fraction(1, 10 ** len(written.partition(".")[2]))
    return value == ratio if exact else value != ratio and abs(value - ratio) <= unit / 2


def heads_of_latent(model: Model, said: list[str]) -> bool:
    about, times = said
    ratio = Fraction(model.per_token("latent"), model.per_token("multi-query"))
    widths = {head for each in model.layers for head in each.heads}
    return len(widths) == 1 and near(times, ratio, exact=not about)


def of_state(model: Model, said: list[str]) -> bool:
    bytes_of_state, tokens = map(number, said)
    more = [model.bytes("multi-head", n) > model.bytes("state", n) for n in (tokens - 1, tokens)]
    return bytes_of_state == model.bytes("state", 7) and more == [False, True]


def whole(model: Model, said: list[str]) -> bool:
    each, tokens, product = map(number, said)
    kind = model.own
    return product == model.bytes(kind, tokens) and each * tokens == product


def in_groups(model: Model, said: list[str]) -> bool:
    others = [each for each in model.layers if not has_groups(each)]
    sizes = {len(each.heads) // groups(each) for each in others}
    return bool(others) and said == [" or ".join(map(str, sorted(sizes)))]


def no_latent(model: Model, said: list[str]) -> bool:
    odd = [each.heads[0][0] % 2 for each in model.layers if not each.latent]
    return bool(odd) and bool(said[0]) == any(odd)


def in_pairs(model: Model, said: list[str]) -> bool:
    odd = any(each.number % 2 for each in model.layers)
    return "shared layers" in model.kinds and bool(said[0]) == odd


def of_encoder(model: Model, said: list[str]) -> bool:
    numbers, size, product = map(number, said)
    return numbers == model.source and size == model.size and product == numbers * size


NUMBER, TOKENS = r"[\d,]+", r"([\d,]+) tokens?"
FORMS = {
    r"A cache keeps what attention reads of earlier tokens, so that it is not computed again for each generated token\. This text compares what kinds of attention keep, with the dimensions of this model\.": lambda m, s: (
        True
    ),
    rf"({NUMBER}) layers? ha(?:s|ve) attention with ({NUMBER}) heads?(, which share cached rows of {NUMBER} and {NUMBER} numbers for each token|, each of which keeps a state)?(?:, of which ({NUMBER}) ha(?:s|ve) keys and values of (?:its|their) own)?(?:; the window is {TOKENS})?\. (A key has .*|The heads have different widths, so they cannot share keys and values\.)": dimensions,
    r"Each number takes (\d) bytes, (as float16 or bfloat16|like the weights in the file)\.": lambda m, s: (
        int(s[0]) == m.size
    ),
    rf"Bytes for each token, and for {TOKENS}(?: and {TOKENS})?:": lambda m, s: (
        [number(n) for n in s if n] == list(m.lengths)
    ),
    r"The marked row is the cache of this model itself\.": lambda m, s: True,
    rf"(TB|GB|MB|kB) for {TOKENS}, where 1 \1 is ({NUMBER}) bytes:": lambda m, s: (
        number(s[2]) == {"TB": 10**12, "GB": 10**9, "MB": 10**6, "kB": 1000}[s[0]]
    ),
    rf"For {TOKENS}, a multi-head cache has (about )?([\d,.]+) times as many bytes as (.*)\.": as_many,
    r"The latent cache has as many numbers as the keys and values of (about )?([\d,.]+) heads\.": heads_of_latent,
    rf"The state has ({NUMBER}) bytes at any length\. A multi-head cache has more from {TOKENS} on\.": of_state,
    rf"This model can read at most {TOKENS}; the caches of more tokens only show how they would grow\.": lambda m, s: (
        number(s[0]) == m.context and m.context < max(m.lengths)
    ),
    r"The sizes of the layers with attention:": lambda m, s: True,
    r"(Where heads or layers differ, the formula applies to those that are alike, and the products are added\. )?The numbers as a formula, and the bytes:": lambda m, s: (
        bool(s[0]) == (len(m.layers) > 1 or not m.equal_heads)
    ),
    r"Grouped: where the model has no groups, (.*) heads share keys and values\.": in_groups,
    r"Latent: where the model has no latent vectors, d_c is 4 d_k and d_R is half of d_k(, rounded up)?, as in DeepSeek-V2 \(2024\)\.": no_latent,
    r"Windowed: the model has no window; here it is 4,096 tokens, as in Mistral 7B \(2023\)\.": lambda m, s: (
        not any(each.window for each in m.layers)
    ),
    r"Shared layers: two layers at a time read the same keys and values(; the last of an odd number has its own)? \(cross-layer attention, Brandon et al\. 2024\)\.": in_pairs,
    r"State: each head adds its tokens up in one matrix, as linear attention and the delta rule do(; with a normalizer, it also keeps the sum of its keys)?\.": lambda m, s: (
        bool(s[0]) == any(each.sums for each in m.layers)
    ),
    rf"For this model: ({NUMBER}) bytes × {TOKENS} = ({NUMBER}) bytes\.": whole,
    rf"Cross-attention keeps the keys and values of the encoder's tokens besides: ({NUMBER}) × (\d) bytes = ({NUMBER}) bytes for each, whatever the decoder reads\.": of_encoder,
}
