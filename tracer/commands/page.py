"""Write a page for a browser: point at a number to see its line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tracer.commands.attribute import BY, Attribute, Split
from tracer.errors import Problem
from tracer.lesson.code.library import Library
from tracer.lesson.detail import Detail
from tracer.lesson.texts.page import page, page_of
from tracer.renderers.page.as_html import render
from tracer.requests import completion, options, values
from tracer.requests.cost import PAGE
from tracer.requests.passes import ForwardRequest
from tracer.requests.request import Answer, Content
from tracer.requests.resolve import Computed, Engine

_ALONE = values.Rule(
    "the whole pass, not --token, --layer, --head or --train",
    lambda r: not (r.token or r.layer or r.head or r.train),
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
    given: tuple[str, ...] = options.GIVEN
    vary: int | None = options.VARY
    detail: Detail = field(default=Detail.NORMAL, metadata=options.DETAIL.metadata)

    def problems(self) -> Iterable[Problem]:
        """A page needs a file."""
        if self.output is None:
            yield Problem("expected a file to open in a browser: -o page.html", address="--output")

    def answer(self, engine: Engine) -> Answer:
        """Write the page of a pass, with its training if requested."""
        scenario = engine.load(self.subject).scenario
        copies = 1 if scenario.on_demand or self.attribute else PAGE
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
                instead_of=self.instead_of,
                by=self.by,
                brief=self.brief,
            )
            return render(page_of(request.worked(request.parts(found), computed.plain)))
        token, chosen = self.position(found.tokens), self.chosen(found)
        place = {"layer": self.layer, "head": self.head}
        part = ", ".join(f"{name} {number}" for name, number in place.items() if number)
        training, detail = computed.training, self.detail
        shown = page(found, chosen, token, training=training, full=full, detail=detail, part=part)
        documents = tuple(self.beside_code(each, computed) for each in shown.documents)
        return render(replace(shown, documents=documents))
