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
        "The softmax is computed again from the same scores, without the mask.",
        "The output after the last block is divided by the sum after the last block, because only "
        "that sum is complete.",
        "The router computes a score of each token for each expert, its router logit.",
        "Each key is rotated like the queries, by the angles of its own token.",
        "The sub-layer's input is added to its output.",
        "The most probable word is the model's prediction of the next token.",
    }
)
"""What a step does: said only where its result is computed."""

PHRASES = frozenset(
    {
        "The tokens as vectors.",
        "The head's columns of the normalized queries.",
        "The head's columns of the normalized keys.",
        "A vector for each position.",
        "The embeddings, multiplied by a constant.",
        "An angle for each position and pair of columns.",
        "The input of the first layer.",
        "The encoder's tokens as vectors.",
        "What each token looks for.",
        "What each token can be found by.",
        "The sub-layer's output, centered and scaled.",
        "The sub-layer's output, scaled.",
        "The query of each token, normalized.",
        "The key of each token, normalized.",
        "The query of each token, rotated.",
        "The key of each token, rotated.",
        "What each token passes on.",
        "Dot products of queries and keys.",
        "The scores after the soft cap.",
        "The scores after the distances are subtracted.",
        "Which tokens may be attended to.",
        "The scores as shares of 1.",
        "The attention weights without the mask.",
        "The values, weighted by attention.",
        "The softmax after one more block of keys.",
        "The softmax and the weighted sum, computed in blocks.",
        "All heads in one row.",
        "The result of attention.",
        "The sub-layer's output plus the residual.",
        "Each token's numbers, centered and scaled.",
        "Each token's numbers, scaled.",
        "The hidden units of each token.",
        "The frozen weights plus a product of two matrices.",
        "The hidden units after the activation.",
        "The hidden units after the gate.",
        "The result of the FFN.",
        "A score for each expert.",
        "The weight of each token's experts.",
        "The vectors of the tokens that go to the expert.",
        "The decoder's vector for each token.",
        "A score for each word.",
        "A probability for each word.",
        "How far the probabilities are from the correct words.",
        "How far the numbers are from the correct ones.",
        "How far the sigmoid of each logit is from its target, 0 or 1.",
    }
)
"""The same where it is given."""

