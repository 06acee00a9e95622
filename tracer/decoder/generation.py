"""Autoregressive generation: each word that the decoder predicts becomes its next input."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tracer.console import progress
from tracer.decoder.forward import EarlierPasses, PassOptions, Trace, check_writes, trace
from tracer.decoder.roles import LOGITS, PREDICTION, WORD
from tracer.decoder.sampling import Sampling
from tracer.errors import Located, Problem, TracerError
from tracer.names import closest, count
from tracer.scenario.model import Scenario

DRAW_DECIMALS = 4


@dataclass(frozen=True)
class Choice:
    """How words are drawn; see `Sampling`."""

    seed: int
    temperature: Decimal = Decimal(1)
    top_k: int | None = None
    top_p: Decimal | None = None


def choice(
    seed: int | None, temperature: Decimal | None, top_k: int | None, top_p: Decimal | None
) -> Choice | None:
    """How words are drawn; None, for the most probable word each time, if nothing is set."""
    if seed is None and temperature is None and top_k is None and top_p is None:
        return None
    return Choice(seed or 0, Decimal(1) if temperature is None else temperature, top_k, top_p)


@dataclass(frozen=True)
class GenerationStep:
    """One pass, the words predicted after each token, and the one that is appended.

    Without a vocabulary, neither. `sampling` says how the word was drawn, if it was.
    """

    trace: Trace
    outputs: tuple[str, ...] = ()
    word: str | None = None
    sampling: Sampling | None = None


@dataclass(frozen=True)
class Generated:
    """The steps and the final text; `ended` by the end token, or stopped by the error `met`."""

    steps: tuple[GenerationStep, ...]
    text: tuple[str, ...]
    ended: bool
    met: TracerError | None = None


class CannotContinueError(TracerError):
    """The text cannot continue: no vector for the token, or none for its position."""

    def __init__(self, problem: Problem, token: str | None = None) -> None:
        super().__init__(problem)
        self.token = token


@dataclass(frozen=True)
class GenerationOptions:
    """How a text begins, how its words are chosen, and how many there are at most.

    `choice` is None for the most probable word each time. With `cached`, a step computes only the
    new token's row. With `as_far_as_possible`, an error after the first step ends the text.
    """

    start: Sequence[str]
    most: int
    choice: Choice | None = None
    cached: bool = False
    as_far_as_possible: bool = False


def generate(
    name: str, scenario: Scenario, options: GenerationOptions, located: Located = tuple
) -> Generated:
    """Append words to `start` until the end token, or `most` words.

    Each turn is a pass over the n tokens so far; its last row of probabilities, (vocabulary,),
    decides on token n + 1. Without a vocabulary, cached turns read the scenario's own tokens.

    Raises:
        TracerError: no numbers, no vocabulary and no cache, or numbers without a result; a model
            that predicts masked words; cached keys and values would change, because tokens see
            later ones.
        UnreadableError: no vector for a token or position.
    """
    check_writes(scenario)
    if scenario.vocabulary is None and not options.cached:
        message = "generation needs a vocabulary; without one, --kv-cache reads the tokens in turn"
        raise TracerError(_problem(message, "vocabulary"))
    if options.cached and scenario.looks_ahead:
        message = "the mask shows later tokens, so cached keys and values would change"
        raise TracerError(_problem(message, "mask"))
    if scenario.vocabulary is None:
        return _read_in_turn(name, scenario, options, located)
    choice, most = options.choice, options.most
    random_numbers = random.Random(choice.seed) if choice else None
    turns: list[GenerationStep] = []
    tokens = tuple(options.start)
    met = None
    while len(turns) < most and not (turns and turns[-1].word in scenario.ends):
        sampling = _sampling(choice, random_numbers) if choice and random_numbers else None
        earlier = EarlierPasses(
            turns[-1].trace if options.cached and turns else None,
            turns[0].trace if turns else None,
        )
        progress.report(f"word {len(turns) + 1} of at most {most}")
        try:
            text = scenario if tokens == scenario.tokens else with_tokens(scenario, tokens)
            recorded = PassOptions(sampling=sampling, located=located)
            turn = trace(name, text, recorded, earlier=earlier)
            # Lazy numbers are computed here, so their errors occur here.
            word = turn[WORD.name].numbers[-1] if sampling else most_probable(turn)
            outputs = tuple(turn[PREDICTION.name].numbers)
        except TracerError as error:
            if not (turns and options.as_far_as_possible):
                raise
            met = error.with_traceback(None)  # which would keep all passes
            break
        # The cached passes have predicted the words after the earlier tokens.
        before = turns[-1].outputs if earlier.cache else ()
        turns.append(GenerationStep(turn, (*before, *outputs), word, sampling))
        tokens = (*tokens, word)
    return Generated(tuple(turns), tokens, turns[-1].word in scenario.ends, met)


def _read_in_turn(
    name: str, scenario: Scenario, options: GenerationOptions, located: Located
) -> Generated:
    """Read the scenario's tokens: those at the start, then one more in each turn."""
    start, tokens = len(options.start), scenario.tokens
    if options.choice:
        raise TracerError(_problem("words are drawn from a vocabulary", "vocabulary"))
    if tuple(options.start) != tokens[:start]:
        message = "without a vocabulary, only the scenario's own tokens are read, from the first on"
        raise TracerError(_problem(message, "tokens"))
    turns: list[GenerationStep] = []
    for end in range(start, min(len(tokens), start + options.most - 1) + 1):
        earlier = EarlierPasses(
            turns[-1].trace if turns else None, turns[0].trace if turns else None
        )
        text = with_tokens(scenario, tokens[:end])
        progress.report(f"turn {len(turns) + 1}")
        turn = trace(name, text, PassOptions(located=located), earlier=earlier)
        turns.append(GenerationStep(turn))
    return Generated(tuple(turns), turns[-1].trace.tokens, ended=False)


