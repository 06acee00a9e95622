"""Whatever a command reads: it is not written over, and no pipe is waited for in its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.command import printed, run
from tests.helpers.mutated_files import npz
from tests.helpers.small_scenario import SMALL

FIGURES = "figures: [{where: here, address: input, printed: [[1, 2], [3, 4]]}]\n"
MARK = "<!-- decoder-trace: run tiny.yaml --layer 1 -->\n<!-- /decoder-trace -->\n"
STATES = {"input": np.array([[1.0, 2], [3, 4]])}

INPUTS: Mapping[str, tuple[str, ...]] = {
    "run mine.yaml": ("mine.yaml",),
    "run pinned.yaml": ("pinned.yaml", "theirs.npz"),
    "shapes widely.yaml": ("widely.yaml", "theirs.safetensors"),
    "check mine.yaml": ("mine.yaml", "mine.figures.yaml"),
    "check mine.yaml --figures-file other.yaml": ("mine.yaml", "other.yaml"),
    "check mine.yaml --against theirs.npz": ("mine.yaml", "theirs.npz"),
    "check mine.yaml --against theirs.safetensors": ("mine.yaml", "theirs.safetensors"),
    "check mine.yaml --against ours.json": ("mine.yaml", "ours.json"),
    "audit mine.yaml docs": ("mine.yaml", "docs/a.md", "docs/deep/b.tex"),
    "steps gguf.yaml": ("gguf.yaml", "tiny.gguf"),
    "steps tiny.yaml": (
        *("tiny.yaml", "tiny/config.json", "tiny/tokenizer.json", "tiny/model.safetensors"),
    ),
    "steps shards.yaml": (
        *("shards/model.safetensors.index.json", "shards/one.safetensors"),
        *("shards/two.safetensors", "shards/config.json"),
    ),
}
"""What each command reads."""
EACH = [(command, file) for command, files in INPUTS.items() for file in files]
NAMED = [(command, file) for command, file in EACH if not file.startswith(("docs/", "mine.fig"))]
"""Without those that are looked for: only regular files are found."""


@pytest.fixture(scope="module")
def every_input(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of these files."""
    for library in ("gguf", "safetensors", "tokenizers"):
        pytest.importorskip(library)
    from safetensors.numpy import save_file

    from tests.helpers import tiny_checkpoints, tiny_models

    folder = tmp_path_factory.mktemp("inputs")
    (folder / "mine.yaml").write_text(SMALL)
    (folder / "pinned.yaml").write_text(f"{SMALL}given: theirs.npz\n")
    (folder / "widely.yaml").write_text(f"{SMALL}given: theirs.safetensors\n")
    (folder / "mine.figures.yaml").write_text(FIGURES)
    (folder / "other.yaml").write_text(FIGURES)
    (folder / "theirs.npz").write_bytes(npz(STATES))
    save_file(STATES, folder / "theirs.safetensors")
    (folder / "ours.json").write_text(printed("run", str(folder / "mine.yaml"), "-f", "json"))
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("1 + 1 = 2")
    (folder / "docs" / "deep" / "b.tex").write_text("$1 + 1 = 2$")
    shutil.move(tiny_models.scenario(folder), folder / "gguf.yaml")
    tiny_models.scenario(folder, "folder llama")
    shutil.copytree(folder / "tiny", folder / "shards")
    (folder / "shards" / "model.safetensors").unlink()
    tensors = tiny_checkpoints.hugging_face_llama()
    first = dict(list(tensors.items())[:4])
    second = {name: tensor for name, tensor in tensors.items() if name not in first}
    shards = {"one.safetensors": first, "two.safetensors": second}
    tiny_checkpoints.write_shards(folder / "shards", shards)
    naming = (folder / "tiny.yaml").read_text().replace('"tiny"', '"shards"')
    (folder / "shards.yaml").write_text(naming)
    return folder


