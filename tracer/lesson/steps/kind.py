"""A step, and the declaration of everything that a text says about a kind of step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, TypeAlias

from tracer.decoder.operations import Pinned
from tracer.decoder.roles import Place, Role
from tracer.decoder.tape import Record
from tracer.formula.expression import Expression
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Block, Sentence, Sign


@dataclass(frozen=True)
class Step:
    """Records of the tape that one section explains: the softmax of a head, a LayerNorm.

    `number` is its place in the whole pass, counted from 1.
    """

    number: int
    kind: StepKind
    place: Place
    records: tuple[Record, ...]

    @property
    def last(self) -> Record:
        """The record of the step's result."""
        text = self.kind.roles.get(self.records[-1].output.role)
        return self.records[-2 if text and text.is_further else -1]

    @property
    def is_partly_given(self) -> bool:
        """Whether one of its values is given instead of computed."""
        return any(isinstance(record.operation, Pinned) for record in self.records)


@dataclass(frozen=True)
class Naming:
    """What a symbol can depend on: the operands' symbols, the head, the sub-layer and its input."""

    inputs: tuple[Expression, ...]
    head: str
    """The number of the head, where there are several, or of the network; else nothing."""
    sub_layer: str
    """The number of the sub-layer among all."""
    x: Expression
    typed: bool = False
    """Whether the sub-layer reads typed queries, keys and values, and no x."""
    block: str = ""
    """The number of the block of keys, or of the token, if it belongs to one."""
    rotary: str = ""
    """The number of the rotary positions, if they are not the tower's."""


SymbolOf: TypeAlias = Expression | Callable[[Naming], Expression]
SentenceOf: TypeAlias = Sentence | Callable[[Step, LessonContext], Sentence]
SignOf: TypeAlias = Sign | Callable[[Step, LessonContext], Sign]
CaptionOf: TypeAlias = str | Callable[[Record], str | None] | None
ReasonsOf: TypeAlias = tuple[Sentence, ...] | Callable[[Step, LessonContext], tuple[Sentence, ...]]
Claim: TypeAlias = Callable[[Step, LessonContext], Sentence | None]
Instead: TypeAlias = "tuple[tuple[Callable[[Step, LessonContext], bool], StepKind], ...]"
Outcome: TypeAlias = Callable[[Step, LessonContext], list[Block]]


@dataclass(frozen=True)
class RoleText:
    """The text of one role: its symbol, and a few words before its lines."""

    symbol: SymbolOf
    caption: CaptionOf = None
    is_further: bool = False
    """Whether it says the step's result in another way, as a perplexity says a loss."""


@dataclass(eq=False)
class Gradient:
    """How the backward pass explains the gradients at the values of a kind of step.

    `title` is that of the backward step without its first word: `at the query`. `goal` names the
    value at which the gradient is computed, or is a whole sentence. The gradients
    of the `learned` parameters belong to the same step. `own` are texts of roles that only the
    backward pass records. Kinds that have the same gradient share its step.
    """

    title: str
    goal: str | SentenceOf
    learned: tuple[Role, ...] = ()
    own: Mapping[Role, RoleText] = field(default_factory=dict)
    reasons: ReasonsOf = ()


@dataclass(eq=False)
class StepKind:
    """Everything that a text says about a kind of step.

    `gradient` is None if no gradient passes through the step, or if it is differentiated together
    with another one; `sign`, its sign in the diagram of the model, is None if it has no box there.
    `claim` is a sentence that is computed from the followed token's row of the result and true of
    it, if there is anything to say. `outcome` takes the place of the matrix and the claim.
    """

    inner: ClassVar[bool] = False
    """Whether it belongs to its sub-layer's group: attention, cross_attention or ffn."""
    name: str
    title: str
    summary: str
    goal: SentenceOf
    roles: Mapping[Role, RoleText]
    _: KW_ONLY
    gradient: Gradient | None
    sign: SignOf | None
    short: str = ""
    """What it is called in the diagram of a page, if its title is too long for a box."""
    reasons: ReasonsOf = ()
    """Why the step exists, and why in this form; each reason is printed once."""
    claim: Claim | None = None
    outcome: Outcome | None = None
    groups: tuple[str, ...] = ()
    aside: bool = False
    """Whether the heads use its result, and not the step after it."""
    everywhere: bool = False
    """Whether all its values in the model belong to one step."""
    only_with: str | None = None
    """The option that shows it, if a plain pass has no such step."""
    picture: str | None = None
    """The title of the heat map of its result, where it is worth one."""
    illustrate: Callable[[Step, LessonContext], Iterable[Block]] | None = None
    """Draws the followed token's numbers, and states those that the drawings compute."""
    instead: Instead = ()
    """Kinds of the parts whose words a step has in place of its own, and in which steps."""

    def words_of(self, step: Step, ctx: LessonContext) -> StepKind:
        """Return the kind whose goal, sign, reasons and captions a step has."""
        return next((kind for applies, kind in self.instead if applies(step, ctx)), self)

    def goal_of(self, step: Step, ctx: LessonContext) -> Sentence:
        """Return the step's goal; a phrase if part of the step is given instead of computed."""
        if step.is_partly_given:
            return (f"{self.summary[0].upper()}{self.summary[1:]}.",)
        goal = self.words_of(step, ctx).goal
        return goal(step, ctx) if callable(goal) else goal

    @property
    def box_name(self) -> str:
        """Return what it is called in the diagram of a page."""
        return self.short or (self.title if "Norm" in self.title else self.title.lower())

    def sign_of(self, step: Step, ctx: LessonContext) -> Sign:
        """Return its sign in the diagram of the model."""
        sign = self.words_of(step, ctx).sign
        return sign(step, ctx) if callable(sign) else sign or ()

    def reasons_of(self, step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
        """Return the reasons for the step; none if part of it is given instead of computed."""
        if step.is_partly_given:
            return ()
        reasons = self.words_of(step, ctx).reasons
        return reasons(step, ctx) if callable(reasons) else reasons

    def claim_of(self, step: Step, ctx: LessonContext) -> Sentence | None:
        """Return the claims about the result; none for given values and for padding.

        In a forward pass they are about the followed token's row, in a backward pass about weights.
        """
        has_row = step.place.phase != "forward" or ctx.follows(step.last.output)
        silent = isinstance(step.last.operation, Pinned) or ctx.is_padding or not has_row
        return self.claim(step, ctx) if self.claim and not silent else None

    def illustrations_of(self, step: Step, ctx: LessonContext) -> list[Block]:
        """Return the drawings of the followed token's numbers, if it has a row in the result.

        Before a drawing of other numbers there is the text that has them.
        """
        draws = self.illustrate and ctx.follows(step.last.output)
        return list(self.illustrate(step, ctx)) if self.illustrate and draws else []

    def caption_of(self, step: Step, record: Record, ctx: LessonContext) -> str | None:
        """A few words before the lines of a record of a step; a gradient has none of its own."""
        text = self.words_of(step, ctx).roles.get(record.output.role)
        caption = text.caption if text else None
        return caption(record) if callable(caption) else caption


class InnerKind(StepKind):
    """A kind of step inside of a sub-layer."""

    inner = True


def linear_sign(step: Step, ctx: LessonContext) -> Sign:
    """· W + b: the sign of a step whose first record multiplies with weights."""
    _, weights, *bias = step.records[0].inputs
    added = [part for value in bias for part in (" + ", ctx.symbols[value.address])]
    return ("· ", ctx.symbols[weights.address], *added)
