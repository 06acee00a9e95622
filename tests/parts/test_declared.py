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
    texts = {"scenario": SCENARIO, "decoder": decoder, "lesson": lesson}
    return run_with(folder, "shared", texts, *arguments)


def run_with(
    folder: Path, name: str, texts: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """The program with one part more, by the names of its files."""
    part = folder / name
    part.mkdir(exist_ok=True)
    for name, text in {"__init__": "", **texts}.items():
        (part / f"{name}.py").write_text(text, encoding="utf-8")
    start = (
        f"import sys, tracer.parts; tracer.parts.__path__.append({str(folder)!r}); "
        f"sys.argv[1:] = {list(arguments)!r}; from tracer.__main__ import main; main()"
    )
    command = [sys.executable, "-c", start]
    return subprocess.run(command, capture_output=True, text=True, check=False)


LINEAR = {
    "ffn": """
from typing import Annotated

from tracer.scenario.expected import OF_INPUT, Known
from tracer.scenario.fields import Matrix, Shape, described
from tracer.scenario.networks import SubLayer
from tracer.scenario.part import FormOfFFN


class Linear(SubLayer):
    W_L: Annotated[Matrix, Shape(("width", "out"))] = described("Weights.", "[[1]]")


def check(sizes, place, width):
    known = {"width": Known(width, OF_INPUT)}
    sizes.matrices(Linear, place, known, {"out": width})
    return known["out"].size


def another(given, around):
    return None


PART = FormOfFFN(Linear, "W_L", "one matrix", check, another, another, lambda dimensions: ())
""",
    "decoder": """
from tracer.decoder import operations as op, roles
from tracer.decoder.parameters import columns, features_of, weights
from tracer.decoder.part import Part
from tracer.decoder.roles import Role
from tracer.parts.linear.ffn import Linear

W_L, OUTPUT = Role("W_L", parameter=True), Role("output")


def linear(tape, x, parameters, softmax):
    w_l = weights(tape, W_L, parameters.W_L, x, features_of(x, columns(parameters.W_L)))
    return tape.record(OUTPUT, op.MatMul(), x, w_l)


PART = Part(
    roles={roles.FFN_OUTPUT: (W_L, OUTPUT)}, ffn={Linear: linear}, ffn_outputs=(OUTPUT,)
)
""",
    "lesson": """
from tracer.formula.expression import Call, Symbol
from tracer.lesson.steps.attribution import texts_of
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, linear_sign
from tracer.lesson.steps.part import LessonPart
from tracer.parts.linear import decoder

STEP = InnerKind(
    "linear",
    "FFN: product",
    "the result of the FFN",
    ("Each vector is multiplied by ", Symbol("W", "L"), "."),
    {decoder.OUTPUT: RoleText(lambda naming: Call("FFN", (naming.x,)))},
    gradient=Gradient("at the FFN output", "the FFN output", (decoder.W_L,)),
    sign=linear_sign,
)
PART = LessonPart(kinds={"ffn_output": (STEP,)}, operands={decoder.W_L: Symbol("W", "L")})
""",
}
"""A part that is an FFN of one matrix, without hidden units."""


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


@pytest.fixture
def linear(tmp_path: Path, scenario: str) -> str:
    """A layer with an FFN of one matrix."""
    path = tmp_path / "linear.yaml"
    before, _, after = Path(scenario).read_text(encoding="utf-8").partition("layers:")
    layers = "layers:\n  - ffn: {W_L: [[1, 2, 0], [0, 1, 0.5], [2, 0, 1]]}\n"
    path.write_text(f"{before}{layers}vocabulary:{after.partition('vocabulary:')[2]}", "utf-8")
    return str(path)


def test_another_form_of_the_ffn_is_computed_and_drawn(tmp_path: Path, linear: str) -> None:
    done = run_with(tmp_path, "linear", LINEAR, "tutorial", linear)
    assert done.returncode == 0, done.stderr
    assert re.search(r"· W_L 2×3 +│ +3\nFFN", done.stdout)
    assert re.search(r"\| x₁ \| X′ \+ FFN\(X′\) \|", done.stdout)
    done = run_with(tmp_path, "linear", LINEAR, "value", "layer1.ffn.output[b,d₀]", "-s", linear)
    assert done.stdout.split()[-1] == "1.500"  # -0.5 × 1 + 2 × 0 + 1 × 2


def test_another_form_of_the_ffn_is_attributed(tmp_path: Path, linear: str) -> None:
    """The direction [1, 0.2, 0] passes back through W_L: [1 + 0.4, 0.2, 2]."""
    done = run_with(tmp_path, "linear", LINEAR, "attribute", "logits[b,a]", "-s", linear)
    assert done.returncode == 0, done.stderr
    assert re.search(r"u₂ +d₀ +d₁ +d₂\n▸ b +1.400  0.200  2.000", done.stdout)


def test_another_form_of_the_ffn_is_counted_and_trained(tmp_path: Path, linear: str) -> None:
    done = run_with(tmp_path, "linear", LINEAR, "shapes", linear)
    assert re.search(r"W_L +learned +\[3, 3\] +9 ", done.stdout)
    saved = tmp_path / "trained.yaml"
    done = run_with(tmp_path, "linear", LINEAR, "train", linear, "--save", str(saved))
    assert "∂L/∂W_L" in done.stdout
    assert "W_L: [[1, 2, 0]" not in saved.read_text(encoding="utf-8")


def test_the_shape_of_another_form_of_the_ffn_is_checked(tmp_path: Path, linear: str) -> None:
    path = Path(linear)
    path.write_text(path.read_text(encoding="utf-8").replace(", [2, 0, 1]]}", "]}"), "utf-8")
    done = run_with(tmp_path, "linear", LINEAR, "run", linear)
    assert done.returncode == 2
    assert "layer1.ffn.W_L: 2 rows, expected 3 (one per feature of the input)" in done.stderr
