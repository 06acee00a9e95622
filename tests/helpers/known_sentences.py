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
        "ReLU keeps what is positive and makes the rest 0.",
        "GELU multiplies each number by Φ of it, the share of a normal distribution that lies "
        "below it: large numbers stay, small ones are about halved, and of those far below 0 "
        "hardly anything is left.",
        "GELU multiplies each number by the share of a normal distribution that lies below it: "
        "large numbers stay, small ones are about halved, and of those far below 0 hardly anything "
        "is left. Here the share is not looked up but approximated by a fraction, the same number "
        "as the ½·(1 + tanh(…)) that programs write.",
        "SiLU divides each number x by 1 + e^(-x): large numbers stay, small ones are about "
        "halved, and of those far below 0 hardly anything is left.",
        "There is no activation function here: the hidden numbers stay.",
        "What went in is added to what came out.",
        "Each word of the vocabulary gets a logit: the larger it is, the more probable the word.",
        "The most probable word is the model's guess at the next token.",
        "The most probable word need not be said: a random number draws one.",
        "At each position the model is to guess a word. The less probable it holds the right one, "
        "the larger the loss there; the loss of them all is their mean.",
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
        "How surprised the model is.",
    }
)
"""The same where it is given."""

ANYWHERE = frozenset(
    {
        "The text is cut into pieces. In each of them two neighbours are joined, those that stand "
        "first in the list of merges, and again, until no neighbours are in the list: what is left "
        "are the tokens.",
        "Every step of the calculation follows, in order, with its goal, its formula, the numbers "
        "put in, and the result. A pencil and a calculator are enough to check each line.",
        "The model, to be read from below. Beside each sign stands the shape of what it gives, "
        "rows×columns, and at the right the number of the step.",
        "In each turn all words so far go in, and a word comes out behind each of them. Only the "
        "last is kept and becomes part of the next turn's input, because the words behind the "
        "others are known already. In training one pass is enough for all words; here nobody knows "
        "the next one beforehand, so that each needs a pass of its own.",
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
        "The variance, which is the mean of the squares:",
        "The standard deviation, which is how far from the mean a number usually lies:",
        "The variance of a sample: the sum of the squares, divided by their number less 1:",
        "Each deviation, measured in standard deviations:",
        "Each deviation, measured in standard deviations, times γ:",
        "Each deviation, measured in standard deviations, plus β:",
        "Each deviation, measured in standard deviations, times γ, plus β:",
        "The square of each number:",
        "The mean of the squares:",
        "Its root:",
        "Each number, divided by that root:",
        "Each number, divided by that root, times γ:",
        "Each number, divided by that root, plus β:",
        "Each number, divided by that root, times γ, plus β:",
        "What is to be let through:",
        "Each number, times its gate:",
        "The logits, divided by the temperature:",
        "The words that stay, the most probable first:",
        "What their probabilities come to:",
        "Each of them, divided by that:",
        "Their running sums:",
        "The loss at each position, with the probability of the right word:",
        "Their mean:",
        "How probable it holds its word:",
        # Reasons.
        "What an encoder reads need not be text: its tokens may be the regions of a picture, too.",
        "A token is a piece of text, often a word; large models have parts of words too, so that "
        "there is nothing that they cannot read.",
        "A list of all words would never be complete, because there are always new names and "
        "misspellings; single letters would make every text long. Merges are learned from texts, "
        "the most frequent neighbours first, so that with a list of limited length a frequent word "
        "becomes one token and a rare one several that are known.",
        "Every layer adds to the same vector, so that it can be read before it is finished: what "
        "leaves a layer is read as what leaves the last one is, down to the words. So it is seen "
        "where in the model a word is found.",
        "Attention adds vectors, and a sum does not depend on the order of what is added: without "
        "positions it would find the same in whatever order the tokens stand that it looks at.",
        "Attention adds vectors, and a sum does not depend on the order of what is added, so that "
        "positions have to come in somewhere. Turning leaves a vector as long as it was, and the "
        "embeddings remain what they are.",
        "When a query that is turned by its position meets a key that is turned by its own, only "
        "the difference of the two positions counts, because a dot product does not change when "
        "both of its vectors are turned together. So a token can ask for “the one before me” "
        "wherever it stands.",
        "With a gate a unit can decide by one thing and pass on another, because what opens it and "
        "what goes through are found with different weights; models learn better so.",
        "They are added rather than set side by side, so that the vectors do not grow longer; what "
        "of a number is meaning and what is place, the weights that follow can learn to tell.",
        "An encoder may look at all of its input at once, because all of it is there from the "
        "start; a decoder has to make do with the words so far.",
        "It is a vector of its own because being found and looking are not the same: “pizza” may "
        "look for who eats it, and be looked for by what is eaten. The query of one token will "
        "meet the keys of all, so that every row of the table below is needed.",
        "If the key were handed over too, what makes a token easy to find would be all that it "
        "could say; therefore it has a value beside it.",
        "Three vectors are made of each token, because what it looks for, what it can be found by "
        "and what it hands over are different things. Each is the token's vector times a matrix of "
        "weights; the weights are learned, and they are the same for every token.",
        "The exponential makes every number positive, so that they can be shares of a whole, and "
        "it keeps the order: a larger score is a larger share. A score that is larger by 1 counts "
        "e times as much, about 2.7 times.",
        "Here something goes from token to token, and only here, because everything else in a "
        "layer is done to each token by itself. It is a sum, so that it has the width of a value "
        "however many tokens there are.",
        "What was found stands in columns of its own; W_O turns them into what the token's vector "
        "is made of, so that the result can be added to it. Its weights are learned like the "
        "others.",
        "They are not added up, because what each head has found would then be mixed before "
        "anything could weigh it.",
        "A sub-layer then only has to say what it would change, because what was known before is "
        "kept. In training the way back goes through the sum as well: the gradient passes it "
        "unchanged, so that it reaches the first of many layers, where it would otherwise fade. "
        "What is added has to be of one width; therefore a sub-layer gives back as many numbers as "
        "it was given.",
        "It is needed because attention only carries numbers from token to token; to make "
        "something new of them, the features of one token have to be combined with each other. "
        "Each hidden unit does so with weights of its own, a column of W₁: it is large where the "
        "token's vector fits that column. Large models often have four times as many hidden units "
        "as features, so that there is room for many patterns.",
        "Without it the two matrices of the FFN would be one: whatever W₁ and W₂ do in turn, their "
        "product does at once. The bend between them is what lets the FFN treat large and small "
        "numbers differently.",
        "A row of W₂ is what its hidden unit says when it is active: the output is the sum of "
        "these rows, each as often as its unit is large, so that the FFN can hold what was "
        "learned about the world, one unit for one pattern.",
        "Decoders have many layers, because each can only work with what the one before has found: "
        "the first looks at words, a later one at what has been understood of them. They are "
        "built alike, each with weights of its own; GPT-2 began with 12 of them, GPT-3 has 96.",
        "Every word has a column of W_U. The dot product with it is large where the answer points "
        "the same way, so that the vector is read as a score for each.",
        "Probabilities rather than scores, because then it can be said how sure the model is, a "
        "word can be drawn, and in training it can be measured how far it was from the right one.",
        "To go on, the word is put behind the text and everything is done once more: a decoder "
        "writes one word at a time, because each depends on those before it.",
        "A text of nothing but the most probable words soon repeats itself; drawing keeps it "
        "alive, so that unlikely words come, but seldom.",
        "The logarithm is taken because the loss is then 0 for a right word that was certain, and "
        "grows without bound as its probability goes to 0: to be sure and wrong costs most. "
        "Training moves every weight a little so that this number falls.",
    }
)

