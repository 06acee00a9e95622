"""Request → answer, the whole way: what is asked for, of which steps, as a document or as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, assert_never

from tracer.decoder.forward import Trace
from tracer.decoder.tape import Record
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.frozen import frozen
from tracer.lesson.document import Document
from tracer.lesson.entries import find
from tracer.lesson.passes import contents, forward_pass
from tracer.lesson.selection import of_encoder, select, steps
from tracer.lesson.steps import Step
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.names import closest
from tracer.renderers import Format
from tracer.request import Request, check
from tracer.scenario.loading import Loaded

if TYPE_CHECKING:
    from tracer.decoder.training import Training

from tracer.asked import position_of, scenario_for, trace_for, traced, trained

Answer: TypeAlias = Document | str | bytes
"""A document, to be rendered; or what is whole: a text, or the bytes of an archive."""

DEFAULT_SEED = 1
"""Of a worksheet."""


def answer(request: Request, trace_for: Callable[[Request], Trace] = trace_for) -> Answer:
    """What is asked for.

    Another `trace_for` may know traces that were made before.
    """
    check(request)
    match request.command:
        case "steps":
            return _contents(request, traced(scenario_for(request), arithmetic=SHAPES))
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


@frozen
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


def _training_pass(request: Request, found: Trace) -> Answer:
    from tracer.lesson.training_pass import training_pass

    return (
        _data(request, found)
        if request.format.is_data
        else training_pass(found, full=not request.brief)
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
