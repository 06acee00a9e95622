"""Python in Node as WebAssembly (Pyodide), as it can be the engine of a page inside a browser.

It takes the libraries that are pure Python from those installed here; compiled ones are wheels
that lie beside Pyodide.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.helpers.browser import NODE_MODULES
from tests.serve.test_without_a_system import COMPUTES

PROJECT = Path(__file__).parents[2]
FOLDER = NODE_MODULES / "pyodide"

IN_NODE = """
const [pyodide, program, ...folders] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pyodide);
const python = await loadPyodide();
for (const [at, root] of folders) {
  python.FS.mkdirTree(at);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, at);
}
try {
  console.log(python.runPython(program));
} catch (error) {
  console.log(error.message);
  process.exit(1);
}
"""

BEGINS = """
import os, sys
from pathlib import Path
sys.path[:0] = ["/project", "/compiled"]
sys.path.append("/pure")
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"  # as the program does
"""

WITHOUT_NUMPY = """
from types import ModuleType

class Absent(ModuleType):
    "Has classes without any functions under all names."
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        methods = {"__class_getitem__": lambda of, _: of, "__init__": lambda *_, **__: None}
        setattr(self, name, type(name, (), methods))
        return getattr(self, name)

for name in ("numpy", "numpy.typing"):
    sys.modules[name] = Absent(name)
"""

IMPORTS_AND_EDITS = """
import importlib, typer  # which imports them, too, and runs without them
for name in ("multiprocessing", "signal", "subprocess"):
    sys.modules[name] = None
folders = sorted(each for each in Path("/project/tracer").iterdir() if each.is_dir())
without = ("commands", "console", "files", "serve")
files = (f for folder in folders if folder.name not in without for f in folder.rglob("*.py"))
for file in files:
    importlib.import_module(".".join(file.relative_to("/project").with_suffix("").parts))
import tracer.serve.session
from tracer.scenario.edits import with_number
from tracer.scenario.loading import Origin, load_text

text = Path("/project/scenarios/science.yaml").read_text(encoding="utf-8")
path = ("unembedding", "W_U", 0, 0)
edited = with_number(text, path, "0.25")
origin = Origin("science", "science.yaml", Path())
changed = [str(load_text(each, origin).scenario.unembedding.W_U[0][0]) for each in (text, edited)]
" ".join(changed)
"""


def wheels(*names: str) -> list[Path]:
    """The wheels of compiled libraries, in the versions that are installed here."""
    if not shutil.which("node") or not (FOLDER / "pyodide.mjs").exists():
        pytest.skip("needs Node, and the npm package pyodide in the folder that NODE_PATH names")
    found = []
    for name in names:
        pattern = f"{name}-{version(name)}-*wasm32.whl"
        wheel = next(FOLDER.glob(pattern), None)
        if wheel is None:
            pytest.skip(f"there is no {pattern} in the folder of pyodide")
        found.append(wheel)
    return found


def ran(program: str, compiled: list[Path], folder: Path) -> str:
    """What a program comes to in Pyodide."""
    for wheel in compiled:
        ZipFile(wheel).extractall(folder)
    folders = {
        "/project": PROJECT,
        "/compiled": folder,
        "/pure": Path(sysconfig.get_path("purelib")),
    }
    mounted = [[at, str(root)] for at, root in folders.items()]
    given = json.dumps([str(FOLDER / "pyodide.mjs"), program, *mounted])
    command = ["node", "--input-type=module", "--eval", IN_NODE, given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.fuzz
def test_scenarios_are_read_and_edited(tmp_path: Path) -> None:
    """All that computes is imported, without processes, and what needs no NumPy runs."""
    program = BEGINS + WITHOUT_NUMPY + IMPORTS_AND_EDITS
    before, after = ran(program, wheels("pydantic_core"), tmp_path).split()
    assert before != after == "0.25"


@pytest.mark.fuzz
def test_a_page_is_computed(tmp_path: Path) -> None:
    computes = COMPUTES.format(file="/project/scenarios/science.yaml", name="science")
    program = f"{BEGINS}{computes}\nlen(session.html)"
    assert int(ran(program, wheels("pydantic_core", "numpy"), tmp_path).split()[-1]) > 100_000
