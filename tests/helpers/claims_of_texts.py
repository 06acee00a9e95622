"""What is said around the steps: of the text, its loss, its parameters, its turns."""

from __future__ import annotations

import json
import math
import re
from fnmatch import fnmatchcase
from typing import Any

from tests.helpers.claims_of_reasons import has_cross_attention, partly_given, plan
from tests.helpers.command import run
from tests.helpers.judge import Check, Judge, Said, address_of, listed, number, told_apart
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.typed_heads import written_tokens

LOSSES = ("Cross-entropy loss", "Squared error loss", "Binary cross-entropy loss")

# --- loss ----------------------------------------------------------------------------------------


def not_counted(at: Judge, said: Said) -> None:
    examples = [v["data"] for a, v in at.values.items() if a.endswith("loss.target")]
    none = [target for targets in examples for target in targets if target == "—"]
    assert int(said["n"]) == len(none) and ("positions have" in said[""]) == (len(none) > 1)


def right(at: Judge, said: Said) -> None:
    pairs = zip(at.values["loss.target"]["data"], at.values["prediction"]["data"], strict=True)
    asked = [target == word for target, word in pairs if target != "—"]
    assert (int(said["right"]), int(said["all"])) == (sum(asked), len(asked))


def forcing(at: Judge, said: Said) -> None:
    targets = at.values["loss.target"]["data"][:-1]
    shifted = all(t in ("—", token) for t, token in zip(targets, at.tokens[1:], strict=True))
    foretells = not at.typed and at.spec.get("objective") != "masked"
    assert said[""].startswith("The model reads") == (len(at.tokens) == 1 and foretells)
    assert said[""].startswith("Teacher") == (shifted and len(at.tokens) > 1 and foretells)
    if "asked" in said:
        assert bool(said["asked"]) == ("—" in at.values["loss.target"]["data"])
    if "hides" in said:
        of_self_attention = re.compile(r"layer\d+\.attention\.(.*\.)?masked")
        masked = [v["data"] for a, v in at.values.items() if of_self_attention.fullmatch(a)]
        kept = all(
            number(str(x)) < -1e300 for m in masked for i, r in enumerate(m) for x in r[i + 1 :]
        )
        of_heads = re.compile(r"layer\d+\.attention\.(.*\.)?weights")
        heads = sum(bool(of_heads.fullmatch(address)) for address in at.values)
        assert bool(said["hides"]) == bool(len(masked) == heads > 0 and kept)


def misled(at: Judge, said: Said) -> None:
    """A pass over the correct words, and a wrong one at their end, predicts a wrong word again."""
    targets = at.values["loss.target"]["data"]
    wrong, after = said["wrong"] or said["own"], said["after"] or said["begin"]
    begins = [" ".join(at.tokens[: i + 1]) for i in range(len(at.tokens))]
    i = begins.index(after)
    shares = dict(zip(*_words_and_shares(at, i), strict=True))
    rank = sorted(shares, key=lambda word: -shares[word]).index(wrong)
    assert rank == (1 if said["wrong"] else 0) and wrong != targets[i]
    tokens = [*at.tokens[: i + 1], wrong]
    assert said["read"] == " ".join(tokens) and said["correct"] == targets[i + 1]
    spec = {key: v for key, v in at.spec.items() if key not in ("targets", "notes", "summary")}
    ran = run("run", "-", "-f", "json", stdin=to_yaml({**spec, "tokens": tokens}))
    found = {value["address"]: value for value in json.loads(ran.stdout)["values"]}
    assert found["prediction"]["data"][-1] == said["then"] != said["correct"]


def _words_and_shares(at: Judge, i: int) -> tuple[list[str], list[float]]:
    shares = at.values["probabilities"]
    return shares["axes"][1]["labels"], [float(share) for share in shares["data"][i]]


def batch(at: Judge, said: Said) -> None:
    examples = at.spec["training"]
    further = all(len(x["tokens"]) > 1 and x["tokens"][1:] == x["targets"][:-1] for x in examples)
    assert int(said["n"]) == len(examples) and bool(said["shifted"]) == further
    assert ("examples" in said[""]) == (len(examples) != 1)


