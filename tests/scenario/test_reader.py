"""YAML is read so that every scalar stays as it was typed, and what is no scenario has its line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from tests.helpers.random_scenarios import ODD_WORDS
from tracer.errors import Problem, TracerError
from tracer.scenario import reader
from tracer.scenario.loading import bundled
from tracer.scenario.reader import MAX_DEPTH, Data, ScenarioSource, YamlPath, read


@pytest.fixture(params=["libyaml", "PyYAML alone"], scope="module", autouse=True)
def _loader(request: pytest.FixtureRequest) -> Iterator[None]:
    """All that is promised here holds with libyaml, where PyYAML has it, and without."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "PyYAML alone":
            patch.setattr(reader, "LIBYAML", None)
        yield


def refused(text: str) -> tuple[Problem, ...]:
    """What is said of a text that cannot be read."""
    with pytest.raises(TracerError) as caught:
        read(text, "f.yaml")
    return caught.value.problems


def only(text: str) -> Problem:
    """The one problem of a text."""
    (problem,) = refused(text)
    return problem


# --- scalars -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    [
        *("no", "yes", "on", "off", "true", "False", "null", "~", "NULL", "none"),
        *("1.0", "1.80", "1e-3", "007", "-0", "+1", "0x10", "0o17", "1_000", ".inf", "-.INF"),
        *(".nan", "2024-01-01", "12:30", "1:2:3", "2024-01-01T10:00:00Z", "=", "<<", "é", "日本"),
    ],
)
def test_a_plain_scalar_is_the_text_that_was_typed(typed: str) -> None:
    assert read(f"tokens: [{typed}]\n{typed}: x\n", "f").data == {"tokens": [typed], typed: "x"}


@pytest.mark.parametrize(
    ("yaml", "meant"),
    [
        ("'no'", "no"),
        ("'it''s'", "it's"),
        ('"a\\tb\\u00e9"', "a\tbé"),
        ("' a '", " a "),
        ("", ""),
        ("|\n  x\n  y\n", "x\ny\n"),
        (">\n  x\n  y\n", "x y\n"),
        ("x  # no part of it", "x"),
        ("x#y", "x#y"),
        ("!!int 5", "5"),
        ("!!null ''", ""),
    ],
)
def test_quotes_blocks_comments_and_tags_are_yaml(yaml: str, meant: str) -> None:
    assert read(f"a: {yaml}", "f").data == {"a": meant}


def test_a_tag_makes_nothing_happen() -> None:
    text = "a: !!python/object/apply:os.getcwd []\nb: !!python/name:os.system x"
    assert read(text, "f").data == {"a": [], "b": "x"}


def test_a_merge_key_is_a_key_as_any_other() -> None:
    assert read("a: &a {x: 1}\nb: {<<: *a}", "f").data == {"a": {"x": "1"}, "b": {"<<": {"x": "1"}}}


def test_lines_may_end_as_on_windows() -> None:
    source = read("a: 1\r\nb:\r\n  - x\r\n", "f")
    assert source.data == {"a": "1", "b": ["x"]}
    assert str(source.problem(("b",), "here")) == "f:2:1: here"


# --- duplicate keys ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "first"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, 1),
        ("x:\n  a: 1\n  a: 1\n", 3, 3, 2),
        ("- {b: 1}\n- {a: 1, b: 2, a: 3}\n", 2, 16, 2),
        ("1.0: a\n'1.0': b\n", 2, 1, 1),
        ("x: {y: [{a: 1,\n  a: 2}]}", 2, 3, 1),
    ],
)
def test_a_duplicate_key_is_refused(text: str, line: int, column: int, first: int) -> None:
    problem = only(text)
    assert (problem.file, problem.line, problem.column) == ("f.yaml", line, column)
    key = "1.0" if "1.0" in text else "a"
    assert f"{key!r} again" in problem.message
    assert f"line {first}" in problem.message


def test_all_duplicates_are_told_at_once() -> None:
    found = refused("a: {k: 1, k: 2}\nb: {k: 1, k: 2, k: 3}\nb: x\n")
    expected = [(1, 11), (2, 11), (2, 17), (3, 1)]
    assert sorted((p.line, p.column) for p in found if p.line and p.column) == expected


