"""What computes a page needs no operating system: no process, thread, lock or signal.

So it can be the engine of a page inside a browser, where Python runs as WebAssembly (Pyodide). Its
NumPy is in no package index that the tests reach; here what it lacks is acted out.
"""

from __future__ import annotations

import subprocess
import sys

from tests.helpers.bundled import TYPED
from tests.helpers.process import ALONE

ACTED_OUT = """
import os, sys, threading

os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"  # as the program does
# The libraries come with Pyodide, and are prepared for it.
import jinja2, markdown_it, numpy, pydantic, rich.console, typer, yaml
import importlib.metadata, numpy.random  # which they import when they are first used

LACKING = (
    "fcntl", "grp", "mmap", "multiprocessing", "pwd", "readline", "resource", "select",
    "selectors", "signal", "socket", "ssl", "subprocess", "syslog", "termios", "tty",
    "concurrent.futures", "asyncio", "starlette", "uvicorn", "watchfiles",
)
for name in LACKING:
    sys.modules[name] = None

def lacking(*arguments, **named):
    raise OSError("there is no such thing here")

threading.Thread.start = os.fork = os.kill = os.pipe = lacking
"""

COMPUTES = """
from pathlib import Path
from tracer.scenario.loading import Origin
from tracer.serve.session import Session

text = Path({file!r}).read_text(encoding="utf-8")
session = Session.of(text, Origin({name!r}, {file!r}, Path()))
session.edit({{"address": "unembedding.W_U", "row": 1, "column": 1, "number": "0.25"}})
assert session.state.text != text
assert "0.25" in session.state.trace_json
assert session.html.startswith("<!doctype html>")
session.undo()
assert session.state.text == text
print(len(session.html))
"""


def test_a_page_is_computed_without_a_system() -> None:
    file = str(TYPED["science"])
    program = ACTED_OUT + COMPUTES.format(file=file, name="science")
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, env=ALONE, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert int(ran.stdout) > 100_000
