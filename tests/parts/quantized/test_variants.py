"""Programs that quantize weights, or do not, are recognized by what they compute."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.check.test_against import against
from tests.check.test_variants import SPEC
from tests.helpers.lora import WEIGHTS, parts_with_weights
from tests.helpers.reference import reference
from tests.helpers.scenario_yaml import Scenario

CASES: dict[str, dict[str, Any]] = {
    "with weights quantized to 8 bits": {"bits": 8},
    "with weights quantized to 8 bits, by column": {"bits": 8, "group": "column"},
    "with weights quantized to 4 bits": {"bits": 4},
    "with weights quantized to 4 bits, by column": {"bits": 4, "group": "column"},
    "with weights quantized to MXFP4": {"kind": "mxfp4"},
}
COMPARED = (
    "layer1.attention.head1.query",
    "layer1.attention.output",
    "layer1.ffn.output",
    "output",
)


def weights(change: Callable[[Any], Any]) -> Scenario:
    """The scenario with other weights; those of `SPEC` are numbers of MXFP4."""
    spec = deepcopy(SPEC)
    for part in parts_with_weights(spec):
        for name in set(WEIGHTS) & set(part):
            rows = [[number + Decimal("0.07") for number in row] for row in part[name]]
            part[name] = change(rows)
    return spec


PLAIN = weights(lambda rows: rows)


def quantized(how: dict[str, Any]) -> Scenario:
    """The scenario with all of its weights quantized."""
    return weights(lambda rows: {"quantized": how, "of": rows})


def cause(folder: Path, ours: Scenario, theirs: Scenario) -> str:
    """The variant that explains what the other program computes."""
    arrays = reference(theirs)
    ran = against(folder, {name: arrays[name] for name in COMPARED}, "-f", "json", spec=ours)
    assert ran.exit_code == 1, ran.stderr
    told: str = json.loads(ran.stdout)["cause"]["variant"]
    return told


@pytest.mark.parametrize("name", CASES)
def test_a_program_that_quantizes_weights_is_recognized(name: str, tmp_path: Path) -> None:
    assert cause(tmp_path, PLAIN, quantized(CASES[name])) == name


@pytest.mark.parametrize("how", CASES.values(), ids=CASES)
def test_a_program_that_does_not_is_recognized(how: dict[str, Any], tmp_path: Path) -> None:
    assert cause(tmp_path, quantized(how), PLAIN) == "without quantization"
