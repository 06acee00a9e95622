"""A word after each sub-layer: ranks, logits and probabilities are those of plain NumPy."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import to_yaml
from tests.helpers.tiny_models import scenario
from tests.helpers.traces import traced_or_rejected
from tests.helpers.whole_scenarios import plain_and_written
from tests.helpers.word_paths import read
from tracer.data import as_json
from tracer.decoder.forward import Trace, trace
from tracer.scenario.loading import load

some = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**32 - 1)


def values_of(found: Trace) -> dict[str, Any]:
    """All values of a pass, also of a large model, as JSON has them."""
    document = json.loads(as_json.render(found, found.records, None))
    return {value["address"]: value for value in document["values"]}


def agrees(found: Any, values: Any, layers: list[Any], row: int) -> int:
    """How many points have the numbers of an independent calculation."""
    expected = read(values, layers, row)
    followed = found["followed"]
    column = values["unembedding.W_U"]["axes"][1]["labels"].index(followed["word"])
    assert [p["address"] for p in followed["points"]] == [each.address for each in expected]
    for point, each in zip(followed["points"], expected, strict=True):
        largest = max(1.0, float(abs(each.logits).max()))
        assert point["logit"]["value"] == pytest.approx(each.logits[column], abs=1e-9 * largest)
        assert point["probability"]["value"] == pytest.approx(each.probability(column), abs=1e-9)
        if each.gap > 1e-9 * largest:
            words = values["unembedding.W_U"]["axes"][1]["labels"]
            assert point["rank"] == each.rank(column)
            assert point["prediction"] == words[int(each.logits.argmax())]
    return len(expected)


@some
@given(plain_and_written("never"), SEEDS)
def test_random_scenarios(both: tuple[Any, Any], seed: int) -> None:
    plain, written = both
    stdin, rng = to_yaml(written), random.Random(seed)
    assume(not run("lens", "-", "--format", "json", stdin=stdin).exit_code)
    values = values_of(traced_or_rejected(written))
    words = values["unembedding.W_U"]["axes"][1]["labels"]
    tokens = values["prediction"]["shape"][0]
    token, word = rng.randrange(tokens), rng.randrange(len(words))
    assume(
        not any(
            a.startswith("final_norm") and v["operation"] == "pinned" for a, v in values.items()
        )
    )
    asked = ("--token", str(token + 1), "--word", str(word + 1))
    found = json.loads(printed("lens", "-", *asked, "--format", "json", stdin=stdin))
    assert found["followed"]["word"] == words[word]
    assert agrees(found, values, plain.get("layers", []), token - tokens) >= 1


@pytest.mark.parametrize("family", ["gguf llama", "folder gpt2"])
def test_trained_models(family: str, tmp_path: Path) -> None:
    path = scenario(tmp_path, family)
    values = values_of(trace("tiny", load(path).scenario))
    for token, more in ((5, ()), (3, ("--word", "7"))):
        asked = ("lens", path, "--token", str(token), *more, "--format", "json")
        assert agrees(json.loads(printed(*asked)), values, [], token - 6) == 5


def test_what_is_given_of_the_lens_counts() -> None:
    row = [0, 0, 9, 0, 0, 0, 0]
    given = f"layer2.lens.logits={[row] * 5}".replace(" ", "")
    found = json.loads(printed("lens", "pizza", "--given", given, "--format", "json"))
    *_, before, last = found["followed"]["points"]
    assert (last["logit"], last["rank"]) == ({"value": 0, "printed": "0"}, 2)
    words = found["values"][0]["axes"][1]["labels"]
    assert last["prediction"] == words[2] and before["rank"] == 1


def test_digits_of_the_lens_are_those_of_the_path() -> None:
    """Each point has the digits of its layer's lens, also where a trained model is read at once."""
    digits = "rounding: {carry: never, digits: {layer2.lens.probabilities: 6}}\n"
    source = "title: t\ntokens: [a, b]\nrandom: {seed: 3}\n" + digits
    source += "dimensions: {layers: 2, width: 8, heads: 2, words: 20, context: 9}\n"
    found = json.loads(printed("lens", "-", "--format", "json", stdin=source))
    shares = [point["probability"]["printed"] for point in found["followed"]["points"]]
    assert [len(share.partition(".")[2]) for share in shares] == [3, 3, 3, 6, 6]
