"""A scenario of plain Python data as YAML text that keeps every typed digit."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

Scenario = dict[str, Any]

_KEYWORD_FIELDS = {"positions", "activation", "norm", "placement", "carry", "trailing_zeros"}
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def to_yaml(scenario: Scenario) -> str:
    """The scenario as YAML: numbers plain with the digits they have, texts in double quotes."""
    return "".join(f"{line}\n" for line in _mapping_lines(scenario))


def _mapping_lines(mapping: Scenario, quote_keys: bool = False) -> list[str]:
    lines: list[str] = []
    for key, value in mapping.items():
        name = key if key.isidentifier() and not quote_keys else _quoted(key)
        if isinstance(value, str) and key in _KEYWORD_FIELDS and not quote_keys:
            lines.append(f"{name}: {value}")
        elif isinstance(value, dict) and value:
            inner = _mapping_lines(value, quote_keys=key == "embeddings")
            lines += [f"{name}:", *(f"  {line}" for line in inner)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"{name}:")
            for item in value:
                first, *rest = _mapping_lines(item) or ["{}"]
                lines += [f"  - {first}", *(f"    {line}" for line in rest)]
        elif isinstance(value, list) and value and isinstance(value[0], list):
            lines += [f"{name}:", *(f"  - {_flow(row)}" for row in value)]
        else:
            lines.append(f"{name}: {_flow(value)}")
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_flow(item) for item in value)}]"
    return format(value, "f") if isinstance(value, Decimal) else _quoted(value)


def _quoted(value: str | int | bool) -> str:
    """JSON quoting is YAML quoting, once what YAML does not take as it is has been escaped."""
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)
