"""A Hypothesis strategy that makes every choice that the schema has, but for those of files.

`random_scenarios` draws the decoder; here it is written in other ways (a matrix transposed, tokens
as a sentence or a text with merges), gets settings for training and generation, pinned values, and
floats whose sums cancel. What is done to it follows from one drawn number: of so many choices at
once hypothesis would draw few.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.random_scenarios import Scenario, scenarios

Way: TypeAlias = Callable[[Scenario, random.Random], None]

WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_3", "W_U")
NORMS = ("norm", "final_norm")
HIDDEN = ("-inf", "-.inf", "-∞")


@st.composite
def whole_scenarios(draw: st.DrawFn, /, carry: str | None = None, **asked: Any) -> Scenario:
    """A scenario of any kind that needs no file, and can be computed."""
    _, written = draw(plain_and_written(carry, **asked))
    return written


@st.composite
def plain_and_written(
    draw: st.DrawFn, /, carry: str | None = None, **asked: Any
) -> tuple[Scenario, Scenario]:
    """A scenario with tokens in a list and numbers in rows, and the same written in other ways.

    Weights that are drawn are other ones in each.
    """
    kinds = ("plain", "alike", "encoder", "learns", "sizes")
    kind = draw(st.sampled_from(kinds if carry in (None, "never") and not asked else kinds[:-1]))
    if kind == "sizes":
        spec = draw(from_sizes())
        return spec, spec
    settings: dict[str, Any] = {"all_digits": True, "epsilons": ("0.1", "0.00001"), **asked}
    if kind == "learns":
        spec = draw(learning_scenarios(draw(_carries(carry)), **settings))
    else:
        encoder = {"encoder": True, "encodes": True} if kind == "encoder" else {}
        spec = draw(scenarios(carry, **{"alike": kind == "alike", **encoder, **settings}))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    ways = rng.sample(sorted({**SETTINGS, **FORMS}), rng.randint(0, 9))
    for name, way in SETTINGS.items():
        if name in ways and (name not in CARRIES_NOTHING or carry in (None, "never")):
            way(spec, rng)
    written = deepcopy(spec)
    for name, way in FORMS.items():
        if name in ways:
            way(written, rng)
    return spec, written


def _carries(carry: str | None) -> st.SearchStrategy[str]:
    return st.sampled_from(("line", "step", "never")) if carry is None else st.just(carry)


# --- other ways to write it ----------------------------------------------------------------------


def _mappings(data: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a scenario, the outermost first."""
    if isinstance(data, dict):
        yield data
    for inner in data.values() if isinstance(data, dict) else data if _is_list(data) else ():
        yield from _mappings(inner)


def _is_list(data: Any) -> bool:
    return isinstance(data, list)


def _matrices(spec: Scenario) -> list[tuple[dict[str, Any], str]]:
    """Where matrices of weights are written out."""
    return [(m, key) for m in _mappings(spec) for key in WEIGHTS if _is_list(m.get(key))]


def _some(found: list[Any], rng: random.Random) -> list[Any]:
    """One of them at least, if there are any."""
    return rng.sample(found, rng.randint(1, len(found))) if found else []


def transposed(spec: Scenario, rng: random.Random) -> None:
    for part, key in _some(_matrices(spec), rng):
        part[key] = {"transposed": [list(column) for column in zip(*part[key], strict=True)]}


def identity(spec: Scenario, rng: random.Random) -> None:
    square = [(m, key) for m, key in _matrices(spec) if len(m[key]) == len(m[key][0])]
    for part, key in _some(square, rng):
        part[key] = "identity"


def _drawn(columns: int, rng: random.Random) -> Scenario:
    settings = {
        "seed": rng.randint(0, 9),
        "largest": rng.choice((1, 2, Decimal("0.5"))),
        "decimals": rng.randint(1, 3),
    }
    kept = rng.sample(sorted(settings), rng.randint(0, 3))
    return {"random": {"columns": columns} | {name: settings[name] for name in kept}}


def drawn_weights(spec: Scenario, rng: random.Random) -> None:
    for part, key in _some(_matrices(spec), rng):
        part[key] = _drawn(len(part[key][0]), rng)


