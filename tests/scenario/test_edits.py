"""An edit replaces what it is about; each other character stays."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml

from tests.helpers.bundled import TYPED
from tests.helpers.mutations import parts
from tracer.errors import TracerError
from tracer.scenario.edits import with_number, with_tokens, with_value, without
from tracer.scenario.nodes import Nodes

ODD = """\
# a comment
tokens: [a, "b c", a]  # three
embeddings:
  a: [ 1.50,-2 , +.5 ]   # spaced
  b c: &row
    - 1e3
    # between
    - "0.25"
    - 7
layers:
  - attention: {heads: [{W_Q: identity, W_K: {transposed: [[1, 2], [3, 4]]}, W_V: *row}],
      W_O: [[1]]}
    norm: {}
  - ffn: {W_1: {random: {seed: 1}}}
  - {ffn: {activation: relu}}
unembedding: {W_U: tied}
notes: |
  A text that
  has lines.
# behind the notes
given:
  mask: [[0, -inf], [0, 0]]
intro: over
  two lines
rounding: {decimals: 3}
"""


def read(text: str) -> Any:
    return yaml.load(text, yaml.BaseLoader)


@pytest.mark.parametrize("name", sorted(TYPED))
def test_a_number_alone_changes(name: str) -> None:
    """Any number of a list, in all bundled scenarios, drawn at random."""
    text, chance = TYPED[name].read_text(encoding="utf-8"), random.Random(name)
    data = read(text)
    lists = [p for p in parts(data) if p and isinstance(p[-1], int) and is_number(part(data, p))]
    for path in chance.sample(lists, min(12, len(lists))):
        new = with_number(text, path, "-0.125")
        assert part(read(new), path) == "-0.125"
        assert with_number(new, path, part(data, path)) == text


def part(data: Any, path: Any) -> Any:
    for step in path:
        data = data[step]
    return data


def is_number(data: Any) -> bool:
    try:
        float(data)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (("embeddings", "a", 0), "[ 1.50,", "[ 9,"),
        (("embeddings", "a", 1), ",-2 ,", ",9 ,"),
        (("embeddings", "a", 2), " +.5 ]", " 9 ]"),
        (("layers", 0, "attention", "W_O", 0, 0), "W_O: [[1]]", "W_O: [[9]]"),
        # A row of a transposed matrix is a column.
        (
            ("layers", 0, "attention", "heads", 0, "W_K", 1, 0),
            "[[1, 2], [3, 4]]",
            "[[1, 9], [3, 4]]",
        ),
        (("given", "mask", 0, 1), "[0, -inf]", "[0, 9]"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_its_characters_are_replaced(path: Any, old: str, new: str, ending: str) -> None:
    text = ODD.replace("\n", ending)
    assert text.count(old) == 1
    assert with_number(text, path, "9") == text.replace(old, new)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (("embeddings", "b c", 0), "6:7: embeddings.b c entry 1: an alias repeats this"),
        (("layers", 0, "attention", "heads", 0, "W_V", 0), "an alias repeats this; write it out"),
        (("layers", 0, "attention", "heads", 0, "W_Q", 0, 0), "written as 'identity'; to edit"),
        (("layers", 0, "attention", "heads", 0, "W_Q", 0, 0), "type all: W_Q: [[…], …]"),
        (("layers", 1, "ffn", "W_1", 0, 0), "written as '{random: {seed: 1}}'"),
        (("unembedding", "W_U", 0, 0), "W_U is tied; edit these"),
        (("mask", 0, 0), "not in the scenario's text; to edit single numbers, type all: mask:"),
        (("embeddings", "a"), "not a single number"),
    ],
)
def test_a_number_that_is_not_typed_is_refused(path: Any, said: str) -> None:
    with pytest.raises(TracerError) as refused:
        with_number(ODD, path, "9")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "number", ["", "x", "1, 2", "1 2", "1]", "#1", "1\n", "*row", "0x1", "9" * 61]
)
def test_what_is_no_number_is_refused(number: str) -> None:
    with pytest.raises(TracerError, match="expected a number, got"):
        with_number(ODD, ("embeddings", "a", 0), number)


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("rounding", "decimals"), "2", "{decimals: 3}", "{decimals: 2}"),
        (("rounding", "carry"), "line", "{decimals", "{carry: line, decimals"),
        (("layers", 0, "norm", "kind"), "rms_norm", "norm: {}", "norm: {kind: rms_norm}"),
        (("layers", 0, "norm"), "none", "norm: {}", "norm: none"),
        (("layers", 0, "parallel"), "true", "- attention", "- parallel: true\n    attention"),
        (("layers", 2, "ffn", "activation"), "gelu", "activation: relu", "activation: gelu"),
        (("mask",), "none", "tokens:", "mask: none\ntokens:"),
        (("given",), "{}", "\n  mask: [[0, -inf], [0, 0]]", "\n  {}"),
    ],
)
def test_a_value_is_replaced_or_added(path: Any, value: str, old: str, new: str) -> None:
    assert ODD.count(old) == 1
    changed = with_value(ODD, path, value)
    assert changed == ODD.replace(old, new)
    node = Nodes(changed).at(path)
    assert node is not None
    assert Nodes(changed).written(node) == value


def test_other_tokens_take_what_was_about_these() -> None:
    text = ODD + "targets: [a, b] # why\nmask: none\n"
    assert (
        with_tokens(text, ["b c", "a", "1", "<x>"])
        == ODD.replace('tokens: [a, "b c", a]', 'tokens: ["b c", a, "1", "<x>"]') + "mask: none\n"
    )


def test_keys_are_left_out() -> None:
    bare = without(ODD, ("notes", "intro", "missing"))
    assert bare == ODD.replace("notes: |\n  A text that\n  has lines.\n", "").replace(
        "intro: over\n  two lines\n", ""
    )
