"""The reference: commands, keys, addresses and the library, all from the program."""

from __future__ import annotations

import inspect
import json
import re
from types import FunctionType
from typing import Any

import typer
from common import CONTENTS, HERE, ROOT, table
from outputs import as_code, with_outputs

import tracer
from tests.helpers.command import printed
from tracer.cli import app
from tracer.requests.loader import GROUPS, parser

NAMES = tuple(name for group in GROUPS.values() for name in group.split())
"""The commands, in the order of the help."""


def command(name: str) -> str:
    """Return the help of a command, its options as a table, and its examples with outputs."""
    found = parser(name)
    whole = typer.Context(typer.main.get_command(app), info_name="decoder-trace")
    inside = typer.Context(found, info_name=name, parent=whole)
    usage = " ".join(found.get_usage(inside).split()).removeprefix("Usage: ")
    records = (each.get_help_record(inside) for each in found.get_params(inside))
    rows = [
        (f"`{re.sub(' <[^>]*>$', '', named)}`", escaped(said))
        for named, said in filter(None, records)
    ]
    lines = [line.strip() for line in found.epilog.splitlines() if "decoder-trace " in line]
    examples = with_outputs(
        "\n".join(as_code([line]) for line in lines), f"reference/command-{name}.md"
    )
    options = table(("argument or option", "means"), rows)
    return f"# {name}\n\n{found.help}\n\n{as_code([usage])}{options}\n## Examples\n\n{examples}"


def escaped(text: str) -> str:
    """Return the text with what Markdown or HTML would read as marks, except for code."""
    return re.sub(r"(`[^`]*`)|([\\`*_<\[])", lambda mark: mark[1] or f"\\{mark[2]}", text)


def keys() -> str:
    """Return every key of a scenario, from the JSON Schema."""
    kinds = json.loads((ROOT / "scenarios" / "schema.json").read_text(encoding="utf-8"))["$defs"]
    first = ("Scenario", "Trained", "Dimensioned")
    text = "# Scenario keys\n\nEvery key of a [scenario](../guides/scenarios.md).\n"
    for name in (*first, *sorted(kinds.keys() - set(first))):
        kind = kinds[name]
        text += f"\n## {name}\n\n{escaped(kind.get('description', ''))}\n\n"
        rows = [key(*each, kind) for each in kind.get("properties", {}).items()]
        text += table(("key", "value", "means"), rows) if rows else f"{value(kind)}\n"
    return text


def key(name: str, kind: dict[str, Any], of: dict[str, Any]) -> tuple[str, ...]:
    """Return a key, its type, and what it means, with an example."""
    said, _, example = kind.get("description", "").partition("Example: ")
    needed = " (required)" if name in of.get("required", ()) else ""
    shown = f" Example: `{example}`" if example else ""
    return f"`{name}`{needed}", value(kind), escaped(said) + shown


def value(kind: dict[str, Any]) -> str:
    """Return in words, with links, what a schema allows."""
    match kind:
        case {"$ref": str(place)}:
            name = place.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"const": known}:
            return f"`{known}`"
        case {"enum": known}:
            return " or ".join(f"`{each}`" for each in known)
        case {"anyOf": choices} | {"oneOf": choices}:
            return " or ".join(dict.fromkeys(map(value, choices)))
        case {"type": list(types)}:
            return " or ".join(types)
        case {"type": "array", "items": items}:
            return f"list of {value(items)}"
        case {"type": "object", "properties": inside}:
            return f"keys {', '.join(f'`{name}`' for name in inside)}"
    return {
        "integer": "whole number",
        "boolean": "true or false",
        "object": "keys with values",
    }.get(kind.get("type", ""), kind.get("type", "any value"))


def addresses() -> str:
    """Return each address of the tutorials, with N for the numbers of layers and heads."""
    found: dict[str, tuple[str, str, list[str]]] = {}
    own = HERE / "scenarios"
    names = [each["name"] for each in CONTENTS["learn"] if each.get("page", True)]
    for name in names:
        file = own / f"{name}.yaml"
        if not file.exists() and not (ROOT / "scenarios" / f"{name}.yaml").exists():
            continue
        source = str(file) if file.exists() else name
        for each in json.loads(printed("steps", source, "--all", "--format", "json"))["values"]:
            address = re.sub(r"(?<=[a-z])[0-9]+(?=\.|$)", "N", each["address"])
            symbols = each["symbol"], each["formula"] or "", []
            found.setdefault(address, symbols)[2].append(f"[{name}](../learn/{name}.md)")
    rows = [
        (f"`{address}`", f"`{address.rpartition('.')[2]}`", symbol, escaped(formula), using[0])
        for address, (symbol, formula, using) in sorted(found.items())
    ]
    text = (
        "# Addresses and roles\n\nThe address of a value names its place; its last word is the "
        "role of the value. N is the number of a layer, head, expert or block, counted from 1. "
        "These are the values of the tutorials, as `steps --all` lists them:\n\n"
    )
    return text + table(("address", "role", "symbol", "formula", "for example in"), rows)


def library() -> str:
    """Return every public name of `import tracer`, with its signature and docstring."""
    names = [name for name in tracer.__all__ if not name.startswith("__")]
    things = {name: getattr(tracer, name) for name in names}
    things["testing.assert_matches"] = things.pop("testing").assert_matches
    text = (
        "# Library\n\nThe names of `import tracer`. [Use it in Python](library.md) has examples.\n"
    )
    for name, thing in things.items():
        text += f"\n## tracer.{name}\n\n{documented(name, thing)}"
        for member, method in vars(thing).items() if inspect.isclass(thing) else ():
            if isinstance(method, (FunctionType, property)) and not member.startswith("_"):
                text += f"\n### {name}.{member}\n\n{documented(member, method)}"
    return text


def documented(name: str, thing: Any) -> str:
    """Return a signature, if there is one, and the docstring."""
    signature = ""
    if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
        typed = str(inspect.signature(thing)).replace("'", "")
        signature = f"```python\n{name}{typed}\n```\n\n"
    return signature + escaped(inspect.getdoc(thing) or "") + "\n"


WRITTEN = {"keys": keys, "addresses": addresses, "api": library}
"""The pages that the program writes, by their names in contents.toml."""
