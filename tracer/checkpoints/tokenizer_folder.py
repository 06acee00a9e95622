"""What the JSON files of a folder without tokenizer.json say of its tokenizer.

tokenizer_config.json or config.json names the class of the tokenizer, which decides how a text is
split. tokenizer_config.json, or the older special_tokens_map.json and added_tokens.json, name the
tokens that are matched as a whole.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.settings import CheckpointSettings
from tracer.checkpoints.tokenizer_json import FLAGS, Description, put_around

CONFIG, BESIDE = "config.json", "tokenizer_config.json"
OLDER_SPECIAL, OLDER_ADDED = "special_tokens_map.json", "added_tokens.json"
BEGIN, END = "bos_token", "eos_token"
NAMED = (BEGIN, END, *(f"{name}_token" for name in ("unk", "sep", "pad", "cls", "mask")))
EXTRA, OLDER_EXTRA = "extra_special_tokens", "additional_special_tokens"
DECODER = "added_tokens_decoder"

GPT_2, QWEN_2, GEMMA, ANY = "GPT2Tokenizer", "Qwen2Tokenizer", "GemmaTokenizer", "TokenizersBackend"
_OF_FAMILIES = {
    GPT_2: "gpt2 opt gpt_neo gptj codegen phi starcoder2",
    QWEN_2: "qwen2 qwen2_moe qwen3 qwen3_moe",
    GEMMA: "gemma gemma2 gemma3 gemma3_text",
    "GPTNeoXTokenizer": "gpt_neox olmo olmoe mpt",
    "CohereTokenizer": "cohere cohere2",
    "BertTokenizer": "bert distilbert",
    ANY: "mistral mixtral ministral ministral3 phi3 olmo2 olmo3 granite stablelm ernie4_5",
}
CLASS_OF_FAMILY = {name: kind for kind, names in _OF_FAMILIES.items() for name in names.split()}
"""The class that transformers 5 uses if no file names one."""
USES_ITS_OWN = {"qwen2"} | {name for name, kind in CLASS_OF_FAMILY.items() if kind == ANY}
"""The families for which it uses this class even if a file names another one."""


def class_of(folder: Path) -> str:
    """Return the name of the tokenizer's class.

    Raises:
        TracerError: a file cannot be read.
    """
    config = _values(folder / CONFIG)
    usual = CLASS_OF_FAMILY.get(str(config.get("model_type")))
    named = _values(folder / BESIDE).get("tokenizer_class") or config.get("tokenizer_class")
    if named is None or config.get("model_type") in USES_ITS_OWN:
        return usual or ANY
    name = str(named).removesuffix("Fast")
    return ANY if name == "PreTrainedTokenizer" else name


def settings_of(folder: Path) -> CheckpointSettings:
    """Return the values of tokenizer_config.json; none without the file."""
    return CheckpointSettings(str(folder / BESIDE), _values(folder / BESIDE))


def whole_tokens(
    folder: Path,
    vocabulary: Mapping[str, int],
    usual: Mapping[str, str],
    own: Sequence[str] = (),
    always: Sequence[str] = (),
) -> dict[str, Any]:
    """Return `added_tokens` and `post_processor` of a tokenizer.json.

    `usual`: special tokens by their uses, if no file says so; `own`: further tokens of the
    vocabulary, if no file lists such tokens; `always`: the uses of a token before each text and
    one after it, which no file has to ask for.

    Raises:
        TracerError: a file cannot be read, or does not describe tokens.
    """
    values = {**usual, **_values(folder / BESIDE)}
    if OLDER_EXTRA in values and not values.get(EXTRA):
        values[EXTRA] = values.pop(OLDER_EXTRA)
    is_older = DECODER not in values
    if is_older:
        values |= _values(folder / OLDER_SPECIAL)
    settings = CheckpointSettings(str(folder / BESIDE), values)
    further = values[EXTRA] if EXTRA in values else [*own] or values.get(OLDER_EXTRA)
    of_model = further if isinstance(further, dict) else {}
    listed = further if isinstance(further, list) else []
    if not isinstance(further, list | dict | None):
        settings.wrong(EXTRA, "expected a list of tokens")
    uses = {key: value for key, value in values.items() if _is_use(key, value)} | of_model
    named = {
        key: _token(settings, key, uses[key])
        for key in dict.fromkeys((*NAMED, *uses))
        if uses.get(key) is not None
    }
    special = [*named.values(), *(_token(settings, EXTRA, each) for each in listed)]
    names = {token["content"] for token in special}
    added = _older_added(folder / OLDER_ADDED, names) if is_older else _added(settings)
    tokens = (*(_token(settings, DECODER, each) for each in added), *special)
    ids, found = dict(vocabulary), dict[str, Description]()
    for token in tokens:
        id = ids.setdefault(token["content"], len(ids))
        found.setdefault(token["content"], {"id": id, **token})
    around = [
        [(named[key]["content"], ids[named[key]["content"]])]
        if key in named and (always or _is_added(settings, f"add_{key}"))
        else []
        for key in always or (BEGIN, END)
    ]
    settings.only("split_special_tokens", False)
    settings.check()
    return {"added_tokens": [*found.values()], "post_processor": put_around(*around)}


def _is_added(settings: CheckpointSettings, key: str) -> bool:
    return settings.get(key) is not None and settings.flag(key, False)


def _older_added(path: Path, special: Container[str]) -> list[Any]:
    """Return the tokens of added_tokens.json in the order of their ids."""
    values = _values(path)
    ids = CheckpointSettings(str(path), values)
    found = sorted(values, key=lambda name: ids.whole(name, least=0))
    ids.check()
    return [{"content": name, "normalized": name not in special} for name in found]


def _added(settings: CheckpointSettings) -> list[Any]:
    """Return the tokens of tokenizer_config.json in the order of their ids."""
    added = settings.get(DECODER)
    if isinstance(added, dict) and all(map(str.isdecimal, added)):
        return [added[id] for id in sorted(added, key=int)]
    settings.wrong(DECODER, "expected tokens by their ids")
    return []


def _is_use(key: str, value: Any) -> bool:
    """Return whether a key names a token: a usual one, or one of the model, such as an image's."""
    return key in NAMED or (key.endswith("_token") and isinstance(value, str))


def _token(settings: CheckpointSettings, key: str, value: Any) -> Description:
    """Return a token, given by its content or as a mapping, with its flags."""
    token = {"content": value} if isinstance(value, str) else value
    content = token.get("content") if isinstance(token, dict) else None
    if not isinstance(content, str) or any(
        token.get(flag) not in (None, True, False) for flag in FLAGS
    ):
        settings.wrong(key, "expected a token")
        return {"content": key}
    return {"content": content, **{flag: bool(token.get(flag)) for flag in FLAGS}}


def _values(path: Path) -> dict[str, Any]:
    return read_json(path) if path.exists() else {}
