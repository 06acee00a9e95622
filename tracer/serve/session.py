"""A scenario that is being changed: its text, the texts before it, and what is computed from it.

No file is opened here and no process or thread is started, so it also runs where there is no
operating system.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from tracer.check.score import key_of
from tracer.data.as_tape import tape_of
from tracer.data.typed import TypedNumbers
from tracer.decoder.forward import FORWARD
from tracer.errors import Problem, TracerError, format_problems
from tracer.lesson.texts.page import page
from tracer.lesson.texts.selection import steps
from tracer.names import distinct
from tracer.renderers import Format
from tracer.renderers.page.as_html import render
from tracer.renderers.page.live import Field, LiveState
from tracer.requests.cost import PAGE, check_limits, cost
from tracer.requests.passes import ForwardRequest
from tracer.requests.resolve import Computed, run_pass
from tracer.scenario.controls import Control, controls, with_setting
from tracer.scenario.edits import OF_THE_AUTHOR, with_number, with_tokens, without
from tracer.scenario.loading import Loaded, Origin, load_text
from tracer.scenario.nodes import Nodes
from tracer.scenario.reader import with_excerpts

MOST_TEXTS = 1000
"""The most texts that are kept to return to."""

BYTE_ORDER_MARK = "\ufeff"


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NumberEdit(_Edit):
    """Another number at an address; row and column by label, or by number from 1.

    One that `continues` the edit before it, as while dragging, is undone together with it.
    """

    address: str
    row: str | int | None = None
    column: str | int | None = None
    number: str | int | float
    continues: bool = False

    @property
    def labels(self) -> tuple[str | int, ...]:
        """Row and column, as far as there are any."""
        return tuple(each for each in (self.row, self.column) if each is not None)


class TokensEdit(_Edit):
    """Other tokens."""

    tokens: list[str]


class SettingEdit(_Edit):
    """Another value of a control."""

    control: str
    value: str


Edit: TypeAlias = NumberEdit | TokensEdit | SettingEdit
EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)


def target(edit: Edit) -> object:
    """Return what an edit changes."""
    match edit:
        case NumberEdit():
            return edit.address, edit.labels
        case TokensEdit():
            return "tokens"
        case SettingEdit():
            return edit.control


def written(edit: Edit) -> str:
    """Return an edit in words: `embedding[Alex,spicy] = 0.5`."""
    match edit:
        case NumberEdit():
            place = f"[{','.join(map(str, edit.labels))}]" if edit.labels else ""
            return f"{edit.address}{place} = {edit.number}"
        case TokensEdit():
            return f"tokens = {' '.join(edit.tokens)}"
        case SettingEdit():
            return f"{edit.control} = {edit.value}"


def latest(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the last edit of each target, in their order."""
    found: dict[object, Edit] = {}
    for edit in edits:
        found.pop(target(edit), None)
        found[target(edit)] = edit
    return tuple(found.values())


