"""Latent attention in random scenarios, and what is said of it."""

from __future__ import annotations

import random
from typing import Any

from tests.helpers.claims_of_learning import steepest
from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Judge, Said
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix, norm_of_rows
from tests.helpers.rotary_of_layers import settings_of
from tests.helpers.scenario_yaml import Scenario


def draw(spec: Scenario, rng: random.Random) -> None:
    """Heads that read latent vectors; with rotary positions, a part of them is rotated."""
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers", ()):
            for name in ("attention", "cross_attention"):
                part = layer.get(name, {"heads": [{"shares": 1}]})
                if rng.random() < 0.25 and not any("shares" in head for head in part["heads"]):
                    rotary = "rotary" in tower.get("positions", ()) and name == "attention"
                    _with_latents(part, rotary, rng)


def _with_latents(part: Scenario, rotary: bool, rng: random.Random) -> None:
    heads, own = part["heads"], dict[str, Any]()
    source, of_query = len(heads[0]["W_K"]), len(heads[0]["W_Q"])
    rotated = len(heads[0]["W_Q"][0])
    for name in ("query_norm", "key_norm", "conv_activation"):
        part.pop(name, None)
    for head in heads:
        for name in ("conv_Q", "conv_K", "conv_V"):
            head.pop(name, None)
    own["W_DKV"] = matrix(source, width := rng.randint(1, 3), rng)
    if rng.random() < 0.5:
        own["norm"] = norm_of_rows({width}, rng)
    if rotary:
        own["W_KR"] = matrix(source, rotated, rng)
    if rng.random() < 0.5:
        own["W_DQ"] = matrix(of_query, of_query := rng.randint(1, 3), rng)
        if rng.random() < 0.6:
            own["query_norm"] = norm_of_rows({of_query}, rng)
        for head in heads:
            head["W_Q"] = matrix(of_query, len(head["W_Q"][0]), rng)
    for head in heads:
        head |= {name: matrix(width, len(head[name][0]), rng) for name in ("W_K", "W_V")}
        if rotary:
            head["W_QR"] = matrix(of_query, rotated, rng)
    part["latent"] = own


def rows_and_columns(part: dict[str, Any], name: str) -> tuple[int, int]:
    """The size of a matrix as the scenario has it; LoRA and quantization keep it."""
    matrix: Any = part[name]
    while isinstance(matrix, dict):  # LoRA may adapt quantized weights
        matrix = matrix["frozen" if "frozen" in matrix else "of"]
    return len(matrix), len(matrix[0])


def is_cached(at: Judge) -> bool:
    """Whether a cache keeps these rows: those of the decoder's self-attention."""
    return at.outside is None and "cross_attention" not in at.address


def latent(at: Judge, said: Said) -> None:
    """The vector of a token goes into all heads, whose W_K and W_V read its columns."""
    assert at.address.endswith(".latent") and not partly_given(at)
    sizes = rows_and_columns(part_of(at)["latent"], "W_DKV")
    assert said["weights"] == at.near("latent.W_DKV")["symbol"]
    assert (int(said["width"]), int(said["short"])) == sizes
    for head in part_of(at)["heads"]:
        assert all(rows_and_columns(head, name)[0] == sizes[1] for name in ("W_K", "W_V"))


def cached(at: Judge, said: Said) -> None:
    assert at.address.endswith(".latent") and is_cached(at) and not partly_given(at)


def latent_query(at: Judge, said: Said) -> None:
    assert at.address.endswith(".latent.query") and not partly_given(at)
    assert said["weights"] == at.near("latent.W_DQ")["symbol"]
    _, columns = rows_and_columns(part_of(at)["latent"], "W_DQ")
    assert all(rows_and_columns(head, "W_Q")[0] == columns for head in part_of(at)["heads"])


def fewer(at: Judge, said: Said) -> None:
    """W_DQ with all that reads its result, counted against matrices that read what it reads."""
    assert at.address.endswith(".latent.query")
    width, narrow = rows_and_columns(part_of(at)["latent"], "W_DQ")
    reading = [(head, name) for head in part_of(at)["heads"] for name in ("W_Q", "W_QR")]
    columns = sum(rows_and_columns(head, name)[1] for head, name in reading if name in head)
    assert width * narrow + narrow * columns < width * columns


def is_rotated(at: Judge) -> bool:
    """Whether positions rotate the rotary parts of a section's layer."""
    return settings_of(at.spec, part_of(at)) is not None


def rotary_part(at: Judge, said: Said) -> None:
    ends = {
        "keys": ("latent.rotated_key", "latent.W_KR"),
        "query": ("rotary_query.rotated", "W_QR"),
    }
    address, weights = ends[said["what"]]
    assert at.address.endswith(f".{address}") and not partly_given(at)
    assert said["weights"] == at.near(weights)["symbol"]
    assert bool(said["rotated"]) == is_rotated(at)
    assert (at.address in at.values) == is_rotated(at)