ANYWHERE = frozenset(
    {
        "The rank of a word is 1 plus the number of words with a larger logit.",
        "The logit as the sum of its parts, the largest first:",
        "The parts of the heads, a row for each layer:",
        "A norm divides by a number that depends on the whole vector. Here this number keeps its "
        "value from the pass. A part therefore says what a component adds to the sum, not how much "
        "it would change without the component.",
        "The text is split into pieces. In each piece, the pair of neighboring symbols that comes "
        "first in the list of merges is joined. This is repeated until no pair is in the list; the "
        "symbols that remain are the tokens.",
        "Spaces are symbols like all other characters. The pair of neighboring symbols whose "
        "joined token has the highest score in the vocabulary is joined. This is repeated until no "
        "joined pair is in the vocabulary; the symbols that remain are the tokens. Rank 1 is the "
        "highest score.",
        "Each token of the vocabulary has a score, the logarithm of its probability. Of all ways "
        "to write a piece of the text with tokens, the one with the largest sum of scores is "
        "chosen.",
        "The scores of its tokens:",
        "Each word of the corpus is split into characters. Every pair of neighbors is counted, in "
        "each word as often as the word occurs. The most frequent pair is merged into one symbol "
        "in all words; then the pairs are counted again.",
        "The merges in the order in which they are learned:",
        "The same model in formulas:",
        "Its sizes:",
        "What each sub-layer changed most:",
        "The parts, in order:",
        "All steps in one table. The formula of like steps is that of the first.",
        "Read the diagram from bottom to top. Each box shows a result, its shape (rows×columns), "
        "and the number of the step that computes it.",
        "In each turn the model reads all words so far and predicts a word after each of them. "
        "Only the last prediction is kept and appended to the input of the next turn; the words "
        "after the others are already known. Words cannot be generated at the same time, because "
        "each pass reads the word before.",
        "Training can adjust these numbers; each row names a step that uses them.",
        "Training repeats these stages, each time with the changed parameters.",
        # Captions.
        "The frequencies, one for each pair of columns:",
        "The position times each frequency:",
        "The sines:",
        "The cosines:",
        "The sines, for the even columns, counted from 0:",
        "The cosines, for the odd columns:",
        "The divisor:",
        "The factor:",
        "Each embedding times the factor:",
        "The score for the key of each token:",
        "The slope of this head:",
        "Each score minus the slope times the distance:",
        "The largest number of the row:",
        "Each number minus the largest:",
        "The exponentials:",
        "Their sum:",
        "The largest score so far:",
        "The change of the maximum:",
        "The factor for the blocks before:",
        "Each score minus the maximum so far:",
        "The exponentials of this block:",
        "The sum of this block:",
        "The sum so far:",
        "The output of this block:",
        "The output so far:",
        "Each exponential divided by the sum:",
        "The weights, without the share of the sink:",
        "The scores, and the sink as a last column.",
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
        "The loss at each position with a target:",
        "The probability of its word:",
        "Each number minus its target:",
        "The sigmoid of each logit:",
        "The probability of each target:",
        "The loss of each number:",
        "The logits of the chosen experts:",
        "The sum over the chosen experts:",
        "The output of the shared expert is added:",
        # Reasons.
        "An encoder's tokens need not be text: they can also be regions of a picture.",
        "A token is a piece of text, often a word. Large models also have parts of words and "
        "single bytes, so that they can represent any text.",
        "A vocabulary of whole words is never complete, because there are always new names and "
        "misspellings; single letters would make every text long. Merges are learned from texts, "
        "the most frequent pairs first, so that a frequent word becomes one token and a rare word "
        "becomes several known tokens.",
        "An encoder's tokens may attend to the whole input, because all of it is known from the "
        "start. A decoder that generates a text knows only the words so far.",
        "Because of this sum, the sub-layer only has to compute a change, and in training the "
        "gradient has a direct path around it.",
        "A second layer reads vectors that hold what the first layer gathered, so it can follow "
        "relations that the first cannot. The smallest GPT-2 has 12 layers, the largest GPT-3 has "
        "96.",
        "To continue the text, the word is appended and the decoder runs again. It generates one "
        "word at a time, because each word depends on the words before it.",
        "The loss is 0 if p is 1 and grows without bound as p approaches 0, so a confident wrong "
        "prediction costs most. Training changes the weights to lower the loss.",
        "A square is never negative, so errors in both directions raise the loss. Twice the error "
        "costs four times as much. Training changes the weights to lower the loss.",
        "Each logit has a probability of its own, so that several targets of a position can be 1, "
        "or none. Training changes the weights to lower the loss.",
    }
)

OF_TRAINING = frozenset(
    {
        "The gradient ∂L/∂W says how much the loss changes per unit change of a weight, for small "
        "changes. If it is positive, a slightly smaller weight lowers the loss. If it is negative, "
        "a slightly larger weight lowers the loss.",
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
        "Compute the gradient at the scaled embeddings.",
        "The head's output gets its own columns of the gradient.",
        "Compute the gradient at each attention weight.",
        "Compute the gradient at each score after the mask.",
        "Compute the gradient at each score after the soft cap.",
        "Compute the gradient at each score after ALiBi.",
        "Compute the gradient at the scores and the sink.",
        "Compute the gradient at the scores and the sink. The sink takes part in all rows: its "
        "gradient adds up their last column.",
        "Compute the gradient at each score and at its dot product.",
        "Compute the gradient at each rotated query.",
        "Compute the gradient at the head's normalized queries.",
        "Compute the gradient at the head's normalized keys.",
        "In its columns among those of all heads:",
        "Compute the gradient at each rotated key.",
        "Compute the gradient at the vector of each position.",
        "If the norm of all gradients exceeds the limit, all are scaled down by the same factor.",
        # Reasons.
        "Differentiated together, softmax and cross-entropy leave just p - t. Without rounding, "
        "each row adds up to 0, because the probabilities add up to 1.",
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