@dataclass(frozen=True)
class State:
    """A text that was read and computed."""

    origin: Origin
    text: str
    loaded: Loaded
    computed: Computed

    @staticmethod
    def of(text: str, origin: Origin) -> State:
        """Read and compute a text.

        Raises:
            TracerError: the scenario has problems.
        """
        plain = text.removeprefix(BYTE_ORDER_MARK)
        loaded = load_text(plain, origin)
        length = len(loaded.scenario.tokens)
        with loaded.locating_problems():
            _, numbers = cost(loaded.scenario).at(length)
        if not loaded.scenario.on_demand:
            check_limits(loaded, 0, numbers * PAGE)
        return State(origin, text, loaded, Computed(loaded, run_pass(loaded, FORWARD)))

    @cached_property
    def places(self) -> TypedNumbers:
        """Where its numbers are typed."""
        return TypedNumbers(self.computed.trace, Nodes(self.loaded.text))

    @cached_property
    def controls(self) -> dict[str, Control]:
        """Its settings by name."""
        found = controls(self.loaded.source.data, len(self.computed.trace.tokens))
        return {control.name: control for control in found}

    @cached_property
    def trace_json(self) -> str:
        """What `run --format json` prints for the text."""
        request = ForwardRequest()
        request.format = Format.JSON
        return str(request.text_about(self.computed))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that its tokens can be; none where they cannot be changed."""
        table = self.loaded.scenario.embeddings
        typed = self.places.nodes.at(("tokens",)) is not None
        return tuple(table) if typed and isinstance(table, Mapping) else ()

    def page(self, live: LiveState | None) -> str:
        """The page of the text; the author's words are about the text as it was loaded."""
        found = self.computed.trace
        if live and live.is_changed:
            found = replace(found, scenario=found.scenario.without_words())
        with self.loaded.locating_problems():
            tape = partial(tape_of, text=self.loaded.text)
            token = found.scenario.followed(found.tokens)
            shown = page(found, steps(found.records), token, tape=tape)
            return render(shown, live, key=key_of(found))

    def edited(self, edit: Edit) -> str:
        """Return the text after an edit.

        Raises:
            TracerError: it cannot be made.
        """
        try:
            new = self._edited(edit)
        except TracerError as error:
            file = self.origin.file
            problems = (replace(p, file=file) if p.line else p for p in error.problems)
            raise TracerError(*with_excerpts(tuple(problems), self.loaded.text)) from None
        marked = self.text.startswith(BYTE_ORDER_MARK)
        return BYTE_ORDER_MARK + new if marked else new

    def after(self, edit: Edit) -> State:
        """Return the state after an edit.

        Raises:
            TracerError: it cannot be made, or the program refuses the new text.
        """
        text = self.edited(edit)
        try:
            return State.of(text, self.origin)
        except TracerError:
            # The author's words may name a step or a token that is there no longer.
            if (bare := without(text, OF_THE_AUTHOR)) == text:
                raise
            with suppress(TracerError):
                return State.of(bare, self.origin)
            raise

    def named(self, edit: Edit) -> Edit:
        """Return an edit with labels in place of indices, which another text may number anew."""
        if not isinstance(edit, NumberEdit):
            return edit
        value, at = self.places.entry(edit.address, edit.labels)
        labels = [distinct(axis.labels)[i] for axis, i in zip(value.axes, at, strict=True)]
        places = zip(("row", "column")[-len(labels) :], labels, strict=False)
        return edit.model_copy(update={"row": None, "column": None, **dict(places)})

    def is_made(self, edit: Edit) -> bool:
        """Whether an edit would change nothing."""
        with suppress(TracerError):
            return self.edited(edit) == self.text
        return False

    def _edited(self, edit: Edit) -> str:
        text = self.loaded.text
        match edit:
            case NumberEdit():
                entry = self.places.entry(edit.address, edit.labels)
                return with_number(text, self.places.path(entry), str(edit.number))
            case TokensEdit():
                return with_tokens(text, edit.tokens)
            case SettingEdit():
                if edit.control not in self.controls:
                    raise TracerError(Problem("no such setting", address=edit.control))
                return with_setting(text, self.controls[edit.control], edit.value)


@dataclass(frozen=True)
class Moment:
    """A text to return to, the edits in it, and those that a change of the file took away."""

    text: str
    edits: tuple[Edit, ...] = ()
    kept: tuple[Edit, ...] = ()


