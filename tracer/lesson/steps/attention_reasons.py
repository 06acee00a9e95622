"""Why attention is done, and done as it is."""

from __future__ import annotations

from tracer.decoder.operations import Copy
from tracer.decoder.roles import SCALE
from tracer.formula.expression import Symbol
from tracer.lesson.document import Sentence
from tracer.lesson.steps.attention_claims import crosses
from tracer.lesson.steps.kind import Step
from tracer.lesson.told import Told

THREE_VECTORS: Sentence = (
    "Three vectors are made of each token, because what it looks for, what it can be found by and "
    "what it hands over are different things. Each is the token's vector times a matrix of "
    "weights; the weights are learned, and they are the same for every token.",
)

ACROSS: Sentence = (
    "Here the decoder meets the encoder: queries come from the text that is being written, keys "
    "and values from what the encoder has read. So each word can look again at all of the input, "
    "and take what it needs; otherwise one vector would have to hold everything, and of a long "
    "input the beginning would be lost.",
)

OF_ITS_OWN: Sentence = (
    "It is a vector of its own because being found and looking are not the same: “pizza” may look "
    "for who eats it, and be looked for by what is eaten. The query of one token will meet the "
    "keys of all, so that every row of the table below is needed.",
)

HANDED_OVER: Sentence = (
    "If the key were handed over too, what makes a token easy to find would be all that it could "
    "say; therefore it has a value beside it.",
)

FIT: Sentence = (
    "The dot product is large where both vectors are large in the same place. They fit, so that a "
    "token finds what it asks for.",
)

TURNED: Sentence = (
    "When a query that is turned by its position meets a key that is turned by its own, only the "
    "difference of the two positions counts, because a dot product does not change when both of "
    "its vectors are turned together. So a token can ask for “the one before me” wherever it "
    "stands.",
)

EXPONENTIAL: Sentence = (
    "The exponential makes every number positive, so that they can be shares of a whole, and it "
    "keeps the order: a larger score is a larger share. A score that is larger by 1 counts e times "
    "as much, about 2.7 times.",
)

FROM_TOKEN_TO_TOKEN: Sentence = (
    "Here something goes from token to token, and only here, because everything else in a layer "
    "is done to each token by itself. It is a sum, so that it has the width of a value however "
    "many tokens there are.",
)

MIXED: Sentence = (
    *(
        "What was found stands in columns of its own; ",
        Symbol("W", "O"),
        " turns them into what the token's ",
    ),
    "vector is made of, so that the result can be added to it. Its weights are learned like the "
    "others.",
)

NOT_ADDED: Sentence = (
    "They are not added up, because what each head has found would then be mixed before anything "
    "could weigh it.",
)


def three_vectors(step: Step, told: Told) -> tuple[Sentence, ...]:
    """Why there are queries, keys and values; why the encoder's, and why several heads."""
    several = [_several_heads(step, told)] if told.heads_of(step.place) > 1 else []
    return (THREE_VECTORS, *([ACROSS] if crosses(step) else []), *several)


def _several_heads(step: Step, told: Told) -> Sentence:
    part = told.attention_at(step.place)
    own = "queries" if part and any(head.shares for head in part.heads) else "weights"
    return (
        f"There are several heads, each with {own} of its own, because one softmax can favour only "
        "one thing at a time: with more of them a token can look for several at once.",
    )


def scaled(step: Step, told: Told) -> tuple[Sentence, ...]:
    """Why the dot products are divided, if they are."""
    if told.value(step.place, SCALE) is None:
        return (FIT,)
    divisor = told.symbols[step.place.address(SCALE)]
    return (
        (
            "The dot product is large where both vectors are large in the same place. It is "
            "divided by ",
            *(
                divisor,
                " because the more numbers are multiplied, the larger the sums become: the ",
            ),
            "softmax behind it would give nearly everything to one token, and could not learn to "
            "do otherwise, since where a share is almost 1 or 0 a small change of the scores "
            "changes almost nothing.",
        ),
    )


def mixed(step: Step, told: Told) -> tuple[Sentence, ...]:
    """Why there is a W_O, if there is one."""
    return () if isinstance(step.last.operation, Copy) else (MIXED,)


def not_added(step: Step, told: Told) -> tuple[Sentence, ...]:
    """Why the heads stand side by side, if there are several."""
    return () if len(step.last.inputs) == 1 else (NOT_ADDED,)
