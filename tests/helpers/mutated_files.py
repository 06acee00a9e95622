"""What strangers bring, with one thing changed: models, dumps of arrays, texts with marks.

Each is drawn from a seed. All but that one thing is as it should be, so that a mutant gets far.
"""

from __future__ import annotations

import io
import json
import math
import os
import random
import time
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.helpers import mutations
from tests.helpers.command import run, run_json
from tests.helpers.small_scenario import SMALL

Files = dict[str, bytes]
Arrays = Mapping[str, NDArray[Any]]

SECONDS, MOST_LINES, LONGEST_LINE = 5, 30, 1000
"""What a run may take of the processor, and what it may say."""

SEED = int(os.environ.get("FUZZ_SEED", "1"))
"""Draws other files for the tests that are marked fuzz."""
FEW = range(60)
"""The seeds of the other tests, the same each time."""


def get_far(case: Callable[[random.Random], int], seeds: Iterable[int]) -> bool:
    """Whether some cases, each drawn from a seed, are accepted, and some end with exit code 2."""
    codes = [case(random.Random(seed)) for seed in seeds]
    return 0.1 < codes.count(2) / len(codes) < 0.9


def few_or(many: int) -> pytest.MarkDecorator:
    """Mark a test that runs with a few seeds, and as fuzz with many, which `FUZZ_SEED` decides."""
    others = range(SEED * 1_000_003, SEED * 1_000_003 + many)
    fuzz = pytest.param(others, id="many", marks=pytest.mark.fuzz)
    return pytest.mark.parametrize("seeds", [pytest.param(FEW, id="few"), fuzz])


# --- what holds of every run ---------------------------------------------------------------------


