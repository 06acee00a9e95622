"""Autoregressive generation: the decoder's word becomes its next input, turn by turn."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tracer.decoder.forward import Trace, check_numbers, trace
from tracer.decoder.roles import PREDICTION, WORD
from tracer.decoder.sampling import Sampling
from tracer.errors import Problem, TracerError
from tracer.names import closest, count
from tracer.scenario.model import Scenario

DRAW_DECIMALS = 4


@dataclass(frozen=True)
class Choice:
    """How words are drawn."""

    seed: int
    temperature: Decimal = Decimal(1)
    top_k: int | None = None
    top_p: Decimal | None = None


def choice(
    seed: int | None, temperature: Decimal | None, top_k: int | None, top_p: Decimal | None
) -> Choice | None:
    """How words are chosen; None, the most probable each time, where nothing is asked for."""
    if seed is None and temperature is None and top_k is None and top_p is None:
        return None
    return Choice(seed or 0, Decimal(1) if temperature is None else temperature, top_k, top_p)


@dataclass(frozen=True)
class Turn:
    """One pass through the decoder, what it says behind each token, and the word kept of it."""

    trace: Trace
    outputs: tuple[str, ...]
    word: str


@dataclass(frozen=True)
class Generated:
    """The turns, all tokens in the end, and why it ended."""

    turns: tuple[Turn, ...]
    text: tuple[str, ...]
    ending: str


def generate(
    name: str,
    scenario: Scenario,
    *,
    start: Sequence[str],
    most: int,
    choice: Choice | None = None,
    cached: bool = False,
) -> Generated:
    """Say words after `start` until the end token, or `most` words.

    With `cached`, each turn after the first computes only the new token's row, with the keys and
    values of the turns before.

    Raises:
        TracerError: the scenario cannot go on: no numbers, no vocabulary, or no vector for a
            token or position.
    """
    check_numbers(scenario)
    if scenario.vocabulary is None:
        raise TracerError(_problem("generation needs a vocabulary", "vocabulary"))
    random_numbers = random.Random(choice.seed) if choice else None
    turns: list[Turn] = []
    tokens = tuple(start)
    end = scenario.generation.end
    while len(turns) < most and not (turns and turns[-1].word == end):
        text = _text(scenario, tokens)
        sampling = _sampling(choice, random_numbers) if choice and random_numbers else None
        cache = turns[-1].trace if cached and turns else None
        turn = trace(name, text, sampling=sampling, cache=cache)
        said = turn[(WORD if sampling else PREDICTION).name].numbers[-1]
        outputs = tuple(turn[PREDICTION.name].numbers)
        # What it says behind the tokens before, it said in the turns before.
        before = turns[-1].outputs if cache else ()
        turns.append(Turn(turn, (*before, *outputs), said))
        tokens = (*tokens, said)
    ended = turns[-1].word == end
    after = count(len(turns), "turn")
    ending = f"The end token came after {after}." if ended else f"The limit: {after}."
    return Generated(tuple(turns), tokens, ending)


def _sampling(choice: Choice, random_numbers: random.Random) -> Sampling:
    draw = Decimal(random_numbers.randrange(10**DRAW_DECIMALS)).scaleb(-DRAW_DECIMALS)
    return Sampling(draw, choice.temperature, choice.top_k, choice.top_p)


def _text(scenario: Scenario, tokens: tuple[str, ...]) -> Scenario:
    """The scenario with other tokens.

    Raises:
        TracerError: a token has no embedding, or there are more tokens than positions.
    """
    table = scenario.embeddings
    if not isinstance(table, Mapping):
        message = "generation needs the embeddings by token, so that new ones can be looked up"
        raise TracerError(_problem(message, "embeddings"))
    missing = [token for token in tokens if token not in table]
    if missing:
        hint = closest(missing[0], table)
        message = f"no embedding for the token {missing[0]!r}{hint}"
        raise TracerError(_problem(message, "embeddings"))
    positions = scenario.positions
    if positions and positions.table is not None and len(tokens) > len(positions.table):
        message = f"{count(len(positions.table), 'row')}, and the text has grown longer"
        raise TracerError(_problem(message, "positions", "table"))
    return scenario.reading(tokens)


def _problem(message: str, *way: str) -> Problem:
    return Problem(message, address=".".join(way), way=way)
