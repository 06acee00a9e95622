"""How the summary of a trained model tells of its prediction; a judge computes each claim again."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.helpers import claims_of_words, word_paths
from tests.helpers.claims import Judge, judged
from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.tiny_marian import write_folder
from tests.helpers.tiny_models import naming, scenario
from tests.helpers.traces import traced, traced_or_rejected
from tests.helpers.truth import false_equations, unreadable
from tests.helpers.whole_scenarios import plain_and_written
from tracer.data import as_json
from tracer.decoder.forward import Trace, trace
from tracer.lesson.texts.model_summary import model_summary
from tracer.renderers import Format, render
from tracer.scenario.loading import load

WIDE = 5000
STORY = ("Layer by layer", "The parts of the logit", "What the token attends to")


def sections(text: str) -> dict[str, list[str]]:
    """The paragraphs of each section of the story, by its title."""
    parts = re.split(r"\n(?=[^\n]+\n[═─]+\n)", text)
    found = {part.partition("\n")[0].strip(): part.partition("\n")[2] for part in parts}
    return {
        title: [
            p
            for p in unbroken(found[title]).split("\n\n")
            if p and not p.startswith((" ", "═", "─"))
        ]
        for title in STORY
        if title in found
    }


def values_of(found: Trace) -> dict[str, Any]:
    """All values of a pass as JSON has them."""
    document = json.loads(as_json.render(found, found.records, None))
    return {value["address"]: value for value in document["values"]}


def wrong(text: str, judge: Judge) -> list[str]:
    """What is unknown or false in the story, and which claims it does not make."""
    said = sections(text)
    found = [
        f"{title}: {line}: {fault}"
        for title, lines in said.items()
        for line in lines
        if not (
            "layers" not in judge.spec and "The logit lens treats" in line
        )  # sizes tell of none
        if (fault := judged(line, judge))
    ]
    is_padding = judge.tokens[judge.followed] == judge.padding
    expected = Counter([] if is_padding else due(judge))
    made = Counter({name: judge.made[name] for name in ALWAYS_DUE if judge.made[name]})
    return found if made == expected else [*found, f"{made}, not {expected}: {said}"]


ALWAYS_DUE = (
    *("leads", "moves_most", "looks_at_the_first", "has_the_shortest_value", "is_a_sink"),
)
"""The claims whose numbers are counted, not rounded."""


def due(judge: Judge) -> list[str]:
    """The claims that the numbers carry."""
    path = claims_of_words.path(judge)
    points = list(word_paths.points(judge.values, judge.spec.get("layers", [])))
    is_moved = len(path) == len(points) and word_paths.moved(path)
    found = ["leads", *(["moves_most"] if is_moved else [])]
    if judge.followed and any(share >= 0.9 for share in claims_of_words.shares_of_first(judge)):
        found.append("looks_at_the_first")
        if claims_of_words.shortest_values(judge)[0]:
            found.append("has_the_shortest_value")
            found += [] if any(a.endswith(".sink") for a in judge.values) else ["is_a_sink"]
    return found


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(plain_and_written("never"), st.integers(0, 2**32 - 1))
def test_random_models(both: tuple[Any, Any], seed: int) -> None:
    """Also of models that nobody has trained: with soft caps, learned sinks, parallel layers."""
    plain, written = both
    found = traced_or_rejected(written)
    assume(not run("lens", "-", stdin=to_yaml(written)).exit_code)
    values = values_of(found)
    token = random.Random(seed).randrange(len(found.tokens))
    document = model_summary(found, token, full=True, terms=None)
    text = render(document, Format.TERMINAL, width=WIDE)
    assert wrong(text, Judge(values, plain, token, {})) == []
    if "dimensions" not in plain:
        text = text.split("The parts of the logit")[-1]
    assert (unreadable(text), false_equations(text)) == ([], [])


LOOKS = """\
title: t
tokens: [a, b, c]
embeddings: {{a: [9, 0], b: [0, 1], c: [0, 2]}}
positions: none
arithmetic: float64
rounding: {{carry: never}}
layers:
  - attention:
      heads:
        - {{W_Q: [[0], [9]], W_K: [[1], [0]], W_V: {value}{sink}}}
        - {{W_Q: [[0], [1]], W_K: [[0], [0]], W_V: [[1], [1]]{sink}}}
      W_O: [[1, 0], [0, 1]]
