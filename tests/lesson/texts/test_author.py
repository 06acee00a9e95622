"""The author's intro, notes and summary: where they are shown, and what is woven into them."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from tests.helpers.authored import SEEN_AS, paragraphs
from tests.helpers.command import printed, run
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.sentences import told
from tracer.decoder.forward import PassOptions
from tracer.decoder.lazy import LazyValue
from tracer.lesson.texts import author_text
from tracer.requests.resolve import run_pass
from tracer.scenario.loading import load

SCENARIOS = Path(__file__).parent.parent.parent.parent / "scenarios"
A_GIVES_B = "layer1.attention.head1.weights[b,a]"

SMALL = """
title: small
tokens: [a, b]
embeddings: {a: [1, 2], b: [0, 1]}
layers:
  - attention:
      heads: [{W_Q: [[1, 0], [0, 1]], W_K: [[1, 1], [0, 1]], W_V: [[1, 0], [1, 1]]}]
vocabulary: [a, b]
unembedding: {W_U: [[1, 0], [0, 1]]}
targets: [none, a]
"""


def written(**words: object) -> str:
    return SMALL + to_yaml(dict(words))


def shown(text: str) -> list[str]:
    """The paragraphs of an intro, on a terminal."""
    _, *blocks = told("run", "-", stdin=written(intro=text)).split("\n\n")
    return list(takewhile(lambda block: not block.startswith("The calculation follows"), blocks))


def in_markdown(text: str) -> list[str]:
    """The same as a reader of Markdown sees it, of GitHub's or another."""
    made = printed("run", "-", "--format", "markdown", stdin=written(intro=text))
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(made)
    found = []
    for i, token in enumerate(tokens):
        if token.type == "inline" and token.content.startswith("The calculation follows"):
            break
        if token.type == "inline":
            assert tokens[i - 1].type in ("paragraph_open", "heading_open"), token.content
            plain = "".join(_seen(child) for child in token.children or ())
            found.append(plain)
    return found[1:]


def _seen(token: object) -> str:
    kind, content = token.type, token.content  # type: ignore[attr-defined]
    if kind == "html_inline":
        assert re.fullmatch("</?(em|strong)>", content)
        return ""
    if kind in ("em_open", "em_close", "strong_open", "strong_close"):
        return ""
    assert kind in ("text", "code_inline", "softbreak"), kind
    return str(content)


@pytest.mark.parametrize("text", SEEN_AS)
def test_a_text_is_seen_as_it_is_meant(text: str) -> None:
    expected = paragraphs(text, "1")
    assert shown(text) == expected
    assert in_markdown(text) == expected
    document = json.loads(printed("run", "-", "--format", "json", stdin=written(intro=text)))
    assert document["intro"].split("\n\n") == expected


