"""The text of a training pass: predictions and targets, probabilities, the loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import islice

import numpy as np

from tracer.decoder.forward import Trace, trace as run
from tracer.decoder.loss import NO_TARGET
from tracer.decoder.operations import Pinned
from tracer.decoder.roles import MASKED, PREDICTION, PROBABILITIES, TARGET, WEIGHTS
from tracer.errors import TracerError
from tracer.lesson import document as doc
from tracer.lesson.steps.training import KINDS
from tracer.lesson.texts.loss_meaning import loss_meaning
from tracer.lesson.texts.teacher import Teacher
from tracer.names import count

RIGHT, WRONG = "✓", "✗"
CORRECT = "Correct predictions"
FROM_GIVEN: doc.Sentence = (
    "The predictions come from the given probabilities, not from the model's weights.",
)
OF_PROBABILITIES = "Probabilities"
FORCING = (
    "Teacher forcing: at each position, the model reads the correct tokens, not its own "
    "predictions, and predicts the next token. A wrong prediction therefore does not affect "
    "later positions, and one pass computes all positions."
)
WAYS: doc.Sentence = (
    "Generation takes a pass for each word, because each word depends on the words before it. "
    "Training knows all correct words, so it has three ways:",
)
ONE_BY_ONE = "from the model's own words: slow, and a wrong word changes all that follow"
COPIES = "one for each position: they repeat each other's work"
AT_ONCE = "each position could copy its answer from the next one, but the mask prevents it"
SEVERAL = 3
"""So many positions with targets are worth a comparison."""

MOST_TRIED = 4
"""So many wrong words are tried, each with a pass of its own."""


def training_pass(trace: Trace, token: int | None = None, *, full: bool = True) -> doc.Document:
    """Return the text of all positions: the loss and what it means, then how it is computed.

    With a token, counted from 0, also its loss.

    Raises:
        TracerError: the token has no target.
    """
    sections = enumerate(loss_sections(Teacher(trace, token, full=full)), 1)
    numbered = tuple(replace(section, number=number) for number, section in sections)
    meaning = tuple(loss_meaning(trace, token))
    return doc.Document(trace.name, trace.scenario.title, meaning, numbered)


def loss_sections(teacher: Teacher) -> tuple[doc.Section, ...]:
    """Return the section of the loss; before it, targets and predictions, and probabilities.

    A squared error and a binary cross-entropy have the section of the loss alone.
    """
    trace = teacher.trace
    loss = next(step for step in teacher.steps if step.kind in KINDS)
    if trace.scenario.loss.kind != "cross_entropy":
        section = teacher.section(loss)
        return (replace(section, blocks=(*_batch(trace), *section.blocks), part=None),)
    guesses = (*_batch(trace), doc.Paragraph(_forcing(trace)), *_answers(trace))
    probabilities = trace[PROBABILITIES.name]
    shown = (*doc.paragraphs(_of_all_examples(trace)), *teacher.shown(probabilities))
    teacher.tables.add(probabilities)
    return (
        doc.Section(None, "Targets and predictions", guesses),
        doc.Section(None, OF_PROBABILITIES, shown, trace=trace),
        replace(teacher.section(loss), part=None),
    )


def _forcing(trace: Trace) -> doc.Sentence:
    """Return what the model reads and predicts at each position."""
    targets, tokens = trace[TARGET.name].numbers, trace.tokens
    asked = [i for i, target in enumerate(targets) if target != NO_TARGET]
    # The tokens of typed heads are only names of rows.
    follows = not (trace.scenario.has_typed_heads or trace.scenario.fills_in)
    if len(tokens) < 2 and follows:
        return ("The model reads the token and predicts the next word.",)
    follows = follows and all(targets[i] == tokens[i + 1] for i in asked if i + 1 < len(tokens))
    if not follows:
        return (
            f"At each position{' with a target' * (len(asked) < len(tokens))}, the model is "
            "trained to predict the target beside it. One pass computes all positions.",
        )
    hides = " The mask hides the later tokens, which contain the answers."
    return (f"{FORCING}{hides if _hides_answers(trace) else ''}",)


def _hides_answers(trace: Trace) -> bool:
    """Return whether every head of the decoder masks all later tokens."""
    of_decoder = [
        record.output
        for record in trace.records
        if record.output.place.sub_layer == "attention" and not record.output.place.encoder
    ]
    heads = sum(value.role is WEIGHTS for value in of_decoder)
    masked = [value.numbers for value in of_decoder if value.role is MASKED]
    later = [score for scores in masked for i, row in enumerate(scores) for score in row[i + 1 :]]
    unseen = all(score == -Decimal("Infinity") for score in later)
    return heads == len(masked) > 0 and unseen


def ways_to_train(trace: Trace) -> tuple[doc.Section, ...]:
    """Return why one pass trains all positions, if the text is the target of several."""
    if trace.scenario.loss.kind != "cross_entropy":
        return ()
    asked = sum(target != NO_TARGET for target in trace[TARGET.name].numbers)
    is_forced = str(_forcing(trace)[0]).startswith(FORCING)
    if asked < SEVERAL or not is_forced or not _hides_answers(trace):
        return ()
    rows = (
        ("word by word", f"{asked}", ONE_BY_ONE),
        ("copies of the decoder", f"{asked}", COPIES),
        ("all words at once", "1", AT_ONCE),
    )
    table = doc.Table.of(("way", "passes", "how, and what is wrong with it"), rows)
    blocks: tuple[doc.Block, ...] = (doc.Paragraph(WAYS), table, *doc.paragraphs(_misled(trace)))
    return (doc.Section(None, "Must training go word by word?", blocks),)


def _misled(trace: Trace) -> doc.Sentence | None:
    """Return what the model predicts behind a wrong word of its own, if that is wrong, too."""
    targets = trace[TARGET.name].numbers
    for i, word in islice(_wrong_words(trace), MOST_TRIED):
        read = (*trace.tokens[: i + 1], word)
        try:
            misled = run(trace.name, trace.scenario.reading(read))
        except TracerError:
            continue  # as where a given value has a row for each token
        then, correct = str(misled[PREDICTION.name].numbers[-1]), str(targets[i + 1])
        if then == correct:
            continue
        after, wrong = doc.Name(" ".join(trace.tokens[: i + 1])), doc.Name(word)
        if trace[PREDICTION.name].numbers[i] == word:
            starts: doc.Sentence = ("For example, the model predicts ", wrong, " after ", after)
            starts = (*starts, ", which is wrong. Word by word, it")
        else:
            starts = ("For example, ", wrong, " is the second most probable word after ", after)
            starts = (*starts, ". If the model chose it, word by word, it")
        reads: doc.Sentence = (" would next read ", doc.Name(" ".join(read)), " and predict ")
        return (*starts, *reads, doc.Name(then), ", not ", doc.Name(correct), ".")
    return None


def _wrong_words(trace: Trace) -> Iterator[tuple[int, str]]:
    """Yield wrong words that the model can read, with the positions after which it predicts them.

    After these follow the second most probable words, the most probable one first.
    """
    if not isinstance(trace.scenario.embeddings, Mapping):
        return
    targets, predictions = trace[TARGET.name].numbers, trace[PREDICTION.name].numbers
    shares = trace[PROBABILITIES.name]
    words = shares.axes[1].labels
    second = dict[int, tuple[float, str]]()
    for i in range(len(targets) - 1):
        if NO_TARGET in (targets[i], targets[i + 1]):
            continue
        if predictions[i] != targets[i]:
            if predictions[i] in trace.scenario.embeddings:
                yield i, str(predictions[i])
        elif len(words) > 1:
            *_, column, _ = np.argsort(shares.computed[i].astype(float), kind="stable")
            if words[column] in trace.scenario.embeddings:
                second[i] = float(shares.computed[i, column]), words[column]
    for i in sorted(second, key=lambda i: -second[i][0]):
        yield i, second[i][1]


def _batch(trace: Trace) -> tuple[doc.Block, ...]:
    examples = trace.scenario.training
    if not examples:
        return ()
    rows = [
        (str(i), " ".join(example.tokens), " ".join(example.targets))
        for i, example in enumerate(examples, 1)
    ]
    shifted = all(x.tokens[1:] == x.targets[:-1] and x.tokens[1:] for x in examples)
    shifted = shifted and not trace.scenario.fills_in
    each = (
        " Each target is its input, shifted by one token: the text itself has the correct words "
        "(self-supervised learning)."
    ) * shifted
    said = f"The batch has {count(len(examples), 'example')}.{each}"
    table = doc.Table.of(("example", "input", "target"), rows)
    followed: doc.Sentence = ("The worked example is ", doc.Name(" ".join(trace.tokens)))
    which = [doc.Paragraph((*followed, "."))] if len(examples) > 1 else []
    return (doc.Paragraph((said,)), table, *which)


def _of_all_examples(trace: Trace) -> doc.Sentence | None:
    """Return how many probabilities there are, if several examples are equally long."""
    examples = trace.scenario.training
    if len(examples) < 2 or len({len(example.tokens) for example in examples}) > 1:
        return None
    positions, words = trace[PROBABILITIES.name].shape
    return (
        f"For all {len(examples)} examples, the model's output has the shape "
        f"[{len(examples)}, {positions}, {words}]: a probability for each of {words} words at each "
        f"of {positions} positions.",
    )


def _answers(trace: Trace) -> tuple[doc.Block, ...]:
    targets = trace[TARGET.name].numbers
    predictions = trace[PREDICTION.name].numbers
    verdicts = [
        NO_TARGET if target == NO_TARGET else RIGHT if said == target else WRONG
        for target, said in zip(targets, predictions, strict=True)
    ]
    positions = map(str, range(1, len(targets) + 1))
    rows = zip(positions, trace.tokens, targets, predictions, verdicts, strict=True)
    header = ("position", "input", "target", "prediction", "correct")
    right, asked = verdicts.count(RIGHT), len(targets) - verdicts.count(NO_TARGET)
    predicted: doc.Sentence = (f"{CORRECT}: {right} of {asked}.",)
    given = trace.producers[trace[PROBABILITIES.name]].operation
    is_given = isinstance(given, Pinned) and given.given_rows is None
    come = (FROM_GIVEN if is_given else None,)
    return (doc.Table.of(header, rows), *doc.paragraphs(predicted, *come))
