"""A line that comes to another number than its matrix shows stops the program."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.helpers.process import ALONE
from tests.helpers.traces import traced
from tracer.decoder import results
from tracer.errors import InternalError
from tracer.lesson.texts.forward_pass import forward_pass
from tracer.lesson.texts.selection import steps
from tracer.renderers.markdown import render

RMS_NORM = """\
title: Norm
tokens: [a, b]
embeddings: [[0.5, -0.25, 1.5], [1, 2, 0.75]]
layers:
  - attention:
      norm: {kind: rms_norm, gain: [0.1, 0.2, 0.3], placement: pre}
      heads: [{W_Q: identity, W_K: identity, W_V: identity}]
"""

ONE_PLUS_GAIN = """\
from tracer.decoder import results
computed = results._entries

def one_plus_gain(arithmetic, operation, x, part):
    if operation.name == "normalize":
        x = [*x[:2], x[2] + 1]
    return computed(arithmetic, operation, x, part)

results._entries = one_plus_gain
from tracer.cli import start
start(["run", "-"])
"""


def test_a_norm_that_is_changed_in_the_arithmetic_alone() -> None:
    """RMSNorm with 1 + γ, as Gemma has it, computed and not written."""
    ran = subprocess.run(
        [sys.executable, "-c", ONE_PLUS_GAIN],
        input=RMS_NORM,
        capture_output=True,
        text=True,
        env=ALONE,
        check=False,
    )
    assert ran.returncode == 2
    assert "layer1.attention.norm[b,d₀]: internal error, please report it: its line" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("operation", ["matmul", "normalize", "exp", "share", "add", "mean"])
def test_any_operation(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of a matrix product, a mean, and what is done entry by entry."""
    computed = results._result

    def wrong(arithmetic: Any, found: Any, *others: Any) -> Any:
        result = computed(arithmetic, found, *others)
        return result + arithmetic.array(1) if found.name == operation else result

    monkeypatch.setattr(results, "_result", wrong)
    ran = traced(RMS_NORM)
    with pytest.raises(InternalError, match=r"internal error, please report it: its line comes to"):
        render(forward_pass(ran, steps(ran.records), 1, whole=True), math=False)
