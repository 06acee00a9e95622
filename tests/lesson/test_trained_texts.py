"""What is told of a trained model: every equation true, every claim so, the excerpts as said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import claims_of_stories
from tests.helpers.claims import Judge, faults, judged
from tests.helpers.claims_of_trained import bracketed, shown_columns
from tests.helpers.claims_of_words import path
from tests.helpers.command import printed, run
from tests.helpers.judge import Row, address_of, as_shown, pattern_of
from tests.helpers.latex_truth import from_latex, from_markdown
from tests.helpers.sentences import unbroken
from tests.helpers.tiny_models import scenario
from tests.helpers.truth import equations, false_equations, unreadable
from tracer.data import as_json
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.scenario.loading import load

WIDE = 5000
COMMANDS = {
    "run": (("run",), 30),
    "one layer and head": (("run", "--layer", "2", "--head", "2", "--token", "3"), 200),
    "largest terms": (("run", "--layer", "1", "--head", "1", "--terms", "largest"), 200),
    "few terms": (("run", "--layer", "1", "--head", "3", "--terms", "1", "--token", ","), 200),
    "tutorial": (("tutorial", "--layer", "2", "--head", "1", "--format", "terminal"), 200),
    "a drawn text": (("generate", "--max-tokens", "2", "--seed", "1", "--temperature", "2"), 60),
}


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return scenario(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    return scenario(tmp_path_factory.mktemp("gpt2"), "folder gpt2")


@pytest.fixture(scope="module")
def seen(llama: str) -> Trace:
    return trace("tiny", load(llama).scenario, PassOptions(lens=True))


# --- equations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_every_equation_is_true(family: str, command: str, request: pytest.FixtureRequest) -> None:
    (name, *options), fewest = COMMANDS[command]
    text = printed(name, request.getfixturevalue(family), *options)
    assert unreadable(text) == []
    assert false_equations(text) == []
    assert len(equations(text)) >= fewest


def test_why_leads_back_through_true_equations(llama: str) -> None:
    text = printed("why", "probabilities[is,f]", "--depth", "6", "--terms", "99", "-s", llama)
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert len(equations(text)) >= 100


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_other_formats_hold_the_same_numbers(form: str, llama: str) -> None:
    options = ("--layer", "1", "--head", "1")
    here = printed("run", llama, *options, "--format", form)
    plain = from_latex(here) if form == "latex" else from_markdown(here)
    assert (unreadable(plain), false_equations(plain)) == ([], [])
    assert len(equations(plain)) >= 200
    rests = re.findall(r"more: (-?[\d.]+)\]", printed("run", llama, *options, width=WIDE))
    assert len(rests) > 50
    assert all(number in here for number in rests)


# --- claims --------------------------------------------------------------------------------------


KEYS_OF_HEAD: tuple[dict[str, int], ...] = ({}, {"shares": 1}, {}, {"shares": 3})
LAYER = {
    "norm": {"kind": "rms_norm", "placement": "pre", "epsilon": 0.5, "gain": ["learned"]},
    "attention": {"heads": KEYS_OF_HEAD, "W_O": ["learned"]},
    "ffn": {"W_1": ["learned"], "W_2": ["learned"], "W_3": ["learned"], "activation": "silu"},
}
LLAMA: dict[str, Any] = {
    **{"embeddings": {}, "positions": {"rotary": {}}, "layers": [LAYER] * 2},
    **{"final_norm": LAYER["norm"], "unembedding": {"W_U": ["learned"]}},
}
"""What a scenario would say of the tiny model."""


STORY = tuple(map(pattern_of, (*claims_of_stories.CLAIMS, *claims_of_stories.GENERAL)))


@pytest.fixture(scope="module")
def document(seen: Trace) -> Any:
    """The pass as JSON."""
    return json.loads(as_json.render(seen, seen.records, None))


def judge(document: Any, token: int = 4, *, whole: bool = True) -> Judge:
    values = {value["address"]: value for value in document["values"]}
    return Judge(values, LLAMA, token, document["rounding"], whole=whole)


ASKED = (
    ("run", 5),
    ("run", 2),
    ("lens", 5),
    ("lens", 2),
    ("run --layer 1 --head 1", 3),
    ("run --layer 2 --head 4", 5),
    ("tutorial --layer 2 --head 2 --detail full --format terminal", 5),
)


@pytest.mark.parametrize(("command", "token"), ASKED)
def test_every_claim_is_true(command: str, token: int, llama: str, document: Any) -> None:
    name, *options = command.split()
    text = printed(name, llama, *options, "--token", str(token), width=WIDE)
    wrong = faults(unbroken(text), judge(document, token - 1, whole="--layer" not in options))
    assert wrong == [], "\n".join(wrong)


def test_the_worked_head_of_a_tutorial_is_explained_truly(llama: str, document: Any) -> None:
    """Its sections have no numbers; what they say of it alone is judged by `claims_of_stories`."""
    text = unbroken(printed("tutorial", llama, "--format", "terminal", width=WIDE))
    ((head, layer),) = re.findall(r"^Head (\d+) of layer (\d+), step by step$", text, re.M)
    begin = text.index(": query, keys and values\n")
    end = text.index(f"\nWhat head {head} of layer {layer} adds")
    _, *parts = re.split(r"^(\S.*)\n[═─]+\n", text[begin:end], flags=re.M)
    told = zip(parts[::2], parts[1::2], strict=True)
    wrong = []
    for heading, section in told:
        title = re.split(" {2,}", heading)[0]
        own = str((int(head) - 1) // 2 * 2 + 1) if re.search("[kK]ey|Value", title) else head
        at = judge(document)
        at.heading = f"1. Layer {layer}, head {own} · {title}"
        at.address = address_of(at.heading, at)
        wrong += [
            f"{title}: {line}: {fault}"
            for line in section.strip("\n").split("\n\n")
            if line[:1] not in (" ", "▸", "") and not any(p.fullmatch(line) for p in STORY)
            if (fault := judged(line, at))
        ]
    assert wrong == []


def test_a_false_claim_is_found(llama: str, document: Any) -> None:
    text = unbroken(printed("lens", llama, width=WIDE))
    claim = "Only the last layer predicts “f” after “is”."
    assert claim in text
    for false in ("From layer 2 on, every layer", "From layer 1 on, every layer"):
        assert faults(text.replace("Only the last layer", false), judge(document))
    assert faults(text.replace(claim, claim.replace("“f”", "“x”")), judge(document))


def cells(text: str, header: str) -> list[list[str]]:
    """The rows of a table, from the line with its header on."""
    lines = text[text.index(header) :].split("\n\n")[0].splitlines()[1:]
    return [re.split(r"\s{2,}", line.strip(" ▸")) for line in lines]


def test_what_each_layer_would_say(llama: str, seen: Trace, document: Any) -> None:
    rows = cells(printed("run", llama, width=WIDE), "layer  after attention  after FFN")
    assert len(rows) == 2
    answer = str(seen["prediction"].numbers[-1])
    ranks = dict(path(judge(document)))
    for number, (layer, attention, ffn, word, share) in enumerate(rows, 1):
        assert layer == str(number)
        assert int(attention) == ranks[f"after attention in layer {number}"]
        assert int(ffn) == ranks[f"after the FFN in layer {number}"]
        shares = seen[f"layer{number}.lens.probabilities"].array[-1]
        words = seen.scenario.vocabulary or ()
        assert word == as_shown(words[int(shares.argmax())])
        assert abs(float(share.removesuffix(" %")) - 100 * shares.max()) <= 0.0501
    assert rows[-1][-2] == as_shown(answer)


def test_which_heads_look_at_a_token(llama: str, seen: Trace) -> None:
    rows = cells(printed("run", llama, width=WIDE), "token  at most  layer, head")
    weights = {
        f"{layer}, {head}": seen[f"layer{layer}.attention.head{head}.weights"].array[-1]
        for layer in (1, 2)
        for head in (1, 2, 3, 4)
    }
    assert [token for token, *_ in rows] == ["the", "␣a", ",", "␣"]
    for place, (_, share, heads) in enumerate(rows):
        order = sorted(weights, key=lambda name: -weights[name][place])
        assert heads.split("; ") == order[:3]
        assert abs(float(share.removesuffix(" %")) - 100 * weights[order[0]][place]) <= 0.0501


BY_SCORE = "whose joined token has the highest score in the vocabulary is joined."


def test_scores_order_the_merges_of_sentencepiece(llama: str, tmp_path: Path) -> None:
    """A text is one piece with its spaces; the rank of a merge is that of its token."""
    path = scenario(tmp_path, "gguf llama of scores")
    text = unbroken(printed("step", "tokenization", "-s", path, width=WIDE))
    assert BY_SCORE in text
    assert BY_SCORE not in unbroken(printed("step", "tokenization", "-s", llama, width=WIDE))
    rows = cells(text, "rank  left  right")
    assert [row[:3] for row in rows] == [
        *(["33", "h", "e"], ["35", "t", "he"], ["36", "␣", "a"], ["39", "i", "s"]),
    ]


def test_scores_choose_the_tokens_of_a_unigram_model(tmp_path: Path) -> None:
    """` a` is one token with −35, and two with −26 and 0."""
    path = scenario(tmp_path, "folder gpt2 with a unigram model", "the a a")
    text = unbroken(printed("step", "tokenization", "-s", path, width=WIDE))
    assert "the one with the largest sum of scores is chosen." in text
    assert "merge" not in text
    assert cells(text, "token  score") == [["␣", "-26.000"], ["a", "0.000"]]


def test_the_longest_token_is_taken_first(tmp_path: Path) -> None:
    path = scenario(tmp_path, "folder gpt2 with WordPiece", "The playing é.")
    text = unbroken(printed("step", "tokenization", "-s", path, "--token", "3", width=WIDE))
    assert "the longest token of the vocabulary is taken from the piece until" in text
    assert "a token that does not begin a piece starts with “##”." in text
    assert "“playing” is split into “play·##ing”." in text
    assert "merge" not in text and "13 bytes are encoded as 5 tokens." in text
    pieces = [row[-1] for row in cells(text, "position  piece")]
    assert pieces == ["[CLS]", "the", "play", "##ing", "[UNK]", ".", "[SEP]"]


# --- excerpts ------------------------------------------------------------------------------------


def shown(text: str, symbol: str) -> set[str]:
    """The columns of the matrix of a symbol, wherever it stands."""
    headers = re.findall(rf"^ {{2}}{re.escape(symbol)} +(.*)$", text, re.MULTILINE)
    return {label for header in headers for label in re.split(r"\s+", header.strip())}


@pytest.mark.parametrize(("address", "symbol", "step"), [
    ("layer1.ffn.hidden", "h¹", "hidden"),
    ("layer1.ffn.output", "FFN", "ffn_output"),
    ("logits", "z", "logits"),
])  # fmt: skip
def test_the_columns_that_count_are_shown(
    address: str, symbol: str, step: str, llama: str, seen: Trace
) -> None:
    layer = ("--layer", "1") if address.startswith("layer1") else ()
    text = printed("step", step, *layer, "-s", llama, width=WIDE)
    value = seen[address]
    labels = [as_shown(label) for label in value.axes[1].labels]
    row = Row(labels, value.array[-1].tolist(), [])
    expected = shown_columns(row, of_words=address == "logits")
    worked = set(re.findall(r"^ {4}(\S+): ", text, re.MULTILINE))
    assert len(expected) == 8
    assert worked == expected


def test_sums_say_how_many_terms_they_leave_out(llama: str) -> None:
    text = printed("step", "query", "--layer", "1", "--head", "1", "-s", llama, width=WIDE)
    assert set(bracketed(text)) == {32 - 4}
    more = printed(
        *("step", "query", "--layer", "1", "--head", "1", "-s", llama),
        *("--terms", "9"),
        width=WIDE,
    )
    assert set(bracketed(more)) == {32 - 9}
    whole = printed(
        *("step", "query", "--layer", "1", "--head", "1", "-s", llama),
        *("--terms", "32"),
        width=WIDE,
    )
    assert bracketed(whole) == []


def test_long_parameters_are_not_printed(llama: str) -> None:
    """γ of 32 features is longer than a row that is shown; M of 5 tokens is not."""
    text = printed("run", llama, "--layer", "1", "--head", "1", width=WIDE)
    assert re.search(r"^  M +the", text, re.MULTILINE)
    assert not re.search(r"^  γ ", text, re.MULTILINE)


# --- tokens --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "token"), [("a", "␣a"), ("␣a", "␣a"), (" a", "␣a"), ("is", "is")]
)
def test_a_token_is_found_without_its_space(asked: str, token: str, llama: str) -> None:
    text = printed("step", "embedding", "-s", llama, "--token", asked)
    assert re.search(rf"^▸ \d +\d+ +{token}$", text, re.MULTILINE)


@pytest.mark.parametrize("asked", ["[is, a]", "[is,␣a]", "[5,␣a]", "[ is , a ]"])
def test_so_it_is_in_addresses(asked: str, llama: str, seen: Trace) -> None:
    value = seen["layer1.attention.head1.weights"].array[4, 1]
    said = printed("value", f"layer1.attention.head1.weights{asked}", "-s", llama)
    assert abs(float(said) - value) <= 0.0005


def test_a_comma_may_be_a_token(llama: str, seen: Trace) -> None:
    said = printed("value", "layer1.attention.head1.scores[,,a]", "-s", llama)
    assert abs(float(said) - seen["layer1.attention.head1.scores"].array[2, 1]) <= 0.0005


def test_a_text_goes_on_where_it_stands(llama: str) -> None:
    text = printed("generate", llama, "--max-tokens", "2")
    assert "After “the a, is”, the model writes “fi”." in text


def test_a_tutorial_of_a_trained_model_is_its_summary(llama: str) -> None:
    text = printed("tutorial", llama, "--format", "terminal")
    assert "Layer by layer" in text
    assert run("tutorial", llama, "--layer", "9").stderr == "no layer 9, the last is 2\n"
