"""General sentences, goals and captions: each with the condition under which it is true.

The condition is checked wherever the sentence is printed. One that has numbers or names of its own
belongs to the forms in `claims.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.helpers.claims_of_reasons import (
    inside,
    network_of,
    part_of,
    updated,
)
from tests.helpers.judge import Judge, ends
from tests.helpers.judged_part import judged_parts, words_of_parts

Condition = Callable[[Judge], bool]


GOALS: dict[str, str] = {
    **words_of_parts("goals"),
    "The value is what an encoder token passes on.": r"cross_attention\.head\d+\.value",
    "Each key is rotated like the queries, by the angles of its own token.": r"head\d+\.(?:rotated_key|keys)",
    "The values of the encoder's tokens are reused from the previous turn.": r"cross_attention\.head\d+\.value",
    "The keys of the encoder's tokens are reused from the previous turn.": r"cross_attention\.head\d+\.key",
    "The router computes a score of each token for each expert, its router logit.": r"router\.logits",
    "The product of a token's vector and the gate's weights is a score. Its sigmoid is a number between 0 and 1, by which the output of the shared expert is multiplied.": r"shared_gate\.weight",
    "The key describes what an encoder token can be found by.": r"cross_attention\.head\d+\.key",
    "The output after the last block is divided by the sum after the last block, because only that sum is complete.": r"blocks\.output",
}
"""What a step does, with the end of its result's address: said only where this is computed."""

PHRASES: dict[str, str] = {
    **words_of_parts("phrases"),
    "The tokens as vectors.": "embedding",
    "The head's columns of the normalized queries.": "query_norm",
    "The head's columns of the normalized keys.": "key_norm",
    "A vector for each position.": "position",
    "A vector for each token at its position.": r"embedding\.sum",
    "The embeddings, multiplied by a constant.": r"embedding\.scaled",
    "An angle for each position and pair of columns.": r"position\.cos",
    "The input of the first layer.": "input",
    "The encoder's tokens as vectors.": r"encoder\.output",
    "What each token looks for.": r"head\d+\.query",
    "What each token can be found by.": r"head\d+\.keys?",
    "The sub-layer's output, centered and scaled.": "norm_after",
    "The sub-layer's output, scaled.": "norm_after",
    "The query of each token, normalized.": "query_norm",
    "The key of each token, normalized.": "key_norm",
    "The query of each token, rotated.": r"head\d+\.rotated_query",
    "The key of each token, rotated.": r"head\d+\.rotated_key",
    "What each token passes on.": r"head\d+\.values?",
    "Dot products of queries and keys.": "scores",
    "The scores after the soft cap.": "capped",
    "The scores after the distances are subtracted.": "biased",
    "Which tokens may be attended to.": "masked",
    "The scores as shares of 1.": r"head\d+\.weights",
    "The attention weights without the mask.": r"unmasked\.weights",
    "The values, weighted by attention.": r"head\d+\.output",
    "The softmax after one more block of keys.": r"block\d+\.output",
    "The softmax and the weighted sum, computed in blocks.": r"blocks\.output",
    "All heads in one row.": "concat",
    "The result of attention.": r"attention\.output",
    "The sub-layer's output plus the residual.": "residual",
    "Each token's numbers, centered and scaled.": "norm",
    "Each token's numbers, scaled.": "norm",
    "The hidden units of each token.": "hidden",
    "The frozen weights plus a product of two matrices.": r"W_\w",
    "The hidden units after the activation.": "activation",
    "The hidden units after the gate.": "gated",
    "The result of the FFN.": r"(?:ffn|expert\d+|shared)\.output",
    "A score for each expert.": r"router\.logits",
    "The weight of each token's experts.": r"router\.weights",
    "A number between 0 and 1 for each token.": r"shared_gate\.weight",
    "The vectors of the tokens that go to the expert.": r"expert\d+\.input",
    "The model's vector for each token.": "output",
    "A score for each word.": "logits",
    "A probability for each word.": "probabilities",
    "How far the probabilities are from the correct words.": "loss",
    "How far the numbers are from the correct ones.": "loss",
    "How far the sigmoid of each logit is from its target, 0 or 1.": "loss",
}
"""The same where something of the step is given."""

