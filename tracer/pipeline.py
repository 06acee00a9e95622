"""Request → text, the whole way: scenario, trace, document, format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from tracer.decoder.arithmetic import SHAPES, Arithmetic
from tracer.decoder.forward import Trace, trace
from tracer.decoder.tape import Record
from tracer.errors import Problem, TracerError
from tracer.lesson.document import Document
from tracer.lesson.entries import find
from tracer.lesson.passes import contents, forward_pass
from tracer.lesson.selection import of_encoder, select, steps
from tracer.lesson.steps import Step
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.names import closest, places
from tracer.renderers import Format, Heading, render
from tracer.request import Request, check
from tracer.scenario.carry import Carry
from tracer.scenario.loading import Loaded, load, parse_given

if TYPE_CHECKING:
    from tracer.decoder.training import Training

Answer: TypeAlias = Document | str | bytes
"""A document, to be rendered; or what is whole: a text, or the bytes of an archive."""

DEFAULT_SEED = 1
"""Of a worksheet."""

OF_OPTIMIZERS = ("momentum", "weight_decay", "clip")

SEVERAL = 8
"""So many places of a token are told."""


def trace_for(request: Request) -> Trace:
    """The trace that a request looks at."""
    if request.of_training:
        return trained(request).steps[0]
    loaded = scenario_for(request)
    return _traced(
        loaded,
        unmasked=_is_unmasked(request),
        loss=request.of_loss,
        lens=request.of_lens or _in_summary(request, loaded),
    )


def answer(request: Request, trace_for: Callable[[Request], Trace] = trace_for) -> Answer:
    """What is asked for.

    Another `trace_for` may know traces that were made before.
    """
    check(request)
    match request.command:
        case "steps":
            return _contents(request, _traced(scenario_for(request), arithmetic=SHAPES))
        case "shapes":
            return _shapes(request, scenario_for(request))
        case "run" | "step":
            return _forward_pass(request, trace_for(request))
        case "page":
            return _page(request, trace_for(request))
        case "tutorial":
            return _with_blanks(request, _forward_pass(request, trace_for(request)))
        case "lens":
            return _lens(request, trace_for(request))
        case "loss":
            return _training_pass(request, trace_for(request))
        case "train":
            return _trained(request, trained(request))
        case "generate":
            return _generated(request, scenario_for(request))
        case "value" | "why":
            return _entry(request, trace_for(request))
        case "check":
            return checked(request).answer
        case _:
            assert_never(request.command)


@dataclass(frozen=True)
class Checked:
    """What a check has found, and whether all holds."""

    answer: Document | str
    holds: bool


def checked(request: Request) -> Checked:
    """What is found of the figures of a text, or of another program's arrays.

    Raises:
        TracerError: an option changes nothing; the scenario or a file cannot be read.
    """
    from tracer.check import as_json
    from tracer.check.checking import check_against, check_figures
    from tracer.check.told import told

    check(request)
    loaded, in_json = scenario_for(request), request.format is Format.JSON
    if request.against is None:
        report = check_figures(loaded, figures_of(request))
        return Checked(as_json.of_figures(report) if in_json else told(report), report.holds)
    tolerance = None if request.tolerance is None else float(request.tolerance)
    asked = request.carry is not None or request.decimals is not None
    rounding = loaded.scenario.rounding if asked else None
    found = check_against(loaded, request.folder / request.against, tolerance, rounding)
    return Checked(as_json.of_differences(found) if in_json else found.document(), found.holds)


def figures_of(request: Request) -> Path:
    """The figures file of a check.

    Raises:
        TracerError: none is named, and none lies beside the scenario.
    """
    from tracer.check.checking import figures_beside

    if request.figures_file is not None:
        return request.folder / request.figures_file
    return figures_beside(request.scenario, request.folder)


def basis(request: Request) -> Request:
    """What of a request its trace depends on, as a request that looks at the same trace."""
    return Request(
        "train"
        if request.of_training
        else "loss"
        if request.of_loss
        else "lens"
        if request.of_lens
        else "run",
        request.scenario,
        request.folder,
        sequence=request.sequence,
        example=request.example,
        no_mask=_is_unmasked(request),
        given=request.given,
        decimals=request.decimals,
        carry=request.carry,
        vary=request.vary,
    )


def rendered(request: Request, answered: Document | str, width: int | None = None) -> str:
    """The answer as text without colour; `width` is that of a terminal."""
    if isinstance(answered, str):
        return answered
    return render(
        answered,
        request.format,
        math=request.math,
        heading=request.heading or Heading.TWO,
        standalone=request.standalone,
        figures=_way_to_figures(request),
        width=width,
    )


def pictures(request: Request, answered: Answer) -> dict[Path, str]:
    """The pictures of a document, if they are asked for: each file, and what it holds."""
    if request.figures is None or not isinstance(answered, Document):
        return {}
    from tracer.renderers.figures import figures

    found = figures(answered)
    if not found:
        message = "there are no pictures of this; attention weights, of the step softmax, have some"
        raise TracerError(Problem(message, address="--figures"))
    return {request.figures / name: text for name, text in found.items()}


def keyed(request: Request, answered: Answer) -> dict[Path, str]:
    """The key to a worksheet, if it is asked for: its file, and what it holds."""
    if request.key is None or not isinstance(answered, Document):
        return {}
    from tracer.lesson.worksheet import key

    return {request.key: rendered(request, key(answered))}


def scenario_for(request: Request) -> Loaded:
    """The scenario with the numbers, the rounding, the pins and the tokens that are asked for."""
    loaded = load(request.scenario, request.folder)
    scenario, changes = loaded.scenario, dict[str, Any]()
    if request.vary is not None:
        from tracer.decoder.variant import variant

        scenario = variant(loaded.name, scenario, request.vary)
    if request.decimals is not None:
        changes["decimals"] = request.decimals
    if request.carry is not None:
        changes["carry"] = request.carry
    rounding = scenario.rounding.model_copy(update=changes)
    if scenario.arithmetic == "float64" and rounding.carry is not Carry.NEVER:
        message = "the scenario computes with float64, which goes with `never` only"
        raise TracerError(Problem(message, address="--carry"))
    pinned = {**scenario.given, **dict(map(parse_given, request.given))}
    scenario = scenario.model_copy(update={"rounding": rounding, "given": pinned})
    if request.sequence is not None:
        batch = scenario.batch
        if request.sequence > len(batch):
            raise TracerError(
                Problem(_not_among(request.sequence, "sequence", len(batch)), address="--sequence")
            )
        scenario = scenario.reading(batch[request.sequence - 1])
    if request.of_loss and not request.of_training and (request.example or scenario.training):
        number, examples = request.example or 1, scenario.training
        if number > len(examples):
            raise TracerError(
                Problem(_not_among(number, "training example", len(examples)), address="--example")
            )
        scenario = scenario.reading_example(examples[number - 1])
    return replace(loaded, scenario=scenario)


def _not_among(number: int, what: str, there: int) -> str:
    return f"no {what} {number}, the last is {there}" if there else f"the scenario has no {what}s"


def _traced(
    loaded: Loaded,
    *,
    unmasked: bool = False,
    loss: bool = False,
    lens: bool = False,
    arithmetic: Arithmetic | None = None,
) -> Trace:
    with loaded.telling():
        return trace(
            loaded.name,
            loaded.scenario,
            unmasked=unmasked,
            loss=loss,
            lens=lens,
            arithmetic=arithmetic,
            located=loaded.located,
        )


def position_of(token: str, tokens: tuple[str, ...]) -> int:
    """The place, counted from 0, of a token given by its position or its text."""
    positions = [str(position) for position in range(1, len(tokens) + 1)]
    if token in positions:
        return positions.index(token)
    found = places(token, tokens)
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(str(place + 1) for place in found[:SEVERAL])
        if len(found) > SEVERAL:
            several += " …"
        message = f"the token {token!r} stands at several positions, give one of them: {several}"
        raise TracerError(Problem(message))
    hint = closest(token, tokens)
    raise TracerError(Problem(f"no token {token!r}, expected 1 to {len(tokens)} or its text{hint}"))


def _contents(request: Request, found: Trace) -> Answer:
    if request.format.is_data:
        from tracer.renderers import as_json

        return as_json.contents(found)
    return contents(found)


def _shapes(request: Request, loaded: Loaded) -> Document | str:
    from tracer.lesson.survey import survey

    with loaded.telling():
        found = survey(loaded.name, loaded.scenario, request.length)
    if request.format is Format.JSON:
        from tracer.renderers import as_json

        return as_json.shapes(found)
    from tracer.lesson.shapes import shapes

    return shapes(found)


def _is_unmasked(request: Request) -> bool:
    """Whether what a token sees without the mask is asked for, or one of its numbers."""
    return request.no_mask or any(".unmasked." in word for word in request.entry[:1])


def _chosen(request: Request, found: Trace) -> list[Step]:
    """The steps that are asked for; of a trained model's layer, no others."""
    chosen = select(steps(found.records), request.name, request.layer, request.head)
    only = found.scenario.on_demand and request.layer
    return [step for step in chosen if step.place.layer] if only else chosen