@pytest.fixture
def here(every_input: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it as the current folder."""
    shutil.copytree(every_input, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.parametrize(("command", "file"), EACH)
def test_no_input_is_written_over(command: str, file: str, here: Path) -> None:
    before = (here / file).read_bytes()
    ran = run(*command.split(), "-o", file)
    hint = "" if command.startswith("audit") else " (--force overwrites it)"
    told = f"{file}: cannot be written: the command reads it{hint}\n"
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", told)
    assert (here / file).read_bytes() == before
    ran = run(*command.split(), "-o", "new.txt")
    assert ran.exit_code == 0, ran.stderr


def test_a_trained_scenario_is_not_written_over_an_input(here: Path) -> None:
    Path("learns.yaml").write_text(
        f"{SMALL}vocabulary: [a, b]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
        "training: [{tokens: [a, b], targets: [b, a]}]\n"
    )
    ran = run("train", "learns.yaml", "--save", "learns.yaml")
    assert "learns.yaml: cannot be written: the command reads it" in ran.stderr
    assert run("train", "learns.yaml", "--save", "learns.yaml", "--force").exit_code == 0


@pytest.mark.parametrize(
    "command", ["tutorial - --train", "page - --train -o x.html", "train - --steps 2", "loss -"]
)
def test_standard_input_is_read_once(command: str, here: Path) -> None:
    speaks = f"{SMALL}vocabulary: [a, b]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
    ran = run(*command.split(), stdin=speaks)
    assert (ran.exit_code, ran.stderr) == (0, "")


def test_what_a_mark_reads_is_not_woven(here: Path) -> None:
    """A file that is a text with marks, and a scenario that another text's mark reads."""
    both = (
        f"# <!-- decoder-trace: value input[1,1] -s mine.yaml -->2<!-- /decoder-trace -->\n{SMALL}"
    )
    Path("both.yaml").write_text(both)
    Path("text.md").write_text(MARK.replace("tiny.yaml --layer 1", "both.yaml"))
    ran = run("weave", "text.md", "both.yaml")
    told = "both.yaml: cannot be written: the command reads it\n"
    assert (ran.exit_code, ran.stderr) == (2, told)
    assert Path("both.yaml").read_text() == both
    assert run("weave", "both.yaml").exit_code == run("weave", "text.md").exit_code == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize(("command", "file"), NAMED)
def test_no_pipe_is_waited_for(command: str, file: str, here: Path) -> None:
    (here / file).unlink()
    os.mkfifo(here / file)
    ran = run(*command.split())
    assert ran.exit_code == 2
    assert ran.stderr.endswith(f"{file}: cannot be read: expected a regular file\n"), ran.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize(
    "command", ["audit", "weave", "run", "steps", "check", "check alex --against"]
)
def test_a_pipe_is_refused_in_a_line_whatever_reads_it(command: str, here: Path) -> None:
    pipe = "pipe.npz" if command.endswith("--against") else "docs/pipe.md"
    os.mkfifo(here / pipe)
    ran = run(*command.split(), pipe)
    assert (ran.exit_code, ran.stderr) == (2, f"{pipe}: cannot be read: expected a regular file\n")
    assert "docs" not in ran.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_an_audit_goes_on_behind_a_pipe(here: Path) -> None:
    """In a folder, and among files that are named."""
    for name in ("a0", "z"):
        Path("docs", f"{name}.md").write_text("1 + 1 = 3")
    os.mkfifo("docs/b.md")
    told = "docs/b.md: cannot be read: expected a regular file\n"
    for names in (["docs"], ["docs/a0.md", "docs/b.md", "docs/z.md"]):
        ran = run("audit", *names)
        assert (ran.exit_code, ran.stderr) == (2, told)
        assert "docs/a0.md:1:1: A01" in ran.stdout and "docs/z.md:1:1: A01" in ran.stdout


def test_what_a_mark_names_is_not_waited_for(here: Path) -> None:
    (here / "tiny" / "config.json").unlink()
    os.mkfifo(here / "tiny" / "config.json")
    Path("text.md").write_text(MARK)
    ran = run("weave", "text.md")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.endswith("tiny/config.json: cannot be read: expected a regular file\n")
