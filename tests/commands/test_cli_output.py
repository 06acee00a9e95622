"""Which steps are shown, how they look on a terminal, and how they are written to a file."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.helpers.command import printed, run, run_json
from tests.helpers.small_scenario import SMALL, changed
from tracer.scenario.loading import bundled

SCENARIOS = ["alex", "science"]


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DECODER_TRACE_SCENARIO", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


# --- the names of steps --------------------------------------------------------------------------

HEAD = "layer1.attention.head1"
RESULTS = {
    **{"embedding": ["embedding"], "position": ["position"], "input": ["input"]},
    **{name: [f"{HEAD}.{name}"] for name in ("query", "key", "value", "scores")},
    **{"mask": [f"{HEAD}.masked"], "softmax": [f"{HEAD}.weights"]},
    "weighted_sum": [f"{HEAD}.output"],
    "concat": ["layer1.attention.concat"],
    "projection": ["layer1.attention.output"],
    "residual": ["layer1.attention.residual", "layer1.ffn.residual"],
    "norm": ["layer1.attention.norm", "layer1.ffn.norm"],
    **{"hidden": ["layer1.ffn.hidden"], "activation": ["layer1.ffn.activation"]},
    **{"ffn_output": ["layer1.ffn.output"], "output": ["output"]},
    **{name: [name] for name in ("logits", "probabilities", "prediction")},
}
"""What each kind of step leads to, in the order of computation."""
ALL = [address for addresses in RESULTS.values() for address in addresses]
GROUPS = {
    "qkv": ["query", "key", "value"],
    "attention": [
        *("query", "key", "value", "scores", "mask", "softmax"),
        *("weighted_sum", "concat", "projection"),
    ],
    "ffn": ["hidden", "activation", "ffn_output"],
}
PARAMETER = re.compile(r"(^|\.)([Wb]_[QKVO12U]|norm\.(gain|shift))$")
NOT_IN = {
    "alex": {"logits", "probabilities", "prediction"},
    "science": {"norm"},  # nor a residual behind the FFN
}


def addresses(name: str, scenario: str) -> list[str]:
    document = json.loads(printed("step", name, "--scenario", scenario, "--format", "json"))
    return [value["address"] for value in document["values"]]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", [*RESULTS, *GROUPS])
def test_a_step_shows_what_it_leads_to_and_no_other(name: str, scenario: str) -> None:
    if name in NOT_IN[scenario]:
        ran = run("step", name, "--scenario", scenario)
        told = f"this scenario has no step {name!r}; decoder-trace steps lists those it has\n"
        assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", told)
        return
    expected = {address for kind in GROUPS.get(name, [name]) for address in RESULTS[kind]}
    if scenario == "science":
        expected -= {"layer1.ffn.residual"}
    assert set(addresses(name, scenario)) & set(ALL) == expected
    assert re.search(r"^[0-9]+ · ", printed("step", name, "--scenario", scenario), re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "sections"),
    [("embedding", 1), ("query", 2), ("qkv", 6), ("residual", 2), ("norm", 2), ("ffn", 3)],
)
def test_each_head_and_sub_layer_has_its_section(name: str, sections: int) -> None:
    assert len(re.findall(r"^[0-9]+ · ", printed("step", name), re.MULTILINE)) == sections


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_step_is_called_by_its_address_too(scenario: str) -> None:
    values = [v["address"] for v in run_json(scenario)["values"]]
    names = {*RESULTS, *GROUPS}
    for address in (a for a in values if a not in names and not PARAMETER.search(a)):
        # An address with parts of its own, as that of a norm, shows them with it.
        shown = addresses(address, scenario)
        assert address in shown
        assert all(a == address or a.startswith(f"{address}.") for a in shown)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_parameter_shows_the_step_that_uses_it(scenario: str) -> None:
    values = run_json(scenario)["values"]
    parameters = [v["address"] for v in values if PARAMETER.search(v["address"])]
    assert len(parameters) > 4
    for address in parameters:
        users = [v["address"] for v in values if address in v["operands"]]
        assert addresses(address, scenario) == users
        assert len(users) == 1
    shown = printed("step", parameters[0], "--scenario", scenario)
    assert re.search(r"^  W_Q¹? ", shown, re.MULTILINE)  # the matrix itself


def test_an_address_may_be_that_of_a_part() -> None:
    everything = [v["address"] for v in run_json("alex")["values"]]
    inside = [a for a in everything if a.startswith("layer1.attention.head2.")]
    second = [a for a in inside if not PARAMETER.search(a)]
    assert len(second) > 8
    assert addresses("layer1.attention.head2", "alex") == second


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("softmx", "; did you mean 'softmax'?"),
        ("atention", "; did you mean 'attention'"),
        *(("zzzz", ""), ("", ""), (".", "")),
    ],
)
def test_an_unknown_step_is_answered_with_the_nearest(name: str, hint: str) -> None:
    ran = run("step", name)
    assert (ran.exit_code, ran.stdout) == (2, "")
    told = f"no step {name!r}"
    assert ran.stderr.startswith(told + hint) if hint else ran.stderr == f"{told}\n"


def test_an_unknown_address_is_answered_with_the_nearest() -> None:
    ran = run("step", "layer1.attention.head1.qery")
    assert ran.exit_code == 2
    assert "did you mean 'layer1.attention.head1.query'" in ran.stderr


def test_a_run_shows_its_steps_in_order() -> None:
    numbers = re.findall(r"^([0-9]+) · ", printed("run", "alex"), re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    # A step keeps the number that it has in the whole run.
    assert re.search(rf"^{numbers[-1]} · ", printed("step", "output"), re.MULTILINE)


# --- on a terminal -------------------------------------------------------------------------------


LONG_LINES = (
    *("run alex", "run science", "run pizza --decimals 8", "run comics", "loss pizza"),
    *("loss comics", "generate comics", "tutorial pizza -f terminal"),
)


@pytest.mark.parametrize(
    ("arguments", "width"),
    [*product(LONG_LINES, [40]), *product(("run alex", "loss comics"), [80, 120])],
)
def test_no_line_is_too_wide_or_ends_in_spaces(arguments: str, width: int) -> None:
    lines = printed(*arguments.split(), width=width).splitlines()
    assert [line for line in lines if cell_len(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize(("width", "taken_for"), [(0, 80), (1, 40), (10, 40)])
def test_a_terminal_has_a_least_width_and_a_usual_one(
    width: int, taken_for: int, tmp_path: Path
) -> None:
    out = tmp_path / "out.txt"
    expected = printed("run", "alex", width=taken_for)
    assert printed("run", "alex", width=width) == expected
    assert printed("run", "alex", "-o", str(out), width=width) == ""
    assert out.read_text(encoding="utf-8") == expected


def test_a_wide_terminal_is_made_use_of() -> None:
    narrow, wide = (printed("run", "alex", width=width).splitlines() for width in (40, 120))
    assert len(narrow) > len(wide)
    assert max(map(cell_len, wide)) > 80


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_color_changes_nothing_but_the_color(scenario: str) -> None:
    plain = printed("run", scenario)
    assert "\x1b" not in plain
    colored = run("run", scenario, FORCE_COLOR="1", NO_COLOR="", TERM="xterm-256color").stdout
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_nothing_in_a_name_acts_on_the_terminal() -> None:
    name = '"\\e[31mred\\e[0m [bold]b\\n\\u202e"'
    text = SMALL.replace("[a, b]", f"[a, {name}]").replace("  b:", f"  {name}:")
    shown = printed("run", "-", stdin=text)
    assert "[31mred" in shown
    assert "[bold]b" in shown
    assert [c for c in shown if not c.isprintable() and c != "\n"] == []


# --- to a file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["terminal", "markdown", "json"])
def test_a_file_holds_what_would_have_been_printed(format: str, tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    assert printed("run", "alex", "--format", format, "--output", str(file)) == ""
    assert file.read_text(encoding="utf-8") == printed("run", "alex", "--format", format)
    assert printed("step", "query", "-f", format, "-o", str(file)) == ""
    assert file.read_text(encoding="utf-8") == printed("step", "query", "-f", format)
    assert list(tmp_path.iterdir()) == [file]


ZERO = changed(("[[1, 2]]", "[[0, 0]]\n      residual: false\n      norm: {}"))


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["run", "-"], "no scenario"),
        (["run", "-"], ZERO),
        (["run", "no-such"], ""),
        (["run", "alex", "--token", "9"], ""),
        (["run", "alex", "--layer", "9"], ""),
        (["step", "no-such"], ""),
        (["step", "logits"], ""),
    ],
)
@pytest.mark.parametrize("format", ["terminal", "json"])
def test_nothing_is_written_where_something_is_wrong(
    arguments: list[str], stdin: str, format: str, tmp_path: Path
) -> None:
    file = tmp_path / "out.txt"
    file.write_text("old")
    ran = run(*arguments, "--format", format, "--output", str(file), stdin=stdin)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(self: Path, target: Any) -> Path:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "out.txt"
    file.write_text("old")
    monkeypatch.setattr(Path, "replace", replace)
    ran = run("run", "alex", "-o", str(file))
    told = f"{file}: cannot be written: Permission denied\n"
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", told)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    file = tmp_path / "none" / "out.txt"
    ran = run("run", "alex", "-o", str(file))
    assert ran.exit_code == 2
    assert ran.stderr == f"{file}: cannot be written: No such file or directory\n"
    assert run("run", "alex", "-o", str(tmp_path)).exit_code == 2
    assert list(tmp_path.iterdir()) == []


# --- what is not written over --------------------------------------------------------------------

READ = "cannot be written: the command reads it (--force overwrites it)\n"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario in the current folder, and a link to it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(SMALL)
    (tmp_path / "link.yaml").symlink_to("mine.yaml")
    return tmp_path / "mine.yaml"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("run alex -o mine.yaml", " (--force overwrites it)"),
        ("run alex -f json -o link.yaml", " (--force overwrites it)"),
        ("tutorial alex --blanks -o sheet.md --key mine.yaml", " (--force overwrites it)"),
        ("train pizza --steps 1 --save mine.yaml", " (--force overwrites it)"),
        ("audit mine.md -o mine.yaml", ""),
    ],
)
def test_a_scenario_that_is_not_read_is_not_written_over(
    arguments: str, hint: str, mine: Path
) -> None:
    Path("mine.md").write_text("1 + 1 = 2\n")
    ran = run(*arguments.split())
    told = f"{arguments.split()[-1]}: cannot be written: there is a scenario of this name{hint}\n"
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", told)
    assert mine.read_text() == SMALL
    if hint:
        assert run(*arguments.split(), "--force").exit_code == 0
        assert mine.read_text() != SMALL


@pytest.mark.parametrize(
    "arguments",
    [
        "run mine.yaml -o mine.yaml",
        "run link.yaml -o mine.yaml",
        "step query -s mine.yaml -o link.yaml",
    ],
)
def test_a_scenario_is_not_written_over(
    arguments: str, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as context:
        # It is told before anything is computed.
        context.setattr("tracer.requests.resolve.run_pass", None)
        ran = run(*arguments.split())
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == f"{arguments.split()[-1]}: {READ}"
    assert mine.read_text() == SMALL
    shown = printed(*arguments.split()[:-2])
    assert printed(*arguments.split(), "--force") == ""
    assert mine.read_text(encoding="utf-8") == shown


def test_a_bundled_scenario_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "alex.yaml"
    path.write_bytes(bundled()["alex"].read_bytes())
    monkeypatch.setattr("tracer.scenario.loading.bundled", lambda: {"alex": path})
    assert run("run", "alex", "-o", str(path)).stderr == f"{path}: {READ}"


def test_no_picture_is_written_over_what_the_command_reads(mine: Path) -> None:
    assert (
        printed("run", "mine.yaml", "-o", "x.md", "-f", "markdown", "--figures", "pictures") == ""
    )
    picture = next(Path("pictures").iterdir())
    picture.unlink()
    picture.symlink_to(mine)
    ran = run("run", "mine.yaml", "-o", "y.md", "--figures", "pictures")
    assert (ran.exit_code, ran.stderr) == (2, f"{picture}: {READ}")
    assert mine.read_text() == SMALL
    assert not Path("y.md").exists()
    ran = run("run", "mine.yaml", "-o", str(picture), "--figures", "pictures", "--force")
    assert ran.stderr.endswith(
        f"{picture}: cannot be written: {picture} is to be written there too\n"
    )


def test_no_picture_is_written_where_the_text_cannot_be(mine: Path) -> None:
    before = sorted(mine.parent.iterdir())
    for output in ("missing/y.md", "/dev/full"):
        assert run("run", "mine.yaml", "--figures", "pictures", "-o", output).exit_code == 2
    assert sorted(mine.parent.iterdir()) == before


@pytest.mark.parametrize("option", ["--output", "--figures"])
def test_a_file_has_a_name(option: str, mine: Path) -> None:
    before = sorted(mine.parent.iterdir())
    ran = run("run", "mine.yaml", option, "")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "empty, expected the name of a" in ran.stderr
    assert sorted(mine.parent.iterdir()) == before
