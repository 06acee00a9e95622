"""The numbers in the tutorial of a trained model, each computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from tracer.decoder import roles
from tracer.decoder.attribution import (
    AttributedPart,
    Attribution,
    SourceParts,
    attribute,
    attribute_source,
)
from tracer.decoder.comparison import compare, predicted
from tracer.decoder.forward import FORWARD, Trace, trace
from tracer.decoder.generation import with_tokens
from tracer.decoder.patches import Site, patched, without
from tracer.decoder.raised_words import RaisedWords
from tracer.decoder.roles import HIDDEN_LAYERS, Place
from tracer.decoder.sweeps import Experiment
from tracer.decoder.value import Entry, Value
from tracer.decoder.word_path import PathPoint, WordPath, word_path
from tracer.errors import TracerError
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.texts.attribution import most_attended
from tracer.lesson.texts.logit_parts import Lead, SummaryTeacher
from tracer.lesson.texts.word_path import sub_layer_at
from tracer.scenario.trained import FromCheckpoint

SPLIT = (roles.HEAD_OUTPUT, *HIDDEN_LAYERS)
"""The parts that are split: a head's by the tokens that it reads, an FFN's by its hidden units."""

AMONG = 10
"""The word that is compared is the most similar one among so many of the most probable."""


@dataclass(frozen=True)
class WordAfter:
    """A word after a token of a pass: its logit, its probability and its rank."""

    found: Trace
    token: int
    column: int

    @property
    def name(self) -> doc.Name:
        """The word."""
        return doc.Name(self._logits.axes[1].labels[self.column])

    @property
    def _logits(self) -> Value:
        return self.found[roles.LOGITS.name]

    @property
    def logit(self) -> Entry:
        """Its logit."""
        return Entry(self._logits, self.entry.at)

    @property
    def entry(self) -> Entry:
        """Its logit: where logits are capped, that before the cap."""
        value = self.found.values.get(roles.UNCAPPED_LOGITS.name, self._logits)
        return Entry(value, (value.row(self.token, len(self.found.tokens)), self.column))

    @property
    def probability(self) -> Entry:
        """Its probability."""
        return Entry(self.found[roles.PROBABILITIES.name], self.entry.at)

    @property
    def rank(self) -> int:
        """1 and the number of words with a larger logit."""
        row = self._logits.read_computed(self.entry.at[0])
        return 1 + int(np.count_nonzero(row > row[self.column]))

    @property
    def is_alone(self) -> bool:
        """Whether no other word has the same logit."""
        row = self._logits.read_computed(self.entry.at[0])
        return int(np.count_nonzero(row == row[self.column])) == 1


@dataclass(frozen=True)
class DecisiveHead:
    """The head whose part of the logit is the largest, and the token that it reads most."""

    part: AttributedPart
    source: int
    """The token, counted from 0."""
    reads: doc.Name
    share: Entry
    """The attention weight of the token."""
    term: Entry
    """What the head takes from the token."""

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.part.of.place

    @property
    def name(self) -> str:
        """`head 5 of layer 24`."""
        crosses = " of cross-attention in" if self.place.sub_layer == "cross_attention" else " of"
        return f"head {self.place.head}{crosses} layer {self.place.layer}"


@dataclass(frozen=True)
class Story:
    """How a trained model comes to the word that it predicts after a token."""

    teacher: SummaryTeacher

    @property
    def trace(self) -> Trace:
        """The pass."""
        return self.teacher.trace

    @property
    def ctx(self) -> LessonContext:
        """The context of the followed token."""
        return self.teacher.ctx

    @property
    def parts(self) -> Attribution | None:
        """The parts of the word's logit, split; None if the logits are given."""
        return self.teacher.parts.found if self.teacher.parts else None

    @cached_property
    def word(self) -> WordAfter:
        """The predicted word."""
        entry = predicted(self.trace, self.ctx.token)
        assert entry  # a trained model has words
        return WordAfter(self.trace, self.ctx.token, entry.at[1])

    @cached_property
    def path(self) -> WordPath:
        """The rank of the word after each sub-layer."""
        return word_path(self.trace, self.ctx.token, self.word.column)

    @property
    def logit_is(self) -> str:
        """`logit`; `uncapped logit` where the parts are those before a soft cap."""
        capped = self.word.entry.value.role is roles.UNCAPPED_LOGITS
        return "uncapped logit" if capped else "logit"

    # --- other words -----------------------------------------------------------------------------

    @cached_property
    def rivals(self) -> tuple[WordAfter, ...]:
        """The second most probable word, and of the first ten the one most similar to the word.

        Similar are words whose columns of W_U have a large cosine.
        """
        row = self.trace[roles.LOGITS.name].read_computed(self.word.entry.at[0])
        order = [int(i) for i in np.argsort(-row, kind="stable")[: AMONG + 1]]
        others = [column for column in order if column != self.word.column][:AMONG]
        columns = others[:1]
        if self.parts and others:
            w_u = next(r.output for r in self.trace.records if r.output.role is roles.W_U)
            vectors = [np.asarray(w_u.read((slice(None), i)), float) for i in others]
            own = np.asarray(w_u.read((slice(None), self.word.column)), float)
            lengths = [np.linalg.norm(vector) for vector in vectors]
            # A padding token's column of zeros is similar to nothing.
            cosines = [
                vector @ own / length if length else -np.inf
                for vector, length in zip(vectors, lengths, strict=True)
            ]
            columns.append(others[int(np.argmax(cosines))])
        rivals = (WordAfter(self.trace, self.ctx.token, i) for i in dict.fromkeys(columns))
        return tuple(rivals)

    @cached_property
    def parts_of_rivals(self) -> list[Mapping[Value, float]]:
        """What each component adds to the logit of each rival."""
        found = (attribute(self.trace, rival.entry) for rival in self.rivals)
        return [{part.of: number_of(part) for part in each.parts} for each in found]

    @cached_property
    def leads(self) -> list[Lead]:
        """How far the word is above each rival, by part."""
        if self.parts is None:
            return []
        every = range(len(self.rivals))
        return [
            Lead(
                self.rivals[i].name,
                tuple(self.printed(self.lead_of(part, i)) for part in self.parts.parts),
            )
            for i in every
        ]

    def lead_of(self, part: AttributedPart, rival: int) -> float:
        """What a component adds to the word's logit minus what it adds to a rival's."""
        return number_of(part) - self.parts_of_rivals[rival][part.of]

    # --- the head that adds most -----------------------------------------------------------------

    @cached_property
    def head(self) -> DecisiveHead | None:
        """The head with the largest part, if it reads one token more than any other."""
        if self.teacher.parts is None or self.ctx.is_padding:
            return None
        heads = [p for p in self.teacher.parts.found.parts if p.of.role is roles.HEAD_OUTPUT]
        part = max(heads, key=number_of, default=None)
        read = part and most_attended(self.teacher.parts.ctx, part)
        if not part or not read or part.terms is None or part.of.place.encoder:
            return None
        row, source = read
        weights = self.trace[part.of.place.address(roles.WEIGHTS)]
        share, term = (
            Entry(weights, (self.ctx.row(weights), source)),
            Entry(part.terms, (0, source)),
        )
        return DecisiveHead(part, source, doc.Name(row.labels[source]), share, term)

    @cached_property
    def around_head(self) -> tuple[PathPoint, PathPoint] | None:
        """What the lens reads before and after the sub-layer of the head, if it reads both."""
        if self.head is None:
            return None
        place = self.head.place
        for before, after in zip(self.path.points, self.path.points[1:], strict=False):
            at = after.value.place
            if at.layer == place.layer and sub_layer_at(self.ctx, at) in (place.sub_layer, None):
                return None if self.path.left_out else (before, after)
        return None

    @cached_property
    def without_head(self) -> WordAfter:
        """The word in a pass in which the head's output is 0."""
        assert self.head
        found = without(self.trace, self.head.part.of)
        return WordAfter(found, self.ctx.token, self.word.column)

    @cached_property
    def sources(self) -> SourceParts | None:
        """What the head takes from that token, by what was added to the token's vector before."""
        if self.head is None or self.parts is None or self.head.place.sub_layer != "attention":
            return None
        return attribute_source(self.parts, self.head.part, self.head.source, HIDDEN_LAYERS)

    # --- another text ----------------------------------------------------------------------------

    @cached_property
    def other_text(self) -> Experiment | TracerError | None:
        """The pass over the scenario's other text, and this pass with the head's output there.

        None if there is no such text, or this one is shown in part. An error if it cannot be read.
        """
        scenario, is_last = self.trace.scenario, self.ctx.token == len(self.trace.tokens) - 1
        contrast = scenario.contrast if isinstance(scenario, FromCheckpoint) else None
        if contrast is None or scenario.given or not is_last:
            return None
        names = (self.trace.name, self.trace.name)
        try:
            second = trace(self.trace.name, with_tokens(scenario, contrast), FORWARD)
            comparison = compare(self.trace, second)
            if self.head is None or comparison.answers is None:
                return Experiment(comparison, names)
            sites = (Site(self.head.part.of),)
            return Experiment(comparison, names, sites, patched(comparison, sites))
        except TracerError as met:
            return met

    def predicted_in(self, found: Trace) -> WordAfter:
        """The word that another pass predicts after its last token, or after the followed one."""
        token = self.ctx.token if found.tokens == self.trace.tokens else len(found.tokens) - 1
        entry = predicted(found, token)
        assert entry
        return WordAfter(found, token, entry.at[1])

    # --- words -----------------------------------------------------------------------------------

    @cached_property
    def raised(self) -> RaisedWords:
        """Reads vectors as words."""
        return RaisedWords(self.trace)

    def number(self, entry: Entry) -> Number:
        """An entry as it is printed."""
        return self.ctx.number(entry.value, *entry.at)

    def printed(self, number: float) -> Number:
        """A number that no pass records, printed like those of the pass."""
        exact, pencil = Decimal(repr(number)), self.trace.pencil
        return Number(pencil.printed(exact, pencil.digits("").places(exact)))


def number_of(part: AttributedPart) -> float:
    """What a component adds, as computed."""
    return float(part.total.computed[0])