def drawn_embeddings(spec: Scenario, rng: random.Random) -> None:
    """Those of the decoder and of the encoder, by word."""
    for part in (spec, spec.get("encoder", {})):
        rows = part.get("embeddings")
        if isinstance(rows, dict) and "random" not in rows and rng.random() < 0.8:
            part["embeddings"] = _drawn(len(next(iter(rows.values()))), rng)


def sentences(spec: Scenario, rng: random.Random) -> None:
    """Lists of words as one text; not of words that would fall apart, or vanish."""
    for part in (spec, spec.get("encoder", {}), *spec.get("training", ())):
        for key in ("tokens", "vocabulary", "targets"):
            words = part.get(key)
            if _is_list(words) and all(word.split() == [word] for word in words):
                part[key] = " ".join(words)


def words_that_are_none(spec: Scenario, rng: random.Random) -> None:
    """`no` and 1.5 are words, too: names of columns and units."""
    odd = [Decimal("1.5"), True, None, "x", "y", "z"]
    for part in _mappings(spec):
        for key in ("features", "labels", "query", "key", "value"):
            if _is_list(part.get(key)):
                part[key] = odd[: len(part[key])]


def infinities(spec: Scenario, rng: random.Random) -> None:
    if _is_list(spec.get("mask")):
        spec["mask"] = [
            [rng.choice(HIDDEN) if entry == "-inf" else entry for entry in row]
            for row in spec["mask"]
        ]


def parts_set_otherwise(spec: Scenario, rng: random.Random) -> None:
    """Other norms, activations and scales, of the decoder and of the encoder."""
    for whole in (spec, spec.get("encoder", {})):
        if "layers" in whole:
            whole.setdefault("final_norm", rng.choice(("none", {"epsilon": Decimal("0.1")})))
            width = _width_behind(spec, decoder=whole is spec)
            if isinstance(whole["final_norm"], dict) and width > 1:
                whole["final_norm"]["deviation"] = rng.choice(("sample", "population"))
                whole["final_norm"].pop("kind", None)
    for part in _mappings(spec):
        if "rotary" in part:
            part["rotary"]["layout"] = rng.choice(("pairs", "halves"))
            part["rotary"]["factors"] = [Decimal(rng.choice(("1", "0.5", "8")))]
        if "heads" in part:
            part["scale"] = rng.choice(("sqrt", "none", Decimal("0.5"), 3))
        if "W_1" in part:
            part["activation"] = rng.choice(("relu", "none", "gelu", "gelu_tanh", "silu"))
            if "W_3" not in part and rng.random() < 0.4:
                part["W_3"] = [[_tenth(rng) for _ in row] for row in part["W_1"]]
                part["b_3"] = [_tenth(rng) for _ in part["W_1"][0]]
        for key in NORMS:
            if isinstance(norm := part.get(key), dict) and "deviation" not in norm:
                norm["kind"] = rng.choice(("layer_norm", "rms_norm"))
                norm["epsilon_outside"] = rng.random() < 0.5


def _width_behind(spec: Scenario, *, decoder: bool) -> int:
    """How wide the vectors behind the last layer are, if a matrix tells."""
    if decoder:
        unembedding = spec.get("unembedding")
        return len(unembedding["W_U"]) if isinstance(unembedding, dict) else 0
    crossed = [layer["cross_attention"] for layer in spec["layers"] if "cross_attention" in layer]
    return len(crossed[0]["heads"][0]["W_K"]) if crossed else 0


def what_is_meant_anyway(spec: Scenario, rng: random.Random) -> None:
    """Settings that say what holds if they are left out."""
    for part in _mappings(spec):
        for key in NORMS:
            if isinstance(norm := part.get(key), dict):
                norm.setdefault("kind", "layer_norm")
                norm.setdefault("epsilon_outside", False)
                if norm["kind"] == "layer_norm":
                    norm.setdefault("deviation", "population")
    spec.setdefault("positions", "none")
    spec.setdefault("arithmetic", "decimal")
    if "embeddings" in spec.get("encoder", {}):
        spec["encoder"].setdefault("positions", "none")


