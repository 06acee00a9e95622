"""What is said of training: what a weight means for the loss, how it is moved, what came of it."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import numpy as np

from tests.helpers.judge import NOISE, Check, Judge, Said, as_shown, number, told_apart
from tests.helpers.judged_part import words_of_parts
from tests.helpers.reference import losses, reduced, shares_norm
from tests.helpers.unembeddings import is_tied, unembedding_of, untied

RAISED = 0.01
CLEAR = 1e-7
"""A difference of the loss that is no noise."""

OF_STEPS = {
    **{"query": "W_Q b_Q", "key": "W_K b_K", "value": "W_V b_V", "hidden": "W_1 b_1"},
    **{"gated": "W_3 b_3", "norm": "norm.gain norm.shift", "embedding": "embeddings"},
    "norm_after": "norm_after.gain norm_after.shift",
    **{rf"{n}\.gain": f"{n}.gain {n}.shift" for n in ("query_norm", "key_norm")},
    **{"logits": "unembedding.W_U unembedding.b_U", "position": "positions.table"},
    **{"attention.output": "W_O b_O", "ffn.output": "W_2 b_2"},
    **{f"W_{of}": f"W_{of}.A W_{of}.B" for of in "QKVO123"},
    "W_U": "unembedding.W_U.A unembedding.W_U.B",
    **{r"(?:expert\d+|shared)\.output": "W_2 b_2", r"router\.logits": "router router_bias"},
    r"shared_gate\.weight": "shared_gate",
    "scores_and_sink": "sink",
}
"""The parameters that a step learns, by the end of the address of what it gives."""

NAMES = {
    **{"γ": "norm.gain", "β": "norm.shift", "W_E": "embeddings", "W_P": "positions.table"},
    **{
        "W_U": "unembedding.W_U",
        "b_U": "unembedding.b_U",
        "W_r": "router",
        "b_r": "router_bias",
        "s": "sink",
    },
    "w_s": "shared_gate",
    **{f"{part}_{of}": f"W_{of}.{part}" for of in "QKVO" for part in "AB"},
    **{f"{part}_U": f"unembedding.W_U.{part}" for part in "AB"},
    **{f"{part}{of}": f"W_{'₀₁₂₃'.index(of)}.{part}" for of in "₁₂₃" for part in "AB"},
    **{"W₁": "W_1", "W₂": "W_2", "W₃": "W_3", "b₁": "b_1", "b₂": "b_2", "b₃": "b_3"},
}
"""Parameters whose symbols say something else than their names."""


def upstream(at: Judge) -> list[str]:
    """The given gradients, at which the backward pass begins."""
    whole = at.scenario
    return [address for address in whole.get("given", {}) if address.startswith("gradient.")]


# --- the backward pass ----------------------------------------------------------------------------


def place_of(at: Judge) -> str:
    """layer1.attention.head1. of a section of the backward pass; final_ of the norm behind all.

    embedding_ of the norm of the embeddings.
    """
    found = re.match(
        r"gradient\.((?:encoder\.)?"
        r"(?:layer\d+\.\w+\.(?:(?:head|expert)\d+\.|shared\.)?|final_|embedding_(?=norm)|"
        r"unembedding\.transform\.)?)",
        at.address,
    )
    return found[1] if found else ""


def steepest(at: Judge) -> tuple[str, tuple[int, ...]] | None:
    """The address and the index of the largest gradient of a section's parameters."""

    def learned(table: Mapping[str, str]) -> list[str]:
        prefix = r"(\.|final_|embedding_|cross_)"
        return [names for end, names in table.items() if re.search(f"{prefix}{end}$", at.address)]

    ends = learned(words_of_parts("learned")) or learned(OF_STEPS)
    addresses = [place_of(at) + name for names in ends for name in names.split()]
    # The sum of LoRA is no parameter.
    addresses = [address for address in addresses if f"{address}.frozen" not in at.values]
    if is_tied(at.spec):  # W_U is learned as the rows of the embeddings
        addresses = [address for address in addresses if address != "unembedding.W_U"]
    found = []
    for address in addresses:
        if gradient := at.values.get(f"gradient.{address}"):
            sizes = np.abs(np.array(gradient["data"], float))
            index = np.unravel_index(sizes.argmax(), sizes.shape)
            found.append((float(sizes.max()), address, tuple(map(int, index))))
    return max(found)[1:] if found else None


