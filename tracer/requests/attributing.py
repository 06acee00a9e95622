"""Run `attribute`: the parts of a logit, of the difference of two, or of an attention score."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder.attribution import Attribution, attribute, check_entry
from tracer.decoder.forward import Trace
from tracer.decoder.roles import HEAD_OUTPUT, HIDDEN_LAYERS, SCORES
from tracer.decoder.score_attribution import ScoreAttribution, attribute_score, check_score
from tracer.decoder.value import Entry
from tracer.errors import Problem, TracerError
from tracer.lesson.document import Document, paragraphs
from tracer.lesson.entries import index_of
from tracer.lesson.texts.attribution import attribution_text
from tracer.lesson.texts.given_changes import attributed_without_given
from tracer.lesson.texts.lookup import find
from tracer.lesson.texts.score_attribution import score_text
from tracer.requests.request import Request, Split


def parts_of(request: Request, found: Trace) -> Attribution:
    """Return the parts of the requested entry.

    Raises:
        TracerError: there is no such entry, it is no sum of parts, or an option does not fit it.
    """
    entry = find(found, " ".join(request.entry))
    is_score = entry.value.role is SCORES
    return (_parts_of_score if is_score else _parts)(request, found, entry)


def text_of_parts(request: Request, parts: Attribution, plain: Trace | None) -> Document:
    """Return the worked parts; `plain` is the pass without given values of the command line."""
    full, terms = not request.brief, request.terms
    if isinstance(parts, ScoreAttribution):
        text = score_text(parts, full=full, terms=terms)
    else:
        text = attribution_text(parts, full=full, terms=terms)
    if plain is None:
        return text
    said = attributed_without_given(plain, parts)
    return replace(text, introduction=(*text.introduction, *paragraphs(said)))


def _parts(request: Request, found: Trace, entry: Entry) -> Attribution:
    """Split a logit, or the difference of two."""
    check_entry(found, entry)
    other = None
    if request.instead_of is not None:
        other = index_of(entry.value.axes[1], request.instead_of, "--instead-of")
        if other == entry.at[1]:
            message = "expected another word than that of the entry"
            raise TracerError(Problem(message, address="--instead-of"))
    split = {Split.PART: (), Split.TOKEN: (HEAD_OUTPUT,), Split.NEURON: HIDDEN_LAYERS}[request.by]
    return attribute(found, entry, other, split)


def _parts_of_score(request: Request, found: Trace, entry: Entry) -> Attribution:
    """Split an attention score into pairs of a part of the query and a part of the key."""
    options = {"--instead-of": request.instead_of is not None, "--by": request.by != Split.PART}
    if refused := [name for name, is_set in options.items() if is_set]:
        message = "works only with a logit, not with an attention score"
        raise TracerError(*(Problem(message, address=name) for name in refused))
    check_score(found, entry)
    return attribute_score(found, entry)