BACKWARD: dict[str, str] = {
    **words_of_parts("backward"),
    "Compute the gradient at the model's output.": "output",
    "Backpropagate the gradient through the norm.": r"\w*norm(?:_after)?",
    "The gradient is multiplied by the slope of the activation function.": "activation",
    "Compute the gradient at the concatenated heads.": "concat",
    "Compute the gradient at the scaled embeddings.": r"embedding\.scaled",
    "The head's output gets its own columns of the gradient.": r"head\d+\.output",
    "Compute the gradient at each attention weight.": r"head\d+\.weights",
    "Compute the gradient at each score after the mask.": "masked",
    "Compute the gradient at each score after the soft cap.": "capped",
    "Compute the gradient at each score after ALiBi.": "biased",
    "Compute the gradient at the scores and the sink.": "scores_and_sink",
    "Compute the gradient at each score and at its dot product.": "scores",
    "Compute the gradient at each rotated query.": "rotated_query",
    "Compute the gradient at the head's normalized queries.": r"head\d+\.query_norm",
    "Compute the gradient at the head's normalized keys.": r"head\d+\.key_norm",
    "In its columns among those of all heads:": r"head\d+\.(?:query|key)_norm",
    "Compute the gradient at each rotated key.": "rotated_key",
    "Compute the gradient at the vector of each position.": "position",
}
"""What a step of the backward pass does, with the end of its result's address."""

CAPTIONS: dict[str, str] = {
    **words_of_parts("captions"),
    "The frequencies, one for each pair of columns:": "div_term",
    "The base for this number of tokens:": "base",
    "The frequencies before scaling, one for each pair of columns:": "unscaled",
    "How often each pair turns in the texts of the first training:": "turns",
    "The part of each frequency that is divided:": "ramp",
    "The attention factor:": "attention_factor",
    "The sines times the attention factor:": "scaled_sin",
    "The cosines times the attention factor:": "scaled_cos",
    "The position times each frequency:": "angle",
    "The sines:": "sin",
    "The cosines:": "cos",
    "The sines, for the even columns, counted from 0:": "sin",
    "The cosines, for the odd columns:": "cos",
    "The divisor:": "scale",
    "The factor:": "scale",
    "Each embedding times the factor:": "scaled",
    "The score for the key of each token:": "scores",
    "The slope of this head:": "slope",
    "Each score minus the slope times the distance:": "biased",
    "The largest number of the row:": "max",
    "Each number minus the largest:": "shifted",
    "The exponentials:": "exp",
    "The largest score so far:": r"block\d+\.max",
    "The change of the maximum:": r"block\d+\.change",
    "The factor for the blocks before:": r"block\d+\.factor",
    "Each score minus the maximum so far:": r"block\d+\.shifted",
    "The exponentials of this block:": r"block\d+\.exp",
    "The sum of this block:": r"block\d+\.block_sum",
    "The sum so far:": r"block\d+\.sum",
    "The output of this block:": r"block\d+\.block_output",
    "The output so far:": r"block\d+\.output",
    "The weights, without the share of the sink:": "weights_and_sink",
    "The scores, and the sink as a last column.": "scores_and_sink",
    "The mean:": "mean",
    "Each number minus the mean:": "deviation",
    "The square of each difference:": r"squared|loss\..*",
    "The square of each number:": "squared",
    "The mean of the squares:": "mean_square",
    "The second projection:": "up",
    "Each number multiplied by its gate:": "gated",
    "The logits, divided by the temperature:": r"sampling\.scaled",
    "The words that are kept, the most probable first:": r"sampling\.candidates",
    "The sum of their probabilities:": r"sampling\.candidates_sum",
    "Each probability divided by this sum:": r"sampling\.renormalized",
    "Their running sums:": r"sampling\.cumulative",
    "The loss at each position with a target:": r"loss\.token",
    "Each number minus its target:": r"loss\..*",
    "The sigmoid of each logit:": r"loss\.sigmoid",
    "The probability of each target:": r"loss\.correct",
    "The loss of each number:": r"loss\..*",
    "The probabilities at the positions with a target:": r"loss\.probabilities",
    "The loss of the correct word:": r"loss\.correct_word",
    "The loss of every word:": r"loss\.words",
    "The mean over all words:": r"loss\.words_mean",
    "The logits of the chosen experts:": r"router\.chosen",
    "The sum over the chosen experts:": r"ffn\.routed",
    "The score of each token:": r"shared_gate\.logit",
    "The sigmoid of the score:": r"shared_gate\.weight",
    "The output of the shared expert, multiplied by its gate:": r"shared_gate\.output",
    "The output of the shared expert is added:": r"ffn\.shared\.output",
    "The slope of the activation at each hidden unit:": "slope",
    "The normalized numbers before γ is applied:": "standardized",
    "The sum of the squared gradients of each parameter:": r"gradient\.squares",
    "Their total:": r"gradient\.squares",
    "The norm of all gradients is the square root of the total:": r"gradient\.norm",
    "The limit:": r"gradient\.norm\.largest",
    "The factor for all gradients:": r"gradient\.norm\.factor",
    "The clipped gradient:": "clipped",
    "The running mean of the gradients:": "first_moment",
    "The squared gradients:": "squared",
    "The running mean of the squared gradients:": "second_moment",
    "Bias correction, because both running means start at 0:": "unbiased_first",
    "The new weights:": r"update\..+",
}
"""Words before lines, with the ends of the addresses of what they are of."""


