"""What `import tracer` offers: load, trace, explain, render, and values that show themselves."""

from __future__ import annotations

import pydoc
import re
from decimal import Decimal
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracer
from tests.helpers.command import printed, run, run_json
from tracer import library
from tracer.check.report import Report
from tracer.check.verdicts import Verdict
from tracer.decoder import forward
from tracer.errors import TracerError
from tracer.scenario.loading import folder, parse

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


def test_rows_columns_and_entries_have_the_numbers_of_the_value(alex: tracer.Trace) -> None:
    for address, value in alex.items():
        if value.array.ndim == 2:
            row, column, entry = (alex[f"{address}[{at}]"] for at in ("2", ",1", "2,1"))
            assert row.array.tolist() == value.array[1].tolist()
            assert row.printed.tolist() == value.printed[1].tolist()
            assert column.array.tolist() == value.array[:, 0].tolist()
            assert column.printed.tolist() == value.printed[:, 0].tolist()
            assert (row.axes, column.axes, entry.axes) == (value.axes[1:], value.axes[:1], ())
            assert (float(entry.array), entry.printed.item()) == (
                value.array[1, 0],
                value.printed[1, 0],
            )
    assert alex[f"{WEIGHTS}[Alex,Frank]"].printed == "0.964"
    assert alex["tokens[2]"].printed == "Emma"
    for wrong in (f"{WEIGHTS}[Alxe]", f"{WEIGHTS}[Alxe,Frank]", f"{WEIGHTS}[Alex,Frank,1]"):
        with pytest.raises(KeyError, match=r"no token 'Alxe|expected \[token,key\]"):
            alex[wrong]


def test_a_pass_shows_its_values_and_completes_them(alex: tracer.Trace) -> None:
    html = alex._repr_html_()
    rows = re.findall("<tr><th>([^<]*)</th><td>(.*?)</td><td>(.*?)</td></tr>", html)
    assert [row[0] for row in rows] == list(alex)[: len(rows)]
    assert f"{len(alex) - len(rows)} more" in html
    assert (WEIGHTS, "A¹", "4 × 4") in rows
    assert alex._ipython_key_completions_() == list(alex)


def test_an_unknown_address_is_answered_with_the_nearest(alex: tracer.Trace) -> None:
    with pytest.raises(KeyError, match=r"did you mean .layer1\.attention\.head1\.weights"):
        alex["layer1.attention.head1.weight"]


def test_a_pass_says_what_it_is(alex: tracer.Trace) -> None:
    said = f"<Trace of 'Alex decides where to eat': 4 tokens, {len(alex)} values>"
    assert repr(alex) == said


def test_results_and_scenarios_say_what_they_are(alex: tracer.Trace) -> None:
    """A shell prints the last expression: a line, not all numbers of a model."""
    assert repr(tracer.load("alex")) == "<Scenario 'Alex decides where to eat': 4 tokens>"
    explained = tracer.explain(alex, "softmax", head=1)
    assert repr(explained) == "<Document 'Alex decides where to eat': 1 section>"
    session = tracer.session(tracer.load("pizza"))
    plain, other = session.trace(), session.trace("<START> odio la pizza")
    experiment = tracer.compare(plain, other, sweep="ffns")
    assert repr(experiment).startswith("<Experiment: ")
    assert repr(experiment).endswith(" 2 effects>")
    attribution = tracer.attribute(plain, "logits[la,pizza]")
    assert repr(attribution).endswith(f": {len(attribution.parts)} parts>")
    differences = tracer.check(tracer.load("alex"), against={"input": alex["output"].array})
    assert repr(differences) == "<Differences: 1 value compared, 1 differs>"
    report = tracer.check(tracer.load("alex"), folder() / "alex.figures.yaml")
    assert isinstance(report, Report)
    wrong = len(report.of(Verdict.WRONG))
    assert repr(report).endswith(f": {len(report.findings)} figures, {wrong} wrong>")


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
    # From Python 3.13 on, a long signature begins on a line of its own.
    listed = re.sub(r"\(\n +", "(", pydoc.plain(pydoc.render_doc(tracer)))
    functions = ("load(source", "given(trace", "trace(scenario", "explain(", "render(document")
    for name in (*functions, "check(", "attribute(", "compare(", "session(", "class Trace"):
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


