"""Merges learned from counts of words, by counting everything again before each merge."""

from __future__ import annotations

from collections import Counter


def recounted(
    corpus: dict[str, int], number: int
) -> list[tuple[str, str, Counter[tuple[str, str]]]]:
    """Left, right and all counts of each merge; of equal counts, the pair that is read first."""
    texts = {word: list(word) for word in corpus}
    found = []
    for _ in range(number):
        counts: Counter[tuple[str, str]] = Counter()
        for word, symbols in texts.items():
            for i in range(len(symbols) - 1):
                counts[symbols[i], symbols[i + 1]] += corpus[word]
        if not counts:
            break
        (left, right), _ = counts.most_common(1)[0]
        found.append((left, right, counts))
        for word, symbols in texts.items():
            i, made = 0, list[str]()
            while i < len(symbols):
                two = symbols[i : i + 2] == [left, right]
                made.append(left + right if two else symbols[i])
                i += 2 if two else 1
            texts[word] = made
    return found
