"""A part is a folder: a new one is drawn, attributed and differentiated, or refused at import."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIO = """
from typing import Annotated

from tracer.scenario.fields import Frozen, Matrix, Shape, described
from tracer.scenario.part import ScenarioPart


class SharedKeys(Frozen):
    W_C: Annotated[Matrix | None, Shape(("width", "width"))] = described("Weights.", "[[1]]", None)


PART = ScenarioPart(keys={"Attention": SharedKeys})
"""
DECODER = """
from tracer.decoder import operations as op, roles
from tracer.decoder.axes import Axis
from tracer.decoder.part import Part, Sources
from tracer.decoder.roles import Role
from tracer.parts.shared.scenario import SharedKeys
from tracer.scenario.part import keys_of

W_C, SHARED = Role("W_C", parameter=True), Role("shared")


def sources(tape, at, before):
    x = before.keys_and_values
    matrix = keys_of(at.parameters, SharedKeys).W_C
    if matrix is None:
        return before
    axes = (x.axes[1], Axis("feature", tuple(f"c{i}" for i in range(x.shape[1]))))
    w_c = tape.given(W_C, matrix, axes)
    return Sources(before.queries, tape.record(SHARED, op.MatMul(), x, w_c))


PART = Part(roles={roles.B_V: (W_C, SHARED)}, sources=sources)
"""
LESSON = """
from tracer.formula.expression import Symbol
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, linear_sign
from tracer.lesson.steps.part import LessonPart
from tracer.parts.shared import decoder

STEP = InnerKind(
    "shared",
    "Shared vector",
    "what all keys and values read",
    ("Each vector is multiplied by ", Symbol("W", "C"), "."),
    {decoder.SHARED: RoleText(Symbol("C"))},
    gradient=Gradient("at the shared vectors", "each shared vector", (decoder.W_C,)),
    sign=linear_sign,
)
PART = LessonPart(kinds={"query": (STEP,)}, operands={decoder.W_C: Symbol("W", "C")})
"""


def run(
    folder: Path, decoder: str, lesson: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """The program with one part more, `shared`: what keys and values read."""
    part = folder / "shared"
    part.mkdir(exist_ok=True)
    texts = {"__init__": "", "scenario": SCENARIO, "decoder": decoder, "lesson": lesson}
    for name, text in texts.items():
        (part / f"{name}.py").write_text(text, encoding="utf-8")
    start = (
        f"import sys, tracer.parts; tracer.parts.__path__.append({str(folder)!r}); "
        f"sys.argv[1:] = {list(arguments)!r}; from tracer.__main__ import main; main()"
    )
    command = [sys.executable, "-c", start]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    """Two heads whose keys and values read the same product."""
    path = tmp_path / "shared.yaml"
    head = "{W_Q: [[1], [0.5], [0]], W_K: [[1], [0.5], [0.3]], W_V: [[1, 0.3], [0.2, 1], [0, 0.5]]}"
    path.write_text(
        f"""title: Two heads
tokens: [a, b]
embeddings: {{a: [1, 0.5, 0.2], b: [-0.5, 2, 1]}}
layers:
  - attention:
      W_C: [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
      heads: [{head}, {head}]
      W_O: {[[1, 0, 0.5]] * 4}
vocabulary: [a, b]
unembedding: {{W_U: [[1, 0.3], [0.2, 1], [0, 0.4]]}}
training: [{{tokens: [a, b], targets: [b, a]}}]
""",
        encoding="utf-8",
    )
    return str(path)


def test_a_new_part_is_drawn_below_the_heads_that_read_it(tmp_path: Path, scenario: str) -> None:
    done = run(tmp_path, DECODER, LESSON, "tutorial", scenario)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    of_heads = next(i for i, line in enumerate(lines) if "│ Q of X′  K of C  V of C │" in line)
    assert re.search(r"└─+┼─+┘", lines[of_heads + 2])
    assert "· W_C" in lines[of_heads + 3]


def test_a_new_part_is_attributed(tmp_path: Path, scenario: str) -> None:
    score = "layer1.attention.head2.scores[2,1]"
    done = run(tmp_path, DECODER, LESSON, "attribute", score, "-s", scenario)
    assert done.returncode == 0, done.stderr
    assert "Key: parts of the shared vector" in done.stdout


def test_a_new_part_is_differentiated_and_trained(tmp_path: Path, scenario: str) -> None:
    saved = tmp_path / "trained.yaml"
    done = run(tmp_path, DECODER, LESSON, "train", scenario, "--save", str(saved))
    assert done.returncode == 0, done.stderr
    assert "Gradient at the shared vectors" in done.stdout
    assert "∂L/∂W_C" in done.stdout
    assert "W_C: [[0, 1, 2]" not in saved.read_text(encoding="utf-8")


@pytest.mark.parametrize("rows", ["[[0, 1, 2], [1, 2, 3]]", "[[0, 1], [1, 2], [2, 3]]"])
def test_the_shape_of_a_new_key_is_checked(rows: str, tmp_path: Path, scenario: str) -> None:
    path = Path(scenario)
    yaml = path.read_text(encoding="utf-8").replace("[[0, 1, 2], [1, 2, 3], [2, 3, 4]]", rows)
    path.write_text(yaml, encoding="utf-8")
    done = run(tmp_path, DECODER, LESSON, "run", scenario)
    assert done.returncode == 2
    assert "layer1.attention.W_C" in done.stderr


@pytest.mark.parametrize("answer", ["gradient", "sign"])
def test_a_part_that_leaves_a_question_open_is_refused(
    answer: str, tmp_path: Path, scenario: str
) -> None:
    lines = LESSON.splitlines(keepends=True)
    open_ = "".join(line for line in lines if not line.startswith(f"    {answer}="))
    done = run(tmp_path, DECODER, open_, "run", scenario)
    assert done.returncode == 1
    assert answer in done.stderr.splitlines()[-1]


def test_a_role_without_a_text_is_refused(tmp_path: Path, scenario: str) -> None:
    untold = LESSON.replace('{decoder.SHARED: RoleText(Symbol("C"))}', "{}")
    done = run(tmp_path, DECODER, untold, "run", scenario)
    assert done.returncode == 1
    assert "shared" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "declared",
    [
        'kinds={"quarry": (STEP,)}',
        'kinds={"query": (STEP,)}, texts={"quarry": {decoder.SHARED: RoleText(Symbol("C"))}}',
        'kinds={"query": (STEP,)}, instead=((bool, InnerKind("quarry", "", "", (), {}, '
        "gradient=None, sign=None)),)",
    ],
)
def test_a_kind_of_step_that_does_not_exist_is_refused(
    declared: str, tmp_path: Path, scenario: str
) -> None:
    unknown = LESSON.replace('kinds={"query": (STEP,)}', declared)
    done = run(tmp_path, DECODER, unknown, "run", scenario)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("no such kind of step: quarry")


def test_a_file_without_a_declaration_is_refused(tmp_path: Path, scenario: str) -> None:
    done = run(tmp_path, DECODER.replace("PART =", "part ="), LESSON, "run", scenario)
    assert done.returncode == 1
    assert "expected a declaration PART" in done.stderr.splitlines()[-1]