# --- what the commands do -------------------------------------------------------------------------

KEYS: dict[str, Any] = {
    "title": "From numbers",
    "tokens": ["a", "b"],
    "embeddings": np.array([[1, 2], [0.5, -4e-5]]),
    "layers": [{"ffn": {"W_1": np.float64(2) * np.eye(2), "W_2": [[1, Decimal("0.50")], [0, 1]]}}],
    "rounding": {"decimals": 6},
}


def test_a_scenario_from_its_keys_is_that_of_its_yaml() -> None:
    text = """
title: From numbers
tokens: [a, b]
embeddings: [[1.0, 2.0], [0.5, -0.00004]]
layers: [{ffn: {W_1: [[2, 0], [0, 2]], W_2: [[1, 0.50], [0, 1]]}}]
rounding: {decimals: 6}
"""
    in_a_line = text.strip().replace("\n", ", ")
    passes = [tracer.trace(tracer.load(each)) for each in (KEYS, text, f"{{{in_a_line}}}")]
    for address in passes[0]:
        numbers = [each[address].array.tolist() for each in passes]
        assert numbers[0] == numbers[1] == numbers[2], address


def test_problems_of_keys_and_texts_have_their_places() -> None:
    with pytest.raises(tracer.TracerError) as caught:
        tracer.load({**KEYS, "embeddings": [[1, 2], [3]]})
    (problem,) = caught.value.problems
    assert (problem.line, problem.file) == (None, None)
    assert str(problem).startswith("embeddings")
    with pytest.raises(tracer.TracerError, match=r"<text>:2:1: nonsense: unknown key"):
        tracer.load("tokens: [a]\nnonsense: 1\n")
    with pytest.raises(tracer.TracerError, match="no such file or scenario"):
        tracer.load(Path("nothing.yaml"))


@pytest.mark.parametrize("kind", ["float16", ">f4", "longdouble"])
def test_numbers_of_any_real_type_are_a_scenario(kind: str) -> None:
    rows = np.array([[1.0, 2.0], [0.5, 0.25]]).astype(kind)
    found = tracer.trace(tracer.load({**KEYS, "embeddings": rows, "layers": []}))
    assert found["output"].array.tolist() == [[1.0, 2.0], [0.5, 0.25]]


def test_keys_that_contain_themselves_are_refused() -> None:
    layers: list[Any] = []
    layers.append(layers)
    with pytest.raises(tracer.TracerError, match="nested too deeply, or in itself"):
        tracer.load({**KEYS, "layers": layers})


NO_NUMBERS = {
    "None": (None, "holds object, expected real numbers"),
    "words": (["a", "b"], "holds str32, expected real numbers"),
    "complex": (np.ones((2, 2), "c16"), "holds complex128, expected real numbers"),
    "large": (10**400, "holds object, expected real numbers"),
    "ragged": ([[1, 2], [3]], "rows of different lengths"),
}


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_arrays_of_something_else_are_refused(case: str) -> None:
    array, told = NO_NUMBERS[case]
    with pytest.raises(tracer.TracerError, match=f"the arrays: input: {told}"):
        tracer.check(tracer.load("alex"), against={"input": array})


@pytest.mark.parametrize("tolerance", [-1, 2, float("nan")])
def test_a_tolerance_is_at_most_1(alex: tracer.Trace, tolerance: float) -> None:
    with pytest.raises(ValueError, match="expected a number from 0 to 1"):
        tracer.check(alex.scenario, against={"input": alex["input"]}, tolerance=tolerance)


def test_what_is_no_address_is_not_in_a_pass(alex: tracer.Trace) -> None:
    anything: Any = (3, None, b"input", ("input",))
    for each in anything:
        assert each not in alex
        with pytest.raises(KeyError, match="expected an address"):
            alex[each]


