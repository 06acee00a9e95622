"""Request → answer: compute what is requested and explain it as a document or data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, assert_never

from tracer.decoder.forward import PassOptions, Trace
from tracer.decoder.tape import Record
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.document import Document, paragraphs
from tracer.lesson.entries import index_of
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.training import LOSS_STEP
from tracer.lesson.texts.forward_pass import contents, forward_pass
from tracer.lesson.texts.lookup import find
from tracer.lesson.texts.selection import of_encoder, select, steps
from tracer.names import closest, position_of
from tracer.renderers import Format
from tracer.requests import given
from tracer.requests.request import Request
from tracer.requests.resolve import (
    Computed,
    Subject,
    check_author,
    compute,
    resolve,
    run_pass,
    subject_of,
)
from tracer.scenario.loading import Loaded
from tracer.scenario.model import Scenario
from tracer.scenario.parts import has_experts

Content: TypeAlias = Document | str | bytes
"""A document to render, a complete text, or the bytes of an archive."""

DEFAULT_SEED = 1
"""The seed of a worksheet."""


@dataclass(frozen=True)
class Answer:
    """The content; whether a check holds; the scenario with the weights after training."""

    content: Content
    holds: bool = True
    trained: Scenario | None = None


def answer(request: Request) -> Answer:
    """Answer a request.

    Raises:
        TracerError: something in the scenario, in another file or in the request is wrong.
    """
    return answer_about(request, resolve(subject_of(request)))


def answer_about(request: Request, loaded: Loaded) -> Answer:
    """Answer a request about a scenario with its overrides.

    Raises:
        TracerError: something in another file or in the request is wrong.
    """
    match request.command:
        case "steps":
            return Answer(_contents(request, loaded))
        case "shapes":
            check_author(loaded)
            return Answer(_shapes(request, loaded))
        case "generate":
            check_author(loaded)
            return Answer(_generated(request, loaded))
        case "check":
            check_author(loaded)
            return _checked(request, loaded)
        case "compare":
            return Answer(compared(request, loaded))
        case _:
            computed = compute(request, loaded)
            training, trained = computed.training, None
            if training:
                trained = given.filled_out(training.trained.without_words(), computed.trace)
            return Answer(explain(request, computed), trained=trained)


def explain(request: Request, computed: Computed) -> Content:
    """Answer a request about a pass or a training.

    Raises:
        TracerError: a requested part does not exist, or a number cannot be computed.
    """
    with computed.loaded.locating_problems():
        content = _explained(request, computed)
        if request.blanks or not isinstance(content, Document) or not computed.plain:
            return content
        return _with_changes(request, computed, computed.plain, content)


def _with_changes(
    request: Request, computed: Computed, plain: Trace, content: Document
) -> Document:
    """Return a text with what given values of the command line change."""
    from tracer.lesson.texts.given_changes import what_changes, what_changes_in, without_given

    loaded, found = computed.loaded, computed.trace
    match request.command:
        case "run" | "tutorial" | "lens":
            section = what_changes(plain, found, _token(request, found.tokens))
        case "step":
            chosen, encoder = _chosen(request, found), found.scenario.encoder
            tokens = found.tokens, encoder.tokens if encoder else found.tokens
            decodes = encoder is None or not of_encoder(chosen)
            own = _token(request, tokens[0] if decodes else tokens[1])
            followed = (own, len(tokens[1]) - 1) if decodes else (len(tokens[0]) - 1, own)
            section = what_changes_in(chosen, plain, found, followed)
        case "loss":
            with_loss = run_pass(given.without_given(loaded), subject_of(request).options)
            section = what_changes_in(_loss_steps(found), with_loss, found, (0, 0))
        case "why":
            said = without_given(plain, find(found, " ".join(request.entry)))
            return replace(content, introduction=(*content.introduction, *paragraphs(said)))
        case _:
            return content
    return replace(content, sections=(*content.sections, section))


def _explained(request: Request, computed: Computed) -> Content:
    found = computed.trace
    match request.command:
        case "run" | "step":
            return _forward_pass(request, computed)
        case "tutorial":
            return _with_blanks(request, computed, _forward_pass(request, computed))
        case "page":
            return _page(request, computed)
        case "lens":
            return _lens(request, computed)
        case "loss" if request.format.is_data:
            return _data(request, computed, explained=_loss_steps(found))
        case "loss":
            from tracer.lesson.texts.training_pass import training_pass

            return training_pass(found, full=not request.brief)
        case "train":
            return _trained(request, computed)
        case "value":
            from tracer.data.quote import quoted

            return quoted(found, request.entry)
        case "why":
            return _why(request, computed)
        case "attribute":
            return _attributed(request, computed)
        case "steps" | "shapes" | "generate" | "check" | "compare":
            raise ValueError(f"{request.command} is not about a pass")
        case _:
            assert_never(request.command)


def _loss_steps(found: Trace) -> list[Step]:
    return [step for step in steps(found.records) if step.kind is LOSS_STEP]


# --- without a pass, or with passes of its own ---------------------------------------------------


def _contents(request: Request, loaded: Loaded) -> Content:
    # Which tokens an expert gets is known from the numbers.
    routed = loaded.scenario.has_numbers and has_experts(loaded.scenario)
    found = run_pass(loaded, PassOptions(arithmetic=None if routed else SHAPES))
    if request.format.is_data:
        from tracer.data import as_json

        return as_json.contents(found)
    return contents(found)


def _shapes(request: Request, loaded: Loaded) -> Content:
    from tracer.lesson.texts.survey import survey

    with loaded.locating_problems():
        found = survey(loaded.name, loaded.scenario, request.length)
    if request.format is Format.JSON:
        from tracer.data import as_json

        return as_json.shapes(found)
    from tracer.lesson.texts.shapes import shapes

    return shapes(found)


def _generated(request: Request, loaded: Loaded) -> Content:
    from tracer.decoder.generation import GenerationOptions, choice, generate

    scenario, table = loaded.scenario, loaded.scenario.embeddings
    for token in request.start:
        if isinstance(table, Mapping) and token not in table:
            message = f"no embedding for the token {token!r}{closest(token, table)}"
            raise TracerError(Problem(message, address="--start"))
    options = GenerationOptions(
        request.start or scenario.beginning,
        request.max_tokens or scenario.generation.max_tokens,
        choice(request.seed, request.temperature, request.top_k, request.top_p),
        # Rows that are not printed are not computed again.
        cached=request.kv_cache or not (request.worked or scenario.looks_ahead),
    )
    with loaded.locating_problems():
        found = generate(loaded.name, scenario, options, loaded.located)
    worked, cached = request.worked, request.kv_cache
    if request.format.is_data:
        from tracer.data import as_json

        return as_json.generated(found, worked=worked, cached=cached)
    from tracer.lesson.texts.generated_text import generated_text

    return generated_text(found, worked=worked, cached=cached, full=not request.brief)


def _checked(request: Request, loaded: Loaded) -> Answer:
    """Check the figures of a text or another program's arrays."""
    from tracer.check import as_json
    from tracer.check.checking import check_against, check_figures
    from tracer.check.report_text import report_text

    in_json = request.format is Format.JSON
    if request.against is None:
        report = check_figures(loaded, figures_of(request))
        return Answer(as_json.of_figures(report) if in_json else report_text(report), report.holds)
    tolerance = None if request.tolerance is None else float(request.tolerance)
    asked = request.carry is not None or request.decimals is not None
    rounding = loaded.scenario.rounding if asked else None
    found = check_against(loaded, request.folder / request.against, tolerance, rounding)
    return Answer(as_json.of_differences(found) if in_json else found.document(), found.holds)