def _page(request: Request, found: Trace) -> str:
    from tracer.lesson.page import page
    from tracer.renderers.page.as_html import render

    token = len(found.tokens) - 1
    if request.token is not None:
        token = position_of(request.token, found.tokens)
    learned = trained(request) if request.train else None
    chosen, full = _chosen(request, found), not request.brief
    return render(page(found, chosen, token, training=learned, full=full))


def _forward_pass(request: Request, found: Trace) -> Answer:
    every, chosen = steps(found.records), _chosen(request, found)
    tokens, encodes = found.tokens, of_encoder(chosen)
    if encodes and found.scenario.encoder:
        tokens = found.scenario.encoder.tokens
    position = None if request.token is None else position_of(request.token, tokens)
    if request.no_mask and not any(step.kind is UNMASKED_STEP for step in chosen):
        message = "nothing is masked here; of the steps, mask, softmax and attention show it"
        raise TracerError(Problem(message, address="--no-mask"))
    followed = len(tokens) - 1 if position is None else position
    if chosen == every and found.scenario.on_demand and not request.format.is_binary:
        from tracer.lesson.way import in_summary, summarized

        if request.format.is_data:
            return _data(request, found, summarized(every), followed)
        return in_summary(found, followed, full=not request.brief, terms=request.terms)
    if request.format.is_data:
        whole = len(chosen) == len(every)
        shown = None if whole else [r for s in chosen for r in s.records]
        return _data(request, found, shown, position)
    if request.command == "tutorial":
        from tracer.lesson.tutorial import tutorial

        learned = trained(request) if request.train else None
        return tutorial(found, chosen, followed, training=learned, full=not request.brief)
    whole = request.command == "run"
    full = not request.brief
    return forward_pass(found, chosen, followed, whole=whole, full=full, terms=request.terms)


