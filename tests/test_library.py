"""What `import tracer` offers: load, trace, explain, render, and values that show themselves."""

from __future__ import annotations

import pydoc
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracer
from tests.helpers.command import printed, run_json
from tracer import library
from tracer.errors import TracerError
from tracer.scenario.loading import parse

WEIGHTS = "layer1.attention.head1.weights"


@pytest.fixture(scope="module")
def alex() -> tracer.Trace:
    return tracer.trace(tracer.load("alex"))


def test_a_trace_maps_addresses_to_labeled_floats(alex: tracer.Trace) -> None:
    values = {value["address"]: value for value in run_json("alex")["values"]}
    assert list(alex) == list(values)
    assert len(alex) == len(values)
    value = alex[WEIGHTS]
    assert value.symbol == "A¹"
    assert value.axes == (("token", TOKENS), ("key", TOKENS))
    assert value.array.dtype == np.float64
    assert value.array.tolist() == values[WEIGHTS]["data"]
    assert value.printed.tolist() == values[WEIGHTS]["printed"]
    assert np.asarray(value).shape == (4, 4)


TOKENS = ("Frank", "Emma", "Daniel", "Alex")


def test_words_are_printed(alex: tracer.Trace) -> None:
    assert alex["tokens"].printed.tolist() == list(TOKENS)


def test_an_unknown_address_is_answered_with_the_nearest(alex: tracer.Trace) -> None:
    with pytest.raises(KeyError, match=r"did you mean .layer1\.attention\.head1\.weights"):
        alex["layer1.attention.head1.weight"]


def test_a_pass_says_what_it_is(alex: tracer.Trace) -> None:
    said = f"<Trace of 'Alex decides where to eat': 4 tokens, {len(alex)} values>"
    assert repr(alex) == said


def test_a_value_shows_itself_as_a_table(alex: tracer.Trace) -> None:
    html = alex[WEIGHTS]._repr_html_()
    rows = [re.findall("<t[hd]>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", html)]
    assert rows[0] == ["A¹", *TOKENS]
    assert rows[4] == ["Alex", "0.964", "0.026", "0.004", "0.006"]
    assert alex["layer1.attention.head1.d_k"]._repr_html_().count("<td>2</td>") == 1
    assert alex["layer1.attention.norm.mean"]._repr_html_().count("<td>") == 4


def test_a_value_prints_itself_as_a_table(alex: tracer.Trace) -> None:
    lines = [line.split() for line in repr(alex[WEIGHTS]).split("\n")]
    assert " ".join(lines[0]) == f"A¹, {WEIGHTS}: 4 tokens × 4 keys"
    assert lines[1:] == [
        list(TOKENS),
        *([token, *row] for token, row in zip(TOKENS, alex[WEIGHTS].printed.tolist(), strict=True)),
    ]
    assert repr(alex["layer1.attention.head1.d_k"]).endswith(".d_k: 2")
    assert repr(alex["layer1.attention.norm.mean"]).count("\n") == 2
    assert all("dataclass" not in repr(v) and "array(" not in repr(v) for v in alex.values())


def test_a_large_value_is_printed_in_part() -> None:
    rows = [[0] * 20] * 20
    numbers = f"title: Large\ntokens: {list(range(20))}\nembeddings: {rows}\nlayers: []\n"
    value = tracer.trace(parse(numbers, "x.yaml"))["input"]
    lines = repr(value).split("\n")
    assert len(lines) == 11
    assert lines[-1].split() == ["…"] * 10
    assert lines[1].endswith("…")


def test_only_what_is_shown_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []

    def counted(*entry: Any) -> str:
        written.append(entry)
        return "0"

    monkeypatch.setattr(library, "printed", counted)
    rows = [[0] * 50] * 50
    numbers = f"title: Large\ntokens: {list(range(50))}\nembeddings: {rows}\nlayers: []\n"
    value = tracer.trace(parse(numbers, "x.yaml"))["input"]
    assert value.array.shape == (50, 50)
    assert written == []
    assert repr(value) and len(written) == 64
    assert value._repr_html_().count("<td>0</td>") == 64
    assert value.printed.size == 2500


def test_help_lists_the_functions() -> None:
    listed = pydoc.plain(pydoc.render_doc(tracer))
    for name in ("load(path", "trace(scenario", "explain(", "render(document", "class Trace"):
        assert name in listed
    assert set(dir(tracer)) == set(tracer.__all__)


def test_names_in_a_table_are_no_markup(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        'title: x\ntokens: ["<b>"]\nembeddings: [[1]]\nlayers: [{ffn: {W_1: [[1]], W_2: [[1]]}}]\n',
        encoding="utf-8",
    )
    shown = tracer.trace(tracer.load(file))["embedding"]._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


def test_explain_is_what_the_commands_print(alex: tracer.Trace) -> None:
    whole = tracer.render(tracer.explain(alex))
    assert whole == printed("run", "alex")
    some = tracer.render(tracer.explain(alex, "attention", token="Emma", head=2), "markdown")
    assert some == printed("step", "attention", "-t", "Emma", "--head", "2", "-f", "markdown")
    assert tracer.explain(alex, "softmax", token=4) == tracer.explain(alex, "softmax")


def test_a_document_shows_itself(alex: tracer.Trace) -> None:
    shown = tracer.explain(alex, "softmax", head=1)._repr_markdown_()
    assert shown == printed("step", "softmax", "--head", "1", "-f", "markdown", "--math")


def test_a_notebook_frames_a_document(alex: tracer.Trace) -> None:
    shown = tracer.explain(alex, "softmax", head=1)._repr_html_()
    (page,) = re.findall('^<iframe [^>]*srcdoc="([^"]*)"', shown)
    assert unescape(page).startswith("<!doctype html>")
    assert unescape(page).count('<section class="step"') == 1
    assert 'data-line="' in unescape(page)


@pytest.mark.parametrize("step", ["nonsense", "layer9.x"])
def test_what_is_not_there_is_told(alex: tracer.Trace, step: str) -> None:
    with pytest.raises(TracerError, match="no step"):
        tracer.explain(alex, step)


def test_an_unknown_format_is_refused(alex: tracer.Trace) -> None:
    with pytest.raises(ValueError, match="'html' is not a valid Format, expected terminal, mark"):
        tracer.render(tracer.explain(alex, "output"), "html")


def test_nothing_else_is_offered() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tracer.nonsense  # noqa: B018
