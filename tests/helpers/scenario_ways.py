"""Ways to set a scenario otherwise, and to write it in other words, each from random numbers.

`SETTINGS` change what is computed, `FORMS` only how it is written; but drawn weights are others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, TypeAlias

from tests.helpers.authored import words
from tests.helpers.learned_merges import recounted
from tests.helpers.reference import ACTIVATIONS
from tests.helpers.scenario_yaml import Scenario
from tests.helpers.unembeddings import is_tied

Way: TypeAlias = Callable[[Scenario, random.Random], None]

WEIGHTS = (
    *("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_3", "W_U", "W_M"),
    *("router", "shared_gate", "frozen", "A", "B"),
)
NORMS = ("norm", "embedding_norm", "final_norm")
HIDDEN = ("-inf", "-.inf", "-∞")


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
            width = width_behind(spec, decoder=whole is spec)
            if isinstance(whole["final_norm"], dict) and width > 1 and rng.random() < 0.5:
                whole["final_norm"]["deviation"] = rng.choice(("sample", "population"))
                whole["final_norm"].pop("kind", None)
    for part in _mappings(spec):
        if "rotary" in part and "heads" not in part:
            part["rotary"]["layout"] = rng.choice(("pairs", "halves"))
            pairs = next(
                (len(p["W_Q"][0]) // 2 for p in _mappings(spec) if isinstance(p.get("W_Q"), list)),
                len(part["rotary"].get("factors", ())),
            )
            pairs = int(pairs * part["rotary"].get("share", 1))
            if pairs:
                factors = [Decimal(rng.choice(("1", "0.5", "8"))) for _ in range(pairs)]
                part["rotary"].pop("scaling", None)
                part["rotary"]["factors"] = factors
        if "heads" in part:
            part["scale"] = rng.choice(("sqrt", "none", Decimal("0.5"), 3))
        if "W_1" in part:
            if part.get("activation") != "swiglu":
                part["activation"] = rng.choice(ACTIVATIONS)
            if "W_3" not in part and rng.random() < 0.4:
                part["W_3"] = [[_tenth(rng) for _ in row] for row in part["W_1"]]
                part["b_3"] = [_tenth(rng) for _ in part["W_1"][0]]
        for key in NORMS:
            if isinstance(norm := part.get(key), dict) and "deviation" not in norm:
                norm["kind"] = rng.choice(("layer_norm", "rms_norm"))
                norm["epsilon_outside"] = rng.random() < 0.5


def width_behind(spec: Scenario, *, decoder: bool) -> int:
    """How wide the vectors behind the last layer are, if a matrix tells."""
    if decoder:
        unembedding = spec.get("unembedding")
        if isinstance(unembedding, dict) and "transform" in unembedding:
            return len(unembedding["transform"]["W_M"])
        return 0 if unembedding is None or is_tied(spec) else len(unembedding["W_U"])
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
    spec.setdefault("objective", "next")
    if "embeddings" in spec.get("encoder", {}):
        spec["encoder"].setdefault("positions", "none")


WORDS = ("hug", "pug", "low", "lower", "anna", "b")


def text(spec: Scenario, rng: random.Random) -> None:
    """In place of tokens: a text whose merges, typed or learned, leave just these."""
    if "embeddings" not in spec:
        return
    tokens = spec["tokens"]
    if not _is_list(tokens) or any(" " in t or not t for t in tokens):
        return
    if rng.random() < 0.4:
        corpus = {word: rng.randint(1, 20) for word in (*tokens, *rng.sample(WORDS, 2))}
        if number := len(recounted(corpus, 1000)):  # enough that each word is one symbol
            spec["text"] = " ".join(tokens)
            spec["corpus"], spec["merges"] = corpus, number
            del spec["tokens"]
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
        settings["epsilon"] = Decimal(rng.choice(("0", "0.0001", "0.1")))
    if parameters := trainable(spec):
        settings["trains"] = rng.sample(parameters, rng.randint(1, min(3, len(parameters))))
    kept = rng.sample(sorted(settings), rng.randint(1, len(settings)))
    named = {} if kind == "sgd" and rng.random() < 0.5 else {"kind": kind}
    spec["optimizer"] = named | {name: settings[name] for name in kept}


def trainable(spec: Scenario) -> list[str]:
    """Addresses and patterns of parameters that act on the loss, unless they are given."""
    inside = {name for part in _mappings(spec["layers"]) for name in part if name in WEIGHTS}
    first = ["embeddings"] if "embeddings" in spec else []
    last = ["unembedding.W_U"] if "unembedding" in spec and not is_tied(spec) else []
    return [*sorted(f"*.{name}" for name in inside - {"W_Q", "W_K"}), *first, *last]


def generation(spec: Scenario, rng: random.Random) -> None:
    settings: Scenario = {"max_tokens": rng.randint(1, 3)}
    if isinstance(spec["embeddings"], dict):
        settings["start"] = rng.choice((rng.choice(spec["tokens"]), spec["tokens"][:2]))
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
    has_scores = first.get("attention", {}).get("kind", "softmax") == "softmax"
    divides = first.get("attention", {}).get("scale", "none") != "none"
    if divides and has_scores and rng.random() < 0.6:
        given["layer1.attention.head1.scale"] = Decimal(rng.choice(("0.5", "2")))
    if "b_U" in spec.get("unembedding", {}) and rng.random() < 0.6:
        given["unembedding.b_U"] = [_tenth(rng) for _ in spec["vocabulary"]]
    own = first.get("attention", {}).get("mask")
    masked = "attention" in first and own is None and spec.get("mask") != "none"
    if masked and has_scores and rng.random() < 0.6:
        given["mask"] = [
            [0 if j <= i else rng.choice((*HIDDEN, Decimal(-99))) for j in range(length)]
            for i in range(length)
        ]
    if "training" not in spec and rng.random() < 0.3:
        words = len(spec.get("vocabulary", ()))
        of = rng.choice([("input", width), *([("logits", words)] if words else [])])
        rows = [[_tenth(rng) for _ in range(of[1])] for _ in range(length)]
        given[f"gradient.{of[0]}"] = rows
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
    "words": words,
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
