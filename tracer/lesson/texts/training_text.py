"""The text of training: what it does to the loss and the predictions, then its first step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from tracer.decoder.forward import Trace
from tracer.decoder.loss import NO_TARGET
from tracer.decoder.roles import LOSS, PREDICTION, PROBABILITIES, TARGET
from tracer.decoder.training import Training
from tracer.errors import Problem, TracerError
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.detail import Detail
from tracer.lesson.entries import number
from tracer.lesson.steps.declared import FORWARD
from tracer.lesson.steps.gradient_claims import two_digits
from tracer.lesson.steps.updates import CLIP_STEP, UPDATE_STEP
from tracer.lesson.texts.lookup import with_own_address
from tracer.lesson.texts.picture import picture_back
from tracer.lesson.texts.repetition import sections_of
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.training_pass import CORRECT, RIGHT, WRONG, loss_sections
from tracer.lesson.texts.training_stages import stages
from tracer.lesson.texts.training_teacher import TrainingTeacher, parameter_of
from tracer.names import closest
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.parts import frozen_weights

A, B, W = ex.Symbol("a"), ex.Symbol("b"), ex.Symbol("W")

SLOPE: doc.Sentence = (
    "The gradient ",
    ex.Partial(W),
    " says how much the loss changes per unit change of a weight, for small changes. If it is "
    "positive, a slightly smaller weight lowers the loss. If it is negative, a slightly larger "
    "weight lowers the loss.",
)
CHAIN_RULE: doc.Sentence = (
    "By the chain rule, the gradient at a step's input ",
    *(
        A,
        " is the gradient at its output ",
        B,
        " times the step's own derivative. Where a value is ",
    ),
    "used in several places, the contributions are added.",
)
AT_A_GLANCE: doc.Sentence = (
    "Read the diagram of the backward pass from top to bottom. Each box shows the gradient at "
    "the output of a forward step, its shape (rows×columns), and the number of the step that "
    "computes it.",
)
OTHERS: doc.Sentence = ("All other weights are updated in the same way.",)
OTHERS_TRAINED: doc.Sentence = ("All other trained weights are updated in the same way.",)
FROZEN: doc.Sentence = (" All others keep their numbers, so the text shows no gradients of them.",)
NO_LOSS: doc.Sentence = (" The steps after it and the loss are not needed.",)
ONE_OF_THEM: doc.Sentence = (
    "Every gradient is shown, but lines are worked for one token and one parameter only.",
)


UPDATE_OF = "The update of "
"""The title of the section about the update of a parameter, before its address."""

ONLY_ONE: doc.Sentence = ("Only the gradient of one parameter is worked, for one token.",)

NOTHING_TRAINED: doc.Sentence = (
    "No parameter is trained: only typed queries, keys and values have gradients. Lines are worked "
    "for one token only.",
)


def parameter_worked(trace: Trace, asked: str | None) -> str | None:
    """Return the address of the parameter whose gradient is worked: as asked, else the first.

    None if typed queries, keys and values alone have gradients.

    Raises:
        TracerError: there is no such parameter, or it has no gradient.
    """
    learned = _learned(trace)
    if asked is None:
        first = next(iter(learned), None)
        return next((each for each in learned if each.startswith("layer")), first)
    asked = with_own_address(trace, asked)
    if asked not in learned:
        message = f"no parameter {asked!r} is trained{closest(asked, learned)}"
        raise TracerError(Problem(message, address="--parameter"))
    return asked


def training_text(
    training: Training,
    token: int | None = None,
    parameter: str | None = None,
    *,
    full: bool = True,
    detail: Detail = Detail.FULL,
) -> doc.Document:
    """Return the text of the result of all steps, and of the first step of training, worked.

    In short, of the backward pass only the step with the worked parameter is shown.
    """
    first = training.steps[0]
    worked = parameter_worked(first, parameter)
    is_short = detail is Detail.SHORT and worked is not None
    teacher = TrainingTeacher(
        *(first, token, worked), full=full, detail=Detail.NORMAL if is_short else detail
    )
    back = [step for step in teacher.steps if step.kind in FORWARD]
    update = enumerate(_update(training.optimizer, teacher, worked), back[-1].number + 1)
    if is_short:
        back = [step for step in back if teacher.has_worked_parameter(step)]
    sections = (
        *(loss_sections(teacher) if not first.scenario.upstream else ()),
        *sections_of(teacher, back),
        *(replace(section, number=number) for number, section in update),
        *(_after_each_step(training) if not first.scenario.upstream else ()),
    )
    answer = _answer(training) if not first.scenario.upstream else ()
    introduction = (*answer, *_introduction(teacher, worked, full=full, is_short=is_short))
    signed = teacher.with_signs(sections)
    return doc.Document(first.name, first.scenario.title, introduction, signed)


def _introduction(
    teacher: Teacher, worked: str | None, *, full: bool, is_short: bool
) -> Iterator[doc.Block]:
    if full:
        yield from stages(teacher.steps, teacher.ctx)
        yield doc.Paragraph(SLOPE)
        begins = "what is given" if teacher.trace.scenario.upstream else "the loss"
        way = f"The backward pass computes the gradients step by step, from {begins} back to the "
        yield doc.Paragraph((f"{way}inputs. {CHAIN_RULE[0]}", *CHAIN_RULE[1:]))
        chain = ex.Product((ex.Partial(B), ex.Partial(A, B)))
        yield doc.Formula(ex.Chain((ex.Partial(A), chain), ("=",)))
    if not is_short:
        yield from teacher.introduction()
        yield doc.Paragraph(AT_A_GLANCE)
        yield picture_back(teacher.ctx, teacher.steps)
    if given := teacher.trace.scenario.upstream:
        at = ", ".join(given)
        yield doc.Paragraph((f"The backward pass begins at what is given: {at}.", *NO_LOSS))
    if worked is None:
        yield doc.Paragraph(NOTHING_TRAINED)
        return
    symbol = teacher.ctx.symbols[worked]
    scope = ONLY_ONE if is_short else ONE_OF_THEM
    yield doc.Paragraph((*scope, " The worked parameter is ", symbol, f", {worked}."))
    if teacher.trace.scenario.optimizer.trains is not None:
        only = ", ".join(_learned(teacher.trace))
        yield doc.Paragraph((f"Only these parameters are trained: {only}.", *FROZEN))


def _update(optimizer: Optimizer, teacher: Teacher, worked: str | None) -> Iterator[doc.Section]:
    for step in teacher.steps:
        if step.kind is CLIP_STEP:
            yield replace(teacher.section(step), part=None)
        elif step.kind is UPDATE_STEP and (
            records := tuple(
                record for record in step.records if parameter_of(record.output) == worked
            )
        ):
            section = teacher.section(replace(step, records=records))
            how = doc.Paragraph(_how(optimizer))
            all_learn = optimizer.trains is None and not frozen_weights(teacher.trace.scenario)
            in_same_way = OTHERS if all_learn else OTHERS_TRAINED
            learned = set(_learned(teacher.trace))
            others = doc.paragraphs(in_same_way if learned != {worked} else None)
            blocks = (section.blocks[0], how, *section.blocks[1:], *others)
            title = f"{UPDATE_OF}{worked}"
            yield replace(section, title=title, blocks=blocks, part=None, within=())


def _learned(trace: Trace) -> list[str]:
    """Return the addresses of the parameters that are updated."""
    values = (record.output for record in trace.records)
    return [parameter_of(value) for value in values if value.role.derivation == "new"]


NO_DECAY = " The weight decay is 0 here; the default of PyTorch's AdamW is 0.01."


def _how(optimizer: Optimizer) -> doc.Sentence:
    match optimizer.kind:
        case "sgd":
            what = "velocity" if optimizer.momentum else "gradient"
            by = f"Stochastic gradient descent subtracts the {what} times the learning rate, "
        case "adam" | "adamw":
            name = "Adam" if optimizer.kind == "adam" else "AdamW"
            same = "without ε, gradients twice as large would lead to the same step"
            if not optimizer.epsilon:
                same = "gradients twice as large would lead to the same step"
            by = (
                f"{name} divides the running mean of the gradients by the root of the running mean "
                f"of their squares: {same}. It subtracts this quotient times the learning rate, "
            )
    rate = (ex.Symbol("η"), " = ", ex.Number(optimizer.learning_rate), ", from each weight.")
    return (by, *rate, *_added_to_the_gradient(optimizer))


def _added_to_the_gradient(optimizer: Optimizer) -> doc.Sentence:
    """Return what is added to the gradient: the last velocity, and weight decay."""
    plus = (" The velocity is the gradient plus ", ex.Number(optimizer.momentum))
    velocity = (*plus, " times the velocity of the step before.")
    has_velocity = optimizer.kind == "sgd" and optimizer.momentum
    decays = optimizer.kind != "adamw" and optimizer.weight_decay
    return (
        *(velocity if has_velocity else ()),
        *((" Weight decay is added to the gradient first.",) if decays else ()),
        *((NO_DECAY,) if optimizer.kind == "adamw" and not optimizer.weight_decay else ()),
    )


def _answer(training: Training) -> Iterator[doc.Block]:
    """Return what training does to the loss, as a curve of several steps, and to predictions."""
    passes, steps = training.passes, len(training.steps)
    yield doc.Paragraph(_came_of_it(passes[0], passes[-1], steps))
    if steps > 1:
        figure = doc.Figure(f"{passes[0].name}.loss", "The loss in training")
        yield doc.Curve("loss", tuple(map(_printed, passes)), figure)
    if _predicts(passes[0]):
        yield _said(training.steps[0], training.after)
        (before, _), (after, _) = map(_guesses, (passes[0], passes[-1]))
        yield doc.Paragraph(
            (f"{CORRECT}: {before} before training, {after} after it.",),
        )


def _after_each_step(training: Training) -> Iterator[doc.Section]:
    """Return the loss and the predictions after each of several steps."""
    passes, steps = training.passes, len(training.steps)
    if steps == 1:
        return
    of_words = ("correct", "predictions") if _predicts(passes[0]) else ()
    rows = [
        (str(i), _printed(each), *(_guesses(each) if of_words else ()))
        for i, each in enumerate(passes)
    ]
    table = doc.Table.of(("step", "loss", *of_words), rows)
    losses = [each[LOSS.name].computed[()] for each in passes]
    falls = sum(after < before for before, after in pairwise(losses))
    of = "each step" if falls == steps else f"{falls} of {steps} steps"
    claim = doc.Paragraph((f"The loss falls in {of}.",))
    yield doc.Section(None, "The loss after each step", (table, claim))


def _predicts(trace: Trace) -> bool:
    """Return whether the targets are words that are predicted."""
    return trace.scenario.loss.kind == "cross_entropy"


def _printed(trace: Trace) -> ex.Number:
    return number(trace.pencil, trace[LOSS.name], ())


def _guesses(trace: Trace) -> tuple[str, str]:
    """Return how many predictions are correct, of how many, and the predicted words."""
    pairs = zip(trace[TARGET.name].numbers, trace[PREDICTION.name].numbers, strict=True)
    asked = [(target, said) for target, said in pairs if target != NO_TARGET]
    right = sum(target == said for target, said in asked)
    return f"{right} of {len(asked)}", ", ".join(said for _, said in asked)


def _said(before: Trace, after: Trace) -> doc.Table:
    """Return the prediction and the probability of the target, before and after training."""
    words = before[PROBABILITIES.name].axes[1].labels
    rows = []
    for i, target in enumerate(before[TARGET.name].numbers):
        if target != NO_TARGET:
            cells = [before.tokens[i], target]
            for each in (before, after):
                p = number(each.pencil, each[PROBABILITIES.name], (i, words.index(target)))
                cells += [each[PREDICTION.name].numbers[i], p]
            is_right = after[PREDICTION.name].numbers[i] == target
            rows.append([*cells, RIGHT if is_right else WRONG])
    header = ("input", "target", "before", "p(target)", "after", "p(target)", "correct")
    return doc.Table.of(header, rows)


def _came_of_it(before: Trace, after: Trace, steps: int) -> doc.Sentence:
    """Return what training does to the loss: decided on the computed numbers, as printed.

    The change is named if the difference of the printed numbers is mostly their rounding.
    """
    first, last = _printed(before), _printed(after)
    computed, then = before[LOSS.name].computed[()], after[LOSS.name].computed[()]
    if computed == then:
        training = "one step" if steps == 1 else f"{steps} steps"
        return ("The loss ", ex.LOSS, " is ", last, f" before and after {training}.")
    how = "lower" if then < computed else "raise"
    begins = f"One step {how}s the loss " if steps == 1 else f"{steps} steps {how} the loss "
    if (last.value, last.places) == (first.value, first.places):
        less = " by less than its digits show: it is "
        return (begins, ex.LOSS, less, last, " before and after.")
    change, shown = abs(then - computed), abs(last.value - first.value)
    if abs(float(shown) - float(change)) > float(shown) / 10:
        by = two_digits(change)
        return (begins, ex.LOSS, " by ", by, "; rounded, from ", first, " to ", last, ".")
    return (begins, ex.LOSS, " from ", first, " to ", last, ".")