def example_followed(at: Judge, said: Said) -> None:
    examples = [example["tokens"] for example in at.spec["training"]]
    assert said["example"] == " ".join(at.tokens)
    assert at.tokens in examples and len(examples) > 1


def other_texts(at: Judge, said: Said) -> None:
    own = at.further["own"]["tokens"]["data"]
    assert own not in [example["tokens"] for example in at.spec["training"]] != []


# --- what surrounds the steps --------------------------------------------------------------------


def followed(at: Judge, said: Said) -> None:
    assert (said["who"], said["i"], said["n"]) == (
        at.who,
        str(at.followed + 1),
        str(len(at.tokens)),
    )


def planned(at: Judge, said: Said) -> None:
    plan(at, said)
    followed(at, said)


def followed_in_the_encoder(at: Judge, said: Said) -> None:
    at.look(into_encoder=True)
    assert (said["who"], said["i"], said["n"]) == (
        at.who,
        str(at.followed + 1),
        str(len(at.tokens)),
    )
    at.look(into_encoder=False)


READ = "[read: The decoder attends to these vectors.]"


def encoded(at: Judge, said: Said) -> None:
    encoder = at.spec["encoder"]
    reused = at.turn > 1 and "vectors" not in encoder
    assert reused == ("are reused" in said[""])
    assert said[""].startswith("The encoder has computed") == ("vectors" in encoder)
    if not reused and "vectors" not in encoder:
        assert said[""].startswith("The encoder has no") == (not encoder.get("layers"))
        assert bool(said["read"]) == has_cross_attention(at)
        assert bool(said["normalized"]) == has_final_norm(encoder)


def has_final_norm(tower: dict[str, Any]) -> bool:
    """Whether the vectors are normalized behind the layers."""
    return bool(tower.get("final_norm", "none") != "none")


def carried(at: Judge, said: Said) -> None:
    words = {
        "line": r"Each number is rounded where it is printed, and the rounded number is used from "
        r"there on\.",
        "step": r"A number is rounded where its step ends(; inside a step, it shows up to \d digits?"
        r" more)?\.",
        "never": r"Only the printed digits are rounded; the calculation keeps all of them\.",
    }
    assert re.fullmatch(words[at.rounding["carry"]], said["carried"])
    assert any(re.search("[=≈]", line) for line in at.lines), "no worked line above"


def worked_without_the_mask(at: Judge, said: Said) -> None:
    at.token = at.names.index(said["who"])
    at.address = address_of(f"{said['where'] or ''} · Without the mask", at)
    rows = [[number(str(weight)) for weight in row] for row in at.result["data"]]
    later = [sum(row[i + 1 :]) for i, row in enumerate(rows)]
    rounded = len(later) * 10.0 ** -at.rounding["decimals"]  # it is chosen before that
    assert later[at.token] >= max(later) - rounded


def reads(at: Judge, said: Said) -> None:
    encoder = at.spec.get("encoder")
    assert not at.typed
    looks = "It also" if has_cross_attention(at) else "No layer"
    assert said["looks"] == (looks if encoder else None)
    assert said["tokens"] == listed(at.names)
    assert said["others"] == (listed(told_apart(encoder["tokens"])) if encoder else None)


def question(at: Judge, said: Said) -> None:
    n = len(at.tokens)
    masks = [mask["data"] if mask else [[0] * n] * n for mask in at.masks()]
    pairs = [(i, j) for i in range(n) for j in range(n)]
    seen = [(i, j) for i, j in pairs if any(number(str(mask[i][j])) == 0 for mask in masks)]
    if not at.only_hides():
        seen = []  # nothing is said of tokens of which nearly nothing may be left
    ahead, back = any(j > i for i, j in seen), any(j < i for i, j in seen)
    before = "the tokens before it" if back else None
    assert said["whom"] == ("the other tokens" if ahead else before)
    assert "prediction" not in at.values and not at.typed


