"""Training as a text: the loss, the way back, the update, and what the model says then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracer.decoder.forward import Trace
from tracer.decoder.loss import NO_TARGET
from tracer.decoder.roles import LOSS, PREDICTION, PROBABILITIES, TARGET
from tracer.decoder.training import Training
from tracer.errors import Problem, TracerError
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.entries import number
from tracer.lesson.steps.backward import FORWARD
from tracer.lesson.steps.updates import CLIP_STEP, UPDATE_STEP
from tracer.lesson.texts.picture import picture_back
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.training_pass import RIGHT, WRONG, told_of_the_loss
from tracer.lesson.texts.training_teacher import TrainingTeacher, parameter_of
from tracer.names import closest, count
from tracer.scenario.optimizer import Optimizer

A, B, W = ex.Symbol("a"), ex.Symbol("b"), ex.Symbol("W")

SLOPE: doc.Sentence = (
    "The loss is one number that depends on the weights. Raise a single weight by very little and "
    "compute everything again: how much larger the loss is then, for each unit by which the weight "
    "was raised, is the slope of the loss at that weight, its gradient ",
    ex.Partial(W),
    ". Where it is positive, a slightly smaller weight lowers the loss; where it is negative, a "
    "slightly larger one does; where it is 0, neither does at first.",
)
CHAIN_RULE: doc.Sentence = (
    "Nobody computes everything again for each weight. The loss depends on the weights through a "
    "chain of steps, and the slope of a chain is the product of the slopes of its links. So one "
    "goes from the loss back, step by step: what ",
    *(B, " means for the loss, times what ", A, " means for ", B, ", is what ", A),
    " means for the loss. Where ",
    A,
    " acts on the loss in several ways, what they give is added up.",
)
AT_A_GLANCE: doc.Sentence = (
    "The way back, to be read from above: the gradient of the loss at what each step gives, its "
    "shape, and at the right the number of the step in which it is worked out.",
)
OTHERS: doc.Sentence = ("All other weights are moved in the same way.",)
ONE_OF_THEM: doc.Sentence = (
    "Every gradient is shown whole; its lines are worked for one token, and of the parameters for "
    "one.",
)


def parameter_worked(trace: Trace, asked: str | None) -> str:
    """The address of the parameter whose gradient is worked: the first, unless one is asked for.

    Raises:
        TracerError: there is no such parameter, or it has no gradient.
    """
    learned = _learned(trace)
    if asked is None:
        return next((each for each in learned if each.startswith("layer")), learned[0])
    if asked not in learned:
        message = f"no parameter {asked!r} is learned here{closest(asked, learned)}"
        raise TracerError(Problem(message, address="--parameter"))
    return asked


def training_text(
    training: Training,
    token: int | None = None,
    parameter: str | None = None,
    *,
    full: bool = True,
) -> doc.Document:
    """The first step of training worked, and what came of all of them."""
    first = training.steps[0]
    worked = parameter_worked(first, parameter)
    teacher = TrainingTeacher(first, token, worked, full=full)
    back = [step for step in teacher.steps if step.kind in FORWARD]
    sections = (
        *told_of_the_loss(teacher),
        *map(teacher.section, back),
        *_update(training.optimizer, teacher, worked),
        *_after(training),
    )
    introduction = tuple(_introduction(teacher, worked, full))
    return doc.Document(first.name, first.scenario.title, introduction, sections)


def _introduction(teacher: Teacher, worked: str, full: bool) -> Iterator[doc.Block]:
    if full:
        yield doc.Paragraph(SLOPE)
        yield doc.Paragraph(CHAIN_RULE)
        chain = ex.Product((ex.Partial(B), ex.Partial(A, B)))
        yield doc.Formula(ex.Chain((ex.Partial(A), chain), ("=",)))
    yield from teacher.introduction()
    yield doc.Paragraph(AT_A_GLANCE)
    yield picture_back(teacher.ctx, teacher.steps)
    symbol = teacher.ctx.symbols[worked]
    yield doc.Paragraph((*ONE_OF_THEM, " Here that is ", symbol, f", {worked}."))


def _update(optimizer: Optimizer, teacher: Teacher, worked: str) -> Iterator[doc.Section]:
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
            others = doc.paragraphs(OTHERS if set(_learned(teacher.trace)) != {worked} else None)
            blocks = (section.blocks[0], how, *section.blocks[1:], *others)
            title = f"The update of {worked}"
            yield replace(section, title=title, blocks=blocks, part=None, within=())


def _learned(trace: Trace) -> list[str]:
    """The addresses of the parameters that are updated."""
    values = (record.output for record in trace.records)
    return [parameter_of(value) for value in values if value.role.derivation == "new"]


def _how(optimizer: Optimizer) -> doc.Sentence:
    match optimizer.kind:
        case "sgd":
            rule = "Stochastic gradient descent: the step is the gradient"
            decay = ", with the decay" * bool(optimizer.weight_decay)
            momentum = ", and a part of the step before" * bool(optimizer.momentum)
            comma = "," * bool(decay or momentum)
            by = f"{rule}{decay}{momentum}{comma} times the learning rate, "
        case "adam" | "adamw":
            name = "Adam" if optimizer.kind == "adam" else "AdamW"
            by = (
                f"{name} divides the running mean of the gradients by the root of that of their "
                "squares, so that the size of a step depends little on the size of the gradients; "
                "the step is that times the learning rate, "
            )
    return (by, ex.Symbol("η"), " = ", ex.Number(optimizer.learning_rate), ".")


def _after(training: Training) -> Iterator[doc.Section]:
    """The loss after the update, what the model says then, and the curve of several steps."""
    passes, steps = training.passes, len(training.steps)
    losses = tuple(map(_printed, passes))
    blocks: list[doc.Block] = []
    if steps > 1:
        header = ("step", "loss", "right", "predictions")
        rows = [
            (str(i), loss, *_guesses(each))
            for i, (each, loss) in enumerate(zip(passes, losses, strict=True))
        ]
        figure = doc.Figure(f"{passes[0].name}.loss", "The loss in training")
        blocks = [doc.Table.of(header, rows), doc.Curve("loss", losses, figure)]
    blocks.append(_said(training.steps[0], training.after))
    blocks.append(doc.Paragraph(_came_of_it(passes[0], passes[-1], steps)))
    yield doc.Section(None, f"After {count(steps, 'step')}", tuple(blocks))


def _printed(trace: Trace) -> ex.Number:
    return number(trace.pencil, trace[LOSS.name], ())


def _guesses(trace: Trace) -> tuple[str, str]:
    """How many are right, of how many, and the words: where a word is to be guessed."""
    pairs = zip(trace[TARGET.name].numbers, trace[PREDICTION.name].numbers, strict=True)
    asked = [(target, said) for target, said in pairs if target != NO_TARGET]
    right = sum(target == said for target, said in asked)
    return f"{right} of {len(asked)}", ", ".join(said for _, said in asked)


def _said(before: Trace, after: Trace) -> doc.Table:
    """What the model says at each position before and after, and how sure it is of the target."""
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
    header = ("input", "target", "before", "p(target)", "after", "p(target)", "right")
    return doc.Table.of(header, rows)


def _came_of_it(before: Trace, after: Trace, steps: int) -> doc.Sentence:
    """What training has done to the loss: decided on the computed numbers, said in the printed."""
    first, last = _printed(before), _printed(after)
    computed, then = before[LOSS.name].computed[()], after[LOSS.name].computed[()]
    in_steps = "one step" if steps == 1 else f"{steps} steps"
    if computed == then:
        return ("The loss ", ex.LOSS, " is ", last, f" after {in_steps}, as it was before.")
    how = "fallen" if then < computed else "grown"
    if last.value == first.value:
        less = f" has {how} in {in_steps}, by less than its digits show: it is "
        return ("The loss ", ex.LOSS, less, last, " before and after.")
    return (*("The loss ", ex.LOSS, f" has {how} from ", first, " to ", last), f" in {in_steps}.")