def text(spec: Scenario, rng: random.Random) -> None:
    """In place of tokens: a text without spaces whose merges leave just these."""
    tokens = spec["tokens"]
    if not _is_list(tokens) or "batch" in spec or any(" " in t or not t for t in tokens):
        return
    merges = [
        [token[:i], token[i]] for token in dict.fromkeys(tokens) for i in range(1, len(token))
    ]
    if joined("".join(tokens), merges) == tokens:
        spec["text"] = "".join(tokens)
        spec["merges"] = [" ".join(pair) if rng.random() < 0.5 else pair for pair in merges]
        del spec["tokens"]


def joined(text: str, merges: list[list[str]]) -> list[str]:
    """The tokens of a text without spaces: each merge is done wherever it can be, in order."""
    symbols = list(text)
    for left, right in merges:
        i = 0
        while i + 1 < len(symbols):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
            i += 1
    return symbols


# --- settings ------------------------------------------------------------------------------------


def optimizer(spec: Scenario, rng: random.Random) -> None:
    kind = rng.choice(("sgd", "adam", "adamw"))
    settings: Scenario = {
        "learning_rate": Decimal(rng.choice(("0.01", "0.5", "1"))),
        "weight_decay": Decimal(rng.choice(("0", "0.1"))),
        "clip": Decimal(rng.choice(("0.1", "1000"))),
    }
    if kind == "sgd":
        settings["momentum"] = Decimal(rng.choice(("0", "0.5", "0.9")))
    else:
        settings["beta_1"] = Decimal(rng.choice(("0.5", "0.9")))
        settings["beta_2"] = Decimal(rng.choice(("0.9", "0.99")))
        settings["epsilon"] = Decimal(rng.choice(("0.0001", "0.1")))
    kept = rng.sample(sorted(settings), rng.randint(1, len(settings)))
    named = {} if kind == "sgd" and rng.random() < 0.5 else {"kind": kind}
    spec["optimizer"] = named | {name: settings[name] for name in kept}


def generation(spec: Scenario, rng: random.Random) -> None:
    settings: Scenario = {"max_tokens": rng.randint(1, 3)}
    if isinstance(spec["embeddings"], dict):
        settings["start"] = rng.choice(spec["tokens"])
    if "vocabulary" in spec:
        settings["end"] = rng.choice(spec["vocabulary"])
    kept = rng.sample(sorted(settings), rng.randint(1, len(settings)))
    spec["generation"] = {name: settings[name] for name in kept}


def digits(spec: Scenario, rng: random.Random) -> None:
    """More decimals inside a step, and decimals of a single value."""
    spec["rounding"]["working"] = rng.randint(0, 3)
    spec["rounding"].setdefault("digits", {})["*.weights"] = {"decimals": rng.randint(1, 4)}


def examples(spec: Scenario, rng: random.Random) -> None:
    """Training examples in place of targets."""
    if "targets" in spec and isinstance(spec["embeddings"], dict) and "training" not in spec:
        targets = spec.pop("targets")
        spec["training"] = [{"tokens": spec["tokens"], "targets": targets}]


def pins(spec: Scenario, rng: random.Random) -> None:
    """Given values: a number, a row, rows, and rows with -∞."""
    given: Scenario = {}
    length, width = len(spec["tokens"]), _width(spec)
    if rng.random() < 0.4:
        given["input"] = [[_tenth(rng) for _ in range(width)] for _ in range(length)]
    first = spec["layers"][0] if spec["layers"] else {}
    if first.get("attention", {}).get("scale", "none") != "none" and rng.random() < 0.6:
        given["layer1.attention.head1.scale"] = Decimal(rng.choice(("0.5", "2")))
    if "b_U" in spec.get("unembedding", {}) and rng.random() < 0.6:
        given["unembedding.b_U"] = [_tenth(rng) for _ in spec["vocabulary"]]
    if "attention" in first and spec.get("mask") != "none" and rng.random() < 0.6:
        given["mask"] = [
            [0 if j <= i else rng.choice(HIDDEN) for j in range(length)] for i in range(length)
        ]
    if given:
        spec["given"] = given
    if "training" in spec and rng.random() < 0.8:
        example = spec["training"][0]
        rows = [[_tenth(rng) for _ in range(width)] for _ in example["tokens"]]
        example["given"] = {"input": rows}


def _width(spec: Scenario) -> int:
    rows = spec["embeddings"]
    return len(next(iter(rows.values())) if isinstance(rows, dict) else rows[0])


