"""Scenarios, command lines and woven pages in which something is wrong, drawn from a seed."""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Iterator
from typing import Any

import yaml

Place = tuple[Any, ...]

ODD: tuple[Any, ...] = (
    *("", " ", "\u3000", "0,5", "−1", "1 2", "a:b"),
    *("", "x", "0", "-1", "1.5", "1e12", "1e-30", "1e400", "-0.0", "nan", "-inf", "½", "1_0", "٣"),
    *(
        "none",
        "identity",
        "tied",
        "true",
        "~",
        "a b c",
        "日本",
        "\u202e",
        "<b>",
        "[bold]",
        "x" * 5000,
    ),
    *([], {}, [[]], [["1"]], [["1", "2"], ["3"]], {"random": {}}, {"random": {"seed": "x"}}),
    *({"transposed": [["1", "2"]]}, {"sinusoidal": {}}, [[["1"]]], {"a": "b"}, ["a"] * 40),
)
"""What may stand where something else should."""

KEYS = (
    "tokens",
    "W_Q",
    "norm",
    "rounding",
    "given",
    "labels",
    "W_U",
    "epsilon",
    "zzz",
    "Tokens",
    "",
)


def mutated(text: str, chance: random.Random) -> str:
    """A scenario with one to three changes to its structure, or to its text."""
    if chance.random() < 0.2:
        return torn(text, chance)
    data = copy.deepcopy(_read(text))
    for _ in range(chance.randint(1, 3)):
        change(data, chance)
    dumped: str = yaml.dump(data, Dumper=DUMPER, allow_unicode=True, sort_keys=False)
    return dumped


DUMPER = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper


@functools.cache
def _read(text: str) -> Any:
    return yaml.load(text, yaml.BaseLoader)


def change(data: Any, chance: random.Random) -> None:
    """Change one part of the data in its place."""
    places = [place for place in parts(data) if place]
    if not places:
        return
    *way, last = chance.choice(places)
    holder = data
    for step in way:
        holder = holder[step]
    match chance.randrange(7):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, list):
            holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[last]))
        case 2 if isinstance(holder, dict):
            holder[chance.choice(KEYS)] = holder.pop(last)
        case 3 if chance.random() < 0.1 and isinstance(holder, list):
            holder[last:last] = [copy.deepcopy(holder[last])] * chance.choice((50, 500, 3000))
        case 3:
            other = chance.choice(places)
            found = data
            for step in other:
                found = found[step] if _has(found, step) else found
            holder[last] = copy.deepcopy(found)
        case 4 if isinstance(holder[last], str):
            holder[last] = holder[last][:-1] + chance.choice("0.-xe ")
        case _:
            holder[last] = copy.deepcopy(chance.choice(ODD))


def _has(data: Any, step: Any) -> bool:
    return step in data if isinstance(data, dict) else isinstance(data, list) and step < len(data)


