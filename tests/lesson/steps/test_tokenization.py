"""The step from a text to its tokens: what is shown of it is what is done, of any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from tests.helpers.claims import Judge, faults
from tests.helpers.command import printed, run_json
from tests.helpers.learned_merges import recounted
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.sentences import unbroken
from tests.tokenization.test_bpe import learned

Merges = list[tuple[str, str]]

LOW = "low lower lowest"
LEARNED = [("l", "o"), ("lo", "w"), (" ", "low"), ("e", "s"), ("es", "t")]
FAMILY = "👩\u200d👩\u200d👧"
HOSTILE = {
    "combining": "Z\u0351\u036ba e\u0301",
    "families": f"{FAMILY} {FAMILY}🇫🇷",
    "right to left": "שלום مرحبا \u202eabc",
    "newlines": "a\nb\r\n \t c",
    "only spaces": "    ",
    "markup": "a|b $x$ **y** \\n <br> {z} # & % ~ ^ `·`",
    "controls": "a\x1b[31mb\x07 \x00",
}


def scenario(text: str, merges: Merges) -> str:
    """A text in a decoder that does nothing."""
    typed = {"title": "T", "text": text, "merges": [list(pair) for pair in merges]}
    return to_yaml({**typed, "embeddings": {"random": {"columns": 1}}})


def shown(text: str, merges: Merges, *options: str, width: int = 80) -> str:
    stdin = scenario(text, merges)
    return printed("step", "tokenization", "-s", "-", *options, stdin=stdin, width=width)


def tables(markdown: str) -> list[list[list[str]]]:
    """The rows of each table, its header first, cells without marks."""
    found = re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)
    return [
        [[cell.strip().strip("*") for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        for table in found
    ]


def test_low_lower_lowest_by_pencil() -> None:
    tokens, own, others = tables(shown(LOW, LEARNED, "--format", "markdown", "--token", "5"))
    assert [row[2] for row in tokens[2:]] == ["low", "␣low", "e", "r", "␣low", "est"]
    assert [row[1] for row in tokens[2:]] == ["low", *["␣lower"] * 3, *["␣lowest"] * 2]
    assert own[2:] == [
        ["1", "l", "o", "␣·lo·w·e·s·t"],
        ["2", "lo", "w", "␣·low·e·s·t"],
        ["3", "␣", "low", "␣low·e·s·t"],
        ["4", "e", "s", "␣low·es·t"],
        ["5", "es", "t", "␣low·est"],
    ]
    assert others[2:] == [
        ["low", "1", "l", "o", "lo"],
        ["low", "2", "lo", "w", "low"],
        ["␣lower", "1", "l", "o", "lo"],
        ["␣lower", "2", "lo", "w", "low"],
        ["␣lower", "3", "␣", "low", "␣low"],
    ]


def test_it_comes_first_and_goes_by_its_text() -> None:
    contents = printed("steps", "-", stdin=scenario(LOW, LEARNED)).splitlines()
    assert contents[3].split() == ["1", "tokenization", "3", "text"]
    assert contents[4].split()[:2] == ["2", "embedding"]
    picture = printed("run", "-", stdin=scenario(LOW, LEARNED)).partition("1 · Text and tokens")[0]
    assert "␣low" in picture and "merges" not in picture
    assert "tokenization" not in printed("steps", "alex")
    assert printed("value", "text[2]", "-s", "-", stdin=scenario(LOW, LEARNED)) == "␣lower\n"
    assert (
        printed("value", "text.merges[3,joined]", "-s", "-", stdin=scenario(LOW, LEARNED)) == "lo\n"
    )


def test_ids_and_bytes_are_shown_where_there_are_some() -> None:
    stdin = scenario("né ab", []) + "token_ids: [7, 8, 9, 10, 11]\n"
    text = printed("step", "tokenization", "-s", "-", "--format", "markdown", stdin=stdin)
    header, _, *rows = tables(text)[0]
    assert header == ["position", "piece", "its bytes", "id", "token"]
    assert rows[1] == ["2", "né", "6e c3 a9", "8", "é"]
    assert rows[4] == ["5", "␣ab", "—", "11", "b"]
    assert "6 bytes are encoded as 5 tokens; the longest is `é`, with 2 bytes." in text


@settings(max_examples=30, deadline=None)
@given(learned(" abé"), st.text(" abé", min_size=1, max_size=12), st.data())
def test_what_is_said_is_true(pairs: Merges, text: str, data: st.DataObject) -> None:
    merges = in_order(pairs)
    values = {v["address"]: v for v in run_json("-", stdin=scenario(text, merges))["values"]}
    tokens = values["tokens"]["data"]
    assert "".join(tokens) == "".join(values["text"]["data"]) == text
    done = values["text.merges"]["data"] if "text.merges" in values else []
    assert all(merges[int(rank) - 1] == (left, right) for _, rank, left, right, _ in done)
    token = data.draw(st.integers(1, len(tokens)))
    lines = unbroken(shown(text, merges, "--token", str(token), width=5000))
    judge = Judge(values, {}, token - 1, {})
    assert faults(lines, judge) == []


HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def of_corpus(text: str, corpus: dict[str, int], merges: int) -> str:
    typed = {"title": "T", "text": text, "corpus": corpus, "merges": merges}
    return to_yaml({**typed, "embeddings": {"random": {"columns": 1}}})


def test_merges_are_counted_by_pencil() -> None:
    stdin = of_corpus("bug mug", HUGS, 3)
    text = printed("step", "learned_merges", "-s", "-", "--format", "markdown", stdin=stdin)
    _, first, changed, *_, in_order = tables(text)
    assert first[2:4] == [["u·g", "10 + 5 + 5 = 20"], ["p·u", "5 + 12 = 17"]]
    assert changed[2:] == [
        ["hug", "h·u·g", "h·ug"],
        ["pug", "p·u·g", "p·ug"],
        ["hugs", "h·u·g·s", "h·ug·s"],
    ]
    assert in_order[2:] == [
        ["1", "u", "g", "ug", "20"],
        ["2", "u", "n", "un", "16"],
        ["3", "h", "ug", "hug", "15"],
    ]
    made = printed("step", "tokenization", "-s", "-", "--format", "markdown", stdin=stdin)
    assert [row[2] for row in tables(made)[0][2:]] == ["b", "ug", "&#91;UNK&#93;", "ug"]


LETTERS = st.text("abcd", min_size=1, max_size=5)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.dictionaries(LETTERS, st.integers(1, 9), min_size=1, max_size=30),
    st.text(" abcé", min_size=1, max_size=12).filter(lambda text: text.strip(" ")),
    st.data(),
)
def test_what_is_said_of_learned_merges_is_true(
    corpus: dict[str, int], text: str, data: st.DataObject
) -> None:
    most = len(recounted(corpus, 1000))
    if not most:
        return
    merges = data.draw(st.integers(1, most))
    again = recounted(corpus, merges)
    stdin = of_corpus(text, corpus, merges)
    values = {v["address"]: v for v in run_json("-", stdin=stdin)["values"]}
    assert values["corpus.pairs"]["data"] == [
        [str(rank), *pair, str(count)]
        for rank, (_, _, counts) in enumerate(again, 1)
        for pair, count in counts.items()
    ]
    learning = printed("step", "learned_merges", "-s", "-", stdin=stdin, width=5000)
    for summands, total in re.findall(r"((?:\d+ \+ )+\d+) = (\d+)", learning):
        assert sum(map(int, summands.split(" + "))) == int(total)
    tokens = printed("step", "tokenization", "-s", "-", "--token", "1", stdin=stdin, width=5000)
    judge = Judge(values, {"text": text, "corpus": corpus, "merges": merges}, 0, {})
    assert faults(unbroken(learning), judge) == faults(unbroken(tokens), judge) == []


def in_order(merges: Merges) -> Merges:
    """Those of which each joins what is there by then."""
    made, found = set[str](), Merges()
    for pair in merges:
        if all(len(symbol) == 1 or symbol in made for symbol in pair):
            found.append(pair)
            made.add("".join(pair))
    return found


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "json"])
def test_any_text_is_shown(text: str, form: str) -> None:
    merges = [(text[0], text[1])]
    for width in (40, 80, 160) if form == "terminal" else (80,):
        written = shown(text, merges, "--format", form, width=width)
        assert written.isprintable() or set(re.findall(r"[^\x20-\U0010ffff]", written)) == {"\n"}
        assert "\x1b" not in written and "\x07" not in written


def test_of_a_long_text_a_page_is_shown() -> None:
    merges = [("a", "b"), ("ab", "ab"), ("abab", "abab")]
    long = {"terminal": "ab" * 5000, "markdown": "ab " * 3333, "latex": "c" * 10_000}
    for form, text in long.items():
        written = shown(text, merges, "--format", form, "--token", "500", width=40)
        assert len(written.splitlines()) < 600
        assert len(written) < 80_000
    values = {v["address"]: v for v in run_json("-", stdin=scenario("ab" * 5000, merges))["values"]}
    assert values["tokens"]["shape"] == [1250]
    assert values["text.merges"]["shape"] == [8750, 5]
