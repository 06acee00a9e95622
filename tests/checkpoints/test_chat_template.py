"""Chat templates: what stands around a user's message, as transformers renders it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import tiny_models
from tests.helpers.command import printed, problems, run
from tests.helpers.tiny_checkpoints import gguf_llama, write_gguf
from tracer.checkpoints.chat_template import ChatTemplate
from tracer.errors import TracerError

MESSAGE = "the a"
TEMPLATES = {
    "{{ bos_token }}{% for m in messages %}the {{ m.content }}, {% endfor %}is": (
        "<end>the the a, is"
    ),
    "{%- for m in messages %}\n    {%- if m['role'] == 'user' %}\n{{ m['content'] | trim }}\n"
    "    {%- else %}\n    {%- break %}\n    {%- endif %}\n{%- endfor %}\n"
    "{%- if add_generation_prompt %}\n is\n{%- endif %}": "the a is",
    "{% if tools is not none %}t{% endif %}{{ messages[0]['content'] }}{{ eos_token }}": (
        "the a<end>"
    ),
    "{% set n = namespace(x='he') %}{% for m in messages %}{% set n.x = n.x + m.content %}"
    "{% endfor %}{{ n.x }}": "hethe a",
    "{{ ({'a': messages[0].content} | tojson)[7:12] }}": "the a",
}
SAID = {"bos_token": {"content": "<end>", "lstrip": False}, "eos_token": "<end>"}


def folder(path: Path, **said: Any) -> Path:
    found = tiny_models.model(path, "folder llama")
    (found / "tokenizer_config.json").write_text(json.dumps({**SAID, **said}), encoding="utf-8")
    return found


def tokens(checkpoint: Path, text: str = MESSAGE, **said: Any) -> list[str]:
    """The tokens that the model reads."""
    file = tiny_models.naming(checkpoint, text=text, chat=True, **said)
    found = json.loads(printed("step", "logits", "-s", file, "-f", "json"))
    return list(found["values"][-1]["axes"][0]["labels"])


def joined(found: list[str]) -> str:
    """Tokens as one text; equal ones are told apart by their positions."""
    return "".join(token.partition(" (")[0] if token.strip() else " " for token in found)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_model_reads_what_the_template_says(template: str, tmp_path: Path) -> None:
    found = folder(tmp_path, chat_template=template)
    assert joined(tokens(found)) == TEMPLATES[template]


@pytest.mark.parametrize("template", TEMPLATES)
def test_transformers_renders_the_same(template: str) -> None:
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    ours = ChatTemplate("file", template, {"bos_token": "<end>", "eos_token": "<end>"})
    theirs, _ = utils.render_jinja_template(
        conversations=[[{"role": "user", "content": MESSAGE}]],
        chat_template=template,
        add_generation_prompt=True,
        **ours.tokens,
    )
    assert ours.around(MESSAGE) == theirs[0] == TEMPLATES[template]


def test_a_template_may_be_in_a_file_of_its_own_or_in_a_list(tmp_path: Path) -> None:
    named = [{"name": "tools", "template": "a"}, {"name": "default", "template": "the he"}]
    found = folder(tmp_path, chat_template=named)
    assert joined(tokens(found)) == "the he"
    (found / "chat_template.jinja").write_text("he, {{ messages[0].content }}", encoding="utf-8")
    assert joined(tokens(found)) == "he, the a"


def test_a_gguf_file_has_a_template(tmp_path: Path) -> None:
    said = {
        **tiny_models._tokens(of_scores=False),
        **{"tokenizer.ggml.bos_token_id": tiny_models.END, "tokenizer.ggml.add_bos_token": True},
        "tokenizer.chat_template": "{{ bos_token }}{{ messages[0].content }}, ",
    }
    file = write_gguf(tmp_path / "tiny.gguf", "llama", gguf_llama(), said)
    assert joined(tokens(file)) == "<end>the a, "  # one start token, not two


def test_contrast_and_other_texts_are_messages_too(tmp_path: Path) -> None:
    found = folder(tmp_path, chat_template="he {{ messages[0].content }}.")
    file = tiny_models.naming(found, text="the a", contrast={"text": "the, a"}, chat=True)
    for second in ((), ("--text", "the, a")):
        text = " ".join(printed("compare", file, *second, width=200).split())
        assert "with the tokens “he the a.”. The second run is “tiny” with “he the, a.”." in text


REFUSED = {
    "{{ raise_exception('one message only') }}": "the chat template: one message only",
    "{% if %}": "the chat template: Expected an expression",
    "{{ ''.__class__.__mro__ }}": "access to attribute '__class__' of 'str' object is unsafe",
    "{{ messages[1].content }}": "the chat template: ",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}": "the chat template: maximum recursion depth",
    "{% for a in 'x' %}" * 25
    + "{% endfor %}" * 25: "the chat template: too many statically nested",
    "{{ strftime_now(5) }}{{ 'a' * 10 ** 12 }}": "the chat template: ",
    "{{ range(10 ** 9) }}": "the chat template: Range too big",
}


@pytest.mark.parametrize("template", REFUSED)
def test_what_a_template_refuses(template: str, tmp_path: Path) -> None:
    file = tiny_models.naming(folder(tmp_path, chat_template=template), text="the", chat=True)
    assert REFUSED[template] in " ".join(problems(run("run", file, width=200)))


def test_a_model_without_a_template_is_refused(tmp_path: Path) -> None:
    file = tiny_models.naming(folder(tmp_path), text="the", chat=True)
    assert "this model has no chat template" in " ".join(problems(run("run", file)))
    ids = tiny_models.naming(folder(tmp_path, chat_template="a"), token_ids=[1], chat=True)
    assert "chat needs a text, not token_ids" in " ".join(problems(run("run", ids)))


ENDLESS = {
    "loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "a recursive loop": (
        "{% for a in range(999) recursive %}{% if loop.depth < 4 %}{{ loop(range(999)) }}"
        "{% endif %}{% endfor %}"
    ),
    "a macro": (
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(99) }}"
    ),
    "a power": "{{ 9 ** 999999999 }}",
    "a long text": "{{ 'a' * 10 ** 12 }}",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_template_that_computes_for_very_long_is_refused(kind: str) -> None:
    with pytest.raises(TracerError, match=r"chat template: .*more than 1"):
        ChatTemplate("file", ENDLESS[kind], {}).around(MESSAGE)


def test_a_long_loop_within_the_budget_is_rendered() -> None:
    source = "{% for a in range(50000) if a % 10000 == 0 %}{{ loop.revindex }}{% endfor %}"
    assert ChatTemplate("file", source, {}).around(MESSAGE) == "54321"
