"""Sentences that claim nothing of the numbers, written down by hand: a new one belongs here.

One that does claim something belongs to the forms in `claims.py`, with a check.
"""

GOALS = frozenset(
    {
        "The key describes what a token can be found by; queries are compared with it.",
        "The key describes what an encoder token can be found by.",
        "The value is what a token passes on to the tokens that attend to it.",
        "The value is what an encoder token passes on.",
        "The keys of the encoder's tokens are reused from the previous turn.",
        "The values of the encoder's tokens are reused from the previous turn.",
        "The softmax of the same scores without the mask.",
        "Each key is rotated like the queries, by the angles of its own token.",
        "The sub-layer's input is added to its output.",
        "Each word of the vocabulary gets a score, its logit. A larger logit means a more probable "
        "word.",
        "The most probable word is the model's prediction of the next token.",
        "The lower the probability of the right word, the larger the loss at a position; the "
        "losses are averaged over the positions that have a right word.",
    }
)
"""What a step does: said only where its result is computed."""

PHRASES = frozenset(
    {
        "The tokens as vectors.",
        "A vector for each position.",
        "An angle for each position and pair of columns.",
        "The input of the first layer.",
        "The encoder's tokens as vectors.",
        "What each token looks for.",
        "What each token can be found by.",
        "The query of each token, rotated.",
        "The key of each token, rotated.",
        "What each token passes on.",
        "Dot products of queries and keys.",
        "Which tokens may be attended to.",
        "The scores as shares of 1.",
        "The attention weights without the mask.",
        "The values, weighted by attention.",
        "All heads in one row.",
        "The result of attention.",
        "The sub-layer's output plus the residual.",
        "Each token's numbers, centered and scaled.",
        "Each token's numbers, scaled.",
        "The hidden units of each token.",
        "The hidden units after the activation.",
        "The hidden units after the gate.",
        "The result of the FFN.",
        "The decoder's vector for each token.",
        "A score for each word.",
        "A probability for each word.",
        "How surprised the model is.",
    }
)
"""The same where it is given."""

ANYWHERE = frozenset(
    {
        "Each token is normalized separately, so that its result does not depend on other tokens.",
        "The text is split into pieces. In each piece, the pair of neighboring symbols that comes "
        "first in the list of merges is joined. This is repeated until no pair is in the list; the "
        "symbols that remain are the tokens.",
        "Read the diagram from bottom to top. Each box shows a result, its shape (rows×columns), "
        "and the number of the step that computes it.",
        "In each turn the model reads all words so far and predicts a word after each of them. "
        "Only the last prediction is kept and appended to the input of the next turn; the words "
        "after the others are already known. Training needs one pass for all positions. "
        "Generation needs one pass for each word, because each pass reads the word before.",
        # Captions.
        "The frequencies, one for each pair of columns:",
        "The position times each frequency:",
        "The sines:",
        "The cosines:",
        "The sines, for the even columns, counted from 0:",
        "The cosines, for the odd columns:",
        "The divisor:",
        "The score for the key of each token:",
        "The largest number of the row:",
        "Each number minus the largest:",
        "The exponentials:",
        "Their sum:",
        "Each exponential divided by the sum:",
        "The mean:",
        "Each number minus the mean:",
        "The square of each difference:",
        "The square of each number:",
        "The mean of the squares:",
        "The second projection:",
        "Each number multiplied by its gate:",
        "The logits, divided by the temperature:",
        "The words that are kept, the most probable first:",
        "The sum of their probabilities:",
        "Each probability divided by this sum:",
        "Their running sums:",
        "The loss at each such position, with the probability of the right word:",
        "Their mean:",
        "The probability of its word:",
        # Reasons.
        "An encoder's tokens need not be text: they can also be regions of a picture.",
        "A token is a piece of text, often a word. Large models also have parts of words, so that "
        "they can represent any text.",
        "A vocabulary of whole words is never complete, because there are always new names and "
        "misspellings; single letters would make every text long. Merges are learned from texts, "
        "the most frequent pairs first, so that a frequent word becomes one token and a rare word "
        "becomes several known tokens.",
        "An encoder's tokens may attend to the whole input, because all of it is known from the "
        "start. A decoder that generates a text knows only the words so far.",
        "Because of this sum, the sub-layer only has to compute a change, and in training the "
        "gradient has a direct path around it. The sub-layer's output must be as wide as its "
        "input.",
        "Trained models have many layers, because each layer can build on the results of the layer "
        "before: the smallest GPT-2 has 12 layers, the largest GPT-3 has 96.",
        "Probabilities are computed so that a word can be drawn and training can measure how "
        "probable the correct word is. They also show how sure the model is.",
        "To continue the text, the word is appended and the decoder runs again. It generates one "
        "word at a time, because each word depends on the words before it.",
        "The logarithm is taken because the loss is then 0 for a right word that was certain, and"
        " grows without bound as its probability goes to 0: to be sure and wrong costs most. "
        "Training changes the weights to make this number smaller.",
    }
)