def one_of_a_batch(at: Judge, said: Said) -> None:
    sequences = at.spec["batch"]
    assert at.tokens in sequences and len(sequences) > 1
    assert len({len(tokens) for tokens in sequences}) == 1
    padded = any(at.padding in tokens for tokens in sequences)
    assert said["padding"] == (at.padding if padded else None)


def as_in(at: Judge, said: Said) -> None:
    assert int(said["n"]) < int(at.heading.partition(".")[0])
    assert kind_of(at.titles[said["n"]]) == kind_of(at.heading)
    own = parameters_of_norm(at, f"{'encoder.' * bool(at.outside)}{at.address}")
    steps = at.steps[int(said["n"]) - 1 : int(said["n"])]  # those of a text in normal length
    before = parameters_of_norm(at, steps[0]["address"]) if steps else own
    lacks = [letter for letter in before if letter not in own]
    assert said.get("lacks") == (" and ".join(lacks) or None) and {*own} <= {*before}
    if said.get("parts"):
        takes(at, said)


def parameters_of_norm(at: Judge, address: str) -> list[str]:
    """γ and β, as far as they are operands of a value."""
    operands = (at.outside or (at.values,))[0].get(address, {}).get("operands", ())
    names = {operand.rpartition(".")[2] for operand in operands}
    return [letter for name, letter in (("gain", "γ"), ("shift", "β")) if name in names]


def the_same(at: Judge, said: Said) -> None:
    """The steps have the names of earlier ones: of all those that are given, if these are few."""
    number = int(re.match(r"\d+", at.heading)[0])  # type: ignore[index]
    own = at.here or at.steps[number - 1 : number]
    if "first" in said:
        assert (int(said["first"]), int(said["last"])) == (own[0]["number"], own[-1]["number"])
    ranges = re.findall(
        r"step (\d+)(?: to step (\d+))?", said.get("steps", f"step 1 to step {number - 1}")
    )
    named = [
        step for first, last in ranges for step in at.steps[int(first) - 1 : int(last or first)]
    ]
    assert all(step["number"] < number for step in named)
    of_own, of_named = ({step["name"] for step in steps} for steps in (own, named))
    assert of_own == of_named if "steps" in said else of_own <= of_named


def kind_of(heading: str) -> str:
    """`LayerNorm` of `21. LayerNorm after attention`, `30. Final LayerNorm` or `2. Embedding …`.

    Of block 3 `Block`.
    """
    title = re.sub(r"^\d+\. ", "", heading).rpartition(" · ")[2]
    return re.sub(r"^(?:Embedding|Final) | (?:after|before|of) .+| \d+$", "", title)


def takes(at: Judge, said: Said) -> None:
    here = int(at.heading.partition(".")[0])
    assert all(int(n) < here for n in re.findall(r"\(step (\d+)\)", said["parts"]))


def given(at: Judge, said: Said) -> None:
    named = [v for v in at.values.values() if v["symbol"] == said["symbol"]]
    assert any(value["operation"] == "given" for value in named)


def described(at: Judge, said: Said) -> None:
    shape = [int(n) for n in said["shape"].split(" × ")]
    axes = [said["rows"], re.sub("^dimension of a (query|key|value)$", r"\1", said["columns"])]
    named = [v for v in at.values.values() if v["symbol"] == said["symbol"]]
    own = {step["address"].removeprefix("encoder.") for step in at.here}
    [address] = own & {v["address"] for v in named} if own else {at.address}
    assert ("dimension of a" in said[""]) == address.endswith((".query", ".key", ".value"))
    assert any(v["shape"] == shape and [a["name"] for a in v["axes"]] == axes for v in named)


def parameters(at: Judge, said: Said) -> None:
    for symbol, shape, count in re.findall(r"(\S+) has (?:([\d × ]+) = )?(\d+)", said["parts"]):
        shapes = [v["shape"] for v in at.values.values() if v["symbol"] == symbol]
        wanted = [int(n) for n in (shape or count).split(" × ")]
        assert wanted in shapes and int(count) == wanted[0] * (wanted[1] if len(wanted) > 1 else 1)
        last = count
    assert said[""].endswith("parameter.") == (last == "1")