def contents(folder: Path) -> Files:
    """Every file of a folder, and of those in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def placed(files: Files, folder: Path) -> None:
    """The files in a folder, which holds nothing else then."""
    for name in contents(folder).keys() - files.keys():
        (folder / name).unlink()
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def exit_code(folder: Path, *words: str, changes: str | None = None) -> int:
    """How a command ends that changes no file of the folder but one, and that only if all is well.

    What is wrong is told in a few lines, with the name of a file.
    """
    before, start = contents(folder), time.process_time()
    ran = run(*words)
    said = (words, ran.exit_code, ran.stderr[:2000])
    assert time.process_time() - start < SECONDS, said
    assert "Traceback" not in ran.stderr, said
    assert ran.exit_code in (0, 1, 2), said
    after = contents(folder)
    if ran.exit_code == 2:
        lines = ran.stderr.splitlines()
        assert ran.stdout == "" and 0 < len(lines) <= MOST_LINES, said
        assert max(map(len, lines)) < LONGEST_LINE, said
        assert any(str(folder) in line for line in lines), said
    elif changes is not None:
        before[changes] = after[changes]
    assert after == before, said
    return ran.exit_code


# --- JSON ----------------------------------------------------------------------------------------

WHOLE = (0, 1, -1, 2, 3, 7, 2**31, 2**63, 10**400)
FLOATS = (0.5, 1e-320, 1e308, -0.0, math.inf, math.nan)
TEXTS = ("", " ", "é", "日本", "\ud800", "\u202e", "\x00", "../x", "x" * 5000, "inf", "1e5", "None")
OTHERS: Sequence[Any] = (None, True, False, [], {}, [[]], *WHOLE, *FLOATS, *TEXTS)
DEEP = "[" * 3000 + "]" * 3000


def altered(value: Any, chance: random.Random) -> Any:
    """Another value, mostly of the same kind."""
    if chance.random() < 0.15:
        return chance.choice((*OTHERS, *mutations.ODD))
    match value:
        case bool():
            return not value
        case int() | float():
            near = (value + 1, value - 1, value * 2, value / 2, float(value), int(value), -value)
            return chance.choice((*near, *near, str(value), [value], *WHOLE, *FLOATS))
        case str():
            other = (value[:-1], value[1:], value * 2, value.upper(), value.lower(), f"{value} ")
            return chance.choice((*other, *other, value[::-1], [value], *TEXTS))
        case list():
            return chance.choice(([*value, *value], value[:-1], value[1:], value[::-1], []))
        case dict():
            names = list(value)
            chance.shuffle(names)
            less = {name: value[name] for name in names[1:]}
            return chance.choice(({name: value[name] for name in names}, less, list(value), {}))
        case _:
            return chance.choice(OTHERS)


def changed_json(content: bytes, chance: random.Random) -> bytes:
    """A JSON file with one part changed, or written in another way."""
    data = json.loads(content)
    way = _way(data, chance)
    *outer, last = way
    holder = data
    for step in outer:
        holder = holder[step]
    match chance.randrange(10):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, dict):
            holder[chance.choice((f"{last}s", last.upper(), "zzz", "", *TEXTS))] = holder.pop(last)
        case 2 if isinstance(holder, dict):
            holder[chance.choice(("zzz", *TEXTS))] = altered(holder[last], chance)
        case 3 if isinstance(holder, dict):  # the same key twice
            holder["\0twice"] = altered(holder[last], chance)
            return json.dumps(data).replace('"\\u0000twice"', json.dumps(last)).encode()
        case 4:
            return _written(json.dumps(data, indent=chance.choice((None, 1))), chance)
        case _:
            holder[last] = altered(holder[last], chance)
    return json.dumps(data).encode()


def _way(data: Any, chance: random.Random) -> list[Any]:
    """The place of a part, as likely in a small branch as in a large one."""
    way = list[Any]()
    while isinstance(data, dict | list) and data and (not way or chance.random() < 0.8):
        step = chance.choice(list(data) if isinstance(data, dict) else range(len(data)))
        way.append(step)
        data = data[step]
    return way


def _written(text: str, chance: random.Random) -> bytes:
    """A text in another encoding, cut, or with something put in."""
    at = chance.randrange(len(text))
    match chance.randrange(7):
        case 0:
            return text.encode(chance.choice(("utf-16", "utf-8-sig", "utf-32", "cp500")))
        case 1:
            return text[:at].encode()
        case 2:
            return f"{text[:at]}{chance.choice((*mutations.SIGNS, DEEP))}{text[at:]}".encode()
        case 3:
            return f"\n {text}\n\n".encode()
        case 4:
            return text.replace(":", ": \r\n\t").encode()
        case 5:
            return f"{text}{text}".encode()
        case _:
            return text.replace("e", "\\u0065").encode()


# --- arrays --------------------------------------------------------------------------------------

NUMBERS = (*FLOATS, -math.inf, -1e9, 1e38, 3, 1e-7)
KINDS = ("f2", "f4", "f8", ">f4", "i1", "i4", "i8", "u1", "u8", "?")
SHAPES: tuple[Callable[[NDArray[Any]], NDArray[Any]], ...] = (
    *(lambda a: a.T, lambda a: a[None], lambda a: a[None][[0, 0]], lambda a: a[..., :-1]),
    *(lambda a: a[:0], lambda a: a.ravel(), lambda a: a.ravel()[:1].reshape(()), lambda a: a[:1]),
    *(lambda a: np.concatenate([a, a]), lambda a: a[::-1], lambda a: a.reshape((1,) * 8 + a.shape)),
)


def changed_arrays(
    arrays: Arrays, chance: random.Random, names: Sequence[str], kinds: Sequence[str] = KINDS
) -> dict[str, NDArray[Any]]:
    """Arrays of which one has another number, type, shape or name, or one more or one less."""
    changed = dict(arrays)
    name, other = (chance.choice(sorted(arrays)) for _ in range(2))
    array = arrays[name]
    match chance.randrange(9):
        case 0 | 1 | 2:
            array = array.copy()
            with np.errstate(all="ignore"):
                array.flat[chance.randrange(array.size)] = chance.choice(NUMBERS)
            changed[name] = array
        case 3:
            with np.errstate(all="ignore"):
                changed[name] = array.astype(chance.choice(kinds))
        case 4:
            changed[name] = chance.choice(SHAPES)(array)
        case 5:
            del changed[name]
        case 6:
            changed[chance.choice(names)] = changed.pop(name)
        case 7:
            changed[chance.choice(names)] = array
        case _:
            changed[name], changed[other] = changed[other], changed[name]
    return changed


def changed_bytes(content: bytes, chance: random.Random, begin: int = 0) -> bytes:
    """Bytes of which one is another, some are missing, or there are more."""
    at = chance.randrange(begin, len(content))
    match chance.randrange(5):
        case 0:
            return content[:at]
        case 1:
            return content + bytes(chance.randrange(1, 20))
        case 2:
            return content[:at] + content[at + chance.randrange(1, 9) :]
        case _:
            return content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :]


# --- safetensors ---------------------------------------------------------------------------------


def safetensors(arrays: Arrays) -> bytes:
    """A file of arrays, whose types may be any that it has."""
    from safetensors.numpy import save

    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def changed_safetensors(content: bytes, chance: random.Random, names: Sequence[str]) -> bytes:
    """A file with another tensor, or another header before the same numbers."""
    from safetensors.numpy import load

    begin = 8 + int.from_bytes(content[:8], "little")
    match chance.randrange(10):
        case 0:
            return changed_bytes(content, chance)
        case 1:
            return changed_bytes(content, chance, begin)
        case 2 | 3:
            header = changed_json(content[8:begin].rstrip(), chance)
            return len(header).to_bytes(8, "little") + header + content[begin:]
        case 4:
            header = content[8:begin].replace(b"F32", chance.choice((b"I32", b"U32", b"F99")), 1)
            return len(header).to_bytes(8, "little") + header + content[begin:]
        case _:
            kinds = [kind for kind in KINDS if kind[0] != ">"]
            return safetensors(changed_arrays(load(content), chance, names, kinds))


# --- models --------------------------------------------------------------------------------------

CONFIG, TOKENIZER = "tiny/config.json", "tiny/tokenizer.json"
TENSORS, INDEX = "tiny/model.safetensors", "tiny/model.safetensors.index.json"
SHARDS = ("tiny/one.safetensors", "tiny/two.safetensors")
TENSOR_NAMES = ("zzz", "", "lm_head.weight", "model.layers.9.mlp.up_proj.weight", "\u202e", "é")
SCALING = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
MAY_BE_SAID: Mapping[str, Any] = {
    **{"head_dim": 8, "tie_word_embeddings": True, "attention_bias": True, "hidden_act": "gelu"},
    **{"rope_scaling": {**SCALING, "original_max_position_embeddings": 4}, "mlp_bias": False},
    **{"eos_token_id": [1, 2], "torch_dtype": "float32", "sliding_window": 2, "use_cache": True},
    **{"rope_parameters": {"rope_type": "linear", "factor": 2}, "n_inner": None, "layer_types": []},
}
"""Settings that only some models have."""


def model_files(folder: Path, name: str, *, shards: bool = False) -> Files:
    """A model as Hugging Face has it, and two scenarios: of token numbers, and of a text."""
    from safetensors.numpy import load

    from tests.helpers import tiny_checkpoints, tiny_models

    folder.mkdir(exist_ok=True)
    tiny_models.scenario(folder, name)
    (folder / "tiny.yaml").rename(folder / "text.yaml")
    tiny_models.naming(folder / "tiny", token_ids=[2, 5, 3])
    if shards:
        whole = folder / TENSORS
        tensors = load(whole.read_bytes())
        first = dict(list(tensors.items())[:4])
        rest = {name: tensor for name, tensor in tensors.items() if name not in first}
        parts = {Path(SHARDS[0]).name: first, Path(SHARDS[1]).name: rest}
        tiny_checkpoints.write_shards(folder / "tiny", parts)
        whole.unlink()
    return contents(folder)


def changed_model(files: Files, chance: random.Random) -> tuple[Files, str]:
    """The files of a model with one of them changed, and the scenario that needs it."""
    tensors = [name for name in (TENSORS, *SHARDS) if name in files]
    others = [name for name in (INDEX,) if name in files]
    name = chance.choice((CONFIG, CONFIG, TOKENIZER, *tensors, *tensors, *others))
    content = files[name]
    if chance.random() < 0.03:
        changed = {other: files[other] for other in files if other != name}
    elif name in tensors:
        changed = {**files, name: changed_safetensors(content, chance, TENSOR_NAMES)}
    elif name == CONFIG and chance.random() < 0.4:
        key = chance.choice(sorted(MAY_BE_SAID))
        said = {**json.loads(content), key: MAY_BE_SAID[key]}
        if chance.random() < 0.3:
            said[key] = altered(said[key], chance)
        changed = {**files, name: json.dumps(said).encode()}
    else:
        changed = {**files, name: changed_json(content, chance)}
    if name != TOKENIZER:  # which takes most of the time
        changed.pop(TOKENIZER, None)
    return changed, "text.yaml" if name == TOKENIZER else "tiny.yaml"


# --- dumps and pinned values ---------------------------------------------------------------------

SCENARIO = f"{SMALL}vocabulary: [a, b]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
HEAD, BLOCK = "layer1.attention.head1", "blocks.0"
THEIRS = {
    "input": f"{BLOCK}.hook_resid_pre",
    f"{HEAD}.query": f"{BLOCK}.attn.hook_q",
    f"{HEAD}.weights": f"{BLOCK}.attn.hook_pattern",
    "layer1.attention.output": f"{BLOCK}.hook_attn_out",
    "layer1.ffn.hidden": f"{BLOCK}.mlp.hook_pre",
    "output": "hidden_states.1",
    "logits": "unembed",
}
ARRAY_NAMES = (
    *(*THEIRS, *THEIRS.values(), f"{HEAD}.scale", f"{HEAD}.masked", "mask", "loss", "tokens"),
    *("blocks.9.mlp.hook_pre", f"{BLOCK}.ln1.hook_scale", "hidden_states.99", "last_hidden_state"),
    *("gradient.output", "output.part", "attentions[0]", "layer1.attention.head9.query", "../x"),
    *("hook_embed", "blocks.999999999.hook_resid_pre", "x" * 300, "é", "", "\u202e", "a/b", "a\nb"),
)


def dump_files(folder: Path) -> Files:
    """A scenario, what its pass computes in each form, and scenarios that pin each file of it."""
    folder.mkdir(exist_ok=True)
    (folder / "mine.yaml").write_text(SCENARIO, encoding="utf-8")
    values = run_json(str(folder / "mine.yaml"))["values"]
    data = {each["address"]: each["data"] for each in values if each["address"] in THEIRS}
    listed = [{"address": address, "data": rows} for address, rows in data.items()]
    (folder / "ours.json").write_text(json.dumps({"values": listed}))
    ours = {address: np.asarray(rows, float) for address, rows in data.items()}
    theirs = {THEIRS[address]: array[None].astype("f4") for address, array in ours.items()}
    theirs[THEIRS[f"{HEAD}.query"]] = theirs[THEIRS[f"{HEAD}.query"]][:, :, None]
    theirs[THEIRS[f"{HEAD}.weights"]] = theirs[THEIRS[f"{HEAD}.weights"]][:, None]
    for name, arrays in {"ours": ours, "theirs": theirs}.items():
        (folder / f"{name}.npz").write_bytes(npz(arrays))
        (folder / f"{name}.safetensors").write_bytes(safetensors(arrays))
        for end in ("npz", "safetensors"):
            pinned = f"{SCENARIO}given: {name}.{end}\n"
            (folder / f"{name}.{end}.yaml").write_text(pinned, encoding="utf-8")
    return contents(folder)


def npz(arrays: Arrays, **how: Any) -> bytes:
    """An archive of arrays, of whatever names."""
    return zipped({f"{name}.npy": _npy(array) for name, array in arrays.items()}.items(), **how)


def zipped(entries: Iterable[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of files, which may have the same name."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as archive:
        warnings.simplefilter("ignore")  # a name that is there already
        for name, content in entries:
            archive.writestr(name, content)
    return file.getvalue()


def _npy(array: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    return file.getvalue()


NPY_KINDS = (*KINDS, "f16", "c8", "S3", "U3", "M8[s]", "O", "f4,i4")
IN_HEADERS = (
    *((b"(2, ", b"(4, "), (b"(2, ", b"(-2, "), (b"(2, ", b"(9999999999, "), (b"(2, ", b"(True, ")),
    *((b"(2, ", b"(2.0, "), (b"False", b"True "), (b"False", b"0"), (b"<f", b">f"), (b"<f", b"<i")),
    *((b"<f8", b"<c8"), (b"'descr'", b"'Descr'"), (b"{'", b"({'"), (b"\x01\x00v", b"\x03\x00v")),
    *((b"<f8", b"|O"), (b"<f4", b"|V4"), (b"\x93NUMPY", b"\x93numpy"), (b"(2, ", b"(0, ")),
)


def changed_npz(content: bytes, chance: random.Random) -> bytes:
    """An archive with another array, or one that is archived in another way."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(sorted(entries))
    match chance.randrange(10):
        case 0:
            return changed_bytes(content, chance)
        case 1:
            old, new = chance.choice(IN_HEADERS)
            entries[name] = entries[name].replace(old, new, 1)
        case 2:
            other = chance.choice(sorted(entries))
            return zipped([*entries.items(), (other, entries[name])])
        case 3:
            entries[chance.choice((name[:-4], name.upper(), "x.txt", "../x.npy", ".npy"))] = (
                entries.pop(name)
            )
        case 4:
            how = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
            return zipped(entries.items(), chance.choice(how))
        case 5:
            entries[name] = changed_bytes(entries[name], chance)
        case _:
            with np.load(io.BytesIO(content)) as arrays:
                changed = changed_arrays(dict(arrays), chance, ARRAY_NAMES, NPY_KINDS)
            return npz(changed)
    return zipped(entries.items())