OF_TRAINING = frozenset(
    {
        "The loss is one number that depends on the weights. Raise a single weight by very little"
        " and compute everything again: how much larger the loss is then, for each unit by which "
        "the weight was raised, is the slope of the loss at that weight, its gradient ∂L/∂W. "
        "Where it is positive, a slightly smaller weight lowers the loss; where it is negative, a"
        " slightly larger one does; where it is 0, neither does at first.",
        "Nobody computes everything again for each weight. The loss depends on the weights through "
        "a chain of steps, and the slope of a chain is the product of the slopes of its links. So "
        "one goes from the loss back, step by step: what b means for the loss, times what a means "
        "for b, is what a means for the loss. Where a acts on the loss in several ways, what they "
        "give is added up.",
        "The way back, to be read from above: the gradient of the loss at what each step gives, "
        "its shape, and at the right the number of the step in which it is worked out.",
        "From the forward pass:",
        "Of the other examples, found in the same way:",
        "The losses of all examples, one behind the other:",
        # Goals.
        "How the loss changes with what the decoder gives.",
        "How the loss changes with what goes into the norm: directly, and through what it is "
        "divided by.",
        "The gradient goes back times the slope of the activation function.",
        "How the loss changes with the heads side by side.",
        "How the loss changes with what the head gives: its own columns.",
        "How the loss changes with each attention weight.",
        "How the loss changes with each score that the softmax has read.",
        "How the loss changes with each score, and with the dot product before it.",
        "How the loss changes with each query, turned by its position.",
        "How the loss changes with each key, turned by its position.",
        "How the loss changes with the vector of each position.",
        "Where all gradients together are larger than they may be, all are shrunk alike.",
        # Reasons.
        "Softmax and cross-entropy are differentiated together, because then no more is left than"
        " how far each probability is from 1 for the right word and 0 for all others. Without "
        "rounding a row comes to 0: what one word gains the others lose.",
        "A matrix product hands its gradient on to both of its factors. A weight acts on the loss "
        "through every token: what went in there, times the gradient of what came out, added up "
        "over all tokens. What went in gets the gradient times the same weights, read the other "
        "way round.",
        "What each feature is divided by depends on all features of the token. So there are "
        "several ways back, which are added up.",
        "Both parts of a sum have its gradient: one goes back through the sub-layer, the other "
        "passes it by unchanged. So the gradient has a direct path around the sub-layer.",
        "The direction of the gradient stays, only its length is limited, so that a step cannot "
        "become large because of a single large gradient.",
        "The gradient describes the loss only near the weights as they are, therefore all is "
        "computed anew before the next step.",
        # Captions.
        "The numbers before γ, as they went through the norm:",
        "The slope at each number:",
        "The squares of the gradients of each parameter, added up:",
        "All of them together:",
        "The norm, the root of all squares together:",
        "The largest that it may be:",
        "What all gradients are multiplied with:",
        "The gradient, shrunk:",
        "The running mean of the gradients:",
        "The gradients, squared:",
        "The running mean of their squares:",
        "Both began with 0, which is made up for:",
        "The new weights:",
    }
)
"""What is said on the way back, of the update and around them."""
