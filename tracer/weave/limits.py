"""How much the marks of one file may ask for: a stranger's Markdown neither blocks nor exhausts.

It is generous for authors: a chapter asks for far less.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tracer.decoder.parameters import columns
from tracer.errors import Problem, TracerError
from tracer.scenario.fields import Matrix
from tracer.scenario.layers import Attention, Layer
from tracer.scenario.loading import STANDARD_INPUT
from tracer.scenario.model import Scenario

MOST_MARKS = 2_000
LONGEST_MARK = 10_000
"""Characters, which also bound what a mark pins."""
MOST_BYTES = 20_000_000
"""Of scenarios, each counted as often as it is read."""
MOST_PRODUCTS = 20_000_000
"""Of two numbers, in all passes through the decoder and all texts about one."""
FLOATS = 500
"""So many products of floats cost less than one of Decimals."""
PRODUCTS_OF_A_HEAD = 1_000
"""What the steps of a head cost beside their products, and about what an FFN does, in products."""
STEP_OF_TRAINING = 6
"""So many passes does a step of training cost."""
MOST_CHARACTERS = 10_000_000
"""Of output."""


@dataclass
class Allowance:
    """What the marks of one file have asked for so far."""

    bytes: int = 0
    products: int = 0
    characters: int = 0

    def read(self, folder: Path, scenario: str) -> None:
        """Allow for reading a scenario.

        Raises:
            TracerError: it is standard input, or too much is read.
        """
        path = folder / scenario
        if scenario == STANDARD_INPUT:
            raise TracerError(Problem("a mark reads files, not standard input"))
        if not os.path.isfile(path):  # noqa: PTH113  # Path.is_file() raises for too long a name
            return  # one that comes with the program, or a mistake, which loading tells
        self.bytes = _sum("scenarios of", self.bytes, path.stat().st_size, MOST_BYTES, "bytes")

    def train(self, scenario: Scenario, steps: int) -> None:
        """Allow for steps of training: a pass, the way back and the update of each example.

        Raises:
            TracerError: too much is computed.
        """
        lengths = [len(example.tokens) for example in scenario.training] or [len(scenario.tokens)]
        for length in lengths:
            self.compute(scenario, first=length - 1, passes=STEP_OF_TRAINING * (steps + 1))

    def compute(
        self, scenario: Scenario, *, turns: int = 1, first: int | None = None, passes: int = 1
    ) -> None:
        """Allow for passes through a decoder, or the turns of a text that begins with some tokens.

        Raises:
            TracerError: too much is computed.
        """
        length = len(scenario.tokens) if first is None else first + turns
        asked = products(scenario, length) * turns * passes
        if scenario.arithmetic == "float64":
            asked //= FLOATS
        self.products = _sum("to compute about", self.products, asked, MOST_PRODUCTS, "products")

    def write(self, output: str) -> None:
        """Allow for an output.

        Raises:
            TracerError: too much is written.
        """
        self.characters = _sum(
            "an output of", self.characters, len(output), MOST_CHARACTERS, "characters"
        )


def _sum(what: str, before: int, asked: int, most: int, unit: str) -> int:
    if before + asked <= most:
        return before + asked
    behind = f" behind {before:,} for the marks before" if before else ""
    message = (
        f"{what} {asked:,} {unit}{behind}, expected at most {most:,} in a file; "
        "the command can be run by hand"
    )
    raise TracerError(Problem(message))


def products(scenario: Scenario, length: int) -> int:
    """About what a pass over so many tokens costs, in products of two numbers."""
    encoder, words = scenario.encoder, scenario.unembedding
    read = len(encoder.tokens) if encoder else 0
    encoded = _of_layers(encoder.layers, read, 0) if encoder else 0
    said = length * _size(words.W_U) if words else 0
    return encoded + _of_layers(scenario.layers, length, read) + said


def _of_layers(layers: Sequence[Layer], length: int, read: int) -> int:
    """Of a tower that reads so many tokens, beside those that its encoder has read."""
    number = 0
    for layer in layers:
        number += _of_attention(layer.attention, length, length)
        number += _of_attention(layer.cross_attention, length, read)
        if network := layer.ffn:
            weights = _size(network.W_1) + _size(network.W_3) + _size(network.W_2)
            number += length * weights + PRODUCTS_OF_A_HEAD
    return number


def _of_attention(attention: Attention | None, queries: int, keys: int) -> int:
    if attention is None:
        return 0
    number = queries * _size(attention.W_O)
    for head in attention.heads:
        number += queries * _size(head.W_Q) + keys * (_size(head.W_K) + _size(head.W_V))
        read = attention.heads[head.shares - 1] if head.shares else head
        compared = columns(head.W_Q) + (columns(read.W_V) if read.W_V is not None else 0)
        number += queries * keys * compared + PRODUCTS_OF_A_HEAD
    return number


def _size(matrix: Matrix | None) -> int:
    return 0 if matrix is None else len(matrix) * columns(matrix)