def test_keys_that_only_look_alike_are_different() -> None:
    assert read("1: a\n1.0: b\n'1 ': c\nA: d\na: e\n", "f").data == {
        **{"1": "a", "1.0": "b", "1 ": "c"},
        **{"A": "d", "a": "e"},
    }


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a: 1\n? [x]\n: 2\n", 2, 3), ("a: 1\n? {b: c}\n: 2\n", 2, 3), ("a:\n  [x]: 1\n", 2, 3)],
)
def test_a_key_is_text(text: str, line: int, column: int) -> None:
    problem = only(text)
    assert (problem.line, problem.column) == (line, column)
    assert "expected text" in problem.message


# --- aliases -------------------------------------------------------------------------------------


def levels(number: int) -> str:
    """Ten entries, and that often ten aliases of the line before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for i in range(1, number + 1):
        lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]")
    return "\n".join(lines)


def test_an_alias_stands_for_what_it_names() -> None:
    data = read(levels(2), "f").data
    assert isinstance(data, dict)
    assert data["a2"] == [[["x"] * 10] * 10] * 10


def test_what_an_alias_stands_for_is_no_part_of_two_places() -> None:
    data = read("- &a [[x]]\n- *a\n", "f").data
    assert isinstance(data, list)
    typed, again = data
    assert typed == again == [["x"]]
    assert typed is not again
    assert typed[0] is not again[0]


def test_an_alias_may_be_a_key() -> None:
    assert read("a: &a x\n*a : 1\n", "f").data == {"a": "x", "x": "1"}
    assert "expected text" in only("a: &a [x]\n*a : 1\n").message
    assert "'x' again, first given on line 1" in only("&a x: 1\n*a : 2\n").message


def test_what_an_alias_stands_for_is_told_where_it_was_typed() -> None:
    source = read("a: &a [x,\n  y]\nb: [*a, *a]\nc: *a", "f")
    told = [str(source.problem(place, "here")) for place in (("b", 1), ("b", 1, 1), ("c",))]
    assert told == ["f:1:4: here", "f:2:3: here", "f:4:1: here"]


def test_an_anchor_is_given_once() -> None:
    problem = only("a: &a x\nb: &a y\n")
    assert (problem.line, problem.column) == (2, 4)
    assert "'a', first given on line 1" in problem.message


def test_an_alias_bomb_is_refused() -> None:
    assert "aliases" in only(levels(40)).message


def test_entries_and_values_are_counted_as_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &a [x, {y: z}]\nb: *a\n"  # the whole, and twice a list, x, a mapping, z
    monkeypatch.setattr(reader, "MAX_NODES", 9)
    assert read(text, "f").data
    monkeypatch.setattr(reader, "MAX_NODES", 8)
    assert str(only(text)) == "f.yaml: too large once its aliases are written out"


@pytest.mark.parametrize(
    ("text", "column"),
    [("a: &a [*a]", 4), ("a: &a [x, [y, *a]]", 4), ("a: &a {b: {c: *a}}", 4), ("&a [*a]", 1)],
)
def test_an_alias_that_contains_itself_is_refused(text: str, column: int) -> None:
    problem = only(text)
    assert (problem.line, problem.column) == (1, column)
    assert "contains itself" in problem.message


# --- no YAML -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["[" * 1000, "[" * 1000 + "]" * 1000, "a: " + "{a: " * 1000])
def test_endless_nesting_is_refused(text: str) -> None:
    assert "deeply" in only(text).message


@pytest.mark.parametrize("text", ["[" * MAX_DEPTH, "- " * MAX_DEPTH, "a: &a [[x]]\nb: " + "[" * 97])
def test_as_deep_as_may_be_nested(text: str) -> None:
    inside, closed = ("*a", "]" * 97) if "&a" in text else ("x", "]" * text.count("["))
    assert read(text + inside + closed, "f").data
    problem = only(f"{text}[{inside}]{closed}")
    assert (problem.line, problem.message) == (text.count("\n") + 1, "nested too deeply")
    assert problem.column == len(text.splitlines()[-1]) + 2


def test_all_that_is_wrong_is_told_in_order() -> None:
    found = refused("b: {[x]: 1, c: [&a [*a]]}\nd: 1\nd: 2\ne: *f\n")
    told = [(p.line, p.column, p.message.split(",")[0]) for p in found]
    assert told == [
        (1, 5, "the key is a list or a mapping"),
        (1, 17, "an alias that contains itself"),
        (3, 1, "the key 'd' again"),
        (4, 4, "not YAML: found undefined alias 'f'"),
    ]


@pytest.mark.parametrize("half", ["\\ud83d", "\\ud83d\\ude42", "\\uDC00"])
def test_half_a_surrogate_pair_is_no_character(half: str) -> None:
    for text in (f'a:\n- x\n- "{half}"', f'a: 1\nb: 2\n? "{half}"\n: x', f'#\n#\n? "{half}"'):
        problem = only(text)
        assert (problem.line, problem.column) == (3, 3)
        assert "half of a surrogate pair" in problem.message


@pytest.mark.parametrize(
    ("text", "line", "column", "about"),
    [
        ("a: [1, 2\nb: 3\n", 2, 2, "the list that begins on line 1"),
        ("a: 1\n\tb: 2\n", 2, 1, "a tab, expected spaces"),
        ("a: b: c\n", 1, 5, "two colons"),
        ("a:b\nc: 1\n", 1, 2, "a colon without a space after it, expected a: b"),
        ("a: 1\nb:c d\ne: f\n", 2, 2, "a colon without a space after it, expected b: c d"),
        ("a: 1\nhttp://x\ne: f\n", 3, 1, "a key without a colon"),
        ("a: 1\nb: *c\n", 2, 4, "undefined alias 'c'"),
        ("a: 1\n b: 2\n", 2, 3, "indented differently from line 1"),
        ("r:\n  # x\n  d: 1\n\n   e: 2\n", 5, 5, "indented differently from line 3"),
        ("r:\n   d: 1\n  e: 2\n", 3, 3, "indented differently from line 2"),
        ("a: 1\nb: c: d\n", 2, 5, "two colons"),
        ("a: %x\n", 1, 4, "a text that begins with this character needs quotes"),
        ("a: 1\n- b\n", 2, 1, "a list item where a key is expected"),
        ("a:\n  - 1\n  b: 2\n", 3, 3, "a key where a list item is expected"),
        ("a: [1]]\n", 1, 7, "is a ] too many?"),
        ("a: !x!y z\n", 1, 4, "'!x!'"),
    ],
)
def test_what_is_no_yaml_has_a_line(text: str, line: int, column: int, about: str) -> None:
    problem = only(text)
    assert (problem.file, problem.line, problem.column) == ("f.yaml", line, column)
    assert problem.message.startswith("not YAML: ")
    assert about in problem.message


@pytest.mark.parametrize(
    ("text", "line", "column", "code"),
    [
        *(("a: \x00", 1, 4, "U+0000"), ("a: 1\nb: \x07", 2, 4, "U+0007")),
        *(("\n\n'\x1b[31m'", 3, 2, "U+001B"), ("é🙂日: \x7f", 1, 6, "U+007F")),
        *(("\r\n\r\u2028\x85 \x80", 5, 2, "U+0080"), ("\ufeffa: \ud800", 1, 4, "U+D800")),
        ("a: [b, c: d: {\n\uffff", 2, 1, "U+FFFF"),
    ],
)
def test_a_control_character_has_a_line_and_a_column(
    text: str, line: int, column: int, code: str
) -> None:
    problem = only(text)
    assert (problem.line, problem.column) == (line, column)
    assert problem.message == f"not YAML: the character {code} is not allowed"


def test_one_document_is_expected() -> None:
    problem = only("a: 1\n---\nb: 2\n")
    assert (problem.line, problem.column) == (2, 1)
    assert "single document" in problem.message
    assert read("---\na: 1\n...\n", "f").data == {"a": "1"}


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing but a comment\n"])
def test_an_empty_text_is_refused(text: str) -> None:
    assert str(only(text)) == "f.yaml: empty, expected a scenario"


# --- lines and columns ---------------------------------------------------------------------------

PLACES = """\
title: x
layers:
  - attention:
      heads:
        - W_Q: [[1, 2], [3, 4]]
    ffn: {W_1: [[1], [2]],
          activation: none}
  - ffn:
      W_2:
        - [1,
           2]