def _with_blanks(request: Request, told: Answer) -> Answer:
    """A tutorial as a worksheet, if one is asked for."""
    if not request.blanks or not isinstance(told, Document):
        return told
    from tracer.lesson.worksheet import RESULTS, worksheet

    seed = DEFAULT_SEED if request.seed is None else request.seed
    return worksheet(told, request.level or RESULTS, seed)


def _data(
    request: Request,
    found: Trace,
    records: Sequence[Record] | None = None,
    token: int | None = None,
) -> str | bytes:
    """The records, or all, for programs."""
    records = found.records if records is None else records
    if request.format.is_binary:
        from tracer.renderers.arrays import archive

        return archive(records, "npz" if request.format is Format.NPZ else "safetensors")
    from tracer.renderers import as_json

    return as_json.render(found, records, token)


def _lens(request: Request, found: Trace) -> Answer:
    from tracer.lesson.lens import lens

    if request.format.is_data:
        seen = [r for r in found.records if r.output.place.sub_layer == "lens"]
        return _data(request, found, seen)
    token = request.token
    return lens(found, len(found.tokens) - 1 if token is None else position_of(token, found.tokens))


def _in_summary(request: Request, loaded: Loaded) -> bool:
    """Whether a trained model's way is told, rather than worked step by step."""
    tells = request.command in ("run", "tutorial", "page") and not request.format.is_data
    return loaded.scenario.on_demand and tells and request.layer is None