def compared(
    request: Request, loaded: Loaded, opened: Callable[[Subject], Loaded] = resolve
) -> Content:
    """Compare two passes; `opened` returns the second's scenario, if it has one of its own.

    Raises:
        TracerError: they cannot be compared or patched.
    """
    from tracer.requests.comparing import experiment

    found = experiment(request, loaded, opened)
    if request.format.is_data:
        from tracer.data import as_json

        return as_json.compared(found)
    from tracer.lesson.texts.comparison import comparison_text

    return comparison_text(found)


def figures_of(request: Request) -> Path:
    """Return the figures file of a check.

    Raises:
        TracerError: none is named, and there is none next to the scenario.
    """
    from tracer.check.checking import figures_beside

    if request.figures_file is not None:
        return request.folder / request.figures_file
    return figures_beside(request.scenario, request.folder)


# --- about a pass or a training ------------------------------------------------------------------


def _chosen(request: Request, found: Trace) -> list[Step]:
    """Return the requested steps; for a layer of a trained model, only its own."""
    chosen = select(steps(found.records), request.name, request.layer, request.head)
    only = found.scenario.on_demand and request.layer
    return [step for step in chosen if step.place.layer] if only else chosen


def _token(request: Request, tokens: tuple[str, ...]) -> int:
    """Return the index of the requested token, by default the last."""
    return len(tokens) - 1 if request.token is None else position_of(request.token, tokens)


def _page(request: Request, computed: Computed) -> str:
    from tracer.lesson.texts.page import page, page_of
    from tracer.renderers.page.as_html import render

    found, training = computed.trace, computed.training
    if request.attribute is not None:
        parts = _attributed(replace(request, entry=(request.attribute,)), computed)
        assert isinstance(parts, Document)
        return render(page_of(parts))
    token, chosen = _token(request, found.tokens), _chosen(request, found)
    return render(page(found, chosen, token, training=training, full=not request.brief))


