"""The reference: commands, keys, addresses, JSON, the library and messages, all from the program."""  # noqa: E501

from __future__ import annotations

import inspect
import json
import re
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import guides
import typer
import yaml  # noqa: TID251
from outputs import as_code, with_outputs
from pages import HERE, ROOT, Page, folded, table

import tracer
from tests.helpers.command import printed, run
from tests.helpers.examples import minimal, words_of
from tracer.cli import app
from tracer.requests.loader import parser

WITH_VALUES = ("alex-learns", "comics", "pizza", "picture", "experts", "blocks", "lora")
"""The bundled scenarios whose addresses are listed."""


def pages() -> list[Page]:
    """One page for each command, and one for each other subject."""
    names = list(typer.main.get_command(app).list_commands(context()))  # type: ignore[attr-defined]
    return [
        *guides.reference_pages(),
        Page("Reference", "Scenario keys", "reference/keys.md", keys),
        Page("Reference", "Addresses and roles", "reference/addresses.md", addresses),
        Page("Reference", "JSON", "reference/json.md", json_output),
        Page("Reference", "Library", "reference/api.md", library),
        Page("Reference", "Messages", "reference/messages.md", messages),
        *(
            Page("Commands", name, f"reference/command-{name}.md", command, (name,))
            for name in names
        ),
    ]


def context() -> Any:  # noqa: D103
    return typer.Context(typer.main.get_command(app), info_name="decoder-trace")


# --- commands -----------------------------------------------------------------------------------


def command(name: str) -> str:
    """The help of a command, its options as a table, and its examples with their outputs."""
    found = parser(name)
    inside = typer.Context(found, info_name=name, parent=context())
    said, _, examples = (found.help or "").partition("Examples:")
    usage = " ".join(found.get_usage(inside).split()).removeprefix("Usage: ")
    rows = [row(parameter, inside) for parameter in found.get_params(inside)]
    examples = examples or found.epilog or ""
    lines = [line.strip() for line in examples.splitlines() if "decoder-trace " in line]
    text = f"# {name}\n\n{said.strip()}\n\n{as_code([usage])}"
    text += table(("argument or option", "means"), [r for r in rows if r])
    return text + shown(lines, f"reference/command-{name}.md")


def row(parameter: Any, inside: Any) -> tuple[str, ...]:
    """A parameter's names and help, as its command prints them."""
    record = parameter.get_help_record(inside)
    return (f"`{re.sub(' <[^>]*>$', '', record[0])}`", escaped(record[1])) if record else ()


def shown(lines: list[str], file: str) -> str:
    """The examples of a help, with what they print."""
    examples = "\n".join(as_code([line]) for line in lines)
    return f"\n## Examples\n\n{with_outputs(examples, file)}" if lines else ""


def escaped(text: str) -> str:
    """The text with what Markdown or HTML would read as marks."""
    return re.sub(r"([\\`*_<\[])", r"\\\1", text)


# --- the scenario -------------------------------------------------------------------------------


def keys() -> str:
    """Every key of a scenario, from the JSON Schema."""
    schema = json.loads((ROOT / "scenarios" / "schema.json").read_text(encoding="utf-8"))
    kinds = schema["$defs"]
    first = ("Scenario", "Trained", "Dimensioned")
    text = "# Scenario keys\n\nEvery key of a [scenario](../guides/scenarios.md), from its JSON Schema.\n"  # noqa: E501
    for name in (*first, *sorted(kinds.keys() - set(first))):
        kind = kinds[name]
        text += f"\n## {name}\n\n{escaped(kind.get('description', ''))}\n\n"
        if "properties" in kind:
            text += table(
                ("key", "value", "means"), [key(*each, kind) for each in kind["properties"].items()]
            )
        else:
            text += f"{value(kind)}\n"
    return text


def key(name: str, kind: dict[str, Any], of: dict[str, Any]) -> tuple[str, ...]:
    """A key, its type, and what it means, with an example."""
    said, _, example = kind.get("description", "").partition("Example: ")
    needed = " (required)" if name in of.get("required", ()) else ""
    shown = f" Example: `{example}`" if example else ""
    return f"`{name}`{needed}", value(kind), escaped(said) + shown


