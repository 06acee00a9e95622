"""The promise: a sentence that says something of the numbers is true, and worth saying.

The judge of `claims` shares no code with the program. Silence fails where the numbers carry a
claim. A sentence that it does not know fails: one
that claims nothing belongs to `known_sentences.py`, any other to the forms of the judge.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from tests.helpers import claims
from tests.helpers.claims import FORMS, Judge, faults, judged
from tests.helpers.claims_due import CLAIMS
from tests.helpers.command import printed, run
from tests.helpers.every_part import ADAPTED, QLORA
from tests.helpers.extreme_scenarios import OPTIMIZERS, extreme
from tests.helpers.fuzzed import faults_of_all
from tests.helpers.known_sentences import KNOWN
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.lengths import by_address, further, without_author
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.typed_heads import start_with_typed_heads, written_tokens
from tests.helpers.whole_scenarios import rotate_and_quantize

WIDE = 5000
SCENARIOS = Path(__file__).parent.parent.parent / "scenarios"
REFUSED = (
    "a division by zero|number is too (large|small)|no position has a next token|have no mask|"
    "the mask shows later tokens|has no target|probability is too small to compute with"
)
MOVED = (
    ("--momentum", "0.5", "--clip", "0.1", "--steps", "2"),
    ("--optimizer", "adam", "--clip", "10000"),
    ("--optimizer", "adamw", "--weight-decay", "0.1"),
    ("--weight-decay", "0.1"),
    (),
)
DRAWN = ("--seed", "1", "--temperature", "1.5", "--top-k", "2")
OF_THE_LIKELIEST = ("--seed", "2", "--temperature", "0.5", "--top-p", "0.5")


def told(command: str, spec: dict[str, Any], *options: str, stdin: str) -> tuple[str, Any] | None:
    """What a command prints for people and as JSON; nothing where the numbers lead nowhere."""
    full = ("--detail", "full") if command == "tutorial" else ()
    ran = run(command, "-", *options, *full, "--format", "terminal", width=WIDE, stdin=stdin)
    if ran.exit_code:
        assert re.search(REFUSED, ran.stderr), ran.stderr
        return None
    name = "run" if command == "tutorial" else command
    followed = [i for i, option in enumerate(options) if option == "--token"]
    rest = options if not followed else (*options[: followed[0]], *options[followed[0] + 2 :])
    return unbroken(ran.stdout), json.loads(
        run(name, "-", *rest, "--format", "json", stdin=stdin).stdout
    )


def wrong(command: str, spec: dict[str, Any], *options: str, stdin: str = "") -> list[str]:
    """The sentences of a command that are unknown or false."""
    both = told(command, spec, *options, stdin=stdin or to_yaml(spec))
    if both is None:
        return []
    text, document = both
    text = without_author(text, document)
    if command == "generate":
        cached, turns = "--kv-cache" in options, document["turns"]
        return faults(text, Judge({}, spec, 0, document["rounding"], turns, cached), SEEN)
    values = by_address(document)
    token = dict(pairwise(options)).get("--token", len(Judge(values, spec, 0, {}).tokens))
    passes = document.get("passes", [])
    asked = optimized(spec, options) if command == "train" else spec
    judge = Judge(values, asked, int(token) - 1, document["rounding"], passes=passes)
    if command == "tutorial":
        judge.further, judge.turns = further(stdin or to_yaml(spec), document)
    return faults(text, judge, SEEN)


def optimized(spec: dict[str, Any], options: tuple[str, ...]) -> dict[str, Any]:
    """The scenario with what the options say of its optimizer."""
    names = {"--optimizer": "kind", "--momentum": "momentum", "--weight-decay": "weight_decay"}
    said = {names[key]: value for key, value in pairwise(options) if key in names}
    return {**spec, "optimizer": {**spec.get("optimizer", {}), **said}}


SEEN: Counter[str] = Counter()
"""How often each form has been met."""


# --- random scenarios ----------------------------------------------------------------------------

PINNED = re.compile(
    r"mask|input|position(\.(angle|sin|cos))?|embedding|output|logits|probabilities(\.exp)?|"
    r".*\.(query|key|scores|masked|weights|output|concat|hidden|activation|residual|norm|W_Q|dot|"
    r"scale|latent(\.norm|\.query(_norm)?|\.(rotated_)?key)?|rotary_query(\.rotated)?|"
    r"joined_(query|key)|d_k|exp|shifted|up|projected|norm\.(std|rms|variance))|final_norm(\.(std|rms))?"
)


def with_a_pin(spec: Scenario, seed: int) -> Scenario:
    """The scenario with one of its values given: other numbers of the same shape."""
    ran = run("run", "-", "--format", "json", stdin=to_yaml(spec))
    if ran.exit_code:
        return spec
    values = json.loads(ran.stdout)["values"]
    rng = random.Random(seed)
    known = [v for v in values if PINNED.fullmatch(v["address"]) and v["data"] != []]
    mask = [v for v in known if v["address"] == "mask"]
    value = rng.choice(mask if mask and rng.random() < 0.2 else known)
    if value["address"] == "mask":
        numbers = [[rng.choice(("0", "0", ".inf")) for _ in row] for row in value["data"]]
        rows = [[x.replace(".inf", "-.inf") for x in row] for row in numbers]
    else:
        rows = _others(value["data"], rng, positive=bool(DIVIDING.fullmatch(value["address"])))
    return {**spec, "given": {value["address"]: rows}}


DIVIDING = re.compile(r".*(scale|d_k|exp|std|rms|variance)")
"""Of these a root is taken, or something is divided by them."""


def _others(data: Any, rng: random.Random, *, positive: bool) -> Any:
    if isinstance(data, list):
        return [_others(each, rng, positive=positive) for each in data]
    return str(rng.choice((0.5, 1, 2) if positive else (-1, 0, 0.5, 1, 2)))


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, Scenario, tuple[str, ...]]:
    """A command, a scenario and options."""
    command = draw(
        st.sampled_from(("run", "run", "run", "tutorial", "no mask", "loss", "generate"))
    )
    speaks = command in ("loss", "generate")
    layers, tokens = (1, 4) if speaks else (2, 5)
    alike = draw(st.booleans())
    spec = draw(scenarios(alike=alike, speaks=speaks, max_layers=layers, max_tokens=tokens))
    if draw(st.sampled_from((True, False, False))):
        spec = extreme(spec, draw(st.integers(0, 1000)))
    is_typed = not speaks and draw(st.integers(0, 5)) == 0
    if is_typed:
        start_with_typed_heads(spec, random.Random(draw(st.integers(0, 1000))))
    rotate_and_quantize(spec, draw(st.integers(0, 2**32 - 1)))
    if draw(st.sampled_from((True, False, False))) and command != "generate" and not is_typed:
        spec = with_a_pin(spec, draw(st.integers(0, 1000)))
    if command == "generate":
        drawn = draw(
            st.sampled_from(((), DRAWN, OF_THE_LIKELIEST, ("--kv-cache",), ("--kv-cache", *DRAWN)))
        )
        return command, spec, ("--worked", "--max-tokens", "2", *drawn)
    if command == "loss":
        return command, spec, ()
    token = ("--token", str(draw(st.integers(1, len(written_tokens(spec))))))
    return ("run", spec, ("--no-mask", *token)) if command == "no mask" else (command, spec, token)


few = settings(
    max_examples=75,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def faults_of_asked(most: int, number: int | None = None) -> list[str]:
    """The sentences of random commands that are unknown or false."""
    return faults_of_all(asked(), lambda case: wrong(case[0], case[1], *case[2]), most, number)


@st.composite
def extremes(draw: st.DrawFn) -> Scenario:
    """A small scenario with equal weights, a window of 1, one token or the like."""
    alike, speaks = draw(st.booleans()), draw(st.booleans())
    most = draw(st.integers(1, 3))
    spec = draw(scenarios(alike=alike, speaks=speaks, max_layers=2, max_tokens=most))
    return extreme(spec, draw(st.integers(0, 1000)))


def wrong_for_any_token(spec: Scenario) -> list[str]:
    """The false sentences of a run and of a tutorial, for each token that they may follow."""
    tokens = range(1, len(written_tokens(spec)) + 1)
    return [
        fault
        for command in ("run", "tutorial")
        for token in tokens
        for fault in wrong(command, spec, "--token", str(token))
    ]


def optimizer_of(spec: Scenario, draw: st.DataObject) -> Scenario:
    return {**spec, "optimizer": draw.draw(st.sampled_from(OPTIMIZERS))}


# --- what is asked of them -----------------------------------------------------------------------

BUNDLED = (
    *(
        ("tutorial", name, ())
        for name in ("alex", "science", "pizza", "comics", "picture", "blocks", "experts")
    ),
    ("run", "science", ("--token", "1", "--carry", "line")),
    ("run", "comics", ("--token", "1", "--no-mask")),
    ("run", "alex", ("--token", "2", "--carry", "never")),
    ("loss", "pizza", ()),
    ("loss", "comics", ("--token", "2")),
    ("generate", "pizza", ("--worked", "--kv-cache", "--max-tokens", "3")),
    ("generate", "pizza", ("--worked", "--start", "la", "--max-tokens", "5")),
    ("generate", "picture", ("--worked", "--max-tokens", "2")),
    ("train", "pizza", ()),
    ("train", "experts", ("--token", "1", "--optimizer", "adamw")),
    ("train", "comics", ("--optimizer", "adam", "--clip", "0.1", "--steps", "2")),
    ("train", "science", ("--token", "1", "--momentum", "0.5", "--weight-decay", "0.1")),
)


@pytest.mark.parametrize(("command", "name", "options"), BUNDLED)
def test_bundled_scenarios(command: str, name: str, options: tuple[str, ...]) -> None:
    source = (SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")
    assert wrong(command, yaml.safe_load(source), *options, stdin=source) == []


# --- what is false is found ----------------------------------------------------------------------

FALSIFIED = (
    *(("tutorial", "pizza", ()), ("tutorial", "experts", ()), ("tutorial", "blocks", ())),
    *(("run", "alex", ("--no-mask",)), ("train", "science", ("--momentum", "0.5"))),
)
NO_CLAIMS = re.compile(
    r"Each position has its own vector\. Its numbers|The sign = means|"
    r"\S.* is computed (as in|from) .*\(step|This section follows|Without the mask, "
)
"""Formulas in words, references, which have a test of their own, and a sum of rounded shares."""


def falsified(line: str) -> Iterator[str]:
    """A sentence with one of its numbers raised, or one of its names changed."""
    for found in re.finditer(r"\d+(?:\.\d+)?(?![\d.]*[\d%]*×)", line):
        digits = found[0][:-1] + str((int(found[0][-1]) + 1) % 10)
        yield line[: found.start()] + digits + line[found.end() :]
    for found in re.finditer("“.+?”", line):
        yield f"{line[: found.start()]}“xyzzy”{line[found.end() :]}"


@pytest.mark.parametrize(("command", "name", "options"), FALSIFIED)
def test_a_changed_number_or_name_is_found(
    command: str, name: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    missed, tried = set[str](), 0

    def judged_twice(line: str, at: Judge, seen: Counter[str] | None = None) -> str | None:
        nonlocal tried
        claims_made = Counter(at.made)
        for false in falsified(line):
            tried += 1
            if right(false, at) is None and not NO_CLAIMS.match(false):
                missed.add(false)
        at.made = claims_made
        return right(line, at, seen)

    right = claims.judged
    monkeypatch.setattr(claims, "judged", judged_twice)
    source = (SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")
    assert wrong(command, yaml.safe_load(source), *options, stdin=source) == []
    assert tried > 50 and missed == set()


def test_random_scenarios() -> None:
    """And most forms are met: `pytest -m fuzz` meets all."""
    SEEN.clear()
    assert faults_of_asked(85, number=1) == []
    assert len(unmet()) <= 25, unmet()


def unmet() -> list[str]:
    """The forms of a forward pass that no scenario has shown, but for the seldom ones."""
    forms = [
        claim.template
        for claim in FORMS
        if claim.check.__module__ not in ELSEWHERE and claim.check.__name__ not in TRAINING
    ]
    due = [f"{name} is due" for name in CLAIMS if name != "main_source"]
    return [words for words in [*forms, *due] if not SEEN[words] and not re.match(SELDOM, words)]


def test_the_main_source_of_a_number_is_due() -> None:
    """Random numbers seldom have labels and one main part."""
    SEEN.clear()
    source = (SCENARIOS / "alex.yaml").read_text(encoding="utf-8")
    assert wrong("run", yaml.safe_load(source), stdin=source) == []
    assert SEEN["main_source is due"]


ELSEWHERE = tuple(
    f"tests.helpers.claims_of_{what}"
    for what in ("tokens", "trained", "words", "learning", "losses", "lora", "given")
)
ELSEWHERE += ("tests.parts.recurrent.judged",)  # tests/parts/recurrent/test_lesson.py
"""What is said of texts, trained models, training and states has random ones of its own."""

SELDOM = (
    "What does attention compute|"
    ".*cannot attend to any token|The random number is .*Rounding|The end token|There are no "
    "layers|"
    "“.*is the last token|ReLU keeps .n:int|ReLU keeps no hidden|The .noun:keys|"
    "Each token may attend only to itself:|"
    "Each token may attend to earlier and later|Layers? .* repeats? layer|"
    "The model is trained on other texts|"
    "The queries.* belong to|Layers can be stacked|This section follows the token|"
    "Only the last token passes|The worked example is|Every key .* is masked for|"
    "There is no activation function here|It ends after|Teacher forcing|"
    "The encoder's vectors are reused|All sequences of a batch|In sequence |For all |"
    "A small change of a logit|This model has no cross-attention|The batch has "
)
"""What is met in `test_words_and_numbers.py`, `test_parts.py` or the bundled scenarios."""


def test_a_tutorial_that_starts_at_queries() -> None:
    head = {"Q": [[1], [2]], "K": [[1], [0]], "V": [[1, 0], [2, 1]]}
    spec = {"title": "Q, K, V", "tokens": ["a", "b"], "layers": [{"attention": {"heads": [head]}}]}
    assert wrong("tutorial", {**spec, "rounding": {"decimals": 3}}) == []


@settings(few, max_examples=7)
@given(extremes())
def test_extremes_for_every_token(spec: Scenario) -> None:
    assert wrong_for_any_token(spec) == []


@pytest.mark.fuzz
def test_many_extremes_for_every_token() -> None:
    assert faults_of_all(extremes(), wrong_for_any_token, 500) == []


@settings(few, max_examples=8)
@given(learning_scenarios(any_loss=True, max_layers=1, max_tokens=3), st.data())
def test_extreme_optimizers(spec: Scenario, data: st.DataObject) -> None:
    assert wrong("train", optimizer_of(spec, data)) == []


@st.composite
def extreme_training(draw: st.DrawFn) -> Scenario:
    spec = draw(learning_scenarios(any_loss=True, max_layers=2))
    changed = extreme(spec, draw(st.integers(0, 1000)))
    return {**changed, "optimizer": draw(st.sampled_from(OPTIMIZERS))}


@pytest.mark.fuzz
def test_many_extreme_optimizers() -> None:
    assert faults_of_all(extreme_training(), lambda spec: wrong("train", spec), 300) == []


def test_each_sentence_has_one_judge() -> None:
    """A check that recomputes it, or the condition under which it is true; what has none fails."""
    templates = [*(claim.template for claim in FORMS), *KNOWN]
    assert len(set(templates)) == len(templates)
    assert [line for line in KNOWN if any(c.pattern.fullmatch(line) for c in FORMS)] == []
    assert judged("Attention is all there is.", Judge({}, {}, 0, {})) == "unknown"


def test_gradients_of_typed_values_alone() -> None:
    """With equal scores each weight is ½, and the gradient at V is Aᵀ times the given one."""
    typed = {"Q": [[0], [0]], "K": [[1], [2]], "V": [[1, 1], [2, 0]]}
    address = "gradient.layer1.attention.head1"
    spec = {
        **{"title": "A gradient of typed values", "tokens": ["a", "b"], "mask": "none"},
        "layers": [{"attention": {"residual": False, "heads": [typed]}}],
        "given": {f"{address}.output": [[1, 0], [0, 3]]},
    }
    assert wrong("train", spec) == []
    assert wrong("train", spec, "--clip", "0.1") == []  # there is no norm to clip
    text = to_yaml(spec)
    assert "No parameter is trained" in " ".join(printed("train", "-", stdin=text).split())
    found = json.loads(printed("train", "-", "-f", "json", stdin=text))["values"]
    [of_values] = [value["data"] for value in found if value["address"] == f"{address}.value"]
    assert of_values == [[0.5, 1.5], [0.5, 1.5]]


def test_tokens_that_are_read_in_turn_without_a_vocabulary() -> None:
    head = {"W_Q": [[1, 0], [0, 1]], "W_K": [[1, 1], [0, 1]], "W_V": [[1, 0], [1, 1]]}
    spec = {
        **{"title": "Read in turn", "tokens": ["a", "b", "c"]},
        "embeddings": {"a": [1, 0], "b": [0, 1], "c": [1, 1]},
        "layers": [{"attention": {"heads": [head]}}],
    }
    for more in ((), ("--worked",), ("--worked", "--max-tokens", "1")):
        assert wrong("generate", spec, "--kv-cache", *more) == []
    rotated = {**spec, "positions": {"rotary": {"start": 2}}}
    assert wrong("generate", rotated, "--kv-cache", "--worked") == []


@pytest.mark.parametrize("placement", ["before_rotary", "after_rotary"])
def test_cached_keys_that_are_rotated_and_normalized(placement: str) -> None:
    head = {name: [[1, 0], [1, 1]] for name in ("W_Q", "W_K", "W_V")}
    norm = {"kind": "rms_norm", "epsilon": "0.1", "placement": placement}
    spec = {
        **{"title": "Normalized keys", "tokens": ["a", "b"]},
        "embeddings": {"a": [1, 0], "b": [0, 1]},
        **{"positions": {"rotary": {"start": 2}}, "vocabulary": ["a", "b"], "unembedding": "tied"},
        "layers": [{"attention": {"heads": [head], "key_norm": norm}}],
    }
    assert wrong("generate", spec, "--kv-cache", "--worked", "--max-tokens", "2") == []


def test_an_encoder_with_scaled_angles_and_norms_like_those_of_the_decoder() -> None:
    """Its embedding norm has other words; the decoder's has those of the encoder's final norm."""
    head = {"W_Q": [[1, 0, 1, 0], [0, 1, 0, 1]], "W_K": [[1, 1, 0, 0], [0, 1, 1, 1]]}
    head["W_V"] = [[1, 0], [1, 1]]
    yarn = {"kind": "yarn", "original_max_position_embeddings": 1000, "truncate": False}
    dynamic = {"kind": "dynamic", "original_max_position_embeddings": 1}
    own = {"tokens": ["a", "b"], "embeddings": [[1, 0], [0, 1]]}
    plain = {"kind": "layer_norm"}
    for scaling in (yarn, {**yarn, "attention_factor": "1.25"}, dynamic):
        encoder = {
            **{**own, "embedding_norm": {**plain, "gain": [1, 2]}, "final_norm": plain},
            "positions": {"rotary": {"scaling": {**scaling, "factor": 2}}},
            "layers": [{"attention": {"norm": "none", "heads": [head]}}],
        }
        spec = {"title": "Two towers", **own, "embedding_norm": plain, "encoder": encoder}
        assert wrong("run", spec) == []
        digits = {"digits": {"*": {"significant": 2}}}
        assert wrong("run", {**spec, "rounding": {"decimals": 5, "carry": "line", **digits}}) == []


def test_weights_that_are_smaller_than_any_float() -> None:
    head = {"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}
    spec = {
        **{"title": "Scores of 1600 and 1", "tokens": ["a", "b"], "embeddings": [[40], [1]]},
        "layers": [{"attention": {"norm": "none", "heads": [head]}}],
    }
    assert wrong("tutorial", {**spec, "rounding": {"carry": "never", "decimals": 2}}) == []


def test_an_expert_of_other_tokens_than_the_followed_one() -> None:
    """What raising its weights changes is told as well, also where a product is the last value."""
    experts = [
        {name: [[1, "0.5"], [more, 1]] for name in ("W_1", "W_2", "W_3")} for more in (0, "0.25")
    ]
    ffn = {"router": [[2, 0], [0, 2]], "experts": experts, "top": 1}
    spec = {
        **{"title": "Two experts", "tokens": ["a", "b"], "embeddings": {"a": [1, 0], "b": [0, 1]}},
        **{"layers": [{"ffn": {**ffn, "norm": "none"}}], "vocabulary": ["a", "b"]},
        **{"unembedding": {"W_U": [[1, 0], [0, 1]]}, "targets": ["b", "a"]},
    }
    assert wrong("train", spec) == []


def test_a_vocabulary_of_one_word() -> None:
    """Its probability is 1, or 0.9 where the sum has fewer digits than the exponential."""
    spec = {
        **{"title": "One word", "tokens": ["a"], "embeddings": {"a": [1]}, "layers": []},
        **{"vocabulary": ["a"], "unembedding": {"W_U": [[-1]]}, "targets": ["a"]},
        "rounding": {"carry": "line", "decimals": 1, "digits": {"*.exp": {"significant": 5}}},
    }
    assert "-0." in printed("train", "-", stdin=to_yaml(spec))
    assert wrong("train", spec) == []


LOSSES = (
    {"kind": "squared", "target": ["0.5", 1]},
    {"kind": "squared", "target": [[1, 0], ["0.5", 1]], "reduction": "sum"},
    {"kind": "binary", "target": [[1, 0], [0, 1]]},
    {"kind": "binary", "target": [1, 0], "reduction": "sum"},
    {"kind": "binary"},
    {"kind": "cross_entropy", "reduction": "sum"},
    {"kind": "cross_entropy", "smoothing": "0.1"},
    {"kind": "cross_entropy"},
    {"kind": "squared", "target": ["0.5", 1], "factor": "0.5"},
    {"kind": "squared", "target": ["0.5", 1], "factor": 3, "reduction": "sum"},
)


def test_other_losses() -> None:
    SEEN.clear()
    spec = {"title": "Losses", "tokens": ["a", "b"], "embeddings": {"a": [1, 2], "b": [0, 1]}}
    words = {"vocabulary": ["a", "b"], "unembedding": {"W_U": [[1, "0.5"], [0, 1]]}}
    for loss in LOSSES:
        targets = {} if "target" in loss else {"targets": ["b", "none"]}
        for more in ({}, words) if loss["kind"] == "squared" else (words,):
            asked = {**spec, **more, **targets, "loss": loss}
            for command in ("loss", "train"):
                assert wrong(command, asked) == []
            for token in ("1", "2"):
                assert wrong("loss", asked, "--token", token) == []
    for second in ("bab", "bba"):
        batch = [{"tokens": list("aba"), "targets": list(each)} for each in (second, "bab")]
        for command in ("loss", "train", "tutorial"):
            assert wrong(command, {**spec, **words, "training": batch}) == []
    forms = [claim.template for claim in FORMS if "losses" in claim.check.__module__]
    assert [words for words in forms if not SEEN[words]] == []


def test_lora() -> None:
    SEEN.clear()
    for source in (ADAPTED, QLORA, (SCENARIOS / "lora.yaml").read_text(encoding="utf-8")):
        for command in ("tutorial", "train"):
            assert wrong(command, yaml.safe_load(source), stdin=source) == []
    forms = [claim.template for claim in FORMS if "lora" in claim.check.__module__]
    assert [words for words in forms if not SEEN[words]] == []
    assert SEEN["nothing_added is due"]


@settings(few, max_examples=16)
@given(
    scenarios(speaks=True, max_layers=1, max_tokens=4),
    scenarios(alike=True, speaks=True, max_layers=1, max_tokens=4),
    learning_scenarios(any_loss=True, max_layers=1, max_tokens=4),
    st.sampled_from(MOVED),
)
def assert_training_true(
    one: Scenario, other: Scenario, third: Scenario, moved: tuple[str, ...]
) -> None:
    if not unmet_of_training():
        return
    for spec in (one, other, third):
        assert wrong("train", spec, *moved) == []


def test_random_training() -> None:
    SEEN.clear()
    assert_training_true()
    assert unmet_of_training() == []


def unmet_of_training() -> list[str]:
    """The forms of training that no text has had yet."""
    of_training = [claim.template for claim in FORMS if claim.check.__name__ in TRAINING]
    return [words for words in of_training if not SEEN[words]]


TRAINING = (
    *("at_the_logits", "negative", "of_softmax", "of_a_row", "of_embeddings", "velocity"),
    *("against_its_gradient", "decayed", "directions", "others", "moved", "raised", "of_a_norm"),
)
"""The checks of what is said of training alone."""


@pytest.mark.fuzz
def test_much_random_training() -> None:
    specs = st.booleans().flatmap(lambda alike: scenarios(alike=alike, speaks=True))
    cases = st.tuples(specs, st.sampled_from(MOVED))
    assert faults_of_all(cases, lambda case: wrong("train", case[0], *case[1]), 1000) == []


@pytest.mark.fuzz
def test_many_random_scenarios() -> None:
    SEEN.clear()
    assert faults_of_asked(5000) == []
    assert unmet() == []
