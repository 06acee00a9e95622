"""Sentences that claim nothing of the numbers, written down by hand: a new one belongs here.

One that does claim something belongs to the forms in `claims.py`, with a check.
"""

GOALS = frozenset(
    {
        "The key is what a token can be found by: queries are compared with it.",
        "The key is what a token of the encoder can be found by.",
        "The value is what a token passes on to those that attend to it.",
        "The value is what a token of the encoder passes on.",
        "The keys of the encoder's tokens are reused from the turn before.",
        "The values of the encoder's tokens are reused from the turn before.",
        "The same scores without the mask: what a token would look at if nothing were hidden.",
        "The key is turned as the query is, by the position of its own token.",
        "What went in is added to what came out.",
        "Each word of the vocabulary gets a logit: the larger it is, the more probable the word.",
        "The most probable word is the model's guess at the next token.",
        "The loss at a position is -ln(p), where p is the probability of the correct word. The "
        "losses are averaged over all positions with a target.",
    }
)
"""What a step does: said only where its result is computed."""

PHRASES = frozenset(
    {
        "The tokens as vectors.",
        "A vector for each position.",
        "An angle for each position and pair of columns.",
        "What goes into the first layer.",
        "The encoder's tokens as vectors.",
        "What each token asks.",
        "What each token can be found by.",
        "What each token asks, from where it stands.",
        "What each token can be found by, from where it stands.",
        "What each token passes on.",
        "Every query with every key.",
        "Which tokens may be seen.",
        "The scores as shares.",
        "The weights if nothing were hidden.",
        "The values, each with its weight.",
        "The heads side by side.",
        "What attention gives each token.",
        "The input and the output of the sub-layer, added.",
        "Numbers measured by their own spread.",
        "Numbers measured by their own size.",
        "Each token by itself, combined anew.",
        "What the hidden numbers pass on.",
        "What the gate lets through.",
        "What the FFN gives each token.",
        "The decoder's answer.",
        "A score for each word.",
        "A probability for each word.",
        "How far the probabilities are from the correct words.",
    }
)
"""The same where it is given."""

ANYWHERE = frozenset(
    {
        "It is done to each token alone, so that what becomes of one does not depend on the "
        "others.",
        "The text is cut into pieces. In each of them two neighbours are joined, those that stand "
        "first in the list of merges, and again, until no neighbours are in the list: what is left "
        "are the tokens.",
        "Read the diagram from bottom to top. Each box shows a result, its shape (rows×columns), "
        "and the number of the step that computes it.",
        "In each turn the model reads all words so far and predicts a word after each of them. "
        "Only the last prediction is kept and appended to the input of the next turn; the words "
        "after the others are already known. Training needs one pass for all positions. "
        "Generation needs one pass for each word, because each pass reads the word before.",
        # Captions.
        "The frequencies, one for two columns:",
        "The frequencies, one for each pair of columns:",
        "The position times each frequency:",
        "The sines:",
        "The cosines:",
        "The sines, for the even columns, counted from 0:",
        "The cosines, for the odd ones:",
        "What the dot products are divided by:",
        "The query with the key of each token:",
        "The largest score of the row:",
        "Each score without it:",
        "The exponentials:",
        "Their sum:",
        "Each of them, divided by the sum:",
        "The mean:",
        "How far each number is from it:",
        "The square of each deviation:",
        "The square of each number:",
        "The mean of the squares:",
        "What is to be let through:",
        "Each number, times its gate:",
        "The logits, divided by the temperature:",
        "The words that stay, the most probable first:",
        "What their probabilities come to:",
        "Each of them, divided by that:",
        "Their running sums:",
        "The loss at each position with a target:",
        "Their mean:",
        "The probability of its word:",
        # Reasons.
        "What an encoder reads need not be text: its tokens may be the regions of a picture, too.",
        "A token is a piece of text, often a word; large models have parts of words too, so that "
        "they can represent any text.",
        "A list of all words would never be complete, because there are always new names and "
        "misspellings; single letters would make every text long. Merges are learned from texts, "
        "the most frequent neighbours first, so that with a list of limited length a frequent word "
        "becomes one token and a rare one several that are known.",
        "An encoder may look at all of its input at once, because all of it is there from the "
        "start; a decoder that writes a text has only the words so far.",
        "The sub-layer only has to compute a change to its input, because the input is added; in "
        "training the gradient has a direct path around it. Only vectors of one width can be "
        "added, so that a sub-layer gives back as many numbers as it was given.",
        "Trained models have many layers, because each can work with what the one before has "
        "computed: the smallest GPT-2 has 12 of them, the largest GPT-3 96.",
        "Probabilities rather than scores, because then it can be said how sure the model is, a "
        "word can be drawn, and in training it can be measured how far it was from the right one.",
        "To go on, the word is put behind the text and everything is done once more: a decoder "
        "writes one word at a time, because each depends on those before it.",
        "The loss is 0 if p is 1 and grows without bound as p approaches 0, so a confident wrong "
        "prediction costs most. Training changes the weights to lower the loss.",
    }
)

