"""Gradients by PyTorch's autograd, of a forward pass written anew from the papers.

It shares no code with the program, and none with `reference.py`: heads one by one, the functions
those of PyTorch. It reads the same plain data of a scenario.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.relative_biases import bucket_of, own_biases
from tests.helpers.rotary_of_layers import settings_of
from tests.helpers.rotary_scaling import attention_factor, frequencies
from tests.helpers.unembeddings import is_tied, unembedding_of

torch: Any = importlib.import_module("torch")
functions: Any = torch.nn.functional

Array = NDArray[np.float64]
Spec = Mapping[str, Any]


def torch_gradients(examples: Sequence[Spec]) -> dict[str, Array]:
    """What everything that acts on the loss has for a gradient, by address.

    The examples share their parameters; the loss is the mean over all that have a target. The
    values on the way are those of the first example.
    """
    learned: dict[str, Any] = {}
    passes = [_Pass(spec, learned) for spec in examples]
    torch.cat([each.losses() for each in passes]).mean().backward()
    tensors = {**passes[0].values, **learned}
    return {
        name: each.grad.numpy()
        for name, each in tensors.items()
        if each.grad is not None and each.numel()
    }


def tensor(numbers: Any) -> Any:
    """Numbers in float64, however they are typed."""
    return torch.tensor(np.array(numbers, dtype=object).astype(np.float64))


class _Pass:
    """A forward pass; `learned` holds the parameters of all passes, `values` what this one gives.

    What is pinned has no gradient, and nothing before it has one through it.
    """

    def __init__(self, spec: Spec, learned: dict[str, Any]) -> None:
        self.spec, self.learned, self.values = spec, learned, dict[str, Any]()
        self.given = spec.get("given", {})

    def losses(self) -> Any:
        """-ln p at each position that has a right word."""
        words, padding = self.spec["vocabulary"], self.spec.get("padding")
        tokens = self.spec["tokens"]
        targets = self.spec.get("targets") or [*tokens[1:], None]
        rows = [
            i
            for i, (token, target) in enumerate(zip(tokens, targets, strict=True))
            if target in words and padding not in (token, target)
        ]
        columns = torch.tensor([words.index(targets[i]) for i in rows], dtype=torch.long)
        logits = self.logits()
        if "probabilities" in self.given:
            return -torch.log(tensor(self.given["probabilities"])[rows, columns])
        smoothing = float(self.spec.get("loss", {}).get("smoothing", 0))
        return functions.cross_entropy(
            logits[rows], columns, reduction="none", label_smoothing=smoothing
        )

    def logits(self) -> Any:
        x = self.inputs()
        self.memory = None
        if encoder := self.spec.get("encoder"):
            memory = tensor(encoder["vectors"]).requires_grad_()
            self.memory = self.keep("encoder.output", memory)
        for number, layer in enumerate(self.spec.get("layers") or [], start=1):
            if layer.get("parallel"):
                x = self.parallel(f"layer{number}.", layer, x)
                continue
            for name in ("attention", "cross_attention", "ffn"):
                if name in layer:
                    x = self.sub_layer(f"layer{number}.{name}.", name, layer, x)
        if self.spec.get("final_norm", "none") != "none":
            x = self.norm("final_", self.spec["final_norm"], x)
        output = self.keep("output", x * 1)
        logits, asked = self.to_words(output), unembedding_of(self.spec)
        if "scale" in asked:
            logits = self.keep("logits.unscaled", logits) / float(asked["scale"])
        if "softcap" in asked:
            logits = capped(self.keep("logits.uncapped", logits), asked)
        return self.keep("logits", logits)

    def to_words(self, output: Any) -> Any:
        if not is_tied(self.spec):
            return self.affine(output, self.spec["unembedding"], "unembedding.", "U")
        product = output @ self.tied()
        bias = unembedding_of(self.spec).get("b_U")
        return product if bias is None else product + self.parameter("unembedding.b_U", bias)

    def tied(self) -> Any:
        if "unembedding.W_U" in self.given:
            return tensor(self.given["unembedding.W_U"])
        if "unembedding.W_U" not in self.learned:
            place = list(self.spec["embeddings"])
            rows = [place.index(word) for word in self.spec["vocabulary"]]
            self.learned["unembedding.W_U"] = self.table("embeddings")[rows].T
            self.learned["unembedding.W_U"].retain_grad()
        return self.learned["unembedding.W_U"]

    def inputs(self) -> Any:
        tokens, table = self.spec["tokens"], self.spec["embeddings"]
        rows = list(range(len(tokens)))
        if isinstance(table, Mapping):
            rows = [list(table).index(token) for token in tokens]
        x = self.keep(
            "embedding", functions.embedding(torch.tensor(rows), self.table("embeddings"))
        )
        scale: Any = self.spec.get("embedding_scale", "none")
        if scale != "none":
            factor = math.sqrt(x.shape[1]) if scale == "sqrt" else float(scale)
            x = self.keep("embedding.scaled", x * factor)
        if "type_embeddings" in self.spec:
            table = self.parameter("type_embeddings", self.spec["type_embeddings"])
            own = self.spec.get("token_types", [0])
            types = [*own, *own[-1:] * len(tokens)][: len(tokens)]
            x = self.keep("embedding.with_type", x + self.keep("token_type", table[types]))
        positions: Any = self.spec.get("positions") or "none"
        if positions != "none" and "table" in positions:
            x = x + self.keep("position", self.table("positions.table")[: len(tokens)])
        elif positions != "none" and "sinusoidal" in positions:
            x = x + self.waves(positions["sinusoidal"], *x.shape)
        if self.spec.get("embedding_norm", "none") != "none":
            if {"table", "sinusoidal"} & {*(positions if positions != "none" else ())}:
                x = self.keep("embedding.sum", x * 1)
            x = self.norm("embedding_", self.spec["embedding_norm"], x)
        return self.keep("input", x * 1)

    def table(self, address: str) -> Any:
        numbers = self.spec[address.split(".")[0]]
        numbers = numbers["table"] if address == "positions.table" else numbers
        rows = list(numbers.values()) if isinstance(numbers, Mapping) else numbers
        return self.parameter(address, rows)

    def waves(self, asked: Any, n: int, width: int) -> Any:
        start = int((asked or {}).get("start", 1))
        found = torch.zeros(n, width, dtype=torch.float64)
        for i in range(n):
            for column in range(width):
                angle = (start + i) / 10000 ** ((column - column % 2) / width)
                found[i, column] = math.cos(angle) if column % 2 else math.sin(angle)
        return found

    def sub_layer(self, place: str, name: str, layer: Spec, x: Any) -> Any:
        part = layer[name]
        norm: Any = part.get("norm", layer.get("norm"))
        norm = None if norm == "none" else norm
        before = norm is not None and norm.get("placement") == "pre"
        inside = self.norm(place, norm, x) if before else x
        change = (self.ffn if name == "ffn" else self.attention)(place, part, inside)
        change = self.after(place, name, layer, change)
        if part.get("residual", True):
            change = self.added(place, part, x, change)
        return self.norm(place, norm, change) if norm is not None and not before else change

    def after(self, place: str, name: str, layer: Spec, change: Any) -> Any:
        norm: Any = layer[name].get("norm_after", layer.get("norm_after", "none"))
        return change if norm == "none" else self.norm(place, norm, change, "norm_after")

    def added(self, place: str, part: Spec, x: Any, change: Any) -> Any:
        if "residual_scale" in part:
            change = self.keep(f"{place}residual.scaled", change * float(part["residual_scale"]))
        return self.keep(f"{place}residual", x + change)

    def parallel(self, place: str, layer: Spec, x: Any) -> Any:
        """x + Attention(n) + FFN(m), where m is n if no norm is the FFN's."""
        of_attention, of_ffn = f"{place}attention.", f"{place}ffn."
        of_both: Any = layer.get("norm") or "none"
        first: Any = layer["attention"].get("norm", of_both)
        second: Any = layer["ffn"].get("norm", of_both if "norm" in layer["attention"] else "none")
        n = x if first == "none" else self.norm(of_attention, first, x)
        m = x if "norm" in layer["ffn"] or second != "none" else n
        m = m if second == "none" else self.norm(of_ffn, second, m)
        attended = self.attention(of_attention, layer["attention"], n)
        attended = self.after(of_attention, "attention", layer, attended)
        x = self.added(of_attention, layer["attention"], x, attended)
        fed = self.after(of_ffn, "ffn", layer, self.ffn(of_ffn, layer["ffn"], m))
        return self.added(of_ffn, layer["ffn"], x, fed)

    def attention(self, place: str, part: Spec, x: Any) -> Any:
        crossed = "cross_attention" in place
        outputs: list[Any] = []
        read: list[Any] = []
        heads = {f"{place}head{n}.": head for n, head in enumerate(part["heads"], start=1)}
        with_keys = {at: head for at, head in heads.items() if "shares" not in head}
        memory = self.memory if crossed else x
        queries = {at: self.affine(x, head, at, "Q", "query") for at, head in heads.items()}
        keys = {at: self.affine(memory, h, at, "K", "key") for at, h in with_keys.items()}
        queries = {at: self.convolved(at, part, heads[at], "query", q) for at, q in queries.items()}
        keys = {at: self.convolved(at, part, heads[at], "key", k) for at, k in keys.items()}
        queries = self.over_heads(place, "query_norm", part, queries, "before_rotary")
        keys = self.over_heads(place, "key_norm", part, keys, "before_rotary")
        asked = None if crossed else settings_of(self.spec, part)
        queries = {at: self.turned(f"{at}rotated_query", q, asked) for at, q in queries.items()}
        keys = {at: self.turned(f"{at}rotated_key", k, asked) for at, k in keys.items()}
        queries = self.over_heads(place, "query_norm", part, queries, "after_rotary")
        keys = self.over_heads(place, "key_norm", part, keys, "after_rotary")
        for at, head in heads.items():
            query = queries[at]
            if "shares" in head:
                key, value = read[head["shares"] - 1]
            else:
                key = keys[at]
                value = self.affine(memory, head, at, "V", "value")
                value = self.convolved(at, part, head, "value", value)
            read.append((key, value))
            scores = self.scores(at, part.get("scale", "sqrt"), query, key)
            if "softcap" in part:
                scores = self.keep(f"{at}capped", capped(scores, part))
            positions: Any = self.spec.get("positions") or "none"
            if not crossed and positions != "none" and positions.get("alibi"):
                far = torch.arange(len(x))[:, None] - torch.arange(len(x))
                slope = slope_of(len(read), len(heads))
                scores = self.keep(f"{at}biased", scores - slope * far.abs())
            if not crossed and own_biases(positions):
                scores = self.keep(f"{at}scores_and_bias", scores + self.bias(at, len(x)))
            seen = None if crossed else self._visible(part)
            weights = self.weights(at, scores, seen, self.sink(at, head))
            output = self.keep(f"{at}output", weights @ value)
            output = self.of_heads(place, at, "output_norm", part, output)
            outputs.append(self.gated(at, part, head, x, output))
        concat = self.keep(f"{place}concat", torch.cat(outputs, dim=1))
        if part.get("W_O") is None:
            return self.keep(f"{place}output", concat * 1)
        return self.affine(concat, part, place, "O", "output")

    def convolved(self, at: str, part: Spec, head: Spec, name: str, x: Any) -> Any:
        """Sums over the rows up to each, as a filter weights them; SiLU follows by default."""
        key = f"conv_{name[0].upper()}"
        if key not in head:
            return x
        w, of = self.parameter(f"{at}{key}", head[key]), f"{at}conv_{name}"
        above = len(w) - 1
        rows = torch.cat([x.new_zeros(above, x.shape[1]), x])
        rows = self.keep(f"{of}.rows", rows) if above else rows
        sums = sum(rows[j : j + len(x)] * w[j] for j in range(len(w)))
        if part.get("conv_activation") == "none":
            return self.keep(of, sums)
        return self.keep(of, torch.nn.functional.silu(self.keep(f"{of}.sums", sums)))

    def gated(self, at: str, part: Spec, head: Spec, x: Any, output: Any) -> Any:
        """The output of a head, multiplied by its gate if it has one."""
        if "W_G" not in head:
            return output
        logits = self.affine(x, head, at, "G", "output_gate.logits")
        name = part.get("output_gate", "sigmoid")
        gate = self.keep(f"{at}output_gate", getattr(torch.nn.functional, name)(logits))
        return self.keep(f"{at}gated_output", output * gate)

    def bias(self, at: str, n: int) -> Any:
        """The entries of the table's column for a head, by the offsets of n tokens."""
        own = self.spec["positions"]["relative_bias"]
        table = self.parameter("positions.relative_bias.table", own["table"])
        sees_later = self.spec.get("mask") == "none"
        rows = [
            [bucket_of(key - query, own, sees_later=sees_later) for key in range(n)]
            for query in range(n)
        ]
        head = int(at.rstrip(".").rpartition("head")[2])
        return table[torch.tensor(rows), head - 1]

    def scores(self, at: str, scale: Any, query: Any, key: Any) -> Any:
        dot = query @ key.T
        if scale == "none":
            return self.keep(f"{at}scores", dot)
        dot = self.keep(f"{at}dot", dot)
        by = math.sqrt(query.shape[1]) if scale == "sqrt" else float(scale)
        return self.keep(f"{at}scores", dot / by)

    def sink(self, at: str, head: Spec) -> Any:
        """The sink of a head, hidden where it has none."""
        if "sink" not in head:
            return torch.tensor([-math.inf], dtype=torch.float64)
        return self.parameter(f"{at}sink", [head["sink"]])

    def weights(self, at: str, scores: Any, visible: Any, sink: Any) -> Any:
        if visible is not None:
            hidden = torch.full_like(scores, -math.inf)
            scores = self.keep(f"{at}masked", torch.where(visible, scores, hidden))
        beside = torch.cat([scores, sink.expand(len(scores), 1)], dim=1)
        blind = torch.isneginf(beside).all(dim=1, keepdim=True)
        shares = torch.softmax(beside.masked_fill(blind, 0), dim=1)
        return self.keep(f"{at}weights", shares.masked_fill(blind, 0)[:, :-1])

    def turned(self, address: str, x: Any, asked: Spec | None) -> Any:
        if asked is None:
            return x
        width = int(x.shape[1] * asked.get("share", 1))
        in_pairs, half = asked.get("layout", "pairs") == "pairs", width // 2
        index = torch.arange(len(x), dtype=torch.float64) + int(asked.get("start", 0))
        columns: list[Any] = [None] * width
        rates, factor = frequencies(asked, width, len(x))["div_term"], attention_factor(asked)
        for pair in range(half):
            first, second = (2 * pair, 2 * pair + 1) if in_pairs else (pair, pair + half)
            angle = index * rates[pair]
            a, b = x[:, first], x[:, second]
            cos, sin = factor * torch.cos(angle), factor * torch.sin(angle)
            columns[first] = a * cos - b * sin
            columns[second] = a * sin + b * cos
        turned = torch.cat([torch.stack(columns, dim=1), x[:, width:]], dim=1)
        return self.keep(address, turned)

    def ffn(self, place: str, part: Spec, x: Any) -> Any:
        return (self.mixture if "experts" in part else self.network)(place, part, x)

    def mixture(self, place: str, part: Spec, x: Any) -> Any:
        """The experts one by one, each with its tokens; no gradient through what torch.topk is."""
        router = self.parameter(f"{place}router", part["router"])
        product = x @ router
        if "router_bias" in part:
            product = product + self.parameter(f"{place}router_bias", part["router_bias"])
        logits = self.keep(f"{place}router.logits", product)
        chosen = torch.topk(logits.detach(), int(part.get("top", 2))).indices
        goes = torch.zeros(logits.shape, dtype=torch.bool).scatter(1, chosen, True)
        if part.get("normalize", True):
            kept = torch.where(goes, logits, torch.full_like(logits, -math.inf))
            weights = torch.softmax(self.keep(f"{place}router.chosen", kept), dim=1)
        else:
            shares = self.keep(f"{place}router.probabilities", torch.softmax(logits, dim=1))
            weights = shares * goes
        weights = self.keep(f"{place}router.weights", weights)
        output = torch.zeros(())
        for e, expert in enumerate(part["experts"]):
            at, rows = f"{place}expert{e + 1}.", goes[:, e].nonzero()[:, 0]
            change = self.network(at, expert, self.keep(f"{at}input", x[rows]))
            every = torch.zeros(len(x), change.shape[1], dtype=torch.float64)
            output = output + every.index_add(0, rows, weights[rows, e, None] * change)
        if "shared" in part:
            output = self.keep(f"{place}routed", output)
            shared = self.network(f"{place}shared.", part["shared"], x)
            if "shared_gate" in part:
                column = self.parameter(f"{place}shared_gate", part["shared_gate"])
                logit = self.keep(f"{place}shared_gate.logit", x @ column)
                weight = self.keep(f"{place}shared_gate.weight", torch.sigmoid(logit))
                shared = self.keep(f"{place}shared_gate.output", weight * shared)
            output = output + shared
        return self.keep(f"{place}output", output)

    def network(self, place: str, part: Spec, x: Any) -> Any:
        hidden = self.affine(x, part, place, "1", "hidden")
        name, last = part.get("activation", "relu"), part.get("activates") == "output"
        inside = hidden if last else self.keep(f"{place}activation", activated(name, hidden))
        if "W_3" in part:
            inside = self.keep(f"{place}gated", inside * self.affine(x, part, place, "3", "up"))
        output = self.affine(inside, part, place, "2", "projected" if last else "output")
        return self.keep(f"{place}output", activated(name, output)) if last else output

    def over_heads(
        self, place: str, name: str, part: Spec, of_each: dict[str, Any], placement: str
    ) -> Any:
        """Queries or keys of all heads, normalized: each head's, or all side by side."""
        norm = part.get(name, "none")
        if norm != "none" and norm.get("placement", "before_rotary") != placement:
            return of_each
        if norm == "none" or norm.get("over") != "heads" or len(of_each) == 1:
            return {at: self.of_heads(place, at, name, part, x) for at, x in of_each.items()}
        together = {"query_norm": "queries", "key_norm": "keys"}[name]
        rows = self.keep(f"{place}{together}", torch.cat([*of_each.values()], dim=1))
        columns = self.norm(place, norm, rows, name).split(
            [x.shape[1] for x in of_each.values()], 1
        )
        return {at: self.keep(f"{at}{name}", x) for at, x in zip(of_each, columns, strict=True)}

    def of_heads(self, place: str, at: str, name: str, part: Spec, x: Any) -> Any:
        """Queries or keys of a head, normalized with what all heads have learned."""
        norm = part.get(name, "none")
        return x if norm == "none" else self.norm(at, norm, x, name, f"{place}{name}")

    def norm(
        self, place: str, norm: Spec, x: Any, name: str = "norm", learned: str | None = None
    ) -> Any:
        at = f"{place}{name}"
        learned = learned or at
        rooted = norm.get("kind") == "rms_norm"
        deviation = x
        if not rooted:
            mean = self.keep(f"{at}.mean", x.mean(dim=1))
            deviation = self.keep(f"{at}.deviation", x - mean[:, None])
        squared = self.keep(f"{at}.squared", deviation**2)
        over = x.shape[1] - (norm.get("deviation") == "sample")
        variance = self.keep(
            f"{at}.{'mean_square' if rooted else 'variance'}", squared.sum(dim=1) / over
        )
        epsilon = float(norm.get("epsilon", 0))
        outside = norm.get("epsilon_outside")
        std = torch.sqrt(variance) + epsilon if outside else torch.sqrt(variance + epsilon)
        std = self.keep(f"{at}.{'rms' if rooted else 'std'}", std)
        normed = deviation / std[:, None]
        if norm.get("gain") is not None:
            gain = self.parameter(f"{learned}.gain", norm["gain"])
            normed = normed + normed * gain if norm.get("unit_offset") else normed * gain
        if norm.get("shift") is not None:
            normed = normed + self.parameter(f"{learned}.shift", norm["shift"])
        return self.keep(at, normed)

    def affine(self, x: Any, part: Spec, place: str, letter: str, name: str | None = None) -> Any:
        result = x @ self.parameter(f"{place}W_{letter}", part[f"W_{letter}"])
        if part.get(f"b_{letter}") is not None:
            result = result + self.parameter(f"{place}b_{letter}", part[f"b_{letter}"])
        return self.keep(f"{place}{name}", result) if name else result

    def parameter(self, address: str, numbers: Any) -> Any:
        if address in self.given:
            return tensor(self.given[address])
        if address not in self.learned:
            self.learned[address] = tensor(numbers).requires_grad_()
        return self.learned[address]

    def keep(self, address: str, value: Any) -> Any:
        if address in self.given:
            value = tensor(self.given[address])
        elif value.requires_grad:
            value.retain_grad()
        self.values[address] = value
        return value

    def _visible(self, part: Spec) -> Any:
        """Which token, a row, sees which in an attention; None if each sees all."""
        tokens, mask = self.spec["tokens"], part.get("mask", self.spec.get("mask", "causal"))
        n = len(tokens)
        fills = [token == self.spec.get("padding") for token in tokens]
        if mask == "none" and not any(fills):
            return None

        def sees(i: int, j: int) -> bool:
            match mask:
                case "causal":
                    return j <= i
                case "none":
                    return True
                case {"window": most}:
                    return 0 <= i - j < int(most)
                case _:
                    return bool(mask[i][j] != "-inf" and not math.isinf(float(mask[i][j])))

        return torch.tensor([[sees(i, j) and not fills[j] for j in range(n)] for i in range(n)])


def activated(name: str, x: Any) -> Any:
    """An activation function of PyTorch."""
    match name:
        case "relu":
            return functions.relu(x)
        case "gelu":
            return functions.gelu(x)
        case "gelu_tanh":
            return functions.gelu(x, approximate="tanh")
        case "silu":
            return functions.silu(x)
        case "sigmoid":
            return torch.sigmoid(x)
        case "tanh":
            return torch.tanh(x)
        case "relu_squared":
            return functions.relu(x) ** 2
        case _:
            return x * 1


def capped(x: Any, part: Spec) -> Any:
    cap = float(part["softcap"])
    return cap * torch.tanh(x / cap)


def slope_of(head: int, heads: int) -> float:
    """The slope of ALiBi: of more heads than a power of two, from between those of the others."""
    n = max(n for n in (1, 2, 4, 8, 16) if n <= heads)
    return 2 ** (-8 * head / n) if head <= n else 2 ** (-4 * (2 * (head - n) - 1) / n)
