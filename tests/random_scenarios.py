"""Hypothesis strategies that draw valid scenarios, and a YAML writer that keeps every typed digit.

Structure (how many tokens, layers, heads, which parts are there) is drawn by hypothesis, so that it
shrinks.  The numbers come from one drawn seed, which is quick.  A number depends only on the seed
and on its place: dropping a layer or a bias leaves the other numbers as they were.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from hypothesis import strategies as st

Scenario = dict[str, Any]
T = TypeVar("T")

CARRY_MODES = ("line", "step", "never")
EPSILONS = ("0.1", "0.00001", "0")

WORDS = ("the", "cat", "dog", "sat", "on", "mat", "a", "ran", "big", "red")
ODD_WORDS = (
    *("no", "null", "~", "true", "none", "1.0", "007", "1e3", "2024-01-01", "12:30", ".inf"),
    *("[bold]x[/bold]", "[/]", "[", "]", "{", "<b>", "&amp;", "%s", "{0}", "#", "# x", "- x"),
    *("a|b", "|", "$x$", "$$", "_", "*", "**b**", "`", "\\", "\\n", "\\frac{1}{2}", '"', "'"),
    *("a = b", "=", "x: y", ":", ",", "?", "!tag", "@", "√", "…", "é", "e\u0301", "Z\u0351\u036b"),
    *("🙂", "👩\u200d👩\u200d👧", "🇫🇷", "日本語", "中", "한국", "שלום", "مرحبا", "\u202eabc"),
    *("w" * 300, " ", "a b", " a", "a ", "\u00a0", "\u200b", "\ufeff", "\u3000", "\u2028"),
    *("\n", "a\nb", "\t", "a\tb", "\r", "\x1b[31mred\x1b[0m", "\x00", "\x07", "\x7f", "\x85"),
)


def words() -> st.SearchStrategy[str]:
    """Ordinary short words."""
    return st.sampled_from(WORDS)


def odd_tokens() -> st.SearchStrategy[str]:
    """Words that are hard on YAML, on terminal, Markdown or LaTeX markup, or on column widths."""
    return st.sampled_from(ODD_WORDS)


@st.composite
def scenarios(
    draw: st.DrawFn,
    carry: str | None = None,
    *,
    names: st.SearchStrategy[str] | None = None,
    epsilons: Sequence[str] = EPSILONS,
    max_layers: int = 3,
    max_tokens: int = 6,
) -> Scenario:
    """A valid scenario; its numbers with decimals are ``Decimal``, its counts are ``int``.

    ``carry`` fixes the carry mode.  ``names`` gives tokens, labels and vocabulary, and needs six
    different words at least.  ``epsilons`` are the choices for the norms; without a positive one
    among them a row of equal values, which the tool refuses, cannot be avoided at width 1.
    """
    make = _Maker(
        draw=draw,
        seed=draw(st.integers(0, 2**32 - 1)),
        limit=draw(st.sampled_from((1, 2))),
        names=words() if names is None else names,
        epsilons=epsilons,
    )
    tokens = draw(st.lists(make.names, min_size=1, max_size=max_tokens))
    width = draw(st.integers(1, 6))
    scenario: Scenario = {"title": f"Random scenario {make.seed}", "tokens": tokens}
    if make.flag():
        scenario["token_ids"] = [100 + tokens.index(token) for token in tokens]
    if make.flag():
        scenario["features"] = make.labels(width)
    if make.flag():
        scenario["embeddings"] = make.matrix("embeddings", len(tokens), width)
    else:
        distinct = dict.fromkeys(tokens)
        rows = make.matrix("embeddings", len(distinct), width)
        scenario["embeddings"] = dict(zip(distinct, rows, strict=True))
    scenario |= make.positions(len(tokens), width)

    scenario["layers"] = []
    for number in range(1, draw(st.integers(1, max_layers)) + 1):
        layer, width = make.layer(f"layer{number}", width)
        scenario["layers"].append(layer)
    if make.choose(False, True, True):
        scenario |= make.unembedding(width)
    scenario["rounding"] = make.rounding(carry)
    return scenario


@dataclass(frozen=True)
class _Maker:
    """Makes the parts of one scenario; ``place`` arguments tell the numbers of the parts apart."""

    draw: st.DrawFn
    seed: int
    limit: int
    names: st.SearchStrategy[str]
    epsilons: Sequence[str]

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def choose(self, *choices: T) -> T:
        return self.draw(st.sampled_from(choices))

    def labels(self, count: int) -> list[str]:
        return self.draw(st.lists(self.names, min_size=count, max_size=count, unique=True))

    def matrix(self, place: str, rows: int, columns: int) -> list[list[Decimal]]:
        rng = random.Random(f"{self.seed} {place}")
        return [[self._number(rng) for _ in range(columns)] for _ in range(rows)]

    def vector(self, place: str, length: int) -> list[Decimal]:
        return self.matrix(place, 1, length)[0]

    def maybe_vector(self, part: Scenario, key: str, place: str, length: int) -> None:
        if self.flag():
            part[key] = self.vector(f"{place}.{key}", length)

    def _number(self, rng: random.Random) -> Decimal:
        kind = rng.random()
        if kind < 0.16:
            return Decimal(0 if kind < 0.08 else 1)
        decimals = rng.randint(1, 4)
        most = self.limit * 10**decimals
        return Decimal(rng.randint(-most, most)).scaleb(-decimals)

    def positions(self, tokens: int, width: int) -> Scenario:
        kind = self.choose("default", "none", "sinusoidal", "table")
        if kind == "sinusoidal":
            return {"positions": {"sinusoidal": {"start": self.draw(st.integers(0, 3))}}}
        if kind == "table":
            return {"positions": {"table": self.matrix("positions", tokens, width)}}
        return {} if kind == "default" else {"positions": "none"}

    def layer(self, place: str, width: int) -> tuple[Scenario, int]:
        """One layer, and the width of what it hands on."""
        layer: Scenario = {}
        parts = self.choose("attention", "ffn", "both")
        if parts != "ffn":
            layer["attention"], width = self.attention(f"{place}.attention", width)
        if parts != "attention":
            layer["ffn"] = self.ffn(f"{place}.ffn", width)
        layer |= self.norm(place, width)
        return layer, width

    def attention(self, place: str, width: int) -> tuple[Scenario, int]:
        count = self.draw(st.integers(1, 4))
        heads = [self.head(f"{place}.head{number}", width) for number in range(1, count + 1)]
        attention: Scenario = {"heads": heads}
        concat_width = sum(len(head["W_V"][0]) for head in heads)
        if self.flag():
            attention["W_O"] = self.matrix(f"{place}.W_O", concat_width, width)
            self.maybe_vector(attention, "b_O", place, width)
            attention |= self.residual()
        elif concat_width == width:
            attention |= self.residual()
        else:
            attention["residual"], width = False, concat_width
        return attention | self.norm(place, width), width

    def head(self, place: str, width: int) -> Scenario:
        d_k, d_v = self.draw(st.integers(1, 3)), self.draw(st.integers(1, 3))
        sizes = {"query": d_k, "key": d_k, "value": d_v}
        labels = {name: self.labels(size) for name, size in sizes.items() if self.flag()}
        head: Scenario = {"labels": labels} if labels else {}
        for name, size in sizes.items():
            letter = name[0].upper()
            head[f"W_{letter}"] = self.matrix(f"{place}.W_{letter}", width, size)
            self.maybe_vector(head, f"b_{letter}", place, size)
        return head

    def ffn(self, place: str, width: int) -> Scenario:
        hidden = self.draw(st.integers(1, 5))
        ffn: Scenario = {"W_1": self.matrix(f"{place}.W_1", width, hidden)}
        self.maybe_vector(ffn, "b_1", place, hidden)
        ffn["W_2"] = self.matrix(f"{place}.W_2", hidden, width)
        self.maybe_vector(ffn, "b_2", place, width)
        if self.flag():
            ffn["activation"] = self.choose("relu", "none")
        if self.flag():
            ffn["labels"] = self.labels(hidden)
        return ffn | self.residual() | self.norm(place, width)

    def residual(self) -> Scenario:
        return self.choose({}, {"residual": True}, {"residual": False})

    def norm(self, place: str, width: int) -> Scenario:
        """A ``norm`` entry, or nothing at all; a row of one value needs a positive epsilon."""
        kind = self.choose("default", "none", "norm")
        if kind != "norm":
            return {} if kind == "default" else {"norm": "none"}
        positive = [text for text in self.epsilons if Decimal(text) > 0]
        choices = positive if positive and width == 1 else self.epsilons
        norm: Scenario = {"epsilon": Decimal(self.choose(*choices))}
        self.maybe_vector(norm, "gain", f"{place}.norm", width)
        self.maybe_vector(norm, "shift", f"{place}.norm", width)
        return {"norm": norm}

    def unembedding(self, width: int) -> Scenario:
        vocabulary = self.labels(self.draw(st.integers(1, 5)))
        unembedding: Scenario = {"W_U": self.matrix("W_U", width, len(vocabulary))}
        self.maybe_vector(unembedding, "b_U", "unembedding", len(vocabulary))
        return {"vocabulary": vocabulary, "unembedding": unembedding}

    def rounding(self, carry: str | None) -> Scenario:
        rounding: Scenario = {
            "decimals": self.draw(st.integers(1, 5)),
            "carry": self.choose(*CARRY_MODES) if carry is None else carry,
            "trailing_zeros": self.choose("keep", "trim"),
        }
        scores = {"*.scores": self.draw(st.integers(1, 4))} if self.flag() else {}
        exp = {"*.exp": {"significant": self.draw(st.integers(2, 5))}} if self.flag() else {}
        return rounding | ({"digits": scores | exp} if scores or exp else {})


_KEYWORD_FIELDS = {"positions", "activation", "norm", "carry", "trailing_zeros"}
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def to_yaml(scenario: Scenario) -> str:
    """The scenario as YAML: numbers plain with the digits they have, texts in double quotes."""
    return "".join(f"{line}\n" for line in _mapping_lines(scenario))


def _mapping_lines(mapping: Scenario, quote_keys: bool = False) -> list[str]:
    lines: list[str] = []
    for key, value in mapping.items():
        name = key if key.isidentifier() and not quote_keys else _quoted(key)
        if isinstance(value, str) and key in _KEYWORD_FIELDS and not quote_keys:
            lines.append(f"{name}: {value}")
        elif isinstance(value, dict):
            inner = _mapping_lines(value, quote_keys=key == "embeddings")
            lines += [f"{name}:", *(f"  {line}" for line in inner)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"{name}:")
            for item in value:
                first, *rest = _mapping_lines(item)
                lines += [f"  - {first}", *(f"    {line}" for line in rest)]
        elif isinstance(value, list) and value and isinstance(value[0], list):
            lines += [f"{name}:", *(f"  - {_flow(row)}" for row in value)]
        else:
            lines.append(f"{name}: {_flow(value)}")
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_flow(item) for item in value)}]"
    return format(value, "f") if isinstance(value, Decimal) else _quoted(value)


def _quoted(value: str | int | bool) -> str:
    """JSON quoting is YAML quoting, once what YAML does not take as it is has been escaped."""
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)