def is_computed(at: Judge, name: str) -> bool:
    """Whether a section has a value of such a name."""
    parent = at.address.rpartition(".")[0]
    moves = bool(updated(at)) or "Clipping" in at.heading
    begins: tuple[str, ...] = ("update.", "gradient.") if moves else ("loss", "sampling")
    if parent and parent != "gradient":
        begins = (f"{parent}.", *begins)
    own = {*inside(at.address), *inside(at.address.removeprefix("gradient."))}
    found = [a for a in at.values if a in own or a.startswith((*begins, f"{at.address}."))]
    return any(re.search(rf"(?:^|[._])(?:{name})$", address) for address in found)


# --- what reasons are true of --------------------------------------------------------------------


def loss_kind(*kinds: str) -> Condition:
    return lambda at: at.spec.get("loss", {}).get("kind", "cross_entropy") in kinds


def headed(words: str) -> Condition:
    return lambda at: re.search(words, at.heading) is not None


def before_all_sections(at: Judge) -> bool:
    return at.heading == ""


def stages_with_encoder(at: Judge) -> bool:
    """Among the stages of training, of a decoder that attends to an encoder."""
    crosses = any("cross_attention" in layer for layer in at.scenario.get("layers", []))
    return crosses and at.heading in ("", "One step of training", "What training does")


def in_the_summary(at: Judge) -> bool:
    return at.heading == "Summary"


def of_a_text(at: Judge) -> bool:
    """A text is split into the tokens."""
    return "text" in at.values


def of_merges(at: Judge) -> bool:
    return of_a_text(at) and "text.merges" in at.values


def all_sub_layers(*order: str) -> Condition:
    """Whether each sub-layer has one norm and a residual connection, in such an order."""

    def holds(at: Judge) -> bool:
        layers = at.spec["layers"]
        parts = [
            (layer, layer[name])
            for layer in layers
            for name in ("attention", "cross_attention", "ffn")
            if name in layer
        ]
        return len(parts) > 1 and all(_order(*part) == order for part in parts)

    return lambda at: before_all_sections(at) and holds(at)


def _order(layer: dict[str, Any], part: dict[str, Any]) -> tuple[str, ...]:
    norm, after = (part.get(key, layer.get(key, "none")) for key in ("norm", "norm_after"))
    adds = part.get("residual", True) and not layer.get("parallel")
    around = ("compute", *["normalize"] * (after != "none"), *["add"] * adds)
    if norm == "none":
        return around
    return ("normalize", *around) if norm.get("placement") == "pre" else (*around, "normalize")


def adds_its_input(at: Judge) -> bool:
    """The sub-layer has a residual connection, and the section is that sum."""
    return ends(at, "residual") and part_of(at).get("residual", True) is True


def reads_whole_texts(at: Judge) -> bool:
    """In a turn; a shorter tutorial says so of all of them."""
    of_all = at.heading == "The text" and at.detail == "normal" and len(at.turns) > 0
    return (at.turn > 0 or of_all) and not at.cached


def bends(at: Judge) -> bool:
    return network_of(at).get("activation", "relu") not in ("relu", "none")


def sink_of_several_rows(at: Judge) -> bool:
    place = at.address.removesuffix("_and_sink").removesuffix("scores")
    return ends(at, "scores_and_sink") and f"{place}sink" in at.values


def has_examples(at: Judge) -> bool:
    """The model is trained on several examples."""
    return any(re.match(r"example\d+\.", address) for address in at.values)