CHECKING = ("", " -f json", " --tolerance 0.1", " --carry step")
PINNED = (
    "run FILE",
    "step attention -s FILE",
    "loss FILE",
    "steps FILE",
    "value output[1,1] -s FILE",
)


def changed_dump(files: Files, chance: random.Random) -> tuple[Files, str]:
    """The files with one of the dumps changed, and a command that reads it."""
    name = chance.choice([name for name in files if not name.endswith(".yaml")])
    match Path(name).suffix:
        case ".npz":
            content = changed_npz(files[name], chance)
        case ".safetensors":
            content = changed_safetensors(files[name], chance, ARRAY_NAMES)
        case _:
            content = changed_json(files[name], chance)
    if name.endswith(".json") or chance.random() < 0.5:
        command = f"check mine.yaml --against {name}{chance.choice(CHECKING)}"
    else:
        command = chance.choice(PINNED).replace("FILE", f"{name}.yaml")
    return {**files, name: content}, command


# --- texts with marks ----------------------------------------------------------------------------

END = "<!-- /decoder-trace -->"
BLOCKS = (
    *("run mine.yaml", "step softmax --head 1 -s mine.yaml", "steps mine.yaml", "loss mine.yaml"),
    *("why output[1,1] --depth 1 -s mine.yaml --heading 4", "shapes mine.yaml --length 9"),
    *("run mine.yaml --format latex", "run mine.yaml --token a --heading none", "step scores"),
    "generate mine.yaml --max-tokens 2",
)
QUOTES = (
    *("value output[1,1] -s mine.yaml", "value output[a,1] as percent -s mine.yaml"),
    "value layer1.attention.head1.weights[b,a] --scenario mine.yaml",
)
PREFIXES = ("", "", "", "> ", "- ", "  ", "1. ", "> - ", "> > ")
OTHER_WORDS = (
    *(
        "text.md",
        "mine.yaml mine.yaml",
        "no.yaml",
        "-",
        "--nope",
        "--token 9",
        "--head 0",
        "'",
        "x",
    ),
    *("-o text.md", "--given output=[[1,2],[3,4]]", "--given x=1", "--max-tokens 99999", "--help"),
    *(
        "--vary 7",
        "--decimals 2",
        "--carry line",
        "--math",
        "--brief",
        "--no-mask",
        "-->",
        "--depth",
    ),
    *("--format npz", "--format json", "/dev/zero", ".", "alex", "pizza", "weave", "../mine.yaml"),
)