def _training_pass(request: Request, found: Trace) -> Answer:
    from tracer.lesson.training_pass import training_pass

    return (
        _data(request, found)
        if request.format.is_data
        else training_pass(found, full=not request.brief)
    )


def saved(request: Request) -> dict[Path, str]:
    """The trained scenario, if it is to be kept: its file, and its YAML."""
    if request.save is None:
        return {}
    from tracer.scenario.writer import written

    return {request.save: written(trained(request).trained)}


@lru_cache(maxsize=1)
def trained(request: Request) -> Training:
    """What training makes of the scenario that is asked for."""
    from tracer.decoder.training import train

    loaded = scenario_for(request)
    scenario = loaded.scenario
    said = {name: getattr(request, name) for name in ("learning_rate", *OF_OPTIMIZERS)}
    optimizer = scenario.optimizer.changed(request.optimizer, said)
    if request.example is not None and request.example > len(scenario.training):
        there = len(scenario.training)
        message = _not_among(request.example, "training example", there)
        raise TracerError(Problem(message, address="--example"))
    if scenario.on_demand:
        message = "a model of this size is not trained here; only its passes are worked"
        raise TracerError(Problem(message, request.scenario))
    with loaded.telling():
        return train(
            loaded.name,
            scenario,
            optimizer,
            request.steps or 1,
            request.example,
            located=loaded.located,
        )


def _trained(request: Request, training: Training) -> Answer:
    from tracer.lesson.training_text import training_text

    first = training.steps[0]
    if request.format.is_binary:
        return _data(request, first)
    if request.format.is_data:
        from tracer.renderers import as_json

        return as_json.training(training)
    token = None if request.token is None else position_of(request.token, first.tokens)
    return training_text(training, token, request.parameter, full=not request.brief)


def _generated(request: Request, loaded: Loaded) -> Answer:
    from tracer.decoder.generation import choice, generate

    table = loaded.scenario.embeddings
    for token in request.start:
        if isinstance(table, Mapping) and token not in table:
            message = f"no embedding for the token {token!r}{closest(token, table)}"
            raise TracerError(Problem(message, address="--start"))
    with loaded.telling():
        found = generate(
            loaded.name,
            loaded.scenario,
            start=request.start or loaded.scenario.beginning,
            most=request.max_tokens or loaded.scenario.generation.max_tokens,
            choice=choice(request.seed, request.temperature, request.top_k, request.top_p),
            # Rows that nobody sees are not computed again.
            cached=request.kv_cache or not (request.worked or loaded.scenario.looks_ahead),
            located=loaded.located,
        )
    if request.format.is_data:
        from tracer.renderers import as_json

        return as_json.generated(found, worked=request.worked, cached=request.kv_cache)
    from tracer.lesson.generated_text import generated_text

    return generated_text(
        found, worked=request.worked, cached=request.kv_cache, full=not request.brief
    )


def _entry(request: Request, found: Trace) -> Answer:
    if request.command == "value":
        from tracer.renderers.quote import quoted

        return quoted(found, request.entry)
    from tracer.lesson.why import records_behind, why

    entry = find(found, " ".join(request.entry))
    if request.format.is_data:
        return _data(request, found, records_behind(found, entry))
    return why(found, entry, request.depth)


def _way_to_figures(request: Request) -> str | None:
    """The folder of the pictures, as seen from the file that links them."""
    if request.figures is None:
        return None
    here = request.output.absolute().parent if request.output else Path.cwd()
    return Path(os.path.relpath(request.figures, here)).as_posix()