def test_given_is_what_the_option_does(alex: tracer.Trace) -> None:
    head = "layer1.attention.head1.output"
    for values, options in (
        ({head: 0}, [f"{head}=0"]),
        ({f"{head}[Alex]": "mean"}, [f"{head}[Alex]=mean"]),
        (
            {"input": np.ones((4, 6)), "layer1.ffn.output": 0.5},
            ["input=1.0", "layer1.ffn.output=0.5"],
        ),
    ):
        shown = run_json("alex", *(word for each in options for word in ("--given", each)))
        found = tracer.given(alex, values)
        for value in shown["values"]:
            assert found[value["address"]].printed.tolist() == value["printed"], value["address"]
    forms = (np.full(6, 0.5), [Decimal("0.50")] * 6, (0.5,) * 6, [np.float64(0.5)] * 6)
    rows = [tracer.given(alex, {f"{head}[Alex]": row[:3]})["output[Alex]"] for row in forms]
    assert {tuple(row.printed) for row in rows} == {tuple(rows[0].printed)}
    same = tracer.given(alex, {"layer1.ffn.output": alex["layer1.ffn.output"]})
    assert same["output"].printed.tolist() == alex["output"].printed.tolist()
    small = tracer.given(alex, {"layer1.ffn.output": 4e-5})["layer1.ffn.output"].array
    assert small.tolist() == np.full((4, 6), 4e-5).tolist()
    with pytest.raises(tracer.TracerError, match="no such value"):
        tracer.given(alex, {"nothing": 0})


def shown_by(result: Any) -> str:
    return tracer.render(tracer.explain(result), "markdown")


def test_attribute_is_what_the_command_prints() -> None:
    pizza = tracer.trace(tracer.load("pizza"), name="pizza")
    entry, score = "logits[la,pizza]", "layer1.attention.head1.scores[2,1]"
    for asked, how, words in (
        (entry, {}, []),
        (entry, {"instead_of": "la", "by": "token"}, ["--instead-of", "la", "--by", "token"]),
        (score, {}, []),
        ("logits[,pizza]", {"token": 4}, ["--token", "la"]),
    ):
        command = ("attribute", asked, "-s", "pizza", *words, "-f", "markdown")
        assert shown_by(tracer.attribute(pizza, asked, **how)) == printed(*command)
    with pytest.raises(tracer.TracerError, match="expected part, token or neuron"):
        tracer.attribute(pizza, entry, by="nothing")


def test_compare_is_what_the_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    other = "<START> odio la pizza"
    session = tracer.session(tracer.load("pizza"))
    first, second = session.trace(), session.trace(other)
    assert session.trace() is first and session.trace(other) is second
    computed = []
    monkeypatch.setattr(forward, "trace", lambda *how, **more: computed.append(how))
    experiment = tracer.compare(first, second)
    monkeypatch.undo()
    assert computed == []
    first = tracer.trace(tracer.load("pizza"), name="pizza")
    swept = tracer.compare(first, second, patch="layer1.ffn.output", sweep="heads", token="la")
    command = ("compare", "pizza", "--text", other, "--patch", "layer1.ffn.output", "--sweep")
    shown = printed(*command, "heads", "--token", "la", "-f", "markdown")
    assert shown_by(swept).replace("run is `scenario`", "run is `pizza`") == shown
    assert experiment.comparison.second is second._run


def test_a_session_keeps_passes_with_given_numbers() -> None:
    session = tracer.session(tracer.load("pizza"))
    head = "layer1.attention.head1.output"
    found = session.trace(given={head: 0})
    assert session.trace(given={head: 0}) is found
    assert session.trace(given={head: 1}) is not found
    again = tracer.given(session.trace(), {head: 0})
    assert found["logits"].printed.tolist() == again["logits"].printed.tolist()
    with pytest.raises(tracer.TracerError, match="a text without tokens"):
        session.trace("")