def says_what_a_weight_means(at: Judge) -> bool:
    """Whether a section has a weight that acts on the loss.

    Without a gradient it acts only beyond a kink, or where logits of experts are as good as equal.
    """
    found = None if upstream(at) else steepest(at)
    if found is None:
        return False
    address, index = found
    gradient = np.array(at.values[f"gradient.{address}"]["data"], float)
    return bool(gradient[index]) and abs(difference(at, address, index)) > CLEAR


def difference(at: Judge, address: str, index: tuple[int, ...]) -> float:
    """By how much the loss is larger with one weight raised."""
    whole = at.scenario
    raised: Any = copy.deepcopy(whole)
    *keys, last = keys_of(f"encoder.{address}" if at.outside else address, raised)
    part = raised
    for key in keys:
        part = part[key]
    if last == "sink":  # a single number
        part[last] = float(part[last]) + RAISED
        return loss(raised) - loss(whole)
    numbers = part[last]
    if isinstance(numbers, dict):
        numbers = list(numbers.values())
    for i in index[:-1]:
        numbers = numbers[i]
    numbers[index[-1]] = float(numbers[index[-1]]) + RAISED
    return loss(raised) - loss(whole)


def keys_of(address: str, spec: Any) -> tuple[int | str, ...]:
    """Where a scenario says a parameter; the norm of a layer is said at each sub-layer first."""
    if address.startswith("encoder."):
        return ("encoder", *keys_of(address.removeprefix("encoder."), spec["encoder"]))
    within = r"head(\d+)\.|(\w*norm|norm_after)\."
    layer = re.fullmatch(rf"layer(\d+)\.(\w+)\.(?:{within})?(\w+)(?:\.([AB]|frozen))?", address)
    expert = re.fullmatch(
        r"layer(\d+)\.ffn\.(?:expert(\d+)|shared)\.(\w+)(?:\.([AB]|frozen))?", address
    )
    if expert:
        where = ("experts", int(expert[2]) - 1) if expert[2] else ("shared",)
        lora = (expert[4],) if expert[4] else ()
        return ("layers", int(expert[1]) - 1, "ffn", *where, expert[3], *lora)
    if latent := re.fullmatch(r"layer(\d+)\.(\w+)\.((?:latent|gate|beta)\..+)", address):
        return ("layers", int(latent[1]) - 1, latent[2], *latent[3].split("."))
    if layer is None:
        return tuple(address.split("."))
    number, sub_layer, head, norm, name, of_lora = layer.groups()
    part = spec["layers"][int(number) - 1]
    if norm == "norm" and shares_norm(part) and norm not in part[sub_layer]:
        return ("layers", int(number) - 1, norm, name)  # attention and the FFN read it
    if norm in ("norm", "norm_after") and norm not in part[sub_layer]:
        part[sub_layer][norm] = copy.deepcopy(part[norm])
    inside = ("heads", int(head) - 1) if head else (norm,) if norm else ()
    return ("layers", int(number) - 1, sub_layer, *inside, name, *filter(None, (of_lora,)))


def loss(spec: dict[str, Any]) -> float:
    """That of all positions that count: of all examples, or of the tokens."""
    examples = [{**spec, **example} for example in spec.get("training", [])] or [spec]
    counted = [each for example in examples for each in _losses(example) if each is not None]
    return reduced(spec, counted)


