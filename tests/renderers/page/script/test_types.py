"""The types of the script fit, in all its files together."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.helpers.browser import NODE_MODULES
from tests.renderers.page.script.conftest import SCRIPT

TSC = NODE_MODULES / "typescript" / "bin" / "tsc"


def test_the_types_of_the_script_fit() -> None:
    node = shutil.which("node")
    if node is None or not TSC.is_file():
        pytest.skip("needs Node, and NODE_PATH naming the folder of typescript")
    # They are no modules: what one declares the others see.
    how = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--moduleDetection", "legacy")
    libraries = ("--target", "es2022", "--lib", "es2022,dom,dom.iterable")
    files = sorted(map(str, SCRIPT.glob("*.js")))
    command = [node, str(TSC), *how, *libraries, *files]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout == ""
    assert ran.returncode == 0