@given(
    st.lists(st.sampled_from(["**", "**", "a", "b c", " ", ".", "\n", "\n\n", "{value x*}", "é"]))
)
def test_strong_words_are_read_as_the_parser_reads_them(parts: list[str]) -> None:
    text = "".join(parts)
    read = author_text.pieces_of(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(author_text, "STYLED", re.compile(""))
        assert read == author_text.pieces_of(text)


HARD = st.text(st.sampled_from("ab1. -+*_`~^$&<>[](){}|#!:\\\n=%@/'\"é日"), min_size=1, max_size=30)


@settings(max_examples=25, deadline=None)
@given(HARD.filter(str.strip))
def test_any_text_is_seen_alike_on_a_terminal_and_in_markdown(text: str) -> None:
    assert [re.sub(r"\s+", " ", each) for each in in_markdown(text)] == [
        re.sub(r"\s+", " ", each) for each in shown(text)
    ]


@pytest.mark.parametrize(
    ("key", "heading"),
    [
        ("softmax", "8 · Softmax"),
        ("layer1.attention.head1.weights", "8 · Softmax"),
        ("layer1.attention.scores", "6 · Attention scores"),
        ("layer1.attention.head1.W_Q", "3 · Query"),
        ("attention", "3 · Query"),
        ("logits", "14 · Logits"),
    ],
)
def test_a_note_ends_the_first_step_that_its_key_names(key: str, heading: str) -> None:
    text = told("run", "-", stdin=written(notes={key: "Here it is."}))
    assert text.count("Here it is.") == 1
    before, after = text.split("Here it is.\n")
    assert re.findall(r"\n(\d+ · .*)\n─", before)[-1].startswith(heading)
    assert not after.strip() or re.match(r"\n*(\d+ ·|[A-Z].*\n═)", after.lstrip("\n"))


def test_a_note_on_the_backward_pass_is_shown_in_training_only() -> None:
    stdin = written(notes={"gradient.logits": "Only training says this."})
    assert "Only training" not in told("run", "-", stdin=stdin)
    assert told("train", "-", stdin=stdin).count("Only training says this.") == 1


@pytest.mark.parametrize("key", ["layer1.attention.head1.weights", "logits", "softmax"])
def test_a_note_on_the_forward_pass_is_not_shown_in_training(key: str) -> None:
    stdin = written(notes={key: "Only the pass says this."})
    assert told("run", "-", stdin=stdin).count("Only the pass says this.") == 1
    assert "Only the pass" not in told("train", "-", stdin=stdin)


@pytest.mark.parametrize(
    ("command", "whole", "notes"),
    [
        (("run", "-"), True, ["softmax", "logits"]),
        (("step", "softmax", "-s", "-"), False, ["softmax"]),
        (("step", "logits", "-s", "-"), False, ["logits"]),
        (("loss", "-"), False, ["loss"]),
    ],
)
def test_json_has_the_words_that_the_text_shows(
    command: tuple[str, ...], whole: bool, notes: list[str]
) -> None:
    words = {key: f"About {key}." for key in ("softmax", "logits", "loss")}
    stdin = written(intro="First.", notes=words, summary="Last.")
    document = json.loads(printed(*command, "--format", "json", stdin=stdin))
    assert ("intro" in document, "summary" in document) == (whole, whole)
    assert document["notes"] == {key: words[key] for key in notes}
    text = told(*command, "--format", "terminal", stdin=stdin)
    assert [key for key in words if words[key] in text] == notes
    assert ("First." in text, "Last." in text) == (whole, whole)


def test_a_number_of_another_pass_is_woven() -> None:
    loss = printed("value", "loss", "-s", "-", stdin=SMALL).strip()
    text = told(
        "tutorial", "-", "--format", "terminal", stdin=written(summary="The loss is {value loss}.")
    )
    assert f"\nThe loss is {loss}.\n" in text


def test_an_intro_takes_the_place_of_the_general_question() -> None:
    assert "Which word comes next?" in told("tutorial", "-", "--format", "terminal", stdin=SMALL)
    text = told("tutorial", "-", "--format", "terminal", stdin=written(intro="Who listens?"))
    assert "Which word comes next?" not in text
    assert text.startswith("small\n\nWho listens?\n")


def test_a_worksheet_has_none_of_the_words_which_may_tell_an_answer() -> None:
    stdin = written(intro="One.", notes={"softmax": "Two."}, summary="Three.")
    text = told("tutorial", "-", "--format", "terminal", "--blanks", stdin=stdin)
    assert not re.search(r"One\.|Two\.|Three\.", text)


@pytest.mark.parametrize(
    "options", [("--vary", "1"), ("--given", "input=[[1, 2], [3, 4]]")], ids=lambda o: o[0]
)
def test_words_about_other_numbers_are_left_out(options: tuple[str, ...]) -> None:
    stdin = written(intro="One.", notes={"input": "Two."}, summary="Three.")
    assert all(each in told("run", "-", stdin=stdin) for each in ("One.", "Two.", "Three."))
    text = told("run", "-", *options, stdin=stdin)
    assert not re.search(r"One\.|Two\.|Three\.", text)


def test_all_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(
        SMALL
        + 'intro: "{value nothing}, {value input[a,d9]}, {value input[a,1] as per}"\n'
        + "notes:\n  softmx: x\n  logits: '{value logits[9,a]}'\n"
    )
    for command in (
        ("run",),
        ("tutorial",),
        ("page", "-o", str(tmp_path / "p.html")),
        ("steps",),
        ("train",),
        ("shapes",),
        ("generate",),
        ("check",),
    ):
        ran = run(command[0], str(path), *command[1:])
        assert ran.exit_code == 2
        assert not ran.stdout
        first = len(SMALL.splitlines()) + 1
        assert re.findall(r"my.yaml:(\d+):\d+: (.*)", ran.stderr) == [
            (f"{first + 2}", "no step 'softmx'; did you mean 'softmax'?"),
            (f"{first}", "intro: {value nothing}: no such value"),
            (
                f"{first}",
                "intro: {value input[a,d9]}: no feature 'd9', expected 1 to 2 or a label, such "
                "as 'd₀'",
            ),
            (
                f"{first}",
                "intro: {value input[a,1] as per}: got 'as per' after the address, "
                "expected nothing or `as percent`",
            ),
            (
                f"{first + 3}",
                "notes.logits: {value logits[9,a]}: no token '9', expected 1 to 2 or a label, "
                "such as 'a'",
            ),
        ]


def test_numbers_that_are_not_shown_are_not_computed() -> None:
    """A step of the first layer waits for no later layer, whatever the summary quotes."""
    found = run_pass(load("gpt2-small"), PassOptions())
    assert "{value prediction" in str(found.scenario.summary)
    prediction = found.values["prediction"]
    assert isinstance(prediction, LazyValue) and not prediction.is_ready


def test_emphasis_is_asterisks_where_a_reader_sees_them() -> None:
    made = printed("run", "-", "-f", "markdown", stdin=written(intro="**Who?** A *b* and *(c)* d."))
    assert "\n**Who?** A *b* and <em>(c)</em> d.\n" in made


def test_only_markup_is_escaped_in_markdown() -> None:
    """Quotation marks, vectors and comparisons stay as they are typed; links and tags do not."""
    plain = '“<5 & more” is [0.2, 4.3] at 10:30, 5 | 6 > 4 #1 of "all" - W_Q.'
    text = written(intro=f"{plain}\n\n<b>, [a](b), https://x.y")
    titled = text.replace("title: small", """title: '"I like" [1, 2]'""")
    made = printed("run", "-", "-f", "markdown", stdin=titled)
    assert made.startswith(f'# "I like" [1, 2]\n\n{plain}\n\n')
    assert r"\<b>, [a\](b), https\://x.y" in made


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"layer1.cross_attention.head1.output": [[0] * 3] * 5}, {1: "<END>"}),
        (
            {f"layer{n}.cross_attention.output": [[0] * 6] * 5 for n in (1, 2)},
            {0: "Me", 1: "gusta", 3: "pizza"},
        ),
    ],
    ids=["without head 1", "without the English words"],
)
def test_what_pizza_predicts_without_a_part(
    changed: dict[str, list[list[int]]], words: dict[int, str]
) -> None:
    """What its author says of it; in the second pass the two other words do not come out."""
    text = Path("scenarios/pizza.yaml").read_text(encoding="utf-8") + to_yaml({"given": changed})
    values = json.loads(printed("run", "-", "-f", "json", stdin=text))["values"]
    found = next(value["data"] for value in values if value["address"] == "prediction")
    assert words.items() <= dict(enumerate(found)).items()
    assert len(words) == 1 or (found[2] != "la" and found[4] != "<END>")