def _losses(spec: dict[str, Any]) -> list[float | None]:
    """The loss at each position; that of probabilities which are given stays as it is."""
    spec = untied(spec)
    if "probabilities" not in spec.get("given", {}):
        return losses(spec)
    right = [spec["vocabulary"].index(target) for target in spec["targets"]]
    rows = zip(spec["given"]["probabilities"], right, strict=True)
    return [-math.log(float(row[column])) for row, column in rows]


def of_a_product(at: Judge, said: Said) -> None:
    place = at.address.rpartition(".")[0]
    names = [at.address, *(f"{place}.{weights}" for weights in ("W_O", "W_2", "W_M"))]
    if ".latent" in at.address or ".transform" in at.address:
        names += [f"{at.address}.left", f"{at.address}.right"]
    passed = [at.values[name]["operation"] for name in names if name in at.values]
    assert {"dot", "transposed_matmul"} & set(passed)


def raised(at: Judge, said: Said) -> None:
    found = steepest(at)
    assert found
    address, index = found
    symbol = said["symbol"].rstrip("¹²³⁴⁵⁶⁷⁸⁹⁰ᴱˢ")
    named, scale = (
        (NAMES | words_of_parts("symbols")).get(symbol, symbol),
        at.address.removesuffix(".gain"),
    )
    norm = re.search(r"latent\.\w+$|\w+_norm$|norm_after$", scale)
    if norm and norm[0] not in ("embedding_norm", "final_norm"):
        named = named.replace("norm.", f"{norm[0]}.")
    assert place_of(at) + named in (address, place_of(at) + address)
    axes = at.values[f"gradient.{address}"]["axes"]
    names = [told_apart(a["labels"])[i] for a, i in zip(axes, index, strict=True)]
    assert [as_shown(name) for name in names] == [x for x in (said["row"], said["column"]) if x]
    larger = difference(at, address, index)
    assert (larger < 0) == (said["how"] == "lower")
    mantissa = said["by"].partition("×")[0]
    last = number(said["by"]) / float(mantissa) * 10.0 ** -len(mantissa.partition(".")[2])
    assert abs(abs(larger) - number(said["by"])) <= 0.51 * last


def bends(at: Judge, said: Said) -> None:
    place = place_of(at)
    if place.startswith("unembedding."):
        function = unembedding_of(at.spec)["transform"].get("activation", "relu")
        assert (function == "relu") == said[""].startswith("ReLU")
        return
    tower = at.spec["encoder"] if place.startswith("encoder.") else at.spec
    layer, sub_layer = place.removeprefix("encoder.").split(".")[:2]
    ffn = tower["layers"][int(layer.removeprefix("layer")) - 1][sub_layer]
    if expert := re.search(r"\.expert(\d+)\.", place):
        ffn = ffn["experts"][int(expert[1]) - 1]
    ffn = ffn["shared"] if ".shared." in place else ffn
    assert (ffn.get("activation", "relu") == "relu") == said[""].startswith("ReLU")


def of_a_norm(at: Judge, said: Said) -> None:
    norm = at.address.removeprefix("gradient.")
    parts = ("deviation", "squared", "variance", "mean_square", "std", "rms")
    computed = [f"{norm}.{part}" for part in parts if f"{norm}.{part}" in at.values]
    assert computed and not any(map(at.pinned, computed))


def of_all_heads(at: Judge, said: Said) -> None:
    ends = {"γ": "gain", "β": "shift"}
    norm = at.address.removesuffix(".gain")
    found = {s: at.values.get(f"{norm}.{end}") for s, end in ends.items()}
    learned = {symbol: value for symbol, value in found.items() if value}
    assert said["what"] == " and ".join(learned)
    place, _, name = norm.removeprefix("gradient.").rpartition(".")
    heads = [a for a in at.values if re.fullmatch(rf"{re.escape(place)}\.head\d+\.{name}", a)]
    together = f"{place}.{name}" in at.values
    assert (len(heads) > 1 and not together) == bool(said["several"])


def at_the_encoder(at: Judge, said: Said) -> None:
    encoder = at.scenario["encoder"]
    assert ("vectors" in encoder) == bool(said["ends"])


