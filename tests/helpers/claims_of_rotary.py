"""What is said of frequencies that are scaled for long texts: each form with its check."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.helpers.claims_of_reasons import normalizes_rotated, partly_given
from tests.helpers.judge import Check, Judge, Said, exact, number
from tests.helpers.rotary_of_layers import every_setting, prefix, settings_of
from tests.helpers.rotary_scaling import attention_factor


def here(at: Judge) -> tuple[str, dict[str, Any]]:
    """Where the values of the step are, and its settings."""
    where = re.sub(r"position\..*", "", at.address)
    settings = next(s for s in every_setting(at.spec) if prefix(at.spec, s) == where)
    return f"{where}position.", settings


def pairs(at: Judge, said: Said) -> None:
    """Which frequencies are kept, divided or in between, by how much of each is divided."""
    where, settings = here(at)
    scaling, ramp = settings["scaling"], at.values[f"{where}ramp"]
    assert not partly_given(at)
    assert said["name"] == {"yarn": "YaRN", "llama3": "This scaling"}[scaling["kind"]]
    parts, labels = ramp["data"], ramp["axes"][0]["labels"]
    turns = at.values[f"{where}turns"]["data"]
    groups: dict[str, list[str]] = {"kept": [], "divided": [], "between": []}
    for part, label in zip(parts, labels, strict=True):
        groups["kept" if part == 0 else "divided" if part == 1 else "between"].append(label)
    assert parts == sorted(parts) and turns == sorted(turns, reverse=True)
    for group, own in groups.items():
        listed = f"{own[0]} to {own[-1]}" if len(own) > 2 else ", ".join(own)
        assert (said[group] or "") == listed
    if said["by"]:
        assert number(said["by"]) == number(str(scaling["factor"]))


def length(at: Judge, said: Said) -> None:
    _, settings = here(at)
    scaling = settings["scaling"]
    context = number(str(scaling["original_max_position_embeddings"]))
    assert int(said["tokens"]) == len(at.tokens) and number(said["context"]) == context
    is_longer = len(at.tokens) > context
    assert is_longer == (said["than"] == "more than")
    rest = {
        "dynamic": ("the base stays as it is", "the base grows with the text"),
        "longrope": (
            "the factors are those for short texts",
            "the factors are those for long texts",
        ),
    }
    assert said["rest"] == rest[scaling["kind"]][is_longer]


def multiplied(at: Judge, said: Said) -> None:
    where, settings = here(at)
    assert not partly_given(at)
    parts = [layer["attention"] for layer in at.spec["layers"] if "attention" in layer]
    own = [(part, asked) for part in parts if (asked := settings_of(at.spec, part)) is not None]
    rotated = [part for part, asked in own if f"{prefix(at.spec, asked)}position." == where]
    assert (said["scores"] is None) == any(map(normalizes_rotated, rotated))
    assert said["same"] in (None, said["m"])
    factor = attention_factor(settings)
    for wave in ("sin", "cos"):
        scaled = at.values[f"{where}scaled_{wave}"]
        assert scaled["symbol"].startswith(f"{said['m']}×") and factor != 1
    typed = settings["scaling"].get("attention_factor")
    assert (said["here"] is None) == (typed is None)
    if typed is not None:
        assert number(said["value"]) == number(str(typed))


def ramp(at: Judge, said: Said) -> None:
    where, settings = here(at)
    scaling, found = settings["scaling"], at.values[f"{where}ramp"]["parameters"]
    assert number(said["from"]) == number(str(found["start"]))
    assert number(said["to"]) == number(str(found["end"]))
    assert (said["what"] == "pair") == (scaling["kind"] == "yarn")


def ramp_end(at: Judge, said: Said) -> None:
    where, settings = here(at)
    scaling = settings["scaling"]
    assert scaling["kind"] == "yarn" and scaling["truncate"] is False
    turns = 1 if said["turns"] == "once" else number(said["turns"].removesuffix(" times"))
    ends = {float(scaling.get("beta_fast", 32)): "start", float(scaling.get("beta_slow", 1)): "end"}
    pair = exact(at.values[f"{where}ramp_{ends[turns]}"]["printed"])
    base = float(settings.get("base", 10000))
    frequency = base ** (-float(pair) / len(at.values[f"{where}unscaled"]["data"]))
    turned = number(str(scaling["original_max_position_embeddings"])) * frequency / (2 * math.pi)
    last_digit = 10.0 ** int(pair.as_tuple().exponent)
    assert abs(math.log(turned / turns)) <= math.log(base) * last_digit


CLAIMS: dict[str, Check] = {
    "{name:YaRN|This scaling} [keeps:keeps the frequencies of pairs that turn fast ({kept:[^()]+})]{first?:, | and }[divides:divides {:those|the frequencies} of pairs that turn slowly ({divided:[^()]+}) by {by:num}]{second?: and }[rest:divides only a part of those in between ({between:[^()]+})].": pairs,
    "The text has {tokens:int} tokens, {than:more than|not more than} the {context:num} of the first training, so that {rest:.+}.": length,
    r"Cosines and sines are multiplied by {m:m\w*}[here:, here {value:num}].[scores: Before rounding, this multiplies the part of a score that comes from rotated columns by {same:m\w*}².]": multiplied,
    "The pair that turns {turns:once|[0-9.]+ times} in the texts of the first training; it need not be a whole number:": ramp_end,
    "The part of each frequency that is divided, which grows from {what:pair} {from:num} to pair {to:num}:": ramp,
    "The part of each frequency that is divided, which grows from {from:num} {what:turns} down to {to:num}:": ramp,
}