def embedded(at: Judge, said: Said) -> None:
    given_rows = isinstance(at.spec["embeddings"], list) or "embedding" in at.spec.get("given", {})
    assert ("looks up" in said[""]) != given_rows
    if "who" in said:
        assert said["who"] == at.who and int(said["n"] or 1) == at.result["shape"][0]
        assert said["such"] in (None, at.who)
        assert bool(said["has_ids"]) == ("token_ids" in at.values)
        assert said["has_ids"] or said["rows"] is None
        if said["has_ids"]:
            ids(at, said)


def positions(at: Judge, said: Said) -> None:
    waves = at.values.get("position.angle")
    assert bool(said["who"]) == (waves is not None)
    if waves:
        indices = at.values["position.index"]["data"]
        assert int(said["d"]) == at.values["position"]["shape"][1] and said["who"] == at.who
        assert int(said["position"]) == indices[at.followed - len(at.tokens) + len(indices)]
        assert int(said["start"]) == int(said["position"]) - at.followed


def waves_or_table(at: Judge, said: Said) -> None:
    waves = "position.angle" in at.values and at.values["position"]["shape"][1] > 2
    table = isinstance(at.spec["positions"], list) or "table" in at.spec["positions"]
    assert (table if "table" in said[""] else waves) and "position" not in at.spec.get("given", {})


def depends_on_the_distance(at: Judge, said: Said) -> None:
    """With a sine and a cosine of each angle: sin a sin b + cos a cos b = cos(a − b)."""
    sin, cos = (at.values[f"position.{wave}"] for wave in ("sin", "cos"))
    assert said["who"] == at.who and at.address == "position"
    assert not any(map(at.pinned, ("position", "position.sin", "position.cos", "position.angle")))
    columns = zip(*at.result["data"], strict=True)
    pairs = (zip(*each["data"], strict=True) for each in (sin, cos))
    assert list(columns) == [column for pair in zip(*pairs, strict=True) for column in pair]


def ids(at: Judge, said: Said) -> None:
    found = [str(int(each)) for each in at.values["token_ids"]["data"]]
    assert said["ids"] == (", ".join(found) if len(found) <= 12 else None)
    assert said["ids"] is None or said["tokens"] == listed(told_apart(at.tokens))
    table = at.spec["embeddings"]
    is_drawn = isinstance(table, dict) and "random" in table
    by_word = is_drawn or (isinstance(table, dict) and {*at.tokens} <= {*map(str, table)})
    if is_drawn:
        read = (each["tokens"] for each in at.spec.get("training", ()))
        start, end = (at.spec.get("generation", {}).get(key, ()) for key in ("start", "end"))
        ends = [[each] if isinstance(each, str) else each for each in (start, end)]
        texts = (at.tokens, at.spec.get("vocabulary", ()), *at.spec.get("batch", ()), *read, *ends)
        table = {word for words in texts for word in words}
    rows = len(table) if by_word else math.inf
    few = max(map(int, found)) > rows
    assert said["rows"] == (str(rows) if few else None)


def padded(at: Judge, said: Said) -> None:
    batch, token = at.spec["batch"], said["token"]
    assert token == at.spec["padding"] and any(token in map(str, row) for row in batch)
    assert len({len(row) for row in batch}) == 1 and at.tokens not in batch


def in_sequence(at: Judge, said: Said) -> None:
    padded = [at.spec["padding"] in map(str, row) for row in at.spec["batch"]]
    assert int(said["i"]) == padded.index(True) + 1


def shape_of_all(at: Judge, said: Said) -> None:
    examples = at.spec["training"]
    assert {len(example["tokens"]) for example in examples} == {int(said["n"])}
    words = len(at.spec["vocabulary"])
    assert (int(said["words"]), int(said["examples"])) == (words, len(examples))
    assert said["shape"] == f"{len(examples)}, {said['n']}, {words}"