def marked_text(chance: random.Random) -> bytes:
    """A text with marks, of which one part is not as it should be."""
    lines = list[str]()
    for _ in range(chance.randint(1, 3)):
        prefix = chance.choice(PREFIXES)
        if chance.random() < 0.4:
            lines += [f"{prefix}It is {_start(QUOTES, chance)}0{END}.", ""]
        else:
            inner = " " * len(prefix) if prefix.strip(" >") else prefix
            lines += [f"{prefix}{_start(BLOCKS, chance)}", f"{inner}old", f"{inner}{END}", ""]
        lines += [chance.choice(("Text.", "# A title", "| a |", "")), ""]
    marks = [i for i, line in enumerate(lines) if "decoder-trace" in line]
    at = chance.choice(marks)
    text = "\n".join(lines)
    match chance.randrange(12):
        case 0 | 1 | 2 | 3:
            words = lines[at].split(" ")
            words[chance.randrange(len(words))] = chance.choice(OTHER_WORDS)
            lines[at] = " ".join(words)
        case 4:
            lines[at] = chance.choice(PREFIXES) + lines[at]
        case 5:
            lines[at : at + 1] = chance.choice(([], [lines[at]] * 2, [lines[at], "```"]))
        case 6:
            around = chance.choice(
                (("```", "```"), ("<!--", "-->"), ("<div>", "</div>"), ("$$", "$$"))
            )
            lines = [around[0], *lines, around[1]]
        case 7:
            lines = [
                chance.choice(("> ", "- ", "  ")) * chance.choice((2, 30, 99)) + x for x in lines
            ]
        case 8:
            return text.replace("\n", chance.choice(("\r\n", "\r", "\u2028", "\n\n"))).encode()
        case 9:
            return text.encode(chance.choice(("utf-8-sig", "utf-16")))
        case 10:
            return mutations.torn(text, chance).encode()
        case _:
            begin = chance.randrange(len(text))
            sign = chance.choice((*"<>-!`\t|", "\0", "日", "-->", "<!--"))
            return f"{text[:begin]}{sign}{text[begin:]}".encode()
    return "\n".join(lines).encode()


def _start(commands: Sequence[str], chance: random.Random) -> str:
    return f"<!-- decoder-trace: {chance.choice(commands)} -->"