@dataclass(eq=False)
class Session:
    """A scenario that is being changed: its state, its page, and what it was before.

    `first` is the text of the file; `earlier` has the moments before the present one, `now`.
    """

    origin: Origin
    first: str
    state: State
    now: Moment
    beside: bool = False
    html: str = ""
    earlier: tuple[Moment, ...] = ()
    version: int = 0
    """Grows with each change of the page."""
    first_version: int = 1
    edited: object = None
    """The number that the last edit changed, if it changed one."""

    @staticmethod
    def of(text: str, origin: Origin, *, beside: bool = False) -> Session:
        """Return a session that starts with a text; `beside` shows its page next to the changed.

        Raises:
            TracerError: the scenario has problems.
        """
        session = Session(origin, text, State.of(text, origin), Moment(text), beside)
        session._go(session.now, ())
        return session

    def edit(self, asked: object) -> None:
        """Make an edit, given as plain data.

        Raises:
            TracerError: it cannot be made, or the program refuses the new text; nothing changes.
        """
        try:
            edit = EDIT.validate_python(asked)
        except ValidationError:
            message = "expected address, row, column and number; or tokens; or control and value"
            raise TracerError(Problem(message, "edit")) from None
        number = target(edit) if isinstance(edit, NumberEdit) else None
        together = isinstance(edit, NumberEdit) and edit.continues and number == self.edited
        state = self.state.after(edit)
        edits = latest((*self.now.edits, self.state.named(edit)))
        earlier = self.earlier if together else self._pushed()
        self._go(replace(self.now, text=state.text, edits=edits), earlier, state=state)
        self.edited = number

    def apply_kept(self) -> None:
        """Make the edits again that a change of the file took away; say which are refused."""
        state, made, refused = self.state, list[Edit](), list[str]()
        for edit in self.now.kept:
            try:
                state = state.after(edit)
                made.append(edit)
            except TracerError as error:
                why = "; ".join(problem.message for problem in error.problems)
                refused.append(f"Not made again: {written(edit)}: {why}")
        moment = Moment(state.text, latest((*self.now.edits, *made)))
        self._go(moment, self._pushed(), state=state, problem="\n".join(refused) or None)

    def undo(self) -> None:
        """Return to the text before the last change, if there was one."""
        if self.earlier:
            self._go(self.earlier[-1], self.earlier[:-1])

    def reset(self) -> None:
        """Return to the text of the file; this can be undone."""
        if self.state.text != self.first:
            self._go(Moment(self.first), self._pushed())

    def follow(self, text: str) -> None:
        """Go on with a new text of the file, and keep the edits of the old one.

        If it has problems, show them beside the old state.
        """
        if text == self.first:  # it was only saved again, or has no problems any longer
            self._go(self.now, self.earlier)
            return
        try:
            state = State.of(text, self.origin)
            before = latest((*self.now.kept, *self.now.edits))
            kept = tuple(edit for edit in before if not state.is_made(edit))
            earlier = self.earlier if text == self.state.text else self._pushed()
            self._go(Moment(text, kept=kept), earlier, state=state, first=text)
        except TracerError as error:
            self.refuse(error)

    def refuse(self, error: TracerError) -> None:
        """Show the problems of the file beside the present state."""
        problem = "\n".join(format_problems(error.problems))
        self._go(self.now, self.earlier, problem=problem)

    def _pushed(self) -> tuple[Moment, ...]:
        """The moments to return to, the present one among them."""
        return (*self.earlier[1 - MOST_TEXTS :], self.now)

    def _go(
        self,
        moment: Moment,
        earlier: tuple[Moment, ...],
        *,
        state: State | None = None,
        first: str | None = None,
        problem: str | None = None,
    ) -> None:
        """Write the page of a moment, whose text is computed; if all went well, go on with it."""
        text = moment.text
        if state is None:
            state = self.state if text == self.state.text else State.of(text, self.origin)
        first, scenario = self.first if first is None else first, state.loaded.scenario
        live = LiveState(
            self.version + 1,
            self.first_version if first == self.first else self.version + 1,
            list(state.places.typed()),
            [Field(c.name, c.label, c.value, c.choices, c.number) for c in state.controls.values()],
            scenario.tokens,
            state.words,
            is_changed=text != first,
            can_undo=bool(earlier),
            has_words=any(Nodes(first).at((key,)) for key in OF_THE_AUTHOR),
            problem=problem,
            kept=len(moment.kept),
            beside=self.beside,
        )
        self.html = state.page(live)
        self.state, self.first, self.earlier, self.now = state, first, earlier, moment
        self.version, self.first_version, self.edited = live.version, live.first, None

    @property
    def first_page(self) -> str:
        """The page of the text of the file."""
        return State.of(self.first, self.origin).page(None)
