"""A report for a reader, for programs, for services."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tracer.audit import Report
from tracer.audit.judging.findings import audit
from tracer.audit.reading import tokens
from tracer.audit.reading.texts import Markup, Text
from tracer.audit.reports.report import rendered
from tracer.audit.reports.results import Kind, result

ACTS = "\x1b[2J\x07\x7f\x85\x9b\u200e\u2028\u2029\u202a\u202e\u2066\u2069\udcff"
"""What acts on a terminal, turns the direction of a text, or is half a character."""

PAGE = """\
First 2 × 3 = 6, and 日本 7 × 8 = 58;
then 1/7 = 0.142 and x = 5.

58 + 1 = 59 and 7 × 8 = 58 again
"""


def report(form: Report, content: str = PAGE, *, skipped: bool = False, name: str = "a.md") -> str:
    text = Text(name, content, Markup.MARKDOWN)
    kinds = (Kind.DOUBTFUL, Kind.UNREAD) if skipped else ()
    found = result(name, [(text, audit(text))], kinds)
    return rendered(form, [found], kinds, version="1.0")


def test_the_minus_of_a_wrong_figure_is_shown() -> None:
    told = report(Report.TERMINAL, "It is 500 - 105 = −405, so 2 × (−405) = 790.")
    assert "a.md:1:7: A01 false: computed 395, printed −405\n" in told
    assert "  follows from it: a.md:1:28: A01 false: computed -810, printed 790" in told
    told = report(Report.TERMINAL, "It is 70 - 45 = -25 or [2, 3] + [1, 1] = [3, -4].")
    assert "computed 25, printed -25; the sign is reversed\n" in told
    assert "computed 4, printed -4" in told


@pytest.mark.parametrize(
    ("second", "follows"),
    [
        ("382 + 100 = 472", True),
        ("382 + 100 = 473", False),
        ("100 - 382 = -272", True),
        ("38.2 + 100 = 137.2", False),
        ("382 · 2 = 774", False),
    ],
)
def test_what_is_computed_with_the_correct_figure_follows(second: str, *, follows: bool) -> None:
    told = report(Report.TERMINAL, f"Total: 12 × 31 = 382. Then {second}.")
    assert told.count("A01 false") == 2
    assert ("  follows from it: a.md:1:28: " in told) == follows


def test_a_reader_sees_the_place_the_value_and_what_follows() -> None:
    assert report(Report.TERMINAL) == (
        "a.md:1:25: A01 false: computed 56, printed 58\n"
        "  1 | First 2 × 3 = 6, and 日本 7 × 8 = 58;\n"
        "    |                                   ^^\n"
        "  follows from it: a.md:4:17: A01 false: computed 56, printed 58\n"
        "\n"
        "a.md:2:6: A04 truncated: computed 0.14286, printed 0.142\n"
        "  2 | then 1/7 = 0.142 and x = 5.\n"
        "    |            ^^^^^\n"
        "\n"
        "5 equations read: 2 hold, 2 false, 1 truncated; 1 sign not read (--show-skipped)\n"
    )


def test_the_signs_that_were_not_read_are_listed() -> None:
    told = report(Report.TERMINAL, "x = 5 and 1 + 1 = 2", skipped=True)
    assert told == (
        "a.md:1:3: not read: x = 5 and 1 + 1 = 2\n1 equation read: 1 hold; 1 sign not read\n"
    )


def test_a_long_line_is_shown_around_the_figure() -> None:
    told = report(Report.TERMINAL, f"{'word ' * 200}7 × 8 = 58{' word' * 200}").splitlines()
    assert [line[line.index("|") :].index("^") for line in told[2:3]] == [told[1].index("58") - 4]
    assert all(len(line) <= 80 for line in told)
    assert told[1].partition("| ")[2].startswith("…") and told[1].endswith("…")
    short = report(Report.TERMINAL, "7 × 8 = 58 of it").splitlines()
    assert short[1] == "  1 | 7 × 8 = 58 of it"
    unread = report(Report.TERMINAL, f"{'word ' * 200}x = 58{' word' * 200}", skipped=True)
    assert unread.startswith("a.md:1:1003: not read: …") and "…\n" in unread


def test_what_acts_on_a_terminal_is_shown_as_its_code() -> None:
    for form in Report:
        told = report(form, f"{ACTS}\n\n7 × 8 = 58 and x = 5", name=f"{ACTS}.md", skipped=True)
        assert told.replace("\n", "").isprintable(), form
    [finding] = json.loads(report(Report.JSON, "7 × 8 = 58", name=f"{ACTS}.md"))["findings"]
    assert finding["file"] == f"{ACTS}.md"


@pytest.mark.parametrize("form", Report)
def test_what_is_not_read_to_its_end_is_told(form: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "A09 not" not in report(form, "1 + 1 = 2; 7 × 8 = 58")
    monkeypatch.setattr(tokens, "MOST", 11)
    told = report(form, "1 + 1 = 2; 7 × 8 = 58")
    assert "A01 false" not in told
    assert "A09" in told
    if form is Report.TERMINAL:
        assert told.endswith(
            "1 equation read: 1 hold; 0 signs not read; 1 long passage not read to the end\n"
        )
    if form is Report.JSON:
        [finding] = json.loads(told)["findings"]
        assert (finding["code"], finding["level"], finding["column"]) == ("A09", "warning", 12)
    if form is Report.SARIF:
        [result] = json.loads(told)["runs"][0]["results"]
        assert result["message"]["text"].startswith("not read to the end: this passage has more")


def test_json_has_what_was_found() -> None:
    found: dict[str, Any] = json.loads(report(Report.JSON))
    assert (found["read"], found["hold"], found["skipped"]) == (5, 2, 1)
    assert found["findings"][0] == {
        "file": "a.md",
        "line": 1,
        "end_line": 1,
        "column": 25,
        "code": "A01",
        "level": "error",
        "equation": "7 × 8 = 58",
        "printed": "58",
        "computed": "56",
        "cause": None,
        "follows_from": None,
    }
    assert [each["follows_from"] for each in found["findings"]] == [None, None, "a.md:1:25"]


def test_sarif_has_what_the_standard_requires() -> None:
    log: dict[str, Any] = json.loads(report(Report.SARIF, name="a b.md"))
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (log["version"], driver["name"]) == ("2.1.0", "decoder-trace")
    rules = {rule["id"] for rule in driver["rules"]}
    for each in run["results"]:
        assert each["ruleId"] in rules
        assert each["level"] in ("error", "warning", "note")
        assert each["message"]["text"]
        (location,) = each["locations"]
        physical = location["physicalLocation"]
        assert physical["artifactLocation"]["uri"] == "a%20b.md"
        assert min(physical["region"].values()) >= 1
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert PAGE.splitlines()[0][region["startColumn"] - 1 : region["endColumn"] - 1] == "7 × 8 = 58"


def test_github_gets_commands_with_its_escapes() -> None:
    told = report(Report.GITHUB, "1/7 = 12%", name="a,b:c%.md").splitlines()
    assert told == [
        "::error file=a%2Cb%3Ac%25.md,line=1,endLine=1,col=1,endColumn=10,title=A01 false"
        "::false: computed 14.29, printed 12: 1/7 = 12%25"
    ]


def test_the_equations_that_were_read_are_listed() -> None:
    text = Text("a.md", PAGE, Markup.MARKDOWN)
    found = result("a.md", [(text, audit(text))], [Kind.READ])
    listed = json.loads(rendered(Report.JSON, [found], [Kind.READ], "1.0"))["equations"]
    assert [(each["line"], each["equation"], each["verdict"]) for each in listed] == [
        (1, "2 × 3 = 6", "holds"),
        (1, "7 × 8 = 58", "false"),
        (2, "1/7 = 0.142", "truncated"),
        (4, "58 + 1 = 59", "holds"),
        (4, "7 × 8 = 58", "false"),
    ]
    told = rendered(Report.TERMINAL, [found], [Kind.READ], "1.0").splitlines()
    assert told[-6:-4] == ["a.md:1:7: holds: 2 × 3 = 6", "a.md:1:25: false: 7 × 8 = 58"]
