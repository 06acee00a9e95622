"""Hypothesis strategies that draw valid scenarios.

Structure (how many tokens, layers, heads, which parts are there) is drawn by hypothesis, so that it
shrinks.  The numbers come from one drawn seed, which is quick.  A number depends only on the seed
and on its place: dropping a layer or a bias leaves the other numbers as they were.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TypeVar

from hypothesis import reject, strategies as st

from tests.helpers.command import run
from tests.helpers.random_parts import with_parts
from tests.helpers.reference import ACTIVATIONS
from tests.helpers.scenario_yaml import Scenario, to_yaml

__all__ = [
    "CARRY_MODES",
    "Scenario",
    "odd_tokens",
    "printed_or_rejected",
    "scenarios",
    "to_yaml",
    "words",
]

T = TypeVar("T")

CARRY_MODES = ("line", "step", "never")
EPSILONS = ("0.1", "0.00001", "0")
MOST_TURNS = 3
PATTERNS = (
    *("*.query", "*.dot", "*.scale", "*.masked", "*.exp_sum", "*.weights", "*output", "*.concat"),
    *("*.residual", "*.norm.*", "*.norm", "*.hidden", "input", "position*", "logits"),
    *("probabilities", "probabilities.*", "loss*", "*"),
)

CAUSAL = ("default", "causal")
NEVER_AHEAD = (*CAUSAL, "window")
MASKS = ("default", *NEVER_AHEAD, "none", "rows", "numbers")

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
    encoder: bool | None = None,
    encodes: bool | None = None,
    padded: bool | None = None,
    speaks: bool = False,
    limits: Sequence[int] = (1, 2),
    all_digits: bool = False,
    alike: bool = False,
    keeps_width: bool = False,
    masks: tuple[str, ...] = MASKS,
) -> Scenario:
    """A valid scenario; its numbers with decimals are ``Decimal``, its counts are ``int``.

    ``carry`` fixes the carry mode.  ``names`` gives tokens, labels and vocabulary, and needs six
    different words at least.  ``epsilons`` are the choices for the norms; without a positive one
    among them a row of equal values, which the tool refuses, cannot be avoided at width 1.
    ``encoder`` and ``padded`` say whether there is an encoder and a padding token, ``encodes``
    whether the encoder is computed; None leaves it open.  One that ``speaks`` has an embedding for
    each word of its vocabulary, and positions for ``MOST_TURNS`` more tokens.  No number is larger
    than one of the ``limits``, drawn for all.
    With ``all_digits``, digits may be set for any sort of value, not for scores and e^x alone.
    With ``alike``, numbers are few and often equal, names occur twice, there may be no layers, and
    there are batches and training examples.  One that ``keeps_width`` has vectors as wide as the
    embeddings behind its last layer.  ``masks`` are the choices for the mask.
    """
    make = _Maker(
        draw=draw,
        turned=draw(st.sampled_from((0, 0, 0, 0, 0, 2, 4, 4))),
        masks=masks,
        seed=draw(st.integers(0, 2**32 - 1)),
        limit=draw(st.sampled_from(limits)),
        names=words() if names is None else names,
        epsilons=epsilons,
        alike=alike,
        keeps_width=keeps_width,
    )
    padding = make.padding(padded)
    token = make.names if padding is None else make.names | st.just(padding)
    tokens = draw(st.lists(token, min_size=1, max_size=max_tokens))
    width = draw(st.integers(1, 6))
    scenario: Scenario = {"title": f"Random scenario {make.seed}", "tokens": tokens}
    if padding is not None:
        scenario["padding"] = padding
    if make.flag():
        scenario["token_ids"] = [100 + tokens.index(token) for token in tokens]
    if make.flag():
        scenario["features"] = make.labels(width)
    vocabulary = make.vocabulary() if speaks or make.choose(False, True, True) else None
    if speaks or make.flag():
        distinct = dict.fromkeys([*tokens, *(vocabulary or [])] if speaks else tokens)
        rows = make.matrix("embeddings", len(distinct), width)
        scenario["embeddings"] = dict(zip(distinct, rows, strict=True))
    else:
        scenario["embeddings"] = make.matrix("embeddings", len(tokens), width)
    most = len(tokens) + (MOST_TURNS if speaks else 0)
    scenario |= make.positions("positions", most, width) | make.mask(most)
    if make.choose(False, False, True):
        scenario["softmax"] = make.choose("plain", "shifted")
    source = None
    if make.choose(False, False, True) if encoder is None else encoder:
        source = make.choose(*({1, 2, 3, 4, 5} - {width}))
        if make.choose(False, True) if encodes is None else encodes:
            scenario["encoder"], source = make.encoder(token, source)
        else:
            scenario["encoder"] = make.encoded(source)

    scenario["layers"] = []
    for number in range(1, draw(st.integers(0 if alike else 1, max_layers)) + 1):
        layer, width = make.layer(f"layer{number}", width, source)
        scenario["layers"].append(layer)
    limit_blocks(scenario)
    scenario |= make.final_norm("final", width)
    if vocabulary is not None:
        scenario |= make.unembedding(width, vocabulary)
        if make.choose(False, False, True):
            right = vocabulary if padding is None else [*vocabulary, padding]
            scenario["targets"] = [make.choose(*right) for _ in tokens]
    if alike and isinstance(scenario["embeddings"], dict):
        known = list(scenario["embeddings"])
        scenario |= make.sequences(tokens, known, vocabulary)
    scenario["rounding"] = make.rounding(carry, all_digits)
    return with_parts(scenario, make.seed)


def limit_blocks(scenario: Scenario) -> None:
    """Let no softmax have more blocks than keys."""
    encoder = scenario.get("encoder", {})
    for tower in (scenario, encoder):
        for layer in tower.get("layers", ()):
            for name in ("attention", "cross_attention"):
                of = encoder if tower is encoder or name == "cross_attention" else scenario
                if "blocks" in (part := layer.get(name, {})):
                    part["blocks"] = min(part["blocks"], len(of["tokens"]))


def printed_or_rejected(spec: Scenario, *arguments: str, width: int = 80) -> str:
    """What it prints of a scenario; none where layers make e to the power of millions."""
    ran = run(*arguments, width=width, stdin=to_yaml(spec))
    if re.search("number is too (large|small) to compute with", ran.stderr):
        reject()
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


@cache
def _below(number: int) -> st.SearchStrategy[int]:
    """A number from 0; to build and check a strategy takes longer than to draw from it."""
    return st.sampled_from(range(number))


@dataclass(frozen=True)
class _Maker:
    """Makes the parts of one scenario; ``place`` arguments tell the numbers of the parts apart."""

    draw: st.DrawFn
    turned: int
    """Columns of rotated queries and keys; 0 where positions are added."""
    masks: tuple[str, ...]
    seed: int
    limit: int
    names: st.SearchStrategy[str]
    epsilons: Sequence[str]
    alike: bool = False
    keeps_width: bool = False

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def choose(self, *choices: T) -> T:
        return choices[self.draw(_below(len(choices)))]

    def labels(self, count: int) -> list[str]:
        unique = not self.alike
        return self.draw(st.lists(self.names, min_size=count, max_size=count, unique=unique))

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
        if self.alike and kind < 0.7:
            return Decimal(rng.choice(("-1", "0", "0", "1", "2", "0.5", "-0.5", "1.001")))
        if kind < 0.16:
            return Decimal(0 if kind < 0.08 else 1)
        decimals = rng.randint(1, 4)
        most = self.limit * 10**decimals
        return Decimal(rng.randint(-most, most)).scaleb(-decimals)

    def positions(self, place: str, tokens: int, width: int) -> Scenario:
        if self.turned:
            rotary: Scenario = {
                "base": self.choose(2, 100, 10000),
                "layout": self.choose("pairs", "halves"),
            }
            start = {"start": self.draw(st.integers(0, 3))}
            of_one_pair = {"share": Decimal(2) / self.turned}
            share: Scenario = self.choose({}, of_one_pair, of_one_pair, {"share": Decimal(1)})
            rotary, start = rotary | share, start | share
            rotated = int(self.turned * share.get("share", 1))
            factors = {"factors": self.matrix(f"{place}.factors", 1, rotated // 2)[0]}
            if min(factors["factors"]) > 0:
                rotary |= self.choose({}, factors)
            return {"positions": {"rotary": self.choose(rotary, start, rotary | start)}}
        kind = self.choose("default", "none", "sinusoidal", "table", "alibi")
        if kind == "alibi":
            return {"positions": {"alibi": True}}
        if kind == "sinusoidal":
            elsewhere = self.choose({}, {"alibi": False})
            start = {"start": self.draw(st.integers(0, 3))}
            return {"positions": {"sinusoidal": start, **elsewhere}}
        if kind == "table":
            return {"positions": {"table": self.matrix(place, tokens, width)}}
        return {} if kind == "default" else {"positions": "none"}

    def mask(self, tokens: int) -> Scenario:
        kind = self.choose(*self.masks)
        match kind:
            case "default":
                return {}
            case "window":
                return {"mask": {"window": self.draw(st.integers(1, 4))}}
            case "rows":
                rng = random.Random(f"{self.seed} mask")
                entries = ("-inf", Decimal(0), Decimal(0))
                rows = [[rng.choice(entries) for _ in range(tokens)] for _ in range(tokens)]
                return {"mask": rows}
            case "numbers":
                rng = random.Random(f"{self.seed} mask")
                numbers = ("0", "0", "-99", "-1e9", "-0.25", "1", "-inf")
                rows = [
                    [
                        n if (n := rng.choice(numbers)) == "-inf" else Decimal(n)
                        for _ in range(tokens)
                    ]
                    for _ in range(tokens)
                ]
                return {"mask": rows}
            case _:
                return {"mask": kind}

    def mask_of_layer(self, place: str, source: int | None) -> Scenario:
        """The mask that one layer of the decoder has in place of the scenario's."""
        kinds = [kind for kind in self.masks if kind in ("causal", "window", "none")]
        rng = random.Random(f"{self.seed} {place} mask")
        if source is not None or place.startswith("encoder") or rng.random() < 0.7:
            return {}
        kind = rng.choice(kinds)
        return {"mask": {"window": rng.randint(1, 3)} if kind == "window" else kind}

    def padding(self, wanted: bool | None) -> str | None:
        """The token that fills up; it may be a word like any other."""
        if wanted is False or (wanted is None and self.choose(True, True, False)):
            return None
        return self.draw(st.just("<PAD>") | self.names)

    def encoder(self, token: st.SearchStrategy[str], width: int) -> tuple[Scenario, int]:
        """An encoder that is computed, and the width of its vectors."""
        tokens = self.draw(st.lists(token, min_size=1, max_size=4))
        encoder: Scenario = {"tokens": tokens}
        if self.flag():
            encoder["features"] = self.labels(width)
        rows = self.matrix("encoder.embeddings", len(tokens), width)
        by_word = self.flag()
        encoder["embeddings"] = dict(zip(tokens, rows, strict=True)) if by_word else rows
        encoder |= self.positions("encoder.positions", len(tokens), width)
        encoder["layers"] = []
        for number in range(1, self.draw(st.integers(0, 2)) + 1):
            layer, width = self.layer(f"encoder.layer{number}", width, None)
            encoder["layers"].append(layer)
        return encoder | self.final_norm("encoder.final", width), width

    def final_norm(self, place: str, width: int) -> Scenario:
        if not self.choose(False, False, True):
            return {}
        norm = self.norm(place, width, width)
        if isinstance(norm.get("norm"), dict):
            norm["norm"].pop("placement", None)
        return {f"final_{key}": value for key, value in norm.items()}

    def encoded(self, width: int) -> Scenario:
        """What an encoder has made, given."""
        tokens = self.draw(st.lists(self.names, min_size=1, max_size=4))
        encoder: Scenario = {"tokens": tokens}
        if self.flag():
            encoder["features"] = self.labels(width)
        return encoder | {"vectors": self.matrix("encoder", len(tokens), width)}

    def layer(self, place: str, width: int, source: int | None) -> tuple[Scenario, int]:
        """One layer, and the width of what it hands on; ``source`` is the encoder's width."""
        kinds = ("attention", "ffn") if source is None else ("attention", "cross_attention", "ffn")
        chosen = self.draw(st.sets(st.sampled_from(kinds), min_size=1))
        layer: Scenario = {}
        widths = [width]
        for kind in (kind for kind in kinds if kind in chosen):
            at = f"{place}.{kind}"
            if kind == "ffn":
                layer[kind] = self.ffn(at, width)
            else:
                memory = source if kind == "cross_attention" else None
                layer[kind], width = self.attention(at, width, memory)
            widths.append(width)
        layer |= self.norm(place, *widths)
        return layer, width

    def attention(self, place: str, width: int, source: int | None) -> tuple[Scenario, int]:
        came = width
        heads = [self.head(f"{place}.head1", width, width if source is None else source)]
        read = [heads[0]]  # the head whose keys and values each one has
        for number in range(2, self.draw(st.integers(1, 4)) + 1):
            at = f"{place}.head{number}"
            if self.choose(False, False, False, True):
                shared = self.choose(*(i for i, h in enumerate(heads, 1) if "shares" not in h))
                d_k = len(heads[shared - 1]["W_K"][0])
                heads.append({"W_Q": self.matrix(f"{at}.W_Q", width, d_k), "shares": shared})
                self.maybe_vector(heads[-1], "b_Q", at, d_k)
                read.append(heads[shared - 1])
            else:
                heads.append(self.head(at, width, width if source is None else source))
                read.append(heads[-1])
        attention: Scenario = {"heads": heads}
        if self.choose(False, False, True):
            attention["scale"] = self.choose("sqrt", "none", Decimal("0.5"), Decimal("2.5"))
        attention |= self.softcap() | self.mask_of_layer(place, source)
        if self.choose(False, False, False, True):
            attention["blocks"] = self.choose(1, 2, 2, 3)
        else:
            self.sinks(place, heads)
        concat_width = sum(len(head["W_V"][0]) for head in read)
        if self.keeps_width or self.flag():
            attention["W_O"] = self.matrix(f"{place}.W_O", concat_width, width)
            self.maybe_vector(attention, "b_O", place, width)
            attention |= self.residual()
        elif concat_width == width:
            attention |= self.residual()
        else:
            attention["residual"], width = False, concat_width
        return attention | self.norm(place, came, width), width

    def sinks(self, place: str, heads: list[Scenario]) -> None:
        """Give some heads a sink."""
        rng = random.Random(f"{self.seed} {place} sink")
        for head in heads:
            if rng.random() < 0.25:
                head["sink"] = Decimal(rng.choice(("0.5", "-1", "0", "2.25", "-0.001", "7")))

    def head(self, place: str, width: int, source: int) -> Scenario:
        d_k, d_v = self.draw(st.integers(1, 3)), self.draw(st.integers(1, 3))
        d_k = self.turned or d_k
        sizes = {"query": d_k, "key": d_k, "value": d_v}
        labels = {name: self.labels(size) for name, size in sizes.items() if self.flag()}
        head: Scenario = {"labels": labels} if labels else {}
        for name, size in sizes.items():
            letter = name[0].upper()
            rows = width if name == "query" else source
            head[f"W_{letter}"] = self.matrix(f"{place}.W_{letter}", rows, size)
            self.maybe_vector(head, f"b_{letter}", place, size)
        return head

    def ffn(self, place: str, width: int) -> Scenario:
        hidden = self.draw(st.integers(1, 5))
        ffn: Scenario = {"W_1": self.matrix(f"{place}.W_1", width, hidden)}
        self.maybe_vector(ffn, "b_1", place, hidden)
        ffn["W_2"] = self.matrix(f"{place}.W_2", hidden, width)
        self.maybe_vector(ffn, "b_2", place, width)
        if self.flag():
            ffn["activation"] = self.choose(*ACTIVATIONS)
        if self.choose(False, False, True):
            ffn["W_3"] = self.matrix(f"{place}.W_3", width, hidden)
            self.maybe_vector(ffn, "b_3", place, hidden)
        if self.choose(False, False, False, True):
            ffn["activates"] = self.choose("hidden", "output")
        if self.flag():
            ffn["labels"] = self.labels(hidden)
        return ffn | self.residual() | self.norm(place, width, width)

    def residual(self) -> Scenario:
        return self.choose({}, {"residual": True}, {"residual": False})

    def norm(self, place: str, *widths: int) -> Scenario:
        """A ``norm`` entry, or nothing at all; ``widths`` go into the sub-layers and come out.

        A row of one value needs a positive epsilon, and rows of different widths have no gain.
        """
        kind = self.choose("default", "none", "norm")
        if kind != "norm":
            return {} if kind == "default" else {"norm": "none"}
        norm: Scenario = dict(self.choose({}, {"placement": "pre"}, {"placement": "post"}))
        normed = {*(widths[:-1] if norm.get("placement") == "pre" else widths[1:])}
        positive = [text for text in self.epsilons if Decimal(text) > 0]
        choices = positive if positive and 1 in normed else self.epsilons
        if self.choose(False, False, True):
            norm["kind"] = self.choose("layer_norm", "rms_norm")
        rooted = norm.get("kind") == "rms_norm"
        norm["epsilon"] = Decimal(self.choose(*(positive if rooted and positive else choices)))
        if self.choose(False, False, True):
            norm["epsilon_outside"] = True
        if 1 not in normed and not rooted and self.choose(False, False, True):
            norm["deviation"] = "sample"
        if len(normed) == 1:
            self.maybe_vector(norm, "gain", f"{place}.norm", *normed)
            self.maybe_vector(norm, "shift", f"{place}.norm", *normed)
        return {"norm": norm}

    def sequences(self, tokens: list[str], known: list[str], words: list[str] | None) -> Scenario:
        """A batch that the tokens are a sequence of, and examples to train on."""
        found: Scenario = {}
        other = st.lists(st.sampled_from(known), min_size=len(tokens), max_size=len(tokens))
        if self.choose(True, False, False):
            found["batch"] = [tokens, *self.draw(st.lists(other, max_size=2))]
        if words and self.choose(True, False, False):
            shifted = [*(t if t in words else "none" for t in tokens[1:]), self.choose(*words)]
            others = [self.choose(*words) for _ in tokens]
            found["training"] = [
                {"tokens": tokens, "targets": self.choose(shifted, others)}
                for _ in range(self.choose(1, 2))
            ]
        return found

    def vocabulary(self) -> list[str]:
        unique = st.lists(self.names, min_size=1, max_size=5, unique=True)
        return self.draw(unique) if self.alike else self.labels(self.draw(st.integers(1, 5)))

    def unembedding(self, width: int, vocabulary: list[str]) -> Scenario:
        unembedding: Scenario = {"W_U": self.matrix("W_U", width, len(vocabulary))}
        self.maybe_vector(unembedding, "b_U", "unembedding", len(vocabulary))
        return {"vocabulary": vocabulary, "unembedding": unembedding | self.softcap()}

    def softcap(self) -> Scenario:
        caps = (Decimal("0.5"), Decimal(2), Decimal("30.0"))
        return {"softcap": self.choose(*caps)} if self.choose(False, False, True) else {}

    def rounding(self, carry: str | None, all_digits: bool) -> Scenario:
        rounding: Scenario = {
            "decimals": self.draw(st.integers(1, 5)),
            "carry": self.choose(*CARRY_MODES) if carry is None else carry,
            "trailing_zeros": self.choose("keep", "trim"),
        }
        scores = {"*.scores": self.draw(st.integers(1, 4))} if self.flag() else {}
        exp = {"*.exp": {"significant": self.draw(st.integers(2, 5))}} if self.flag() else {}
        digits: Scenario = {**scores, **exp}
        if all_digits:
            for pattern in self.draw(st.lists(st.sampled_from(PATTERNS), max_size=3, unique=True)):
                digits[pattern] = self.choose(1, 2, 3, 4, {"significant": 3}, {"significant": 4})
        return rounding | ({"digits": digits} if digits else {})