OF_TRAINING = frozenset(
    {
        "The gradient ∂L/∂W says how much the loss changes per unit change of a weight, for small "
        "changes. If it is positive, a slightly smaller weight lowers the loss. If it is negative, "
        "a slightly larger weight lowers the loss.",
        "The backward pass computes the gradients step by step, from the loss back to the inputs. "
        "By the chain rule, the gradient at a step's input a is the gradient at its output b times "
        "the step's own derivative. Where a value is used in several places, the contributions are "
        "added.",
        "Read the diagram of the backward pass from top to bottom. Each box shows the gradient "
        "at the output of a forward step, its shape (rows×columns), and the number of the step "
        "that computes it.",
        "From the forward pass:",
        "From the other examples, computed in the same way:",
        "The losses of all examples:",
        # Goals.
        "Compute the gradient at the decoder output.",
        "Backpropagate the gradient through the norm.",
        "The gradient is multiplied by the slope of the activation function.",
        "Compute the gradient at the concatenated heads.",
        "The head's output gets its own columns of the gradient.",
        "Compute the gradient at each attention weight.",
        "Compute the gradient at each score after the mask.",
        "Compute the gradient at each score and at its dot product.",
        "Compute the gradient at each rotated query.",
        "Compute the gradient at each rotated key.",
        "Compute the gradient at the vector of each position.",
        "If the norm of all gradients exceeds the limit, all are scaled down by the same factor.",
        # Reasons.
        "Differentiated together, softmax and cross-entropy leave just p - t. Without rounding, "
        "each row adds up to 0, because the probabilities add up to 1.",
        "A matrix product passes its gradient to both of its factors. The gradient at its input is "
        "the gradient at its output times the transposed weights. The gradient at its weights is "
        "the transposed input times the gradient at its output: it adds up the contributions of "
        "all tokens.",
        "A sum passes its gradient to both of its terms, so the gradient has a direct path around "
        "the sub-layer.",
        "Clipping keeps the direction of the gradient and limits its length, so that one very "
        "large gradient cannot cause a very large step.",
        "The gradient describes the loss only near the current weights; therefore each step of "
        "training computes it again.",
        # Captions.
        "The normalized numbers before γ is applied:",
        "The slope of the activation at each hidden unit:",
        "The sum of the squared gradients of each parameter:",
        "Their total:",
        "The norm of all gradients is the square root of the total:",
        "The limit:",
        "The factor for all gradients:",
        "The clipped gradient:",
        "The running mean of the gradients:",
        "The squared gradients:",
        "The running mean of the squared gradients:",
        "Bias correction, because both running means start at 0:",
        "The new weights:",
    }
)
"""What is said in the backward pass, of the update and around them."""
