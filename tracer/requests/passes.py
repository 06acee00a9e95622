"""Requests about a pass: about the steps of the forward pass, or about one number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from tracer.check.captured import Shown
from tracer.decoder.forward import PassOptions, Trace
from tracer.decoder.roles import LOSS
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry
from tracer.errors import Problem, TracerError
from tracer.lesson.code.beside import program, with_code, with_its_loss
from tracer.lesson.detail import Detail
from tracer.lesson.document import Document, Section, Sentence, paragraphs
from tracer.lesson.steps.attention import UNMASKED_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.forward_pass import forward_pass
from tracer.lesson.texts.lookup import find, with_token
from tracer.lesson.texts.selection import of_encoder, select, steps
from tracer.lesson.texts.short import short_text
from tracer.lesson.working.sums import Terms
from tracer.names import position_of
from tracer.renderers import Format
from tracer.requests.request import Answer, Content, Request
from tracer.requests.resolve import Computed, Engine, Subject
from tracer.scenario.trained import FromCheckpoint


class PassRequest(Request):
    """A request about a pass."""

    token: str | None = None
    terms: Terms | None = None
    values: Path | None = None

    @property
    def shown(self) -> Shown | None:
        """What is computed with --values; None for the whole pass."""
        return None

    @property
    def subject(self) -> Subject:
        """With --values, what is shown belongs to it."""
        subject = super().subject
        return replace(subject, shown=self.shown) if self.values else subject

    def answer(self, engine: Engine) -> Answer:
        """Compute the pass and explain it."""
        length = len(engine.load(self.subject).scenario.tokens)
        engine.charge(self.subject, engine.text, length)
        return Answer(self.text_about(self.compute(engine)))

    def compute(self, engine: Engine) -> Computed:
        """Compute the pass."""
        return engine.compute(self.subject)

    def text_about(self, computed: Computed) -> Content:
        """Explain a pass, and what given values of the command line change in it.

        Raises:
            TracerError: a requested part does not exist, or a number cannot be computed.
        """
        part = computed.part
        with computed.loaded.locating_problems():
            compared = part.compared(computed.trace) if part else ()
            content = self.explain(computed)
            if isinstance(content, Document) and part:
                return with_changes(content, part.sentences(compared))
            if not isinstance(content, Document) or not computed.plain:
                return content
            return with_changes(content, self.changes(computed, computed.plain))

    def explain(self, computed: Computed) -> Content:
        """Explain a pass."""
        raise NotImplementedError

    def changes(self, computed: Computed, plain: Trace) -> Section | Sentence | None:
        """Return what given values change; `plain` is the pass without them."""
        return None

    def position(self, found: Trace, *, in_encoder: bool = False) -> int:
        """Return the index of the requested token of the decoder, or of the encoder."""
        encoder = found.scenario.encoder if in_encoder else None
        tokens = encoder.tokens if encoder else found.tokens
        if self.token is not None:
            return position_of(self.token, tokens)
        return len(tokens) - 1 if encoder else found.scenario.followed(tokens)

    def data(
        self,
        computed: Computed,
        records: Sequence[Record] | None = None,
        token: int | None = None,
        explained: Sequence[Step] = (),
        *,
        whole: bool = False,
    ) -> str | bytes:
        """Return records, or the whole pass, with the author's words on what is explained."""
        found = computed.trace
        records = found.records if records is None else records
        if self.format.is_binary:
            from tracer.data.arrays import archive

            return archive(records, "npz" if self.format is Format.NPZ else "safetensors")
        from tracer.data import as_json

        return as_json.render(found, records, token, explained, whole=whole, plain=computed.plain)


def with_changes(text: Document, changes: Section | Sentence | None) -> Document:
    """Return a text with what given values change: a section at its end, or a sentence first."""
    if isinstance(changes, Section):
        return replace(text, sections=(*text.sections, changes))
    return replace(text, introduction=(*text.introduction, *paragraphs(changes)))


class EntryRequest(PassRequest):
    """A request about one number."""

    prints_rows: ClassVar[bool] = False
    """Whether `ADDRESS --token T` is the whole row."""

    entry: tuple[str, ...]
    """The words of `ADDRESS[ROW,COLUMN] as percent`."""

    def problems(self) -> Iterable[Problem]:
        """A scenario is an option here."""
        *entry, last = self.entry
        if entry and last.endswith((".yaml", ".yml")):
            yield Problem(f"got {last!r} after the address, expected -s {last}", address=entry[0])

    @property
    def shown(self) -> Shown:
        """The number."""
        return Shown(self.entry[0])

    @property
    def is_of_loss(self) -> bool:
        """Whether the address is of the loss, a gradient or an update."""
        begins = self.entry[0].partition("[")[0].partition(".")[0]
        return begins in (LOSS.name, "gradient", "update")

    @property
    def records(self) -> PassOptions:
        """What the address needs, such as gradients."""
        return PassOptions.recording([self.entry[0].partition("[")[0]])

    def found(self, trace: Trace) -> Entry:
        """Return the entry in a pass.

        Raises:
            TracerError: there is no such value, row or column.
        """
        return find(trace, self.asked(trace))

    def asked(self, trace: Trace) -> str:
        """Return the words with the row that --token names.

        Raises:
            TracerError: there is no such value or token, or the address names another row.
        """
        words = " ".join(self.entry)
        if self.token is None:
            return words
        return with_token(trace, words, self.token, " as row" * self.prints_rows)