def one_of_them(at: Judge, said: Said) -> None:
    value = at.values[f"update.{said['address']}"]
    assert value["symbol"].startswith(said["symbol"])


def only_these(at: Judge, said: Said) -> None:
    asked, found = at.spec["optimizer"]["trains"], said["all"].split(", ")
    assert all(any(fnmatchcase(each, pattern) for pattern in asked) for each in found)
    updates = [a.removeprefix("update.") for a in at.values if a.startswith("update.")]
    assert {a for a in updates if f"gradient.{a}" in at.values} == {*found}


# --- the update ----------------------------------------------------------------------------------


def moved(at: Judge, said: Said) -> None:
    address = re.sub(r"^\d+\. The update of ", "", at.heading)
    new = at.values[f"update.{address}"]
    assert float(new["parameters"]["b"]) == -number(said["rate"])
    kept = {name for name in at.values if name.startswith(f"update.{address}.")}
    assert bool(said.get("momentum")) == (f"update.{address}.velocity" in kept)
    optimizer = at.spec.get("optimizer", {})
    if said.get("kind") is None:
        momentum = number(str(optimizer.get("momentum", 0)))
        assert number(said["momentum"] or "0") == momentum
        assert said["what"] == ("velocity" if momentum else "gradient")
    else:
        assert bool(said["epsilon"]) == (number(str(optimizer.get("epsilon", 1e-8))) > 0)
    decays = number(str(optimizer.get("weight_decay", 0))) > 0
    assert bool(said["decay"]) == (decays and said.get("kind") != "AdamW")
    assert bool(said.get("kind")) == (f"update.{address}.second_moment" in kept)
    if said.get("kind") and f"update.{address}.decayed" in kept:
        decays_the_weight = new["operands"][0] == f"update.{address}.decayed"
        assert decays_the_weight == (said["kind"] == "AdamW")
    assert bool(said.get("none")) == (said.get("kind") == "AdamW" and not decays)


# --- what came of it -----------------------------------------------------------------------------


def came_of_it(at: Judge, said: Said) -> None:
    first, *_, last = at.passes
    steps = len(at.passes) - 1
    assert said["steps"].lower() == ("one step" if steps == 1 else f"{steps} steps")
    assert bool(said.get("s")) == (steps == 1 and "how" in said)
    assert (
        said["last"] == last["printed"] and said.get("first", last["printed"]) == first["printed"]
    )
    shows = last["printed"] != first["printed"]
    assert shows == ("first" in said)
    change = number(str(last["loss"])) - number(str(first["loss"]))
    if change or "how" not in said:  # a loss that is rounded to go on with may hide a change
        assert said.get("how") == (None if not change else "lower" if change < 0 else "raise")
    if said.get("first"):
        assert_changed(at, said, abs(change))


def correct_before_and_after(at: Judge, said: Said) -> None:
    """The table above has the predictions; so many are right."""
    words = at.values["probabilities"]["axes"][1]["labels"]
    targets = at.values["loss.target"]["data"]
    for name, each in (("before", at.passes[0]), ("after", at.passes[-1])):
        pairs = zip(targets, each["predictions"], strict=True)
        right = [a == b for a, b in pairs if a in words]
        assert said[name] == f"{sum(right)} of {len(right)}"
    assert_said(at)


def falls(at: Judge, said: Said) -> None:
    """A loss that is rounded to go on with may hide that it falls."""
    losses = [number(str(each["loss"])) for each in at.passes]
    changes = [b - a for a, b in pairwise(losses)]
    counted = re.fullmatch(r"(\d+) of (\d+) steps", said["what"])
    lower = int(counted[1]) if counted else len(changes)
    assert len(changes) > 1 and (counted is None or lower < int(counted[2]) == len(changes))
    assert sum(x < 0 for x in changes) <= lower <= sum(x <= 0 for x in changes)
    assert_steps(at)