def value(kind: dict[str, Any]) -> str:
    """What a schema allows, in words, with links."""
    if "$ref" in kind:
        name = kind["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in kind:
        return f"`{json.dumps(kind['const']).strip(chr(34))}`"
    if "enum" in kind:
        return " or ".join(f"`{each}`" for each in kind["enum"])
    if choices := kind.get("anyOf", kind.get("oneOf")):
        return " or ".join(dict.fromkeys(map(value, choices)))
    typed = kind.get("type", "any value")
    if isinstance(typed, list):
        return " or ".join(typed)
    if typed == "array":
        return f"list of {value(kind['items'])}" if "items" in kind else "list"
    if typed == "object":
        inside = ", ".join(f"`{name}`" for name in kind.get("properties", {}))
        return f"keys {inside}" if inside else "keys with values"
    return str({"integer": "whole number", "boolean": "true or false"}.get(typed, typed))


# --- outputs ------------------------------------------------------------------------------------


def addresses() -> str:
    """Each address that the bundled scenarios have, with N for the numbers of layers and heads."""
    found: dict[str, tuple[str, str, list[str]]] = {}
    latent = str(HERE / "scenarios" / "latent.yaml")
    for name in (*WITH_VALUES, latent):
        listed = json.loads(printed("steps", name, "--all", "--format", "json"))
        for each in listed["values"]:
            general = re.sub(r"(?<=[a-z])[0-9]+(?=\.|$)", "N", each["address"])
            known = found.setdefault(general, (each["symbol"], each["formula"] or "", []))
            if (said := Path(name).stem) not in known[2]:
                known[2].append(said)
    rows = [
        (
            f"`{address}`",
            f"`{address.rpartition('.')[2]}`",
            symbol,
            escaped(formula),
            ", ".join(names[:3]),
        )
        for address, (symbol, formula, names) in sorted(found.items())
    ]
    return (
        "# Addresses and roles\n\nThe address of a value names its place; its last word is the value's role. N is "  # noqa: E501
        "the number of a layer, head, expert or block, counted from 1.\nThe list has every value of the scenarios "  # noqa: E501
        f"{', '.join(Path(name).stem for name in (*WITH_VALUES, latent))}, as `steps --all` prints it.\n\n"  # noqa: E501
        + table(("address", "role", "symbol", "formula", "for example in"), rows)
    )


JSON_OF = (
    "run two-words.yaml --format json",
    "steps two-words.yaml --format json",
    "attribute 'logits[la,pizza]' -s pizza --format json",
    "compare pizza --train --format json",
    "train alex-learns --format json",
    "generate pizza --format json",
    "check alex --format json",
    "audit two-words.md --format json",
)


def json_output() -> str:
    """The form of what `--format json` prints."""
    text = (
        "# JSON\n\nWhat `--format json` prints. Of each list, only the first entry is shown.\n"
        "[Formats](commands.md#formats) says what the fields mean.\n"
    )
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("two-words.yaml").write_text(minimal(), encoding="utf-8")
        Path("two-words.md").write_text("2 × 3 + 4 × 5 = 6 + 20 = 62\n", encoding="utf-8")
        for line in JSON_OF:
            words = words_of(f"decoder-trace {line}")
            form = json.dumps(
                shortened(json.loads(run(*words).stdout)), indent=1, ensure_ascii=False
            )
            text += f"\n## {words[0]}\n\n{as_code(['decoder-trace ' + line])}{folded('It prints', form, 'json')}"  # noqa: E501
    return text


def shortened(data: Any) -> Any:
    """Data with one entry of each list."""
    if isinstance(data, dict):
        return {name: shortened(each) for name, each in data.items()}
    return [shortened(each) for each in data[:1]] if isinstance(data, list) else data


# --- the library and the messages ---------------------------------------------------------------


def library() -> str:
    """Every public name of `import tracer`, with its signature and docstring."""
    text = (
        "# Library\n\nThe names of `import tracer`. [Use it in Python](library.md) has examples.\n"
    )
    for name in tracer.__all__:
        thing = getattr(tracer, name)
        if name.startswith("__"):
            continue
        inside = [] if callable(thing) else [("testing.assert_matches", thing.assert_matches)]
        for title, each in inside or [(name, thing)]:
            text += f"\n## tracer.{title}\n\n{documented(title, each)}"
            if inspect.isclass(each):
                for member, method in public(each):
                    text += f"\n### {title}.{member}\n\n{documented(member, method)}"
    return text


def public(kind: type) -> list[tuple[str, Any]]:
    """The documented members that a class declares."""
    members = [(name, member) for name, member in vars(kind).items() if not name.startswith("_")]
    return [
        (name, member)
        for name, member in members
        if getattr(member, "__doc__", None) and (callable(member) or isinstance(member, property))
    ]


def documented(name: str, thing: Any) -> str:
    """A signature, if there is one, and the docstring."""
    signature = ""
    if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
        signature = f"```python\n{name}{inspect.signature(thing)}\n```\n\n".replace("'", "")
    return signature + escaped(inspect.getdoc(thing) or "") + "\n"


def messages() -> str:
    """Each kind of message with an example, made by running bad input."""
    cases = yaml.safe_load((HERE / "messages.yaml").read_text(encoding="utf-8"))
    text = (
        "# Messages\n\nAn error names the file, the line, the address, what was expected and what came. All errors of "  # noqa: E501
        "a scenario are printed at once.\nThe exit code of an error is 2; [exit codes](commands.md#exit-codes) lists "  # noqa: E501
        "the others. Each message below comes from the example above it.\n"
    )
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("two-words.yaml").write_text(minimal(), encoding="utf-8")
        for case in cases:
            text += f"\n## {case['title']}\n\n"
            for name, content in case.get("files", {}).items():
                Path(name).write_text(content, encoding="utf-8")
                text += f"`{name}`:\n\n```yaml\n{content}```\n\n"
            ran = run(*words_of(case["command"]))
            if ran.exit_code != 2:
                raise SystemExit(f"{case['title']}: exit code {ran.exit_code}, expected 2")
            text += as_code([case["command"]]) + folded("It prints", ran.stderr)
    return text