def apart(at: Judge, said: Said) -> None:
    """Each head's keys are joined to the same rows, and no position rotates the latent vector."""
    assert at.address.endswith(".latent.rotated_key") and at.result["operation"] == "rotate"
    sub_layer = at.place
    for head in range(1, len(part_of(at)["heads"]) + 1):
        assert at.values[f"{sub_layer}head{head}.joined_key"]["operands"][1] == at.address
    assert at.near("latent")["operation"] != "rotate"


def shared(at: Judge, said: Said) -> None:
    """Each head's keys are joined to the same rows, which nothing rotates."""
    assert at.address.endswith(".latent.rotated_key") and not is_rotated(at)
    joined = {a: v for a, v in at.values.items() if a.endswith(".joined_key")}
    rows = {v["operands"][1] for a, v in joined.items() if a.startswith(at.place)}
    assert rows == {f"{at.place}latent.key"}


def cached_once(at: Judge, said: Said) -> None:
    assert at.address.endswith(".latent.rotated_key") and is_cached(at)


def joined(at: Judge, said: Said) -> None:
    assert at.address.endswith(f".joined_{said['what']}") and not partly_given(at)
    symbols = [at.values[address]["symbol"] for address in at.result["operands"]]
    assert [said["own"], said["rotary"]] == symbols
    both = zip(*(at.values[address]["data"] for address in at.result["operands"]), strict=True)
    assert at.result["data"] == [[*own, *rotary] for own, rotary in both]


def gradient(at: Judge, said: Said) -> None:
    """A value that is read several times adds up gradients; the goal of another names weights."""
    ends = {"each latent vector": "latent", "each latent vector of the queries": "latent.query"}
    ends |= {f"each joined {name}": f"joined_{name}" for name in ("query", "key")}
    ends |= {"the rotary part of each key": "latent.rotated_key"}
    ends |= {"the rotary part of each query": "rotary_query.rotated"}
    assert at.address.startswith("gradient.") and at.address.endswith(f".{ends[said['what']]}")
    assert bool(said["paths"]) == (at.result["operation"] == "add_all")
    of_query = said["what"] == "the rotary part of each query"
    assert bool(said["weights"]) == (of_query and steepest(at) is not None)


PART = JudgedPart(
    draw=draw,
    titles_of_heads={
        "Rotary part of the query": "rotary_query.rotated",
        "Query with its rotary part": "joined_query",
        "Key with its rotary part": "joined_key",
    },
    titles_of_attention={
        "Latent vector": "latent",
        "Latent vector, normalized": "latent.norm",
        "Latent vector of the queries": "latent.query",
        "Latent vector of the queries, normalized": "latent.query_norm",
        "Rotary part of the keys": "latent.rotated_key",
    },
    backward_titles={
        "the norm of the latent vector": "Latent vector, normalized",
        "the norm of the latent vector of the queries": "Latent vector of the queries, normalized",
    },
    phrases={
        "What all keys and values are computed from.": "latent",
        "What all queries are computed from.": r"latent\.query",
        "The latent vector, normalized.": r"latent\.norm",
        "The latent vector of the queries, normalized.": r"latent\.query_norm",
        "The part of the keys that all heads share.": r"latent\.rotated_key",
        "The part of the query that meets the rotary part of the keys.": r"rotary_query\.rotated",
        "The query and its rotary part side by side.": "joined_query",
        "The key and its rotary part side by side.": "joined_key",
    },
    claims={
        "{weights} maps each vector of {width:int} numbers to a latent vector of {short:int}. All heads compute their keys and values from it.": latent,
        "A cache keeps one latent vector per token in place of the keys and values of all heads. The heads compute their keys and values from it again.": cached,
        "The queries are computed from a latent vector of their own: each vector times {weights}.": latent_query,
        "Two narrow matrices have fewer learned numbers here than one wide matrix. No cache gets smaller by it, because a cache keeps no queries.": fewer,
        "The rotary part of the {what:keys|query} is computed with {weights}{:(?P<rotated> and rotated by the angles of its token)|. This layer has no rotary positions to rotate it}.": rotary_part,
        "Positions rotate this part of the keys, not the latent vector. It is the same for all heads.": apart,
        "It is the same for all heads.": shared,
        "A cache therefore keeps it once per token.": cached_once,
        "Rotated by its position:": lambda at, _: at.address.endswith(
            ("latent.rotated_key", "rotary_query.rotated")
        ),
        "Compute the gradient at {what:each latent vector(?: of the queries)?|each joined (?:query|key)|the rotary part of each (?:query|key)}[paths:: add up the contributions of all paths from there to the loss][weights: and at the weights that produce it].": gradient,
        "The {what:query|key} consists of {own} and its rotary part {rotary}. The dot product of query and key adds up the products of both parts.": joined,
    },
    learned={
        **{r"latent": "latent.W_DKV", r"latent\.query": "latent.W_DQ"},
        **{r"latent\.rotated_key": "latent.W_KR", r"rotary_query\.rotated": "W_QR"},
        **{rf"latent\.{n}": f"latent.{n}.gain latent.{n}.shift" for n in ("norm", "query_norm")},
    },
    symbols={f"W_{of}": f"latent.W_{of}" for of in ("DKV", "DQ", "KR")},
)