def assert_changed(at: Judge, said: Said, change: float) -> None:
    """The change is named where the printed numbers differ by something else."""
    printed = abs(number(said["last"]) - number(said["first"]))
    exact = at.rounding["carry"] == "never"  # else the loss in JSON is rounded
    if said["by"] is None:
        assert not exact or abs(printed - change) <= printed / 10 + NOISE
        return
    by = number(said["by"])
    last_place = max(10.0 ** -len(said[each].partition(".")[2]) for each in ("first", "last"))
    assert abs(by - printed) > printed / 20 and abs(by - printed) <= last_place + NOISE
    assert not exact or abs(by - change) <= 0.06 * change


def other_rows_of_0(at: Judge, said: Said) -> None:
    table = {"W_E": "embeddings", "W_P": "positions.table"}[said["symbol"]]
    gradient = at.values[f"gradient.{table}"]
    rows = dict(zip(told_apart(gradient["axes"][0]["labels"]), gradient["data"], strict=True))
    cells = [re.split(" {2,}", line.strip("▸ ")) for line in at.lines]
    header = max(i for i, row in enumerate(cells) if row[0] == gradient["symbol"])
    shown = {row[0] for row in cells[header + 1 :]}
    others = [row for label, row in rows.items() if as_shown(label) not in shown]
    assert others and not any(number(str(x)) for row in others for x in row)


def assert_steps(at: Judge) -> None:
    """A row for each step: its loss, and how many of the guesses that count are right."""
    rows = [line for line in at.lines if re.match(r"  \d+  ", line)][: len(at.passes)]
    if at.spec.get("loss", {}).get("kind", "cross_entropy") != "cross_entropy":
        for i, (row, each) in enumerate(zip(rows, at.passes, strict=True)):
            assert re.split(" {2,}", row.strip()) == [str(i), each["printed"]]
        return
    words = at.values["probabilities"]["axes"][1]["labels"]
    targets = at.values["loss.target"]["data"]
    counted = [i for i, target in enumerate(targets) if target in words]
    for i, (row, each) in enumerate(zip(rows, at.passes, strict=True)):
        right = sum(each["predictions"][at] == targets[at] for at in counted)
        expected = [str(i), each["printed"], f"{right} of {len(counted)}"]
        assert re.split(" {2,}", row.strip())[:3] == expected


def assert_said(at: Judge) -> None:
    """What is said at each position before and after, of those that have a target."""
    start = max(i for i, line in enumerate(at.lines) if re.match("  input +target +before", line))
    targets = at.values["loss.target"]["data"]
    before, after = at.passes[0]["predictions"], at.passes[-1]["predictions"]
    words = at.values["probabilities"]["axes"][1]["labels"]
    shown = at.values["probabilities"]["printed"]
    rows = iter(at.lines[start + 1 :])
    for i, target in enumerate(targets):
        if target not in words:
            continue
        cells = re.split(" {2,}", next(rows).strip())
        expected = [at.tokens[i], target, before[i], shown[i][words.index(target)], after[i]]
        assert cells[:5] == list(map(as_shown, expected)), cells
        assert cells[-1] == ("✓" if after[i] == target else "✗")


