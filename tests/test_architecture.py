"""The tree follows the data: no import goes up it, and none goes in a circle."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tracer"

ORDER = (
    ("errors", "names", "node", "parts"),
    ("console",),
    ("files",),
    ("audit",),
    ("tokenization",),
    ("checkpoints",),
    ("formula",),
    ("scenario",),
    ("decoder",),
    ("lesson",),
    ("lesson.working",),
    ("lesson.steps",),
    ("lesson.texts",),
    ("lesson.code",),
    ("renderers",),
    ("data",),
    ("check",),
    ("pytorch",),
    ("requests",),
    ("weave",),
    ("serve",),
    ("commands",),
    ("cli",),
    ("library", "testing"),
    ("__main__",),
)
"""Each may import from the rows above it and from its own folder."""


FLOORS = {
    **{"scenario": ["scenario"], "ffn": ["scenario"]},
    **{"decoder": ["decoder"], "lesson": ["lesson", "steps"]},
}
"""The floor of each file of a part, by the first word of its name."""


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(path: Path) -> set[str]:
    """The project's modules that a file imports, anywhere in it, type checking included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{name.name}" for name in node.names}
            found |= (inner & set(MODULES)) or {node.module}
    return {name for name in found if name in MODULES and name != "tracer"}


def rank(module: str) -> int:
    """The row of a module: that of the longest name in `ORDER` that it is, or lies in."""
    parts = module.split(".")[1:]
    if parts[0] == "parts" and len(parts) == 3:
        parts = FLOORS[parts[2].partition("_")[0]]
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    rows = {name: row for row, same in enumerate(ORDER) for name in same}
    return next(rows[name] for name in names if name in rows)


@pytest.mark.parametrize("module", [name for name in MODULES if name != "tracer"])
def test_nothing_is_imported_upward(module: str) -> None:
    upward = [name for name in imports(MODULES[module]) if rank(name) > rank(module)]
    assert upward == []


def test_there_is_no_circle() -> None:
    graph = {module: imports(path) - {module} for module, path in MODULES.items()}
    del graph["tracer"]  # it offers the library, which imports nearly everything
    # A package's own file stands for the package: what lies in it may be imported there.
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) >= {"tracer.lesson.steps", "tracer.requests.passes"}


SHOWN = (
    *("tracer.formula", "tracer.names", "tracer.node", "tracer.renderers"),
    *("tracer.lesson.document", "tracer.lesson.kinds", "tracer.lesson.texts.page"),
)
"""What a renderer knows: expressions, documents and pages; neither the tape nor the scenario."""


@pytest.mark.parametrize("module", [name for name in MODULES if ".renderers" in name])
def test_a_renderer_knows_documents_only(module: str) -> None:
    path = MODULES[module]
    assert not re.search(r"\b(?:import|from) numpy\b", path.read_text(encoding="utf-8"))
    assert [name for name in imports(path) if not name.startswith(SHOWN)] == []


@pytest.mark.parametrize(
    ("library", "places"),
    [
        (
            "rich",
            {
                "tracer.audit.reports.report",
                "tracer.console.progress",
                "tracer.renderers.rows",
                "tracer.renderers.terminal",
            },
        ),
        ("pathspec", {"tracer.audit.project.paths"}),
        ("jinja2", {"tracer.checkpoints.template_sandbox", "tracer.renderers.page.as_html"}),
        ("yaml", {"tracer.scenario.nodes", "tracer.scenario.reader", "tracer.scenario.writer"}),
        ("starlette", {"tracer.serve.application"}),
        ("uvicorn", {"tracer.serve.protocol", "tracer.serve.server"}),
        ("watchfiles", {"tracer.serve.watching"}),
        (
            "typer",
            {
                "tracer.cli",
                "tracer.commands.audit",
                "tracer.commands.weave",
                "tracer.requests.completion",
                "tracer.requests.loader",
                "tracer.requests.values",
            },
        ),
    ],
)
def test_a_library_is_imported_where_it_belongs(library: str, places: set[str]) -> None:
    using = {
        module
        for module, path in MODULES.items()
        if re.search(rf"\b(?:import|from) {library}\b", path.read_text(encoding="utf-8"))
    }
    assert using == places


OPENING = {
    *("open", "fdopen", "read_bytes", "read_text", "np.load", "loadtxt", "fromfile", "memmap"),
    *("safe_open", "from_file", "ZipFile", "copyfile"),
}
"""Names of functions that open files."""

OPENED = {
    "tracer.files.reading": {"open"},
    # What is written.
    "tracer.files.writing": {"open", "fdopen", "read_bytes"},
    "tracer.console.streams": {"open", "fdopen"},
    # Files of the program itself.
    "tracer.renderers.page.as_html": {"read_text"},
    "tracer.requests.loader": {"read_text"},
    "tracer.scenario.schema": {"read_text"},
    "tracer.files.memory": {"read_text"},  # what the system says of itself
    # What reading.py has opened.
    "tracer.checkpoints.safetensors_files": {"safe_open"},
    "tracer.checkpoints.tensor": {"memmap"},
    "tracer.scenario.activations": {"ZipFile", "np.load"},
}


def test_files_are_opened_in_one_place() -> None:
    found: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                for name in OPENING & {called, called.rpartition(".")[2]}:
                    found.setdefault(module, set()).add(name)
    assert found == OPENED
