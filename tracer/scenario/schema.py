"""The JSON Schema of a scenario, for editors; and the template for a new scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tracer.errors import strict_json
from tracer.scenario.dimensions import Dimensioned
from tracer.scenario.fields import DEFINED, HIDDEN, Random, Transposed
from tracer.scenario.loading import folder
from tracer.scenario.model import Scenario
from tracer.scenario.trained import Trained

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEMPLATE = Path(__file__).with_name("template.yaml")

PAIR = "^[^ ]+ [^ ]+$"
"""The two symbols of a merge if neither contains a space."""

Schema = dict[str, Any]


def schema() -> str:
    """Return the JSON Schema: every key with its description and an example."""
    forms = {form.__name__: form for form in (Scenario, Trained, Dimensioned)}
    described = {name: _tidy(form.model_json_schema()) for name, form in forms.items()}
    described["Scenario"]["required"].remove("tokens")  # a text or a batch has some
    definitions = _definitions()
    for form in described.values():
        definitions |= form.pop("$defs")
    whole: Schema = {
        "$schema": DRAFT,
        "$defs": {**definitions, **described},
        "if": {"required": ["checkpoint"]},
        "then": _defined("Trained"),
        "else": {
            "if": {"required": ["dimensions"]},
            "then": _defined("Dimensioned"),
            "else": _defined("Scenario"),
        },
    }
    return strict_json(whole, 2)


def template() -> str:
    """Return a small commented scenario; its first line names the schema, for editors."""
    where = (folder() / "schema.json").absolute().as_uri()
    return f"# yaml-language-server: $schema={where}\n{TEMPLATE.read_text(encoding='utf-8')}"


def _definitions() -> Schema:
    """Return the shared definitions: numbers, rows, matrices and words."""
    number, word, row, rows = map(_defined, ("Number", "Word", "Row", "Rows"))
    random, transposed = (_tidy(form.model_json_schema()) for form in (Random, Transposed))
    by_seed = {
        **{"type": "object", "description": "Short random decimals, evenly distributed."},
        **{"required": ["random"], "properties": {"random": random}, "additionalProperties": False},
    }
    return {
        "Number": {"type": "number", "minimum": -1e12, "maximum": 1e12},
        "Word": {
            "description": "The text as typed: `no` and 1.0 are words, too.",
            "type": ["string", "number", "boolean", "null"],
        },
        "Row": _list(number),
        "Rows": {**_list(row), "minItems": 1},
        "Matrix": _any(
            rows,
            {"const": "identity", "description": "1 on the diagonal, 0 elsewhere."},
            by_seed,
            transposed,
        ),
        "Embeddings": _any(by_seed, {"type": "object", "additionalProperties": row}, rows),
        "Words": _any(
            _list(word), {"type": "string", "description": "A sentence, split at its spaces."}
        ),
        "MaskRows": _list(_list(_hidden(number))),
        "Pinned": _any(number, row, rows, _list(_hidden(number)), _list(_list(_hidden(number)))),
        "Pair": _any(
            {**_list(word), "minItems": 2, "maxItems": 2},
            {"type": "string", "description": "Both, with a space between.", "pattern": PAIR},
        ),
    }


def _hidden(number: Schema) -> Schema:
    return _any(number, {"enum": list(HIDDEN), "description": "-∞, in a mask."})


def _any(*kinds: Schema) -> Schema:
    return {"anyOf": [*kinds]}


def _list(entry: Schema) -> Schema:
    return {"type": "array", "items": entry}


def _defined(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


NULL = {"type": "null"}
LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}
"""JSON Schema's names for limits that pydantic leaves untranslated after a custom validator."""


def _tidy(node: Any) -> Any:
    """Remove titles that repeat keys, and nulls; move examples into the descriptions."""
    if isinstance(node, list):
        return [_tidy(each) for each in node]
    if not isinstance(node, dict):
        return node
    if DEFINED in node:
        node = {**node, **_defined(node[DEFINED])}
    kinds = node.get("anyOf")
    if isinstance(kinds, list) and NULL in kinds:
        kinds = [kind for kind in kinds if kind != NULL]
        alone = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        return _tidy({**alone, **{key: part for key, part in node.items() if key != "anyOf"}})
    left_out = {"examples", DEFINED, *(() if "properties" in node else ("default",))}
    tidied = {
        LIMITS.get(key, key): _tidy(part)
        for key, part in node.items()
        if key not in left_out and not (key == "title" and isinstance(part, str))
    }
    if examples := node.get("examples"):
        described = node.get("description", "")
        tidied["description"] = f"{described} Example: {examples[0]}".lstrip()
    return tidied