def inputs(at: Judge, said: Said) -> None:
    is_sum = said[""].startswith("The position vectors")
    assert is_sum == ("position" in at.values)
    assert said[""].startswith("No position vectors") == ("position" not in at.values and turns(at))
    has_norm = at.spec.get("embedding_norm", "none") != "none"
    address = "embedding.sum" if is_sum and has_norm else "input"
    assert bool(said["normalized"]) == (has_norm and not is_sum)
    typed = at.values.get("embedding.with_type")
    assert said["x"] == (typed and typed["symbol"])
    scaled = "embedding.scaled" in at.values and not said["normalized"]
    assert bool(said["scaled"]) == scaled and at.address == address and not at.pinned(address)
    assert "how" not in said or said["how"] == at.passed_on()


def normalized_sum(at: Judge, said: Said) -> None:
    assert at.address == "input" and at.spec.get("embedding_norm", "none") != "none"
    assert (
        {"embedding.sum", "embedding.with_type"} & {*at.values}
        and said["how"] == at.passed_on()
        and not at.pinned("input")
    )


def rounded_again(at: Judge, said: Said) -> bool:
    named = [a for a, value in at.values.items() if value["symbol"] == said["symbol"]]
    assert at.rounding["carry"] != "never"
    patterns, tower = at.scenario["rounding"]["digits"], "encoder." if at.outside else ""
    return any(fnmatchcase(tower + a, pattern) for a in named for pattern in patterns)


def turns(at: Judge) -> bool:
    """Whether positions turn queries and keys, or act on scores."""
    acting = {"position.angle", "position.distance", "position.bias"}
    return bool(acting & {*at.values}) and "position" not in at.values


def other_rows(at: Judge, said: Said) -> None:
    """Of the result of a section, or of several steps the first whose table follows."""
    addresses = [at.address] if at.address else [step["address"] for step in at.here]
    own = [at.values[re.sub(r"^encoder\.(?!output$)", "", each)] for each in addresses]
    assert 1 + int(said["rows"] or 1) in [len(value["data"]) for value in own]
    assert said["rows"] not in ("0", "1")


def answer(at: Judge, said: Said) -> None:
    assert said[""].startswith("There are no") == (at.layers == 0) and not at.pinned("output")
    assert bool(said["normalized"]) == has_final_norm(at.spec)
    if "who" in said:
        assert (said["who"], int(said["n"])) == (at.who, at.result["shape"][1])


# --- a generated text ----------------------------------------------------------------------------


def only_last(at: Judge, said: Said) -> None:
    parts = [layer["attention"] for layer in at.spec.get("layers", []) if "attention" in layer]
    latents = [part["latent"] for part in parts if "latent" in part]
    kept = ["the keys and values"] if len(latents) < len(parts) else []
    kept += ["the latent vectors"] if latents else []
    kept += ["the rotary parts of the keys"] if any("W_KR" in each for each in latents) else []
    assert at.cached and at.turn > 1
    assert said["old"] == (" ".join(at.tokens[:-1]) if parts else None)
    if parts:
        assert said["kept"] == re.sub(r", (?=[^,]+$)", " and ", ", ".join(kept))


def mask_stays(at: Judge, said: Said) -> None:
    masks = [v for a, v in at.spec.get("given", {}).items() if a.split(".")[-1] == "mask"]
    assert not masks and any("attention" in layer for layer in at.spec["layers"])


CANNOT = "{:(?P<no_position>there is no (?P<what>vector|row in the mask) for one more position)|“(?P<unread>.+?)” has no embedding, so the model cannot read it|“(?P<message>.+)”}."


def cannot_go_on(at: Judge, said: Said) -> None:
    table, given = at.spec["embeddings"], at.spec.get("given")
    if said["no_position"]:
        typed = at.spec["mask"] if said["what"] != "vector" else at.spec["positions"]
        assert isinstance(typed, list) or "table" in typed
    elif said["unread"]:
        assert not isinstance(table, dict) or said["unread"] not in table
    else:
        of_numbers = re.search(r"division by zero|too (large|small)", said["message"])
        of_angles = any(
            f"and {kind} changes them" in said["message"] and f"'{kind}'" in str(at.spec)
            for kind in ("dynamic", "longrope")
        )
        of_rows = "but the text is longer now" in said["message"] and any(
            isinstance(layer.get("attention", {}).get(key), list)
            for layer in at.spec["layers"]
            for key in ("gate", "beta")
        )
        assert given or of_numbers or of_angles or of_rows