def _tenth(rng: random.Random) -> Decimal:
    return Decimal(rng.randint(-20, 20)) / 10


# --- floats --------------------------------------------------------------------------------------


def floats(spec: Scenario, rng: random.Random) -> None:
    spec["arithmetic"] = "float64"
    spec["rounding"]["carry"] = "never"


def sums_that_cancel(spec: Scenario, rng: random.Random) -> None:
    """Rows that come to nothing, or nearly so, with columns that weigh all alike."""
    floats(spec, rng)
    rows = spec["embeddings"]
    for key in rows if isinstance(rows, dict) else range(len(rows)):
        if rng.random() < 0.7:
            rows[key] = _cancelling(len(rows[key]), rng)
    for part, name in _matrices(spec):
        for column in range(len(part[name][0])):
            if rng.random() < 0.5:
                weight = Decimal(rng.choice(("1", "-1", "0.1", "0.7", "3")))
                for row in part[name]:
                    row[column] = weight


def _cancelling(length: int, rng: random.Random) -> list[Decimal]:
    """0.1, 0.2, -0.3; or a large number, its negative, and a small one that is left."""
    sizes = rng.choice((("0.1", "0.2", "0.7", "1.1"), ("1000000.1", "0.3"), ("0.001", "12345.678")))
    row = [Decimal(rng.choice(sizes)) * rng.choice((1, -1)) for _ in range(length - 1)]
    left = Decimal(rng.choice(("0", "0", "0.0000000001", "0.0001")))
    row.append(left - sum(row))
    rng.shuffle(row)
    return row


SETTINGS: dict[str, Way] = {
    "sums that cancel": sums_that_cancel,
    "floats": floats,
    "digits": digits,
    "generation": generation,
    "optimizer": optimizer,
    "examples": examples,
    "set otherwise": parts_set_otherwise,
    "pins": pins,
    "meant anyway": what_is_meant_anyway,
}
FORMS: dict[str, Way] = {
    "infinities": infinities,
    "odd words": words_that_are_none,
    "text": text,
    "identity": identity,
    "drawn": drawn_weights,
    "transposed": transposed,
    "drawn embeddings": drawn_embeddings,
    "sentences": sentences,
}
"""In this order: what looks at words and numbers comes before what writes them in short."""

CARRIES_NOTHING = ("floats", "sums that cancel")


# --- decoders by their sizes ---------------------------------------------------------------------


@st.composite
def from_sizes(draw: st.DrawFn) -> Scenario:
    """A small decoder by its dimensions, its weights from a seed."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    heads = rng.choice((1, 2, 4))
    width = 4 * rng.choice((1, 2))
    tokens = [rng.choice(("the", "cat", "sat")) for _ in range(rng.randint(1, 4))]
    always: Scenario = {
        **{"layers": rng.randint(1, 2), "width": width, "heads": heads, "words": rng.randint(3, 6)},
        "context": rng.randint(4, 6),
        "d_k": rng.choice((2, 4)),
    }
    asked: Scenario = {
        "key_heads": rng.choice([n for n in (1, 2, 4) if heads % n == 0]),
        "hidden": rng.randint(1, 5),
        "positions": rng.choice(("learned", "sinusoidal", "rotary", "none", "none")),
        "norm": rng.choice(("layer_norm", "rms_norm", "none")),
        "placement": rng.choice(("pre", "post")),
        "activation": rng.choice(("relu", "gelu", "gelu_tanh", "silu", "none")),
        **{key: rng.random() < 0.5 for key in ("final_norm", "gated", "biases", "tied")},
    }
    kept = rng.sample(sorted(asked), rng.randint(3, len(asked)))
    spec: Scenario = {"title": "Random sizes", "tokens": tokens}
    spec["dimensions"] = always | {name: asked[name] for name in kept}
    if rng.random() < 0.3:
        spec["encoder"] = {"tokens": ["I", "like"]} | ({"width": 4} if rng.random() < 0.5 else {})
    spec["random"] = {"seed": rng.randint(0, 99)}
    if rng.random() < 0.5:
        spec["generation"] = {"max_tokens": 2, "start": rng.choice(tokens)}
    if rng.random() < 0.8:
        spec["rounding"] = {"decimals": rng.randint(1, 5), "carry": "never"}
    return spec