def test_check_is_what_the_command_prints(alex: tracer.Trace, tmp_path: Path) -> None:
    path = folder() / "alex.figures.yaml"
    report = tracer.check(tracer.load("alex"), path)
    assert not report.holds
    shown = run("check", "alex", "-f", "markdown")
    anchors = shown_by(report).replace("#scenario.", "#alex.").replace('"scenario.', '"alex.')
    assert (shown.exit_code, shown.stdout) == (1, anchors)
    scenario = tracer.load(KEYS)
    arrays = {a: v.array for a, v in tracer.trace(scenario).items() if a.startswith("layer1")}
    assert tracer.check(scenario, against=arrays).holds
    np.savez(tmp_path / "dump.npz", **arrays)  # type: ignore[arg-type]
    assert tracer.check(scenario, against=tmp_path / "dump.npz").holds
    arrays["layer1.ffn.output"] = arrays["layer1.ffn.output"] + 1
    assert not tracer.check(scenario, against=arrays).holds
    assert tracer.check(scenario, against=arrays, tolerance=1).holds


def test_wrong_types_are_told() -> None:
    alex: Any = tracer.trace(tracer.load("alex"))
    scenario: Any = tracer.load("alex")
    wrong: Any = "alex"
    nothing: Any = None
    three: Any = 3
    wrong_names: Any = {3: []}
    for call, told in (
        (lambda: tracer.load(nothing), "got NoneType None, expected a path, YAML text or a"),
        (lambda: tracer.load({**KEYS, "tokens": object()}), "got object in a mapping, expected"),
        (lambda: tracer.load({**KEYS, "title": b"alex"}), "got bytes in a mapping, expected"),
        (lambda: tracer.load({**KEYS, "tokens": {"a", "b"}}), "got set in a mapping, expected"),
        (lambda: tracer.trace(wrong), "got str 'alex', expected a Scenario, which tracer.load()"),
        (lambda: tracer.trace(scenario, name=three), "got int 3, expected a name"),
        (lambda: tracer.explain(alex, three), "got int 3, expected the name of a step"),
        (lambda: tracer.compare(alex, alex, patch=three), "got int 3, expected addresses"),
        (lambda: tracer.check(scenario, against=wrong_names), "got int 3, expected the name of an"),
        (lambda: tracer.session(wrong), "got str 'alex', expected a Scenario"),
        (
            lambda: tracer.explain(scenario),
            "got Scenario .*, expected a Trace, which tracer.trace()",
        ),
        (lambda: tracer.given(scenario, {}), "expected a Trace"),
        (lambda: tracer.attribute(wrong, "x"), "expected a Trace"),
        (lambda: tracer.compare(alex, scenario), "expected a Trace"),
        (lambda: tracer.check(alex, "x"), "expected a Scenario"),
        (lambda: tracer.check(scenario, against=alex), "tracer.compare() compares two passes"),
        (
            lambda: tracer.check(scenario, nothing, against=three),
            "got int 3, expected a path or",
        ),
        (lambda: tracer.check(scenario, wrong.encode()), "expected the path of a file of figures"),
        (lambda: tracer.given(alex, wrong), "got str 'alex', expected numbers by address"),
        (lambda: tracer.attribute(alex, three), "got int 3, expected the address of an entry"),
        (lambda: tracer.session(scenario).trace(three), "got int 3, expected a text"),
        (lambda: tracer.session(scenario).trace(given=three), "expected numbers by address"),
        (lambda: tracer.check(scenario), "expected either figures or against"),
        (lambda: tracer.render(alex), "got Trace .*, expected a Document, which tracer.explain()"),
    ):
        with pytest.raises(TypeError, match=told.replace("(", r"\(").replace(")", r"\)")):
            call()


def test_a_package_does_not_hide_a_function() -> None:
    import_module("tracer.check.verdicts")
    assert callable(tracer.check)
    assert tracer.TracerError is TracerError


def test_nothing_else_is_offered() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tracer.nonsense  # noqa: B018
