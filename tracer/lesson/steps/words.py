"""From the decoder's output to words: logits, probabilities, the prediction, a word drawn."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.roles import (
    CANDIDATES,
    CANDIDATES_SUM,
    CUMULATIVE,
    DRAW,
    DRAWN_EXP,
    DRAWN_EXP_SUM,
    DRAWN_LOGITS,
    DRAWN_PROBABILITIES,
    LOGITS,
    OUTPUT,
    PREDICTION,
    PROBABILITIES,
    RENORMALIZED,
    SCALED,
    TEMPERATURE,
    WORD,
    WORD_EXP,
    WORD_EXP_SUM,
)
from tracer.lesson.document import Block, Name, Paragraph, Percent, Sentence, Table
from tracer.lesson.expression import Exponential, Number, Quotient, Symbol
from tracer.lesson.steps.attention import DIVIDED, EXPONENTIALS, THEIR_SUM, power
from tracer.lesson.steps.claims import best
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.steps.signs import linear
from tracer.lesson.told import Told

Z = Symbol("z")


def _largest_logit(step: Step, told: Told, printed: Sequence[Number]) -> Sentence | None:
    return best(step, told, printed, "For ", " the largest logit is that of “", "”: ")


def _predicted(step: Step, told: Told) -> list[Block]:
    """The guess for the followed token, and those at the other positions."""
    said = step.last.output
    probabilities = step.last.inputs[0]
    row = told.row(said)
    word = str(said.numbers[row])
    column = probabilities.axes[1].labels.index(word)
    sentence: Sentence = (
        *("After “", told.who, "” the model says “", Name(word), "”, with a probability of "),
        *(Percent(told.number(probabilities, row, column)), "."),
    )
    names = told.names[-len(said.numbers) :]
    rows = tuple((Name(a), Name(b)) for a, b in zip(names, said.numbers, strict=True))
    return [Table(("after", "comes"), rows, row), Paragraph(sentence)]


def _drawn(step: Step, told: Told) -> list[Block]:
    """Which word a random number falls on."""
    cumulative, draw = step.last.inputs
    drawn, word = told.number(draw), Name(str(step.last.output.numbers[0]))
    last = told.number(cumulative, 0, cumulative.numbers.shape[1] - 1)
    if drawn.value < last.value:
        return [Paragraph(("The random number is ", drawn, ": it falls on “", word, "”."))]
    return [
        Paragraph(
            (
                *("The random number is ", drawn, ". Rounding leaves the last sum at ", last),
                *(": the draw falls on the last word, “", word, "”."),
            )
        )
    ]


OUTPUT_STEP = Kind(
    "output",
    "Output of the decoder",
    "the decoder's answer",
    ("What leaves the last layer is the decoder's answer, a vector for each token.",),
    {OUTPUT: Telling(Symbol("y"))},
    sign=(Symbol("y"),),
    reason=(
        "Decoders have many layers, because each can only work with what the one before has "
        "found: the first looks at words, a later one at what has been understood of them.",
    ),
)

LOGITS_STEP = Kind(
    "logits",
    "Logits",
    "a score for each word",
    ("The answer is compared with every word of the vocabulary: one logit for each.",),
    {LOGITS: Telling(Z)},
    sign=linear,
    reason=(
        *("Every word has a column of ", Symbol("W", "U"), ". The dot product with it is large "),
        "where the answer points the same way, so that the vector is read as a score for each.",
    ),
    claim=_largest_logit,
)

PROBABILITIES_STEP = Kind(
    "probabilities",
    "Softmax: the probabilities",
    "scores become probabilities",
    ("The logits become probabilities: positive, and together 1.",),
    {
        WORD_EXP: Telling(Exponential(Z), EXPONENTIALS),
        WORD_EXP_SUM: Telling(Symbol("Σ"), THEIR_SUM),
        PROBABILITIES: Telling(Symbol("p"), DIVIDED),
    },
    sign=("softmax",),
    reason=(
        "Probabilities rather than scores, because then it can be said how sure the model is, a "
        "word can be drawn, and in training it can be measured how far it was from the right one.",
    ),
)

PREDICTION_STEP = Kind(
    "prediction",
    "Prediction",
    "the most probable word",
    ("The most probable word is the model's guess at the next token.",),
    {PREDICTION: Telling(Symbol("prediction"))},
    sign=("prediction",),
    reason=(
        "To go on, the word is put behind the text and everything is done once more: a decoder "
        "writes one word at a time, because each depends on those before it.",
    ),
    outcome=_predicted,
)

SAMPLING_STEP = Kind(
    "sampling",
    "Drawing the next word",
    "a word is drawn",
    ("The most probable word need not be said: one is drawn, each with its probability.",),
    {
        DRAWN_LOGITS: Telling(Z),
        TEMPERATURE: Telling(Symbol("T")),
        SCALED: Telling(Quotient(Z, Symbol("T")), "The logits, divided by the temperature:"),
        DRAWN_EXP: Telling(power, EXPONENTIALS),
        DRAWN_EXP_SUM: Telling(Symbol("Σ"), THEIR_SUM),
        DRAWN_PROBABILITIES: Telling(Symbol("p", "T"), DIVIDED),
        CANDIDATES: Telling(Symbol("p", "T"), "The words that stay, the most probable first:"),
        CANDIDATES_SUM: Telling(Symbol("Σ", "kept"), "What their probabilities come to:"),
        RENORMALIZED: Telling(
            Symbol("q"), "Each of them divided by that, so that they come to 1 again:"
        ),
        CUMULATIVE: Telling(Symbol("c"), "Their running sums:"),
        DRAW: Telling(Symbol("u")),
        WORD: Telling(Symbol("word")),
    },
    sign=("draw",),
    reason=(
        "A text of nothing but the most probable words soon repeats itself; drawing keeps it "
        "alive, so that unlikely words come, but seldom.",
    ),
    outcome=_drawn,
    only_with="decoder-trace generate --seed 1",
)

KINDS = (OUTPUT_STEP, LOGITS_STEP, PROBABILITIES_STEP, PREDICTION_STEP, SAMPLING_STEP)