def left_out(at: Judge, said: Said) -> None:
    missing = {
        "The text": not at.turns,
        **dict.fromkeys(LOSSES, "loss" not in at.further),
        "What the mask prevents": "unmasked" not in at.further,
    }
    assert missing[at.heading]
    cannot_go_on(at, said)


def stuck(at: Judge, said: Said) -> None:
    assert int(said["n"]) == len(at.turns) < 5 and ("turns" in said[""]) == (len(at.turns) != 1)
    assert said["unread"] in (None, at.turns[-1]["word"])
    cannot_go_on(at, said)


def nothing_to_lose(at: Judge, said: Said) -> None:
    assert "loss" not in at.further
    assert said[""].startswith("There is no loss") == ("vocabulary" in at.spec)


def ending(at: Judge, said: Said) -> None:
    n = int(said["n"])
    ended = at.turns[-1]["word"] == at.spec.get("generation", {}).get("end", object())
    assert n == len(at.turns) and ("turns" in said[""]) == (n != 1)
    assert said[""].startswith("The end") == ended
    assert ("vocabulary" in at.spec) != said[""].startswith("It was read")


def written(at: Judge, said: Said) -> None:
    """The text and the probability of each of its words, which the table has."""
    assert at.heading in ("", "The text")
    words = [turn["word"] for turn in at.turns]
    assert said["start"] == " ".join(at.turns[0]["input"]) and said["words"] == " ".join(words)


def read_only(at: Judge, said: Said) -> None:
    assert at.heading == "" and {turn["word"] for turn in at.turns} == {None}
    assert said["text"] == " ".join(at.turns[-1]["input"])


def own_probabilities(at: Judge, said: Said) -> None:
    """Words are drawn, and not with the probabilities that the model computes."""
    recorded = {value["address"] for value in at.turns[0]["values"]}
    assert recorded & {"sampling.scaled", "sampling.candidates"}


def in_short(at: Judge, said: Said) -> None:
    """Each part that a layer has, and no other."""
    assert at.heading == "Summary"
    every = " ".join(at.values)
    kinds = {
        str(norm.get("kind", "layer_norm"))
        for layer in at.spec["layers"]
        for part in (layer, *(each for each in layer.values() if isinstance(each, dict)))
        for norm in (part.get("norm"), part.get("norm_after"))
        if isinstance(norm, dict)
    }
    forms = {
        "attention collects from the tokens that it may see": r"(?<!\S)layer\d+\.attention\.",
        "cross-attention collects from the encoder": r"(?<!\S)layer\d+\.cross_attention\.",
        "the residual connection keeps what was there": r"(?<!\S)layer\d+\.\w+\.residual\b",
        "the FFN works on each token by itself": r"(?<!\S)layer\d+\.ffn\.",
    }
    parts = said["parts"].split("; ")
    for words, form in forms.items():
        assert (words in parts) == bool(re.search(form, every))
    norms = [part.split(" ")[0] for part in parts if part.endswith("evens out the scale")]
    assert all(("rms_norm" if norm == "RMSNorm" else "layer_norm") in kinds for norm in norms)
    assert len(parts) == len(set(parts)) > 1


def name_of_the_text(at: Judge) -> str:
    """The token that the whole text follows."""
    tokens = at.values["tokens"]["data"] if "tokens" in at.values else written_tokens(at.spec)
    return told_apart(tokens)[at.of_the_text]


