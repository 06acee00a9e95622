"""The command line: what each command and option does, and how it ends."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import printed, run, run_json
from tests.helpers.small_scenario import SMALL, changed
from tracer import __version__
from tracer.requests.loader import FILES, load
from tracer.scenario.loading import bundled

TITLES = {"alex": "Alex decides where to eat", "science": 'What follows "i like data science"?'}
TWO_LAYERS = SMALL + SMALL[SMALL.index("  - attention") :]


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DECODER_TRACE_SCENARIO", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def title(text: str) -> str:
    """The first line: the title of the scenario that was run."""
    return text.partition("\n")[0]


def refused(*arguments: str, stdin: str = "") -> str:
    """What is said on standard error of a call that is refused."""
    ran = run(*arguments, stdin=stdin)
    assert (ran.exit_code, ran.stdout) == (2, "")
    return ran.stderr


def addresses(*arguments: str, stdin: str = "") -> list[str]:
    """The addresses that `step` shows."""
    document = json.loads(printed("step", *arguments, "--format", "json", stdin=stdin))
    return [value["address"] for value in document["values"]]


# --- commands ------------------------------------------------------------------------------------


def test_version() -> None:
    assert printed("--version") == f"decoder-trace {__version__}\n"


def test_scenarios_are_listed_a_line_each() -> None:
    listed = dict(line.split(maxsplit=1) for line in printed("scenarios").splitlines())
    assert listed.keys() == bundled().keys()
    assert TITLES.items() <= listed.items()


# --- which scenario ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["science", "science.yaml"])
def test_a_bundled_scenario_has_a_name(name: str) -> None:
    assert title(printed("run", name)) == TITLES["science"]
    assert title(printed("step", "query", "--scenario", name)) == TITLES["science"]


def test_step_takes_the_option_then_the_environment_then_alex() -> None:
    assert title(printed("step", "query")) == TITLES["alex"]
    assert title(run("step", "query", DECODER_TRACE_SCENARIO="science").stdout) == TITLES["science"]
    both = run("step", "query", "-s", "alex", DECODER_TRACE_SCENARIO="science")
    assert title(both.stdout) == TITLES["alex"]
    assert run("step", "query", DECODER_TRACE_SCENARIO="no-such").exit_code == 2


def test_a_scenario_is_a_path_or_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text(SMALL)
    assert title(printed("run", str(path))) == "Two words"
    assert printed("run", "-", stdin=SMALL) == printed("run", str(path))
    assert run_json(str(path))["scenario"] == "mine"
    assert run_json("-", stdin=SMALL)["scenario"] == "stdin"


def test_a_file_wins_over_a_bundled_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert title(printed("run", "alex.yaml")) == TITLES["alex"]
    (tmp_path / "alex.yaml").write_text(SMALL)
    assert title(printed("run", "alex.yaml")) == "Two words"
    (tmp_path / "science").mkdir()
    assert title(printed("run", "science")) == TITLES["science"]


def test_a_scenario_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert title(printed("run", str(tmp_path / "x.yaml"))) == "Two words"


def test_what_is_no_scenario_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_bytes(b"title: x\nb: \xff\xfe\n")
    (tmp_path / "folder").mkdir()
    told = "no such file or scenario; did you mean 'alex'?\n"
    assert refused("run", "alx") == f"alx: {told}"
    assert refused("run", "alx.yaml") == f"alx.yaml: {told}"
    assert refused("run", "qqqq") == "qqqq: no such file or scenario\n"
    assert refused("run", "folder") == "folder: a folder, expected a scenario\n"
    (tmp_path / "mine.yaml").mkdir()
    assert refused("run", "mine.yaml") == "mine.yaml: a folder, expected a scenario\n"
    (tmp_path / "gpt2").mkdir()
    for model in ("gpt2/config.json", "some.gguf"):
        (tmp_path / model).write_bytes(b"\xff")
    for model in ("gpt2", "some.gguf"):
        told = f"a trained model, expected a scenario with checkpoint: {model}"
        assert refused("run", model).startswith(f"{model}: {told}")
    assert refused("run", "bad.yaml") == "bad.yaml:2:4: not UTF-8: byte 0xFF\n"
    assert refused("run", "-") == "<stdin>: empty, expected a scenario\n"


def test_a_bad_scenario_is_told_each_problem_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(changed(("W_K: [[3], [4]]", "W_K: [[3]]"), ("[[1, 2]]", "[[1, x]]")))
    first, row, _, second, other, _ = refused("run", str(path)).splitlines()
    assert (row.endswith("W_K: [[3]]"), other.endswith("W_2: [[1, x]]")) == (True, True)
    assert first.startswith(f"{path}:10:11: layer1.attention.head1.W_K: 1 row, expected 2")
    assert second.startswith(f"{path}:14:17: layer1.ffn.W_2 row 1 column 2: expected a number")


def test_a_division_by_zero_is_told_with_its_address() -> None:
    equal = changed(("[[1], [2]]\n      W", "[[1], [-1]]\n      W"), ("[[1, 2]]", "[[0, 0]]"))
    same = equal.replace("[1, 2]", "[1, 1]").replace("[3, 4]", "[1, 1]")
    told = refused("run", "-", stdin=f"{same}      norm: {{}}\n")
    assert told.startswith("<stdin>:12:5: layer1.ffn.norm: a division by zero")


# --- which token, layer, head, rounding ----------------------------------------------------------


def test_the_last_token_is_followed_unless_another_is_asked_for() -> None:
    last = printed("run", "alex")
    assert last == printed("run", "alex", "--token", "4") == printed("run", "alex", "-t", "Alex")
    frank = printed("run", "alex", "--token", "1")
    assert frank == printed("run", "alex", "--token", "Frank")
    assert "follows the token “Alex”, position 4 of 4" in last
    assert "follows the token “Frank”, position 1 of 4" in frank


def test_a_token_that_is_there_twice_needs_its_position() -> None:
    twice = SMALL.replace("[a, b]", "[a, b, a]")
    told = refused("run", "-", "--token", "a", stdin=twice)
    assert "several positions" in told
    assert told.endswith(": 1, 3\n")
    assert "position 3 of 3" in printed("run", "-", "--token", "3", stdin=twice)
    assert "position 2 of 3" in printed("run", "-", "--token", "b", stdin=twice)


OF_A_TOKEN = {
    **{"value": "value logits[,x]", "why": "why logits[,x]", "attribute": "attribute logits[,x]"},
    **{"step": "step query", "page": "page --attribute logits[,x] -o page.html"},
    "compare": "compare --train",
}
"""The words of a command that need more than its name."""
WITH_TOKEN = [name for name in FILES if "token" in {each.name for each in load(name).options()}]
PREDICTING = (
    changed(("[a, b]", "[a, b, a, ' ]\\n']"), ("layers:", "  ' ]\\n': [5, 6]\nlayers:")).replace(
        "'", '"'
    )
    + "vocabulary: [x, y]\nunembedding: {W_U: [[1, 0], [0.5, 1]]}\ntargets: [x, y, x, y]\n"
)


@pytest.mark.parametrize("command", WITH_TOKEN)
def test_a_token_is_spelled_alike_in_every_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(PREDICTING)

    def followed(token: str) -> str:
        ran = run(*shlex.split(OF_A_TOKEN.get(command, command)), *source, "--token", token)
        assert (ran.exit_code, ran.stderr) == (0, "")
        return Path("page.html").read_text() if command == "page" else ran.stdout

    source = ["-s", "mine.yaml"]
    assert followed("2") == followed("b") == followed(" b")
    assert followed("3") == followed("a (3)") != followed("2")
    assert followed("4") == followed(" ]\n") == followed("]")
    for token, wrong in {"a": "several positions, choose one: 1, 3", "z": "no token 'z'"}.items():
        ran = run(*shlex.split(OF_A_TOKEN.get(command, command)), *source, "--token", token)
        assert ran.exit_code == 2 and wrong in ran.stderr


def test_a_token_is_the_row_of_an_address() -> None:
    def value(*words: str) -> str:
        return printed("value", "-s", "pizza", *words)

    assert value("logits[,pizza]", "--token", "la") == value("logits[la,pizza]")
    assert value("logits[la,pizza]", "--token", "4") == value("logits[la,pizza]")
    assert value("logits", "--token", "la") == value("logits[la] as row")
    assert value("logits[la]", "--token", "la") == value("logits[la] as row")
    assert value("logits as table", "--token", "la") == value("logits[la] as table")
    assert value("prediction", "--token", "la") == value("prediction[la]")
    assert value("encoder.output", "--token", "like") == value("encoder.output[2] as row")
    of_name = value("blocks.0.attn.hook_z[1][,1]", "--token", "la")
    assert of_name == value("layer1.attention.head2.output[la,1]")


MISPLACED = {
    "logits[Me,pizza]": "logits[Me,pizza]: the row is 'Me', but --token la is 'la'",
    "logits[2]": "logits[2]: the row is 'Me', but --token la is 'la'",
    "layer1.ffn.W_1": "--token: layer1.ffn.W_1 has no row for each token",
    "loss": "--token: loss has no row for each token",
    "encoder.output": "no token 'la', expected 1 to 3 or its text",
    "logits[zz,pizza]": "logits: no token 'zz', expected 1 to 5 or a label, such as '<START>'",
    "no such": "no: no such value",
}


@pytest.mark.parametrize("address", MISPLACED)
def test_a_token_that_is_not_the_row_of_an_address(address: str) -> None:
    assert refused("value", address, "-s", "pizza", "--token", "la") == f"{MISPLACED[address]}\n"


def test_a_token_has_a_row_only_where_it_goes() -> None:
    ran = refused("value", "layer1.ffn.expert2.output", "-s", "experts", "--token", "1")
    assert ran == "--token: layer1.ffn.expert2.output has no row for 'cats'\n"
    purr = printed("value", "layer1.ffn.expert2.output", "-s", "experts", "--token", "2")
    assert purr == printed("value", "layer1.ffn.expert2.output[purr] as row", "-s", "experts")


def test_a_token_may_look_like_a_number() -> None:
    numbers = SMALL.replace("[a, b]", "[7, -1]").replace("  a:", "  7:").replace("  b:", "  -1:")
    assert "position 1 of 2" in printed("run", "-", "--token", "7", stdin=numbers)
    assert "position 2 of 2" in printed("run", "-", "--token", "-1", stdin=numbers)


@pytest.mark.parametrize("token", ["0", "5", "-1", "1.0", "", "²", "alexander the great"])
def test_a_token_that_is_not_there_is_told(token: str) -> None:
    assert refused("run", "alex", "--token", token).startswith(f"no token {token!r}, expected 1 to")


def test_a_token_may_be_mistyped() -> None:
    assert refused("run", "alex", "-t", "Alx").endswith("; did you mean 'Alex'?\n")


def test_one_head() -> None:
    both = addresses("attention")
    assert {"layer1.attention.head1.query", "layer1.attention.head2.query"} <= set(both)
    assert addresses("attention", "--head", "2") == [a for a in both if ".head1." not in a]
    assert refused("step", "query", "--head", "3").startswith("no head 3")


def test_one_layer() -> None:
    both = addresses("ffn", "-s", "-", stdin=TWO_LAYERS)
    assert {address.partition(".")[0] for address in both} == {"layer1", "layer2"}
    second = addresses("ffn", "-s", "-", "--layer", "2", stdin=TWO_LAYERS)
    assert second == [address for address in both if address.startswith("layer2.")]
    assert refused("run", "-", "-l", "3", stdin=TWO_LAYERS).startswith("no layer 3")
    told = refused("step", "layer1.ffn", "-s", "-", "-l", "2", stdin=TWO_LAYERS)
    assert told == "the step 'layer1.ffn' is not in this layer or head, only in layer1.ffn\n"


def test_rounding_of_the_command_line_wins_over_the_scenarios() -> None:
    text = SMALL.replace("[1, 2]\n  b", "[0.123456789, 2]\n  b") + (
        "positions: {sinusoidal: {}}\nrounding: {decimals: 2, carry: never}\n"
    )

    def sine(*arguments: str) -> tuple[Any, Any]:
        document = run_json("-", *arguments, stdin=text)
        value = next(v for v in document["values"] if v["address"] == "position")
        return document["rounding"], value["data"][0][0]

    # sin 1 = 0.84147…
    exact = sine()[1]
    assert abs(exact - 0.8414709848) < 1e-9
    assert sine("--carry", "step") == ({"decimals": 2, "carry": "step"}, 0.84)
    assert sine("--carry", "line", "--decimals", "4") == ({"decimals": 4, "carry": "line"}, 0.8415)
    assert sine("--decimals", "4") == ({"decimals": 4, "carry": "never"}, exact)