def most_probable(turn: Trace, row: int = -1) -> str:
    """The most probable word after a row's token, among those that are not excluded."""
    word = str(turn[PREDICTION.name].numbers[row])
    if word not in turn.scenario.excluded:
        return word
    logits = turn[LOGITS.name]
    scored = zip(logits.computed[row], logits.axes[1].labels, strict=True)
    allowed = ((z, w) for z, w in scored if w not in turn.scenario.excluded)
    return max(allowed, key=lambda each: each[0])[1]


def _sampling(choice: Choice, random_numbers: random.Random) -> Sampling:
    draw = next_draw(random_numbers)
    return Sampling(draw, choice.temperature, choice.top_k, choice.top_p)


def next_draw(random_numbers: random.Random) -> Decimal:
    """The next random number: at least 0, less than 1, with four decimals."""
    return Decimal(random_numbers.randrange(10**DRAW_DECIMALS)).scaleb(-DRAW_DECIMALS)


def with_tokens(scenario: Scenario, tokens: tuple[str, ...]) -> Scenario:
    """The scenario with other tokens.

    Raises:
        UnreadableError: a token has no embedding, or there are more tokens than positions.
    """
    table = scenario.embeddings
    if not isinstance(table, Mapping):
        message = "another text needs the embeddings by token, so that new ones can be looked up"
        raise CannotContinueError(_problem(message, "embeddings"), tokens[-1])
    missing = [token for token in tokens if token not in table]
    if missing:
        hint = closest(missing[0], table)
        message = f"no embedding for the token {missing[0]!r}{hint}"
        raise CannotContinueError(_problem(message, "embeddings"), missing[0])
    positions, mask = scenario.positions, scenario.mask
    if positions and positions.table is not None and len(tokens) > len(positions.table):
        message = f"{count(len(positions.table), 'row')}, but the text is longer now"
        raise CannotContinueError(_problem(message, "positions", "table"))
    if isinstance(mask, tuple) and len(tokens) > min(len(mask), *map(len, mask)):
        message = f"{count(len(mask), 'row')}, but the text is longer now"
        raise CannotContinueError(_problem(message, "mask"))
    return scenario.reading(tokens)


def _problem(message: str, *path: str) -> Problem:
    return Problem(message, address=".".join(path), yaml_path=path)
