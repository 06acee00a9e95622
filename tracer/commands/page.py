"""Write a page for a browser: point at a number to see its line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from tracer.check.score import key_of
from tracer.commands.attribute import BY, Attribute, Split
from tracer.data.as_tape import tape_of
from tracer.decoder.forward import Trace
from tracer.errors import Problem, TracerError
from tracer.lesson.code.library import Library
from tracer.lesson.detail import Detail
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.forward_pass import forward_pass
from tracer.lesson.texts.page import page, page_of
from tracer.lesson.texts.selection import of_encoder
from tracer.renderers.page.as_html import Theme, render
from tracer.requests import completion, options, values
from tracer.requests.cost import PAGE
from tracer.requests.passes import ForwardRequest
from tracer.requests.request import Answer, Content
from tracer.requests.resolve import Computed, Engine

_ALONE = values.Rule(
    "the whole pass, not --layer, --head or --train",
    lambda r: not (r.layer or r.head or r.train),
)
_OF_STEPS = values.Rule(
    "steps of the forward pass, not --train or --attribute", lambda r: not (r.train or r.attribute)
)


@dataclass(kw_only=True)
class Page(options.Rounded, options.Reasoned, options.Saved, ForwardRequest):
    examples = (
        "page alex -o alex.html",
        'page alex --attribute "output[Alex,spicy]" -o parts.html',
    )
    is_woven = False

    scenario: str = options.SCENARIO
    token: str | None = options.TOKEN
    layer: int | None = options.LAYER
    head: int | None = options.HEAD
    train: bool = options.TRAIN
    steps: int | None = options.STEPS
    attribute: str | None = values.option(
        "Show only the parts of this logit, as the command attribute splits it.",
        *("ADDRESS[ROW,COLUMN]", str),
        offers=completion.addresses,
        rule=_ALONE,
    )
    instead_of: str | None = options.INSTEAD_OF
    by: Split = BY
    code: Library | None = options.CODE
    embed: str | None = values.option(
        "Write only this step, as command step names it or by its number, to show it inside "
        "another page.",
        *("STEP", str),
        offers=completion.steps,
        rule=_OF_STEPS,
    )
    theme: Theme = values.choice(
        "The colors: light, dark, or those that the reader prefers (auto).",
        *("THEME", Theme),
        default=Theme.AUTO,
    )
    given: tuple[str, ...] = options.GIVEN
    vary: int | None = options.VARY
    detail: Detail = field(default=Detail.NORMAL, metadata=options.DETAIL.metadata)

    def problems(self) -> Iterable[Problem]:
        """A page needs a file."""
        if self.output is None:
            yield Problem("expected a file to open in a browser: -o page.html", address="--output")
        if self.embed is not None and self.detail is not Detail.NORMAL:
            yield Problem("works only with a whole page, not --embed", address="--detail")

    @property
    def selected(self) -> str | None:
        """The step of an embedded page; one that is named by its number is selected in `chosen`."""
        return None if self.embed is None or self.embed.isdecimal() else self.embed

    def chosen(self, found: Trace) -> list[Step]:
        """Return the requested steps.

        Raises:
            TracerError: there is none.
        """
        chosen = super().chosen(found)
        if self.embed is None or not self.embed.isdecimal():
            return chosen
        if one := [step for step in chosen if step.number == int(self.embed)]:
            return one
        raise TracerError(Problem(f"there is no step {self.embed} here", address="--embed"))

    def answer(self, engine: Engine) -> Answer:
        """Write the page of a pass, with its training if requested."""
        scenario = engine.load(self.subject).scenario
        copies = 1 if scenario.on_demand or self.attribute or self.embed else PAGE
        engine.charge(self.subject, engine.text, len(scenario.tokens), copies)
        computed = engine.compute(self.subject)
        return Answer(self.text_about(self.with_training(computed, engine)))

    def explain(self, computed: Computed) -> Content:
        """Return the page."""
        found, full = computed.trace, not self.brief
        if self.attribute is not None:
            request = Attribute(
                entry=(self.attribute,),
                scenario=self.scenario,
                token=self.token,
                instead_of=self.instead_of,
                by=self.by,
                brief=self.brief,
            )
            parts = page_of(request.worked(request.parts(found), computed.plain))
            return render(parts, theme=self.theme)
        chosen = self.chosen(found)
        if self.embed is not None:
            encoder = found.scenario.encoder if of_encoder(chosen) else None
            token = self.position(found, in_encoder=encoder is not None)
            steps = forward_pass(found, chosen, token, whole=False, full=full)
            step = page_of(self.beside_code(steps, computed))
            return render(step, embedded=True, theme=self.theme)
        token = self.position(found)
        place = {"layer": self.layer, "head": self.head}
        part = ", ".join(f"{name} {number}" for name, number in place.items() if number)
        training, detail = computed.training, self.detail
        tape = partial(tape_of, text=computed.loaded.text)
        shown = page(
            *(found, chosen, token),
            training=training,
            full=full,
            detail=detail,
            part=part,
            tape=tape,
        )
        documents = tuple(self.beside_code(each, computed) for each in shown.documents)
        return render(replace(shown, documents=documents), key=key_of(found), theme=self.theme)