def parts(data: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every part of the data."""
    yield place
    inner: Any = ()
    if isinstance(data, dict):
        inner = data.items()
    elif isinstance(data, list):
        inner = enumerate(data)
    for step, part in inner:
        yield from parts(part, (*place, step))


SIGNS = (*"\t:-[]{}'\"#!|%@é\x00\x85", "&a ", "*a")


NESTED = ("[", "{a = ", "a = [", "[[", "[{b = ")
IN_TOML = (
    *("a = 1", "[tool.x]", "[[tool.y]]", "[tool.decoder-trace]", "[tool.decoder-trace.audit]"),
    *(
        "strict = true",
        "select = ['A01']",
        "ignore = 'A02'",
        "exclude = ['*.md']",
        "x.y.z = 2024-01-01",
    ),
    *("per-file-ignores = {'a.md' = ['A01']}", "tool = 3", "tool.decoder-trace.audit = []"),
)
VALUES_IN_TOML = (
    *("1", "nan", "-inf", "1e999", "0x" + "f" * 6000, "9" * 5000, "1_0", "2024-99-99", "07:32:00"),
    *("[", "]", "{", "'x'", '"\\ud800"', "''", "true", "[1, [2]]", "{}", "[{}]", "'!'", "'[z-a]'"),
)


def configuration(chance: random.Random) -> str:
    """A configuration of a project, of this and other tools, in which something may be wrong."""
    lines = list(chance.choices(IN_TOML, k=chance.randint(1, 6)))
    for _ in range(chance.randint(0, 2)):
        key = chance.choice(("exclude", "select", "strict", "per-file-ignores", "z"))
        lines.insert(chance.randrange(len(lines) + 1), f"{key} = {chance.choice(VALUES_IN_TOML)}")
    if chance.random() < 0.2:
        many = chance.choice((50, 500, 5000))
        lines.insert(chance.randrange(len(lines) + 1), f"deep = {chance.choice(NESTED) * many}")
    text = "\n".join(lines) + "\n"
    return torn(text, chance) if chance.random() < 0.3 else text


def torn(text: str, chance: random.Random) -> str:
    """A text with a few characters put in, taken out or moved."""
    for _ in range(chance.randint(1, 3)):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        match chance.randrange(4):
            case 0:
                text = text[:at] + chance.choice(SIGNS) + text[at:]
            case 1:
                text = text[:at] + text[min(end, at + 40) :]
            case 2:
                text = text[:end] + text[at : at + 60] + text[end:]
            case _:
                text = text[:end]
    return text


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COMMANDS = _words(
    "run step steps why value loss generate tutorial scenarios train lens compare check"
)
NAMES = (
    *_words("softmax attention norm layer1.ffn output[1,1] mask loss zzz [ tokens[1]"),
    *_words(
        "blocks.0.attn.hook_q[0][1,1] blocks.99.hook_resid_pre hidden_states[-1] model.layers.x"
    ),
    *("hidden_states[٠]", ""),
)
OPTIONS = _words("""
    --token --layer --head --sequence --example --depth --decimals --carry --format --given --seed
    --temperature --top-k --top-p --start --scenario --max-tokens --no-mask --worked --kv-cache
    --math --standalone --brief --nope -f -t -h --heading --steps --text --train --vary --force
    --figure --against --tolerance --names --all --sweep --patch --pair --pairs --values --draft
""")
VALUES = (
    *_words("mine.yaml 1000000 10000 ３ −1 0,5"),
    *_words("1 2 0 -1 99 1_0 ٣ x nan inf 1e3 0.5 line never markdown latex json terminal pdf"),
    *_words(
        "heads patterns tokens layers-tokens ablations input[1] hidden_states[0] output[1,1]=1.5"
    ),
    *_words("output[1,1]=1e400 output[a,b]=nan loss=٣ output[1,1]=1,5 gradient.output[1,1]=0 . -"),
    *_words("Alex output=1 output=[[1]] x= = [ mask=[[0,-inf],[0,0]] pizza comics no/such"),
    *("layer1.attention.head1.scale=2", "", " ", "\x00"),
)


def command_line(chance: random.Random, scenarios: tuple[str, ...]) -> list[str]:
    """A command with a name or a scenario, and a few options that may or may not go with it."""
    command = chance.choice(COMMANDS)
    words = [command]
    if command in ("step", "why", "value"):
        words += [chance.choice(NAMES), "--scenario", chance.choice(scenarios)]
    elif command != "scenarios":
        words.append(chance.choice((*scenarios, *scenarios, "no-such", "", "-")))
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        words.append(chance.choice(OPTIONS))
        if chance.random() < 0.8:
            words.append(chance.choice(VALUES))
    if chance.random() < 0.05:
        chance.shuffle(words)
    if chance.random() < 0.1:
        words.append(chance.choice((*scenarios, "s.yaml")))
    return words


MARKS = (
    *("step softmax --head 1", "run SCENARIO", "value output[1,1]", "value output[1,1] as percent"),
    *("step nothing", "zzz", "", "weave x.md", "run --help", "run -", "run /dev/zero", "value x"),
    *("step 'query", "run SCENARIO -o x", "why output[1,1] --depth 1"),
    "generate pizza --max-tokens 99999",
)


def page(chance: random.Random, scenario: str) -> str:
    """Markdown with marks, most of them as they should be."""
    lines = ["# A page", ""]
    for _ in range(chance.randint(1, 5)):
        mark = chance.choice(MARKS).replace("SCENARIO", scenario)
        prefix = chance.choice(("", "", "", "> ", "  ", "- ", "    ", "\t"))
        start, end = f"<!-- decoder-trace: {mark} -->", "<!-- /decoder-trace -->"
        inline = f"{prefix}It is {start}0{end}."
        block = [prefix + start, f"{prefix}old", prefix + end]
        lines += [inline] if mark.startswith("value") or chance.random() < 0.2 else block
        lines.append(chance.choice(("", "text", "```", "~~~", "| a |", "<!-- comment -->")))
    text = "\n".join(lines) + "\n"
    return torn(text, chance) if chance.random() < 0.4 else text