CLAIMS: dict[str, Check] = {
    "{n:int} position{:s have no target and do| has no target and does} not count in the {:mean|sum}.": not_counted,
    "Correct predictions: {right:int} of {all:int}.": right,
    "The model reads the token and predicts the next word.": forcing,
    "At each position[asked: with a target], the model is trained to predict the target beside it. One pass computes all positions.": forcing,
    "Teacher forcing: at each position, the model reads the correct tokens, not its own predictions, and predicts the next token. A wrong prediction therefore does not affect later positions, and one pass computes all positions.[hides: The mask hides the later tokens, which contain the answers.]": forcing,
    "The batch has {n:int} example[s].[shifted: Each target is its input, shifted by one token: the text itself has the correct words (self-supervised learning).]": batch,
    "For example, {:“(?P<wrong>.+?)” is the second most probable word after “(?P<after>.+?)”. If the model chose it, word by word, it|the model predicts “(?P<own>.+?)” after “(?P<begin>.+?)”, which is wrong. Word by word, it} would next read “{read:name}” and predict “{then:name}”, not “{correct:name}”.": misled,
    "The worked example is “{example:text}”.": example_followed,
    "The model is trained on other texts than the tokens above.": other_texts,
    "The calculation follows the token “{who:name}”, position {i:int} of {n:int}.": followed,
    "[part:This is a part of the calculation. ]A step of a new kind is worked; a step that repeats another shows its result. You can check each line with a calculator[phi: that has the normal distribution]. The calculation follows the token “{who:name}”, position {i:int} of {n:int}.": planned,
    "In the encoder it follows “{who:name}”, position {i:int} of {n:int}. The encoder's symbols carry an ᴱ: Qᴱ is the encoder's query, Q the decoder's.": followed_in_the_encoder,
    "The encoder has computed a vector for each of its tokens.": encoded,
    "The encoder has no layers: its [normalized:normalized ]input vectors are its output."
    + READ: encoded,
    "The [normalized:normalized ]result of the last layer is the encoder's output, a vector for each of its tokens."
    + READ: encoded,
    "The encoder's vectors are reused from the first turn: its input is the same.": encoded,
    "The sign = means that both sides are equal with the digits shown, ≈ that the right side is rounded. {carried:text}": carried,
    "This section follows the token “{who:name}”[ in {where:[^“]+}].": worked_without_the_mask,
    "The model reads {tokens:“.+?”}.[ {looks:It also|No layer} attends to the encoder's vectors for {others:“.+”}.]": reads,
    "What does a decoder do with these tokens? It rewrites each token's vector[ using {whom:the tokens before it|the other tokens}].": question,
    "Which word comes next? The decoder computes a probability for every word of its vocabulary.": lambda at, _: (
        "prediction" in at.values
    ),
    "It is one sequence of a batch. All have the same length[: what is shorter is filled up with “{padding:name}”].": one_of_a_batch,
    "As in step {n:int}.": as_in,
    r"{:\S.*} is computed as in step {n:int}[, but without {lacks:γ|β|γ and β}][, from {parts:.+ \(step .+\)}].": as_in,
    r"The same as {steps:step \d.*}, with other numbers.": the_same,
    "Steps {first:int} to {last:int} are computed like earlier ones, with other numbers.": the_same,
    r"{:\S.*} is computed from {parts:.+ \(step .+\)}.": takes,
    "{symbol:(?!The row|“).+} is given, not computed.": given,
    r"{symbol} ({shape:[\d × ]+}) has a row for each {rows:text} and a column for each {columns:text}.": described,
    r"{parts:.+ has [\d × =]+(?:(?:,| and) \S+ has [\d × =]+)*} parameter[s].": parameters,
    "A vector is a list of numbers, here {n:int} for each token; each column is a feature. In a trained model, the numbers of “{who:name}” are learned, so that a single feature rarely has a meaning that a person could name.[named: Here the author has named them.]": lambda at, said: (
        said["who"] == at.who
        and bool(said["named"]) == ("features" in at.spec)
        and int(said["n"]) == at.values["embedding"]["shape"][1]
    ),
    "Each token is represented by a vector, its embedding.": embedded,
    r"[pieces:A token, such as “{such:name}”, is a piece of text, often a word. ][has_ids:In the model, a number stands for each token, its id[: {tokens:“[^→]+”} → \[{ids:text}\]]. ]The model looks up the {:(?P<n>\d+) tokens|token} in a table; the row of “{who:name}” is a vector, its embedding.[ Only {rows:int} rows of the table are listed here, each by its token.]": embedded,
    "Each position has its own vector.[ Its numbers are waves: {:.+} d is the number of features, {d:int} here, and k counts the pairs of columns from 0. “{who:name}” is at position {position:int}[, counted from {start:int}].]": positions,
    "Without rounding, the dot product of two position vectors depends only on their distance. Counted from “{who:name}”, it is:": depends_on_the_distance,
    "At several temperatures T, the[most: most probable] words[kept: that are kept] have these probabilities, and the same random number selects the words in the last row:": lambda at, said: (
        "sampling.draw" in at.values
        and not (said["most"] and len(at.values["sampling.logits"]["data"][0]) <= 8)
    ),
    "The waves become longer from pair to pair: short waves tell neighboring positions apart, long waves distant ones.": waves_or_table,
    "Here the vectors come from a table, so that a model can learn them like the embeddings.": waves_or_table,
    "The embeddings are multiplied by {by:√d_model, where d_model is the number of features|s, a constant of the model}.": lambda at, said: (
        at.spec["embedding_scale"] != "none"
        and not partly_given(at)
        and said["by"].startswith("s, ") == (at.spec["embedding_scale"] != "sqrt")
    ),
    "If the numbers of the embeddings are drawn with a standard deviation of 1 / √d_model, it is 1 after this step.": lambda at, _: (
        at.spec["embedding_scale"] == "sqrt" and not partly_given(at)
    ),
    "All sequences of a batch have the same length: shorter ones are filled up with “{token:text}”. This padding has no meaning, so the mask hides it from every token.": padded,
    "In sequence {i:int}[, {where:text}], the mask and the weights:": in_sequence,
    r"For all {examples:int} examples, the model's output has the shape \[{shape:text}\]: a probability for each of {words:int} words at each of {n:int} positions.": shape_of_all,
    "The predictions come from the given probabilities, not from the model's weights.": lambda at, _: (
        at.heading.endswith("Targets and predictions") and at.pinned("probabilities")
    ),
    "The numbers of {symbol:.+?} are rounded again, because digits are set for them.": rounded_again,
    "The normalized vectors are passed on[how: unchanged].": normalized_sum,
    "There are no positions here: the [scaled:scaled ][normalized:normalized ]embeddings[ {x}] are passed on[how: unchanged].": inputs,
    "No position vectors are added: the [scaled:scaled ][normalized:normalized ]embeddings[ {x}] are passed on[how: unchanged].": inputs,
    "The position vectors are added to the [scaled:scaled ][normalized:normalized ]embeddings[ {x}], so that each vector encodes a token and its position.": inputs,
    "There are no layers: the [normalized:normalized ]input vectors are the model's output.": answer,
    "The [normalized:normalized ]result of the last layer is the model's output: for “{who:name}”, a vector of {n:int} number[s], its hidden state.": answer,
    "The other {:(?:(?P<rows>\\d+) rows are|row is)} computed in the same way.": other_rows,
    "Only the last token passes through the decoder[; {kept:the .+} of “{old:text}” are reused from earlier turns].": only_last,
    "The mask is the same as in training, so a word's vectors do not change when another word is appended.": mask_stays,
    "It is left out: " + CANNOT: left_out,
    "It ends after {n:int} turn[s]: " + CANNOT: stuck,
    "The scenario has no vocabulary, so the model predicts no word, has no loss, {:.+}": nothing_to_lose,
    "There is no loss, because no position has a target word.": nothing_to_lose,
    "The end token came after {n:int} turn[s].": ending,
    "The text stops at the limit of {n:int} turn[s].": ending,
    "It was read in {n:int} turn[s]; without a vocabulary, no word is predicted.": ending,
    "“{text:text}”": read_only,
    "After “{start:text}”, the model writes “{words:text}”.": written,
    "The table shows the model's own probabilities, before the next word is drawn from some of them or with another temperature.": own_probabilities,
    "In short: {parts:text}.": in_short,
    "The way of “{token:any}” in numbers:": lambda at, said: (
        at.heading == "Summary" and said["token"] == name_of_the_text(at)
    ),
    "The numbers of “{token:any}” at the input and {:after each (?:sub-)?layer|at the output}:": lambda at, said: (
        said["token"] == name_of_the_text(at)
        and at.values["input"]["shape"] == at.values["output"]["shape"]
    ),
}
