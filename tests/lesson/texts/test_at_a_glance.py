"""The model in formulas and sizes, held against what the scenario says; the token on its way."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from math import prod
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.helpers.bundled import TYPED
from tests.helpers.command import Ran, printed, run
from tests.helpers.learned_numbers import numbers_learned
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.helpers.reference import shares_norm

SEVERAL = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
WIDE = 5000


FULL = ("--detail", "full")


def tutorial(spec: Scenario) -> Ran:
    return run("tutorial", "-", *FULL, "--format", "terminal", width=WIDE, stdin=to_yaml(spec))


@SEVERAL
@given(scenarios(max_tokens=3))
def test_random_scenarios(spec: Scenario) -> None:
    """Each is told once, for all of what follows."""
    ran = tutorial(spec)
    if not ran.exit_code:
        values = by_address(spec)
        assert_written_as_the_scenario_has_it(ran.stdout, spec)
        assert_sizes_are_those(ran.stdout, spec, values)
        assert_before_and_after_are_those(ran.stdout, spec, values)


def block(text: str, title: str) -> list[str]:
    """The lines of the tables and formulas behind a sentence, up to the next one."""
    _, _, rest = text.partition(f"\n{title}\n")
    lines = rest.split("\n")
    below = takewhile(lambda line: not line or line.startswith(("  ", "▸")), lines)
    return [line.strip() for line in below if line]


# --- formulas, from the scenario alone -----------------------------------------------------------


def expected(spec: Scenario) -> list[str]:
    """What the layers of a scenario compute, as a person writes it down from the YAML."""
    x, number, written = "X′", 0, []
    for layer in spec["layers"]:
        start, shared = x, ""
        for name in ("attention", "cross_attention", "ffn"):
            part = layer.get(name)
            if part is None:
                continue
            number += 1
            norm = part["norm"] if "norm" in part else layer.get("norm", "none")
            if shares_norm(layer):
                norm = layer["attention"].get("norm", layer.get("norm", "none"))
            of = "RMSNorm" if norm != "none" and norm.get("kind") == "rms_norm" else "LayerNorm"
            is_before = norm != "none" and norm.get("placement") == "pre"
            read = start if name == "ffn" and layer.get("parallel") else x
            if is_before and not (shared and name == "ffn"):
                written.append(f"n{str(number).translate(BELOW)} = {of}({read})")
            if is_before:
                read = shared or f"n{str(number).translate(BELOW)}"
            if shares_norm(layer) and is_before:
                shared = read
            result = f"FFN({read})" if name == "ffn" else f"Attention({read})"
            after = part["norm_after"] if "norm_after" in part else layer.get("norm_after", "none")
            if after != "none":
                last = "RMSNorm" if after.get("kind") == "rms_norm" else "LayerNorm"
                result = f"{last}({result})"
            if part.get("residual", True):
                factor = f"{part['residual_scale']}×" if "residual_scale" in part else ""
                result = f"{x} + {factor}{result}"
            if norm != "none" and not is_before:
                result = f"{of}({result})"
            x = f"x{str(number).translate(BELOW)}"
            written.append(f"{x} = {result}")
    return written


BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def of_layers(text: str) -> list[str]:
    """The formulas of sub-layers in the overview, as `x₁ = X′ + FFN(X′)`; of the encoder's none."""
    _, *rows = block(text, "From input to output:")
    cells = [re.split(" {2,}", row) for row in rows]
    return [f"{result} = {formula}" for _, result, formula, *_ in cells if result[0] in "xn"]


def assert_written_as_the_scenario_has_it(text: str, spec: Scenario) -> None:
    wanted = expected(spec)
    if spec.get("final_norm", "none") != "none":
        kind = spec["final_norm"].get("kind", "layer_norm")
        norm = "RMSNorm" if kind == "rms_norm" else "LayerNorm"
        last = sum(line.startswith("x") for line in wanted)
        x, after = (f"x{str(number).translate(BELOW)}" for number in (last, last + 1))
        wanted.append(f"{after} = {norm}({x})")
    function = re.compile(r"(FFN|Attention)\(.*\)")
    bare = {x for x, _, right in map(split, wanted) if function.fullmatch(right)}
    wanted = [line for line in wanted if split(line)[0] not in bare]  # its steps are written out
    found = [line for line in of_layers(text) if split(line)[0] not in bare]
    shown = [line for line in found if not line.endswith("–")]
    repeats = re.search(r" Layers? .*: the same operations, ", text)
    assert found == wanted or (repeats and set(shown) < set(wanted)), (found, wanted)


def split(line: str) -> tuple[str, str, str]:
    return line.partition(" = ")


# --- sizes ---------------------------------------------------------------------------------------


def sizes(text: str) -> dict[str, str]:
    header, *rows = block(text, "Its sizes:")
    assert header.split() == ["size", "here", "meaning"]
    return {row.split("  ")[0].strip(): re.split(" {2,}", row)[1] for row in rows}


def by_address(spec: Scenario) -> dict[str, Any]:
    document = json.loads(printed("run", "-", "--format", "json", stdin=to_yaml(spec)))
    return {value["address"]: value for value in document["values"]}