CLAIMS: dict[str, Check] = {
    "A matrix product passes its gradient to both of its factors. The gradient at its input is the gradient at its output times the transposed weights. The gradient at its weights is the transposed input times the gradient at its output: it adds up the contributions of all tokens.": of_a_product,
    "Raising {symbol} at “{row:name}”[, “{column:text}”] by 0.01 would {how:lower|raise} the loss by {by}.": raised,
    "ReLU passes the gradient where its input is positive and stops it elsewhere: its slope is 1 or 0.": bends,
    "There is no activation function here: the gradient is passed on.": bends,
    "The norm divides each feature by a number that depends on all features of the token. Each feature therefore acts on the loss in several ways, and the contributions are added.": of_a_norm,
    "Compute the gradient at {what:the sum|the input of the (?:en|de)coder}[paths:: add up the contributions of all paths from there to the loss].": lambda at, said: (
        (at.result["operation"] == "add_all") == bool(said["paths"])
        and ("encoder" in said["what"]) == (bool(at.outside) and said["what"] != "the sum")
    ),
    "Compute the gradient at {:each (?:query|key|value|hidden unit|gated hidden unit)|each router logit|each weight of an expert|each token's gate|the vectors that the expert reads|the sum of the experts|the attention output|the FFN output}[weights: and at the weights that produce it].": lambda at, said: (
        (steepest(at) is not None) == bool(said["weights"])
    ),
    "Compute the gradient at {what:γ|β|γ and β}[several:: add up the contributions of all heads].": of_all_heads,
    "Compute the gradient at the encoder output. {:The backward pass of the encoder begins here|(?P<ends>This output is given, so the gradient goes no further)}.": at_the_encoder,
    "Compute the gradient at each {what:query|key|value}. The {all:queries|keys|values} are given, so the gradient goes no further.": lambda at, said: (
        at.typed
        and said["all"] == {"query": "queries", "key": "keys", "value": "values"}[said["what"]]
        and bool(re.fullmatch(rf"gradient\.layer1\.attention\.head\d+\.{said['what']}", at.address))
    ),
    "No parameter is trained: only typed queries, keys and values have gradients. Lines are worked for one token only.": lambda at, _: (
        at.typed and not any(address.startswith("update.") for address in at.values)
    ),
    "Every gradient is shown, but lines are worked for one token and one parameter only. The worked parameter is {symbol}, {address}.": one_of_them,
    "Only the gradient of one parameter is worked, for one token. The worked parameter is {symbol}, {address}.": one_of_them,
    "The backward pass computes the gradients step by step, from {begins:the loss|what is given} back to the inputs. By the chain rule, the gradient at a step's input a is the gradient at its output b times the step's own derivative. Where a value is used in several places, the contributions are added.": lambda at, said: (
        (said["begins"] == "the loss") == (not upstream(at))
    ),
    "The backward pass begins at what is given: {all:text}. The steps after it and the loss are not needed.": lambda at, said: (
        said["all"].split(", ") == upstream(at) and "loss" not in at.values
    ),
    "The gradient of the loss at: {:.+}.": lambda at, _: any(
        at.values[address]["operation"] == "given" for address in upstream(at)
    ),
    "Only these parameters are trained: {all:text}. All others keep their numbers, so the text shows no gradients of them.": only_these,
    "The norm does not exceed the limit, so the gradients stay as they are.": lambda at, _: (
        "gradient.norm" in at.values and "gradient.norm.factor" not in at.values
    ),
    "Stochastic gradient descent subtracts the {what:gradient|velocity} times the learning rate, η = {rate}, from each weight.[ The velocity is the gradient plus {momentum} times the velocity of the step before.][decay: Weight decay is added to the gradient first.]": moved,
    "{kind:AdamW?} divides the running mean of the gradients by the root of the running mean of their squares: {epsilon:|without ε, }gradients twice as large would lead to the same step. It subtracts this quotient times the learning rate, η = {rate}, from each weight.[decay: Weight decay is added to the gradient first.][none: The weight decay is 0 here; the default of PyTorch's AdamW is 0.01.]": moved,
    r"{steps:One step|\d+ steps} {how:lower|raise}{s:s?} the loss L[ by {by}; rounded,] from {first} to {last}.": came_of_it,
    "Correct predictions: {before:text} before training, {after:text} after it.": correct_before_and_after,
    r"The loss falls in {what:each step|\d+ of \d+ steps}.": falls,
    r"The loss L is {last} before and after {steps:one step|\d+ steps}.": came_of_it,
    r"{steps:One step|\d+ steps} {how:lower|raise}{s:s?} the loss L by less than its digits show: it is {last} before and after.": came_of_it,
    "All other rows of ∂L/∂{symbol:W_[EP]} are 0.": other_rows_of_0,
}