class ForwardRequest(PassRequest):
    """A request about the steps of the forward pass, or some of them."""

    is_whole: ClassVar[bool] = True
    """Whether it is about the pass, with more than its steps."""
    is_tutorial: ClassVar[bool] = False

    no_mask: bool = False
    train: bool = False
    detail: Detail = Detail.FULL
    steps: int | None = None

    @property
    def shown(self) -> Shown | None:
        """The layer, if it is about one."""
        return Shown(f"layer{self.layer}") if self.layer else None

    @property
    def selected(self) -> str | None:
        """The step, the group of steps or the address that it is about; None for all steps."""
        return None

    @property
    def records(self) -> PassOptions:
        """The attention weights without the mask, if they are requested."""
        return PassOptions(unmasked=self.no_mask)

    def with_training(self, computed: Computed, engine: Engine) -> Computed:
        """Return a pass with the training that is explained after it, if it is requested."""
        if not self.train or (self.format.is_data and self.format is not Format.CODE):
            return computed
        # A mistake in the token is reported before a training that takes long.
        self.position(computed.trace)
        return replace(computed, training=engine.train(self.subject, self.steps))

    def chosen(self, found: Trace) -> list[Step]:
        """Return the requested steps; for a layer of a trained model, only its own."""
        every = steps(found.records)
        chosen = select(every, self.selected, self.layer, self.head, found.scenario)
        only = found.scenario.on_demand and self.layer
        return [step for step in chosen if step.place.layer] if only else chosen

    def explain(self, computed: Computed) -> Content:
        """Explain the steps, or return their numbers."""
        found = computed.trace
        if self.detail is Detail.SHORT and (self.layer or self.head or self.train or self.no_mask):
            message = (
                "works only with the whole calculation, not a part of it, --train or --no-mask"
            )
            raise TracerError(Problem(message, address="--detail short"))
        every, chosen = steps(found.records), self.chosen(found)
        of_other = found.scenario.encoder if of_encoder(chosen) else None
        token = self.position(found, in_encoder=of_other is not None)
        if self.no_mask and not any(step.kind is UNMASKED_STEP for step in chosen):
            message = "these steps have no mask; try the step mask, softmax or attention"
            raise TracerError(Problem(message, address="--no-mask"))
        whole = chosen == every
        if self.code and (whole or self.format is Format.CODE) and found.scenario.on_demand:
            message = "of a model of this size, shows only lines beside some steps: add --layer 1"
            raise TracerError(Problem(message, address="--code"))
        if self.code and self.format is Format.CODE:
            if self.is_tutorial and whole:
                found = computed.trained or with_its_loss(found)
                chosen = steps(found.records)
            return program(found, chosen, self.code)
        if whole and found.scenario.on_demand and not self.format.is_binary:
            from tracer.lesson.texts.model_summary import model_summary, summarized_records
            from tracer.lesson.texts.untrained import text_of_model

            if self.format.is_data:
                records = summarized_records(every)
                explained = [step for step in every if step.last in records]
                return self.data(computed, records, token, explained, whole=True)
            full, terms, detail = not self.brief, self.terms, self.detail
            has_learned = isinstance(found.scenario, FromCheckpoint)  # else there is no story
            if has_learned and (self.is_tutorial or detail is Detail.SHORT):
                from tracer.lesson.texts.model_tutorial import model_tutorial

                return model_tutorial(found, token, full=full, terms=terms, detail=detail)
            written = text_of_model if self.is_tutorial else model_summary
            return written(found, token, full=full, terms=terms)
        if self.format.is_data:
            shown = None if whole else [record for step in chosen for record in step.records]
            of = None if self.token is None else token
            return self.data(computed, shown, of, chosen, whole=self.is_whole)
        return self.beside_code(self.worked(computed, chosen, token), computed)

    def beside_code(self, text: Document, computed: Computed) -> Document:
        """Return a text with the code of its steps, if it is requested."""
        if not self.code:
            return text
        return with_code(text, computed.trace, self.code, computed.trained)

    def worked(self, computed: Computed, chosen: Sequence[Step], token: int) -> Document:
        """Return the steps, worked for one token."""
        found, full, terms = computed.trace, not self.brief, self.terms
        if self.detail is Detail.SHORT:
            return short_text(found, token, terms=terms)
        whole, detail = self.is_whole, self.detail
        answers = not computed.part or computed.part.shown is None
        return forward_pass(
            *(found, chosen, token),
            whole=whole,
            answers=answers,
            full=full,
            detail=detail,
            terms=terms,
        )

    def changes(self, computed: Computed, plain: Trace) -> Section | Sentence | None:
        """Return what given values change."""
        from tracer.lesson.texts.given_changes import what_changes

        found = computed.trace
        return what_changes(plain, found, self.position(found))