OF_TRAINING = frozenset(
    {
        "The loss is one number, and every weight has a part in it. Raise a single weight by a "
        "little and compute everything again: the loss is a little larger or smaller than before. "
        "How much larger, for each unit by which the weight was raised, is the slope of the loss "
        "at that weight, its gradient ∂L/∂W. Where it is positive, the weight should become "
        "smaller; where it is negative, larger; and where it is large, that weight matters most.",
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
        "How the loss changes with each logit: its probability, less t, which is 1 for the right "
        "word and else 0; divided by the number of positions that count.",
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
        "How the loss changes with the embedding of each token, and so with the table's rows.",
        "Where all gradients together are larger than they may be, all are shrunk alike.",
        "Each weight is moved a little against its gradient.",
        "All other weights are moved in the same way.",
        # Reasons.
        "Softmax and the logarithm of the loss are gone back through as one, because so little is "
        "left of both: how far each probability is from what it should have been, 1 for the right "
        "word and 0 for all others. It is negative for the right word alone: a larger logit there "
        "would lower the loss. Without rounding a row comes to 0, because what one word gains the "
        "others lose.",
        "A matrix product hands its gradient on to both of its factors. A weight acts on the loss "
        "through every token: what went in there, times the gradient of what came out, added up "
        "over all tokens. What went in gets the gradient times the same weights, read the other "
        "way round.",
        "A norm lets no feature of a token change alone, since each of them moves what all are "
        "divided by. So there are several ways back, which are added up.",
        "Both parts of a sum have its gradient: one goes back through the sub-layer, the other "
        "passes it by unchanged. This is why deep models learn at all: what reaches the first "
        "layers has not gone through every matrix on the way.",
        "The shares of a row come to 1, so that none of them can grow alone: a score that is "
        "raised takes from all others. Therefore only the part counts by which a gradient is above "
        "the mean of its row, each weighted by its share. Where a share is 0, as behind the mask, "
        "nothing flows.",
        "The rows of the table are learned like any weight. A word that is read twice is told "
        "twice how to change, and both are added; the row of a word that is not read stays as it "
        "is.",
        "The direction stays, only the length is cut: one batch that is far off cannot throw the "
        "weights far away.",
        "The gradient says in which direction the loss grows, and only for a small step how fast: "
        "so the step is small, against it, and all is computed anew before the next.",
        # Captions.
        "The numbers before γ, as they went through the norm:",
        "The slope at each number:",
        "The squares of the gradients of each parameter, added up:",
        "All of them together:",
        "The norm, the root of all squares together:",
        "The largest that it may be:",
        "What all gradients are multiplied with:",
        "The gradient, shrunk:",
        "With the decay, which draws each weight to 0:",
        "The velocity: what was going on, and the new gradient:",
        "The running mean of the gradients:",
        "The gradients, squared:",
        "The running mean of their squares:",
        "Both began with 0, which is made up for:",
        "Each weight gets a step of about the same size:",
        "The new weights:",
    }
)
"""What is said on the way back, of the update and around them."""