def trains_in_one_pass(at: Judge) -> bool:
    """The text itself has at least three targets, and no token sees a later one."""
    targets = at.values["loss.target"]["data"]
    shifted = all(t in ("—", token) for t, token in zip(targets, at.tokens[1:], strict=False))
    masked = [v["data"] for a, v in at.values.items() if re.search(r"\.attention\..*masked$", a)]
    hidden = all(
        float(str(x).replace("∞", "inf")) == -float("inf")
        for rows in masked
        for i, row in enumerate(rows)
        for x in row[i + 1 :]
    )
    return shifted and hidden and bool(masked) and sum(t != "—" for t in targets) > 2


def always(at: Judge) -> bool:
    """A definition, or what a table has, which no number can make false."""
    return True


REASONS: dict[str, Condition] = {
    **{line: holds for part in judged_parts() for line, holds in part.reasons.items()},
    "The probability of its word:": lambda at: not at.address,
    "The code keeps all digits, and the text rounds, so that last digits can differ.": lambda at: (
        at.rounding["carry"] != "never"
    ),
    # Definitions, and what a table or a diagram has.
    "The rank of a word is 1 plus the number of words with a larger logit.": always,
    "The logit as the sum of its parts, the largest first:": always,
    "A word that is not kept has the probability 0.": headed("^Other temperatures$"),
    "The parts of the heads, a row for each layer:": always,
    "A norm divides by a number that depends on the whole vector. Here this number keeps its value from the pass. A part therefore says what a component adds to the sum, not how much it would change without the component.": always,
    "From input to output:": before_all_sections,
    "Its sizes:": before_all_sections,
    "All sub-layers follow one pattern: compute, add the input back, normalize.": all_sub_layers(
        "compute", "add", "normalize"
    ),
    "All sub-layers follow one pattern: normalize, compute, add the input back.": all_sub_layers(
        "normalize", "compute", "add"
    ),
    "All sub-layers follow one pattern: compute, normalize, add the input back.": all_sub_layers(
        "compute", "normalize", "add"
    ),
    "The head reads a query, and a key and a value of each token:": headed("^One head"),
    "Read the diagram from bottom to top. Each box shows a result, its shape (rows×columns), and the number of the step that computes it.": before_all_sections,
    "Read the diagram of the backward pass from top to bottom. Each box shows the gradient at the output of a forward step, its shape (rows×columns), and the number of the step that computes it.": before_all_sections,
    "The largest change that each sub-layer adds, before any norm:": in_the_summary,
    "All steps in one table. Steps of one kind share a row, with the first one's formula.": in_the_summary,
    # Tokens.
    "The text is split into pieces. In each piece, the pair of neighboring symbols that comes first in the list of merges is joined. This is repeated until no pair is in the list; the symbols that remain are the tokens.": of_a_text,
    "Spaces are symbols like all other characters. The pair of neighboring symbols whose joined token has the highest score in the vocabulary is joined. This is repeated until no joined pair is in the vocabulary; the symbols that remain are the tokens. Rank 1 is the highest score.": of_a_text,
    "Each token of the vocabulary has a score, the logarithm of its probability. Of all ways to write a piece of the text with tokens, the one with the largest sum of scores is chosen.": of_a_text,
    "The scores of its tokens:": of_a_text,
    "A vocabulary of whole words is never complete, because there are always new names and misspellings; single letters would make every text long. The vocabulary is learned from texts, so that a frequent word becomes one token and a rare word becomes several known tokens.": of_a_text,
    "Each word of the corpus is split into characters. Every pair of neighbors is counted, in each word as often as the word occurs. The most frequent pair is merged into one symbol in all words; then the pairs are counted again.": of_a_text,
    "The merges in the order in which they are learned:": of_a_text,
    "A vocabulary of whole words is never complete, because there are always new names and misspellings; single letters would make every text long. Merges are learned from texts, the most frequent pairs first, so that a frequent word becomes one token and a rare word becomes several known tokens.": of_a_text,
    "Large models cut rare words into known pieces, down to single bytes, so that they can represent any text; byte-pair encoding (BPE) is one way.": lambda at: (
        "embeddings" in at.spec
    ),
    "An encoder's tokens need not be text: they can also be regions of a picture.": lambda at: (
        at.outside is not None or "encoder" in at.spec
    ),
    # The forward pass.
    "An encoder's tokens may attend to the whole input, because all of it is known from the start. A decoder that generates a text knows only the words so far.": lambda at: (
        at.address == "encoder.output"
    ),
    "In each turn, the model reads all words so far and predicts a word after each of them. Only the last prediction is kept and appended to the input of the next turn; the earlier positions predict words that are already there. Each pass needs the word that the pass before has chosen, so the words cannot be generated at the same time.": reads_whole_texts,
    "The loss is 0 if p is 1 and grows without bound as p approaches 0, so a confident wrong prediction costs most. Training changes the weights to lower the loss.": lambda at: (
        loss_kind("cross_entropy")(at) and not at.spec.get("loss", {}).get("smoothing")
    ),
    "A square is never negative, so errors in both directions raise the loss. Twice the error costs four times as much. Training changes the weights to lower the loss.": loss_kind(
        "squared"
    ),
    "Each logit has a probability of its own, so that several targets of a position can be 1, or none. Training changes the weights to lower the loss.": loss_kind(
        "binary"
    ),
    # Training.
    "Generation takes a pass for each word, because each word depends on the words before it. Training knows all correct words, so it has three ways:": trains_in_one_pass,
    "Training repeats these stages, each time with the changed parameters. Forward: encoder → decoder → loss. Backward: loss → decoder → encoder.": lambda at: (
        stages_with_encoder(at) and "embeddings" in at.scenario["encoder"]
    ),
    "Training repeats these stages, each time with the changed parameters. Forward: encoder → decoder → loss. Backward: loss → decoder; the encoder's vectors are given and stay as they are.": lambda at: (
        stages_with_encoder(at) and "embeddings" not in at.scenario["encoder"]
    ),
    "Training repeats these stages, each time with the changed parameters.": headed(
        "^$|^One step of training$"
    ),
    "The gradient ∂L/∂W says how much the loss changes per unit change of a weight, for small changes. If it is positive, a slightly smaller weight lowers the loss. If it is negative, a slightly larger weight lowers the loss.": before_all_sections,
    "From the forward pass:": lambda at: (
        at.address.startswith("gradient.") or f"update.{updated(at)}" in at.values
    ),
    "From the other examples, computed in the same way:": lambda at: (
        at.address.startswith("gradient.") and has_examples(at)
    ),
    "From the backward pass, without worked lines:": lambda at: at.address.startswith("gradient."),
    "The losses of all examples:": lambda at: has_examples(at),
    "Compute the gradient at the scores and the sink. The sink takes part in all rows: its gradient adds up their last column.": sink_of_several_rows,
    "A sum passes its gradient to both of its terms, so the gradient has a direct path around the sub-layer.": adds_its_input,
    "If the norm of all gradients exceeds the limit, all are scaled down by the same factor.": lambda at: (
        "gradient.norm" in at.values
    ),
    "Clipping keeps the direction of the gradient and limits its length.": lambda at: (
        "gradient.norm" in at.values
    ),
    "The gradient describes the loss only near the current weights; therefore each step of training computes it again.": lambda at: (
        f"update.{updated(at)}" in at.values
    ),
}
"""Sentences that are true under a condition."""

MORE: dict[str, Condition] = {
    "The router computes a score of each token for each expert, its router logit.": lambda at: (
        len(part_of(at)["experts"]) > 0
    ),
    "The gradient is multiplied by the slope of the activation function.": bends,
    "The output after the last block is divided by the sum after the last block, because only that sum is complete.": lambda at: (
        int(part_of(at)["blocks"]) > 0
    ),
    "The keys of the encoder's tokens are reused from the previous turn.": lambda at: at.turn > 1,
    "The values of the encoder's tokens are reused from the previous turn.": lambda at: at.turn > 1,
}
"""What else must hold of a goal."""


KNOWN = frozenset({*GOALS, *PHRASES, *BACKWARD, *CAPTIONS, *REASONS})
"""All sentences that stand here, each in one table."""


def is_true(line: str, at: Judge) -> bool:
    """Whether a known sentence is true where it stands."""
    if line in MORE and not MORE[line](at):
        return False
    if line in REASONS:
        return REASONS[line](at)
    if line in CAPTIONS:
        return is_computed(at, CAPTIONS[line])
    if line in BACKWARD:
        return at.address.startswith("gradient.") and ends(at, BACKWARD[line])
    return ends(at, GOALS[line] if line in GOALS else PHRASES[line])