def test_the_shapes_of_all_queries_in_gpt2_are_those_of_side_by_side_and_split_heads() -> None:
    scenario = yaml.safe_load((SCENARIOS / "gpt2-small.yaml").read_text())
    heads, width = (scenario["dimensions"][key] for key in ("heads", "width"))
    queries = np.zeros((1, heads, len(scenario["tokens"].split()), width // heads))
    note = " ".join(scenario["notes"]["layer1.attention.head1.query"].split())
    side_by_side = np.concatenate([*queries.swapaxes(0, 1)], axis=-1)
    shapes = [list(side_by_side.shape), list(queries.shape)]
    assert note.endswith(
        f"Side by side, the queries of all heads make {shapes[0]}; split by head, {shapes[1]}."
    )


@pytest.mark.parametrize(
    "given, lost",
    [
        ("encoder.output=0", ["la", "<END>"]),
        ("layer1.cross_attention.head1.output=0", ["gusta", "la", "<END>"]),
    ],
)
def test_what_the_summary_of_pizza_says_of_removed_parts(given: str, lost: list[str]) -> None:
    """The words that no longer come out; after “Me”, without the head, the end token does."""
    before, after = predicted("pizza"), predicted("pizza", "--given", given)
    assert [was for was, now in zip(before, after, strict=True) if was != now] == lost
    assert "gusta" not in lost or after[1] == "<END>"


def predicted(*asked: str) -> list[str]:
    values = json.loads(printed("run", *asked, "-f", "json"))["values"]
    [words] = [each["data"] for each in values if each["address"] == "prediction"]
    return list(words)
