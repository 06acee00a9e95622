"""What the README shows is what the program prints, and its scenario runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.helpers.command import printed, run
from tests.helpers.truth import false_equations
from tracer.audit.project.settings import settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_its_outputs_are_the_programs() -> None:
    assert README.count("<!-- decoder-trace: value") == 2  # one woven, one shown in a fence
    assert "](snapshots/terminal.svg)" in README
    ran = run("weave", str(ROOT / "README.md"), "--check")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "")


def test_its_scenario_runs() -> None:
    scenario = next(text for language, text in FENCES if language == "yaml")
    text = printed("run", "-", stdin=scenario)
    assert text.startswith("Two words")
    assert false_equations(text) == []


def test_its_words_of_an_author_are_shown() -> None:
    scenario, words, _ = (text for language, text in FENCES if language == "yaml")
    text = printed("run", "-", stdin=scenario + words)
    assert text.startswith("Two words\n\nWho listens to whom? Two words meet")
    assert re.search(r"\nCat gives [0-9.]+ % of its attention to big\.\n", text)


def test_its_figures_are_those_of_its_scenario(tmp_path: Path) -> None:
    scenario, _, figures = (text for language, text in FENCES if language == "yaml")
    (tmp_path / "my.yaml").write_text(scenario, encoding="utf-8")
    (tmp_path / "my.figures.yaml").write_text(figures, encoding="utf-8")
    assert "2 of 2 figures agree." in printed("check", str(tmp_path / "my.yaml"))


def test_its_library_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = next(text for language, text in FENCES if language == "python")
    exec(compile(example, "README.md", "exec"), {})  # what a reader would paste
    sums, *_ = capsys.readouterr().out.splitlines()
    # The weights of a token are rounded to three decimals, and come to 1 within that.
    numbers = [float(number) for number in sums.strip("[]").split()]
    assert numbers == pytest.approx([1, 1, 1, 1], abs=0.002)


def test_its_audited_text_is_audited_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = README.split("<!-- audit -->\n```text\n")[1].split("```\n<!-- /audit -->")[0]
    line = told.splitlines()[1].partition(" | ")[2]
    Path("text.md").write_text(line, encoding="utf-8")
    assert run("audit", "text.md").stdout.startswith(told)


def test_its_configuration_of_the_audit_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = next(text for language, text in FENCES if language == "toml")
    (tmp_path / "pyproject.toml").write_text(section, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = settings()
    assert (found.strict, "A04" in found.codes) == (True, False)
    assert found.excluded.match(Path("docs/old/a.tex"))
    assert "A01" not in found.codes_for(Path("docs/errors.md"))


def test_its_hooks_and_its_action_exist() -> None:
    hooks, step = (yaml.safe_load(text) for language, text in FENCES if language == "yml")
    known = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hooks["repos"][0]["hooks"] == [{"id": hook["id"]} for hook in known]
    action = step["steps"][1]
    place = ROOT / action["uses"].split("/", 2)[2].partition("@")[0]
    its_inputs = yaml.safe_load((place / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(action["with"]) == set(its_inputs)


def test_its_map_names_every_folder() -> None:
    folders = {path.name for path in (ROOT / "tracer").iterdir() if (path / "__init__.py").exists()}
    assert {name for name in folders if f"  {name}/" not in README} == set()
