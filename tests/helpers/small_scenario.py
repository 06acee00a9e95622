"""A scenario of a few lines, to change one thing in it and see what is made of that."""

from __future__ import annotations

import pytest

from tracer.errors import TracerError
from tracer.scenario.loading import parse
from tracer.scenario.model import Scenario

SMALL = """\
title: Two words
tokens: [a, b]
embeddings:
  a: [1, 2]
  b: [3, 4]
layers:
  - attention:
      heads:
        - W_Q: [[1], [2]]
          W_K: [[3], [4]]
          W_V: [[1, 0], [0, 1]]
    ffn:
      W_1: [[1], [2]]
      W_2: [[1, 2]]
"""
END = "      W_2: [[1, 2]]\n"
"""The last line: what is put behind it belongs to the FFN, the layer or the scenario."""


def changed(*changes: tuple[str, str]) -> str:
    """The small scenario with texts replaced, each of which it has once."""
    text = SMALL
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def scenario(*changes: tuple[str, str]) -> Scenario:
    """The scenario with those changes, which it allows."""
    return parse(changed(*changes), "f.yaml")


def problems(*changes: tuple[str, str]) -> list[str]:
    """What is said of the scenario with those changes."""
    with pytest.raises(TracerError) as caught:
        parse(changed(*changes), "f.yaml")
    return [str(problem) for problem in caught.value.problems]
