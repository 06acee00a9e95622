"""The chat template of a trained model: what stands around a message of a user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from tracer.checkpoints.gguf_file import GGUFFile
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.tokenizer_folder import BEGIN, BESIDE, END, NAMED, OLDER_SPECIAL
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file

ALONE = "chat_template.jinja"


@dataclass(frozen=True)
class ChatTemplate:
    """A template in the language of Jinja, and the special tokens that it may name."""

    file: str
    source: str
    tokens: Mapping[str, str]

    def around(self, message: str) -> str:
        """Return a user's message as the model reads it, up to where its answer begins.

        A template is a program of the model's author; it runs in Jinja's sandbox, with a budget.

        Raises:
            TracerError: the template is no program, refuses the message, leaves the sandbox, or
                computes for very long.
        """
        from tracer.checkpoints.template_sandbox import BudgetSandbox

        # Environment, filter and functions are those of transformers.
        jinja = BudgetSandbox(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        jinja.filters["tojson"] = _as_json
        jinja.globals |= {"raise_exception": _refuse, "strftime_now": datetime.now().strftime}
        said = {"messages": [{"role": "user", "content": message}], **self.tokens}
        try:
            template = jinja.template(self.source)
            return template.render(said, tools=None, documents=None, add_generation_prompt=True)
        except Exception as error:  # a program, which can fail in any way
            raise TracerError(Problem(f"the chat template: {error}", self.file)) from None


def of_folder(folder: Path) -> ChatTemplate | None:
    """Return the template of a Hugging Face folder, if it has one.

    Raises:
        TracerError: a file cannot be read.
    """
    files = [folder / name for name in (OLDER_SPECIAL, BESIDE)]
    values = {key: v for file in files if file.exists() for key, v in read_json(file).items()}
    tokens = {name: _content(values[name]) for name in NAMED if values.get(name)}
    if (folder / ALONE).exists():
        return ChatTemplate(str(folder / ALONE), read_file(folder / ALONE), tokens)
    found = values.get("chat_template")
    if isinstance(found, list):  # several by name
        found = {str(each.get("name")): each.get("template") for each in found}.get("default")
    return ChatTemplate(str(folder / BESIDE), str(found), tokens) if found else None


def of_gguf(read: GGUFFile) -> ChatTemplate | None:
    """Return the template of a GGUF file, if it has one."""
    found, prefix = read.values.get("tokenizer.chat_template"), "tokenizer.ggml."
    words = read.values.get(f"{prefix}tokens", ())
    ids = {name: read.values.get(f"{prefix}{name}_id") for name in (BEGIN, END)}
    tokens = {
        name: str(words[id]) for name, id in ids.items() if id is not None and id < len(words)
    }
    return ChatTemplate(read.file, str(found), tokens) if found else None


def _content(token: Any) -> str:
    """The text of a special token, which may be described by more."""
    return str(token.get("content", "")) if isinstance(token, dict) else str(token)


def _as_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)