vocabulary: [a, b, c]
unembedding: tied
"""


@pytest.mark.parametrize("sink", ["", ", sink: 0"])
@pytest.mark.parametrize("value", ["[[1], [1]]", "[[0.1], [1]]"])
def test_heads_that_look_at_the_first_token_are_counted(sink: str, value: str) -> None:
    """Of a head with a learned sink, the weights do not sum to 1.

    The values of a, b and c are 9, 1 and 2 or, with 0.1, 0.9, 1 and 2.
    """
    found = traced(LOOKS.format(sink=sink, value=value))
    text = render(model_summary(found, 2, full=True, terms=None), Format.TERMINAL, width=WIDE)
    said = "1 of 2 heads gives at least 90 % of the attention of “c” to the first token, “a”."
    is_short = "0.1" in value
    shortest = "In 1 of 1 such head, the first token has the shortest value vector."
    assert said in text and (shortest in text) == is_short
    assert ("an attention sink (Xiao" in text) == (is_short and not sink)
    first = render(model_summary(found, 0, full=True, terms=None), Format.TERMINAL, width=WIDE)
    assert "to the first token" not in first


# --- tiny models ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    families = ("gguf llama", "folder gpt2")
    found = {name: scenario(tmp_path_factory.mktemp(name[-4:]), name) for name in families}
    folder = write_folder(tmp_path_factory.mktemp("marian") / "x")
    return {**found, "marian": naming(folder, encoder={"text": "hello."}, text="hello world")}


@pytest.mark.parametrize("name", ["gguf llama", "folder gpt2", "marian"])
def test_the_story_of_a_model(name: str, models: dict[str, str]) -> None:
    values = values_of(trace("tiny", load(models[name]).scenario))
    layer = {"attention": {}, "norm": {"placement": "post" if name == "marian" else "pre"}}
    for token in (1, 3):
        text = printed("run", models[name], "--token", str(token), width=WIDE)
        judge = Judge(values, {"layers": [layer, layer]}, token - 1, {})
        assert wrong(text, judge) == []
        assert judge.made["largest_part"] == judge.made["largest_head"] == 1
        assert judge.made["is_a_sum"] == judge.made["of_the_prediction"] == 1


def test_false_claims_are_found(models: dict[str, str]) -> None:
    path = models["gguf llama"]
    text = printed("run", path, width=WIDE)
    values = values_of(trace("tiny", load(path).scenario))
    for claim, false in (
        (r"at the end, after the FFN in", "at the end, after attention in"),
        (r"through (.+): from (\d+) to (\d+)\.", r"through \1: from \3 to \2."),
        (r"(The largest part(?: in size)? is \S+) \(.+?\)", r"\1 (b_U)"),
        (r"% of its attention to\s“.+”", "% of its attention to “x”"),
        (r"(The largest part of a head.*?) is -?(\d)", r"\1 is 9\2"),
    ):
        changed, times = re.subn(claim, false, text)
        assert times == 1, claim
        assert wrong(changed, Judge(values, {"layers": [{}, {}]}, 4, {}))


def test_the_line_of_the_logit_is_the_sum_of_its_parts(models: dict[str, str]) -> None:
    """They are those of `attribute`, the largest first; the table has the same ones."""
    path = models["gguf llama"]
    parts = json.loads(printed("attribute", "logits[is,f]", "-s", path, "--format", "json"))
    largest = [part["label"] for part in parts["parts"][:10]]
    text = printed("run", path, width=WIDE)
    table = text.split("  part  ", 1)[1].split("\n\n")[0].splitlines()[1:]
    rows = [re.split(" {2,}", line.strip()) for line in table]
    assert [label for label, *_ in rows] == largest
    assert [number for _, number, *_ in rows] == [part["printed"] for part in parts["parts"][:10]]
    (line,) = re.findall(r"^    f: (.+) = .*?([\d.]+)$", text.split("Softmax: ")[0], re.M)
    assert line[0].count(" + ") == 10 and f"[{len(parts['parts']) - 10} more: " in line[0]
    assert line[1] == parts["printed"]
    fewer = printed("run", path, "--terms", "3", width=WIDE)
    assert f"[{len(parts['parts']) - 3} more: " in fewer
    assert "at most the 10 largest" not in fewer


def test_a_given_logit_has_no_parts(models: dict[str, str]) -> None:
    given = "logits=" + json.dumps([[0] * 8 + [1] + [0] * 31] * 5).replace(" ", "")
    text = printed("run", models["gguf llama"], "--given", given, width=WIDE)
    assert "The parts of the logit" not in text and "sum of its parts" not in text