"""


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ((), "1:1"),
        (("title",), "1:1"),
        (("layers",), "2:1"),
        (("layers", 0), "3:5"),
        (("layers", 0, "attention"), "3:5"),
        (("layers", 0, "attention", "heads", 0), "5:11"),
        (("layers", 0, "attention", "heads", 0, "W_Q"), "5:11"),
        (("layers", 0, "attention", "heads", 0, "W_Q", 1), "5:25"),
        (("layers", 0, "attention", "heads", 0, "W_Q", 1, 1), "5:29"),
        (("layers", 0, "ffn", "W_1", 1), "6:22"),
        (("layers", 0, "ffn", "activation"), "7:11"),
        (("layers", 1, "ffn", "W_2"), "9:7"),
        (("layers", 1, "ffn", "W_2", 0), "10:11"),
        (("layers", 1, "ffn", "W_2", 0, 1), "11:12"),
        # What is not there is told where it would be.
        (("tokens",), "1:1"),
        (("layers", 0, "attention", "heads", 0, "W_K"), "5:11"),
    ],
)
def test_every_place_has_a_line_and_a_column(place: YamlPath, where: str) -> None:
    source = read(PLACES, "f.yaml")
    assert str(source.problem(place, "wrong", "here")) == f"f.yaml:{where}: here: wrong"


@pytest.mark.parametrize("word", [w for w in ODD_WORDS if w.isprintable() and "'" not in w])
def test_columns_count_characters(word: str) -> None:
    source = read(f"tokens: ['{word}', x]", "f")
    assert source.data == {"tokens": [word, "x"]}
    assert source.problem(("tokens", 1), "here").column == len(f"tokens: ['{word}', ") + 1


def test_a_byte_order_mark_takes_no_column() -> None:
    source = read("\ufeffa: [b,\u00a0c\ufeffd, e]\nf: g", "f")
    assert source.data == {"a": ["b", "\u00a0c\ufeffd", "e"], "f": "g"}
    assert [source.problem((key,), "here").column for key in "af"] == [1, 1]
    assert source.problem(("a", 0), "here").column == 5


# --- libyaml and PyYAML alone --------------------------------------------------------------------


def places(data: Data, around: YamlPath = ()) -> Iterator[YamlPath]:
    """The places of all parts, and of what each part does not have."""
    yield from (around, (*around, "missing"), (*around, 99))
    if not isinstance(data, str):
        for key, part in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(part, (*around, key))


def outcome(text: str, *, quickly: bool) -> tuple[Data, list[Problem]]:
    """The data and the marks of all its parts, or what is said of the text."""
    with pytest.MonkeyPatch.context() as patch:
        if not quickly:
            patch.setattr(reader, "LIBYAML", None)
        try:
            source: ScenarioSource = read(text, "f")
        except TracerError as error:
            return "", list(error.problems)
    return source.data, [source.problem(place, str(place)) for place in places(source.data)]


@pytest.mark.parametrize("name", bundled())
def test_bundled_scenarios_are_read_alike(name: str) -> None:
    text = bundled()[name].read_text(encoding="utf-8")
    found = outcome(text, quickly=True)
    assert found[0]
    assert found == outcome(text, quickly=False)


# Left out are tabs and question marks, which libyaml takes at more places.
PIECES = (
    *("[", "]", "{", "}", ": ", ", ", "- ", "-", "\n", "\n  ", "\n    ", "\r\n", "\r", " ", " # "),
    *("&a ", "*a", "&b [", "*b", "!t ", "!x!y ", "'", '"', "''", "|\n", ">\n", "|-\n", "|+2\n"),
    *("a", "b", "a: 1\n", "- x\n", "b: [1, 2]\n", "a: &a {x: 1}\n", "x\n  y", "é", "日", "🙂"),
    *("---\n", "...\n", "\n---\n", "%YAML 1.1\n", "%YAML 1.2\n", "%TAG ! !\n", "%", '"\\\n  b"'),
    *('"\\ud83d"', '"\\x80"', '"\\U00110000"', '"\\q"', "\x85", "\u2028", "\ufeff", "\x07", "#"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=14))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_alike(pieces: list[str]) -> None:
    if reader.LIBYAML is None:
        pytest.skip("nothing to compare")
    # Where the last line has no end, libyaml places what is missing behind it on the next.
    text = "".join(pieces) + "\n"
    assert outcome(text, quickly=True) == outcome(text, quickly=False)