def assert_sizes_are_those(text: str, spec: Scenario, values: dict[str, Any]) -> None:
    found = sizes(text)
    assert found["tokens"] == str(len(spec["tokens"]))
    assert found["d_model"] == str(values["input"]["shape"][1])
    assert found.get("layers", "0") == str(len(spec["layers"]))
    parts = [p for layer in spec["layers"] for p in map(layer.get, ATTENTIONS) if p]
    assert found.get("heads") == several(len(part["heads"]) for part in parts)
    queries = several(len(head["W_Q"][0]) for part in parts for head in part["heads"])
    assert found.get("d_k") == queries
    networks = [each for layer in spec["layers"] for each in networks_of(layer.get("ffn", {}))]
    experts = [
        layer["ffn"]["experts"] for layer in spec["layers"] if "router" in layer.get("ffn", {})
    ]
    assert found.get("experts") == several(map(len, experts))
    assert found.get("hidden units") == several(len(each["W_1"][0]) for each in networks)
    assert found.get("vocabulary") == several(
        [len(spec["vocabulary"])] if "vocabulary" in spec else []
    )
    assert int(found.get("parameters", "0").replace(",", "")) == numbers_learned(spec)
    trains_some = spec.get("optimizer", {}).get("trains") is not None
    table = block(text, IN_PART if trains_some else PARAMETERS)
    rows = [re.split(" {2,}", row) for row in table[1:]]
    for _, shape, matrices, numbers, _ in rows:
        size = prod(map(int, shape.split(" × ")))
        assert int(matrices) * size == int(numbers.replace(",", ""))
    assert sum(int(row[3].replace(",", "")) for row in rows) == numbers_learned(spec)


def networks_of(ffn: Scenario) -> list[Scenario]:
    """The FFN itself, or its experts; nothing of a layer without one."""
    if "experts" not in ffn:
        return [ffn] if ffn else []
    return [*ffn["experts"], *([ffn["shared"]] if "shared" in ffn else [])]


PARAMETERS = "Training can adjust these numbers; each row names a step that uses them."
IN_PART = (
    "These numbers are learned; training would adjust those that the scenario names. Each row "
    "names a step that uses them."
)
ATTENTIONS = ("attention", "cross_attention")


def several(found: Any) -> str | None:
    return " or ".join(map(str, sorted(set(found)))) or None


# --- before and after ----------------------------------------------------------------------------


def assert_before_and_after_are_those(text: str, spec: Scenario, values: dict[str, Any]) -> None:
    title = re.search("\nThe numbers of .*:\n", text)
    if title is None:
        return
    last = len(spec["tokens"]) - 1
    header, *rows = block(text, title[0].strip("\n"))
    _, first, *_, end = re.split(" {2,}", header)
    assert first == "input"
    cells = [re.split(" {2,}", row) for row in rows]
    assert [row[1] for row in cells] == values["input"]["printed"][last]
    result = values["output"]["printed"][last]
    assert [row[-1] for row in cells] == result or end != "output"
    if end != "output":  # the output is only taken over, maybe with its own rounding
        address = values["output"]["operands"][0]
        assert [row[-1] for row in cells] == values[address]["printed"][last]


# --- what repeats is folded ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["alex", "pizza", "comics"])
def test_a_step_is_folded_if_it_is_told_as_another_one(name: str) -> None:
    made = printed("tutorial", name, *FULL, "--vary", "1")  # without the author's notes
    folded = "".join(re.findall("<details>.*?</details>", made, re.DOTALL))
    open_part = re.sub("<details>.*?</details>", "", made, flags=re.DOTALL)
    assert made.count("<details>") == made.count("</details>") > 0
    steps = re.compile(r"^#+ (\d+)\. .*\n\n(As in |.+? is computed as in )?", re.MULTILINE)
    assert all(again for _, again in steps.findall(folded))
    assert not any(again for _, again in steps.findall(open_part))
    assert "<details>" not in printed("run", name, "--format", "markdown")


TWO_HEADS = """
tokens: [a, b]
embeddings: {a: [1, 2], b: [0, 1]}
layers:
  - attention:
      heads:
        - {W_Q: [[1, 0], [0, 1]], W_K: [[1, 1], [0, 1]], W_V: [[1, 0], [1, 1]]}
        - {W_Q: [[1, 0], [0, 2]], W_K: [[1, 1], [0, 1]], W_V: [[1, 0], [1, 1]]}
      W_O: [[1, 0], [0, 1], [1, 0], [0, 1]]
"""


def test_a_step_with_a_note_stays_open() -> None:
    def folded(notes: str) -> str:
        made = printed("tutorial", "-", *FULL, stdin=TWO_HEADS + notes)
        return "".join(re.findall("<details>.*?</details>", made, re.DOTALL))

    assert "13. Head 2 · Attention scores" in folded("")
    noted = folded("notes: {layer1.attention.head2.scores: Look here.}\n")
    assert "13. Head 2 · Attention scores" not in noted
    assert "12. Head 2 · Value" in noted
    assert "14. Head 2 · Mask" in noted


def test_the_only_worked_lines_stay_open() -> None:
    """The first expert that the followed token goes to; then the others are like it."""
    text = TYPED["experts"].read_text(encoding="utf-8")

    def folded(token: str, top: int) -> list[str]:
        spec = text.replace("top: 1", f"top: {top}")
        made = printed("tutorial", "-", *FULL, "--token", token, "--vary", "1", stdin=spec)
        return re.findall("<summary>(.*?)</summary>", made)

    assert "top: 1" in text
    assert folded("bark", 1) == []
    assert folded("bark", 2) != []
    assert folded("cats", 1) != []


def test_paper_has_an_appendix() -> None:
    made = printed("tutorial", "alex", *FULL, "--format", "latex")
    before, after = made.split(r"\subsection*{Appendix")
    assert "11. Head 2" not in re.sub(r"\\hyperref.*", "", before)
    assert after.count(r"\subsubsection*{11. Head 2") == 1
    label = re.search(r"\\hyperref\[(.*appendix)\]", before)
    assert label and rf"\label{{{label[1]}}}" in after