def _forward_pass(request: Request, computed: Computed) -> Content:
    found = computed.trace
    every, chosen = steps(found.records), _chosen(request, found)
    of_other = found.scenario.encoder if of_encoder(chosen) else None
    token = _token(request, of_other.tokens if of_other else found.tokens)
    if request.no_mask and not any(step.kind is UNMASKED_STEP for step in chosen):
        message = "these steps have no mask; try the step mask, softmax or attention"
        raise TracerError(Problem(message, address="--no-mask"))
    whole, full = chosen == every, not request.brief
    if whole and found.scenario.on_demand and not request.format.is_binary:
        from tracer.lesson.texts.model_summary import model_summary, summarized_records

        if request.format.is_data:
            records = summarized_records(every)
            explained = [step for step in every if step.last in records]
            return _data(request, computed, records, token, explained, whole=True)
        as_tutorial = request.command == "tutorial"
        return model_summary(found, token, full=full, terms=request.terms, as_tutorial=as_tutorial)
    if request.format.is_data:
        shown = None if whole else [record for step in chosen for record in step.records]
        of = None if request.token is None else token
        return _data(request, computed, shown, of, chosen, whole=request.command != "step")
    if request.command == "tutorial":
        from tracer.lesson.texts.tutorial import tutorial

        return tutorial(found, chosen, token, training=computed.training, full=full)
    is_run = request.command == "run"
    return forward_pass(found, chosen, token, whole=is_run, full=full, terms=request.terms)


def _with_blanks(request: Request, computed: Computed, content: Content) -> Content:
    """Return a tutorial, as a worksheet with questions if requested."""
    if not request.blanks or not isinstance(content, Document):
        return content
    from tracer.lesson.texts.questions import with_questions
    from tracer.lesson.texts.worksheet import RESULTS, worksheet

    found = computed.trace
    seed = DEFAULT_SEED if request.seed is None else request.seed
    if not found.scenario.on_demand and not of_encoder(_chosen(request, found)):
        content = with_questions(content, found, _token(request, found.tokens), seed)
    return worksheet(content, request.level or RESULTS, seed)


def _data(
    request: Request,
    computed: Computed,
    records: Sequence[Record] | None = None,
    token: int | None = None,
    explained: Sequence[Step] = (),
    *,
    whole: bool = False,
) -> str | bytes:
    """Return records, or the whole pass, as data, with the author's words on what is explained."""
    found = computed.trace
    records = found.records if records is None else records
    if request.format.is_binary:
        from tracer.data.arrays import archive

        return archive(records, "npz" if request.format is Format.NPZ else "safetensors")
    from tracer.data import as_json

    return as_json.render(found, records, token, explained, whole=whole, plain=computed.plain)


def _lens(request: Request, computed: Computed) -> Content:
    from tracer.decoder.comparison import predicted
    from tracer.decoder.lens_of_rows import to_words_of
    from tracer.decoder.word_path import word_path

    found = computed.trace
    seen = [r for r in found.records if r.output.place.sub_layer == "lens"]
    if request.format.is_binary:
        return _data(request, computed, seen)
    words, token = to_words_of(found)[0].axes[1], _token(request, found.tokens)
    answer = predicted(found, token)
    assert answer
    column = answer.at[1] if request.word is None else index_of(words, request.word, "--word")
    path = word_path(found, token, column)
    if request.format.is_data:
        from tracer.data import as_json

        return as_json.lens(found, seen, path)
    from tracer.lesson.texts.lens import lens

    return lens(found, path)


def _trained(request: Request, computed: Computed) -> Content:
    from tracer.lesson.texts.training_text import training_text

    found, training = computed.trace, computed.training
    assert training
    if request.format.is_binary:
        return _data(request, computed)
    if request.format.is_data:
        from tracer.data import as_json

        return as_json.training(training)
    token = None if request.token is None else position_of(request.token, found.tokens)
    return training_text(training, token, request.parameter, full=not request.brief)


def _why(request: Request, computed: Computed) -> Content:
    from tracer.lesson.texts.why import records_needed, why

    found = computed.trace
    entry = find(found, " ".join(request.entry))
    if request.format.is_data:
        return _data(request, computed, records_needed(found, entry))
    return why(found, entry, request.depth, request.terms)


def _attributed(request: Request, computed: Computed) -> Content:
    from tracer.requests.attributing import parts_of, text_of_parts

    parts = parts_of(request, computed.trace)
    if request.format.is_data:
        from tracer.data import as_json

        return as_json.attribution(parts, computed.plain)
    return text_of_parts(request, parts, computed.plain)
