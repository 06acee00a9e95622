"""Split a logit into what each head, each FFN and each bias adds.

The parts sum to the logit. With --instead-of, they sum to the difference of two logits. An
attention score (layer1.attention.head1.scores[4,1]) splits into pairs of a part of the query
and a part of the key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from tracer.check.captured import Shown
from tracer.data import as_json
from tracer.decoder.attribution import Attribution, attribute, check_entry
from tracer.decoder.forward import Trace
from tracer.decoder.part import hidden_units
from tracer.decoder.roles import HEAD_OUTPUT, SCORES
from tracer.decoder.score_attribution import ScoreAttribution, attribute_score, check_score
from tracer.decoder.value import Entry
from tracer.errors import Problem, TracerError
from tracer.lesson.document import Document
from tracer.lesson.entries import index_of
from tracer.lesson.texts.attribution import attribution_text
from tracer.lesson.texts.given_changes import attributed_without_given
from tracer.lesson.texts.score_attribution import score_text
from tracer.lesson.working.sums import Terms
from tracer.requests import options, values
from tracer.requests.passes import EntryRequest, with_changes
from tracer.requests.request import Content
from tracer.requests.resolve import Computed


class Split(StrEnum):
    """The parts into which a logit is split: each component, source tokens of heads, neurons."""

    PART = "part"
    TOKEN = "token"
    NEURON = "neuron"


BY = values.choice(
    "Split the logit by component (part), and each head by source token (token) or each FFN "
    "by hidden unit (neuron).",
    *("PARTS", Split),
    default=Split.PART,
    rule=options.ATTRIBUTE,
)


@dataclass(kw_only=True)
class Attribute(options.Illustrated, EntryRequest):
    examples = (
        'attribute "logits[la,pizza]" -s pizza --instead-of la',
        'attribute "output[Alex,cheap]" --by token',
    )

    entry: tuple[str, ...] = options.ENTRY
    scenario: str = options.DEFAULT_SCENARIO
    token: str | None = options.TOKEN
    instead_of: str | None = options.INSTEAD_OF
    by: Split = BY
    terms: Terms | None = options.TERMS
    sequence: int | None = options.SEQUENCE
    given: tuple[str, ...] = options.GIVEN
    values: Path | None = options.VALUES

    @property
    def shown(self) -> Shown:
        """The entry, of whose residual sums the parts are needed."""
        return replace(super().shown, through_residuals=True)

    def explain(self, computed: Computed) -> Content:
        """Explain the parts, or return them as data."""
        parts = self.parts(computed.trace)
        if self.format.is_data:
            return as_json.attribution(parts, computed.plain)
        return self.worked(parts, computed.plain)

    def parts(self, found: Trace) -> Attribution:
        """Return the parts of the requested entry.

        Raises:
            TracerError: there is no such entry, it is no sum of parts, or an option does not fit.
        """
        entry = self.found(found)
        is_score = entry.value.role is SCORES
        return self._parts_of_score(found, entry) if is_score else self._parts(found, entry)

    def worked(self, parts: Attribution, plain: Trace | None) -> Document:
        """Return the worked parts; `plain` is the pass without given values."""
        full, terms = not self.brief, self.terms
        if isinstance(parts, ScoreAttribution):
            text = score_text(parts, full=full, terms=terms)
        else:
            text = attribution_text(parts, full=full, terms=terms)
        return with_changes(text, attributed_without_given(plain, parts)) if plain else text

    def _parts(self, found: Trace, entry: Entry) -> Attribution:
        """Split a logit, or the difference of two."""
        check_entry(found, entry)
        other = None
        if self.instead_of is not None:
            other = index_of(entry.value.axes[1], self.instead_of, "--instead-of")
            if other == entry.at[1]:
                message = "expected another word than that of the entry"
                raise TracerError(Problem(message, address="--instead-of"))
        split = {Split.PART: (), Split.TOKEN: (HEAD_OUTPUT,), Split.NEURON: hidden_units()}[self.by]
        return attribute(found, entry, other, split)

    def _parts_of_score(self, found: Trace, entry: Entry) -> Attribution:
        """Split an attention score into pairs of a part of the query and a part of the key."""
        are_set = {"--instead-of": self.instead_of is not None, "--by": self.by != Split.PART}
        if refused := [name for name, is_set in are_set.items() if is_set]:
            message = "works only with a logit, not with an attention score"
            raise TracerError(*(Problem(message, address=name) for name in refused))
        check_score(found, entry)
        return attribute_score(found, entry)
