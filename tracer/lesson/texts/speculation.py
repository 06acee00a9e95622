"""A text that is written by a draft model and a target model, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.speculation import Guess, Round, Speculated
from tracer.formula.expression import Symbol
from tracer.lesson import document as doc
from tracer.lesson.steps.words import SAMPLING_STEP
from tracer.lesson.texts.acceptance import AcceptanceWriter, P, Q
from tracer.lesson.texts.generated_text import probability
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.working.lines import Writer
from tracer.names import count


def speculation_text(found: Speculated, *, worked: bool, full: bool = True) -> doc.Document:
    """The text and the rounds; then each round: the drafted words, the checks, the last word.

    With `worked`, each round has every step of both models' passes.
    """
    first = found.rounds[0].target
    sections: list[doc.Section] = []
    teachers: list[Teacher] = []
    for number, each in enumerate(found.rounds, 1):
        writer = _RoundWriter(found, each, full=full and number == 1)
        sections.append(doc.Section(None, f"Round {number}", tuple(writer.opening())))
        if worked:
            sections += writer.passes(teachers)
        sections += writer.sections(worked=worked)
    return doc.Document(first.name, first.scenario.title, tuple(_answer(found)), tuple(sections))


def _answer(found: Speculated) -> Iterator[doc.Block]:
    """The text, its rounds, the number of passes, and how it ends."""
    first = found.rounds[0]
    scenario = first.target.scenario
    words = found.text[len(first.text) :]
    start, written = scenario.written(first.text), scenario.written(words)
    yield doc.Paragraph(("After ", doc.Name(start), ", the model writes ", doc.Name(written), "."))
    rows = [
        (
            str(number),
            scenario.written(tuple(draft.word for draft in each.drafts)) if each.drafts else "–",
            f"{len(each.accepted)} of {len(each.drafts)}",
            scenario.written(each.written),
        )
        for number, each in enumerate(found.rounds, 1)
    ]
    yield doc.Table.of(("round", "drafted", "accepted", "written"), rows)
    target = doc.Name(first.target.name)
    if found.draws:
        yield doc.Paragraph(
            (
                "At each position, every word has the same probability as without a draft model: "
                "drafts change the number of passes, not the probabilities.",
            )
        )
    else:
        yield doc.Paragraph((target, " writes the same words without a draft model."))
    yield doc.Paragraph(_passes(found))
    after = count(len(found.rounds), "round")
    ended = f"The end token came after {after}."
    limit = f"The text stops at the limit of {count(len(words), 'word')}, after {after}."
    yield doc.Paragraph((ended if found.ended else limit,))


def _passes(found: Speculated) -> doc.Sentence:
    """Say how many passes each model made, and how many the target makes alone."""
    words = len(found.text) - len(found.rounds[0].text)
    drafts = [draft for each in found.rounds for draft in each.drafts]
    target = doc.Name(found.rounds[0].target.name)
    alone = f" makes {_passes_made(words)} for {count(words, 'word')}."
    without: doc.Sentence = ("Without a draft model, ", target, alone)
    if not drafts:
        return without
    draft = doc.Name(drafts[0].guess.trace.name)
    own, others = _passes_made(len(found.rounds)), _passes_made(len(drafts))
    return (*without, " With ", draft, f", it makes {own}, and ", draft, f" makes {others}.")


def _passes_made(number: int) -> str:
    return "1 pass" if number == 1 else f"{number} passes"


class _RoundWriter:
    """Writes the sections of a round; the first one says how it works, if it is `full`."""

    def __init__(self, found: Speculated, of: Round, *, full: bool) -> None:
        self.round, self.full = of, full
        self.target = of.target
        self.scenario = of.target.scenario
        self.name = doc.Name(of.target.name)
        self.draws = found.draws

    def written(self, *words: str) -> doc.Name:
        """Words as the target writes them."""
        return doc.Name(self.scenario.written(words))

    def opening(self) -> Iterator[doc.Block]:
        """What the round reads, and how it works."""
        drafts = self.round.drafts
        yield doc.Paragraph(("The text so far is ", self.written(*self.round.text), "."))
        if not drafts:
            yield doc.Paragraph(
                ("Only one more word may be written, so ", self.name, " writes it without a draft.")
            )
        elif self.full:
            yield from self._method(doc.Name(drafts[0].guess.trace.name))
        if not self.draws:
            yield from self._greedy()

    def _method(self, draft: doc.Name) -> Iterator[doc.Block]:
        yield doc.Paragraph(
            (
                *(draft, " is the draft model: it proposes words, one in each pass. "),
                *(self.name, " is the target model: it reads all proposed words in one pass, "),
                "which predicts a word at each of their positions.",
            )
        )
        if self.draws:
            yield doc.Paragraph(
                (
                    "A random number decides whether a drafted word is accepted. The first "
                    "rejection ends the round: a word is drawn in place of the rejected one, and "
                    "the drafted words after it are discarded. If every drafted word is accepted, "
                    "the same pass gives one word more.",
                )
            )
        else:
            yield doc.Paragraph(
                (
                    *("A drafted word is accepted if ", self.name, " predicts the same word. The "),
                    "first rejection ends the round: the predicted word is written in its place, "
                    "and the drafted words after it are discarded. If every drafted word is "
                    "accepted, the same pass gives one word more.",
                )
            )

    def _greedy(self) -> Iterator[doc.Block]:
        """Each position with the drafted word and the target's, where both predict."""
        rows: list[tuple[str | doc.Cell, ...]] = []
        first = len(self.round.text) + 1
        for i, draft in enumerate(self.round.drafts):
            guess = draft.guess
            q = probability(guess.trace, draft.word, guess.row)
            own: tuple[str | doc.Cell, ...] = ("–", "–", "discarded")
            if i < len(self.round.checks):
                check = self.round.checks[i]
                word = check.guess.likeliest
                p = probability(check.guess.trace, word, check.guess.row)
                own = (word, p, "accepted" if check.accepted else "rejected")
            rows.append((str(first + i), draft.word, q, *own))
        last = self.round.last
        if last and not self.round.rejects:
            p = probability(last.guess.trace, last.word, last.guess.row)
            rows.append((str(first + len(rows)), "–", "–", last.word, p, "added"))
        header = ("position", "drafted", "q", "predicted", "p", "")
        yield doc.Table.of(header, rows)
        if self.full:
            yield doc.Paragraph(
                (
                    "q is the draft model's probability of the drafted word, and p is the target "
                    "model's probability of the predicted word.",
                )
            )

    def sections(self, *, worked: bool) -> Iterator[doc.Section]:
        """The draws and the checks, where words are drawn.

        If they are `worked`, the probabilities are computed from the logits.
        """
        if not self.draws:
            return
        drafts, checks, last = self.round.drafts, self.round.checks, self.round.last
        name = drafts[0].guess.trace.name if drafts else ""
        write = AcceptanceWriter(self.target.pencil, self.target.name, name, full=self.full)
        for number, draft in enumerate(drafts, 1):
            words = (*self.round.text, *(each.word for each in drafts[: number - 1]))
            has = ("After ", self.written(*words), ", ", write.draft, " has the probabilities q:")
            assert draft.guess.shares is not None and draft.draw is not None
            blocks = write.draw(Q, draft.guess.shares, draft.word, draft.draw)
            before = from_logits(draft.guess, Q) if worked else []
            yield self._section(f"Drafted word {number}", [*before, doc.Paragraph(has), *blocks])
        for number, check in enumerate(checks, 1):
            assert check.overlap is not None and check.draw is not None
            verdict = "accepted" if check.accepted else "rejected"
            before = from_logits(check.guess, P) if worked else []
            blocks = [*before, *write.check(check, check.overlap, check.draw)]
            yield self._section(f"Check {number}: {verdict}", blocks)
            write.full = False
        if last is None:
            return
        assert last.draw is not None and last.guess.shares is not None
        overlap = checks[-1].overlap if self.round.rejects else None
        if overlap:
            write.full = self.full
            blocks = list(write.after_rejection(last, overlap, last.draw))
            yield self._section("The word after the rejection", blocks)
            return
        words = (*self.round.text, *self.round.accepted)
        has = ("After ", self.written(*words), ", ", self.name, " has the probabilities p:")
        blocks = write.draw(P, last.guess.shares, last.word, last.draw)
        before = from_logits(last.guess, P) if worked else []
        title = "One word more" if drafts else "The word"
        yield self._section(title, [*before, doc.Paragraph(has), *blocks])

    def _section(self, title: str, blocks: list[doc.Block]) -> doc.Section:
        return doc.Section(None, title, tuple(blocks), part="Draws and checks")

    def passes(self, teachers: list[Teacher]) -> Iterator[doc.Section]:
        """Every step of the draft model's passes and of the target's."""
        traces = [*(draft.guess.trace for draft in self.round.drafts), self.target]
        for trace in traces:
            before = next((t for t in teachers if t.trace.name == trace.name), None)
            teacher = before.of_another_pass(trace) if before else Teacher(trace, full=self.full)
            teachers.append(teacher)
            words = self.written(*trace.tokens)
            says = (doc.Name(trace.name), " reads ", words, ".")
            yield doc.Section(None, f"A pass of {trace.name}", (doc.Paragraph(says),))
            yield from (teacher.section(step) for step in steps(trace.records))


def from_logits(guess: Guess, symbol: Symbol) -> list[doc.Block]:
    """How the probabilities of a guess are computed from logits; `symbol` is p or q."""
    tokens = guess.trace.tokens
    read = guess.trace.scenario.reading(tokens[: len(tokens) + 1 + guess.row])
    trace = replace(guess.trace, scenario=read, records=guess.records)
    [step] = [step for step in steps(trace.records) if step.kind is SAMPLING_STEP]
    teacher = Teacher(trace, full=False)
    own = {roles.RENORMALIZED.name: symbol}
    if roles.RENORMALIZED.name not in trace.values:
        own = {roles.DRAWN_PROBABILITIES.name: symbol, roles.CANDIDATES.name: symbol}
    teacher.ctx = replace(teacher.ctx, symbols={**teacher.ctx.symbols, **own})
    teacher.writer = Writer(teacher.ctx)
    return [block for record in step.records for block in teacher.record(record, step, again=False)]
