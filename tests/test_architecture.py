"""The tree is the way of the data: no import goes up it, and none goes in a circle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tracer"

ORDER = (
    *(
        ("errors", "frozen", "names", "node", "interruption"),
        ("files", "streams", "progress"),
        ("audit",),
        ("tokenization",),
        ("checkpoints",),
        ("formula",),
        ("scenario",),
        ("decoder",),
        ("lesson",),
        ("renderers",),
        ("check",),
    ),
    *(
        ("completion", "usage", "pager"),
        ("values",),
        ("request",),
        ("asked",),
        ("pipeline",),
        ("delivery", "options", "library"),
    ),
    *(("weave",), ("cli",)),
    ("__main__",),
)
"""Each may import what stands before it, and what stands beside it in its own package."""


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(path: Path) -> set[str]:
    """The project's modules that a file imports, anywhere in it."""
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{name.name}" for name in node.names}
            found |= (inner & set(MODULES)) or {node.module}
    return {name for name in found if name in MODULES and name != "tracer"}


def rank(module: str) -> int:
    part = module.split(".")[1]
    return next(i for i, parts in enumerate(ORDER) if part in parts)


@pytest.mark.parametrize("module", [name for name in MODULES if name != "tracer"])
def test_nothing_is_imported_upward(module: str) -> None:
    upward = [name for name in imports(MODULES[module]) if rank(name) > rank(module)]
    assert upward == []


def test_there_is_no_circle() -> None:
    graph = {module: imports(path) - {module} for module, path in MODULES.items()}
    # A package's own file stands for the package: what lies in it may be imported there.
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) >= {"tracer.lesson.steps", "tracer.pipeline"}


@pytest.mark.parametrize(("library", "places"), [
    ("rich", {
        "tracer.progress",
        "tracer.audit.report",
        *(f"tracer.renderers.{name}" for name in ("rows", "terminal")),
    }),
    ("jinja2", {"tracer.renderers.page.as_html"}),
    ("markdown_it", {"tracer.weave.structure"}),
    ("yaml", {"tracer.scenario.reader", "tracer.scenario.writer"}),
    ("typer", {f"tracer.{name}" for name in ("cli", "completion", "options", "usage", "values")}),
])  # fmt: skip
def test_a_library_is_imported_where_it_belongs(library: str, places: set[str]) -> None:
    using = {
        module
        for module, path in MODULES.items()
        if f"import {library}" in (text := path.read_text(encoding="utf-8"))
        or f"from {library}" in text
    }
    assert using == places
