"""The process that reads a stranger's tokenizer ends by itself, and with the program."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys

import pytest

from tests.helpers.tiny_models import SYMBOLS, tokenizer_json
from tracer.errors import TracerError
from tracer.tokenization.isolated import IsolatedLibrary

ENDLESS = """
import time
from tracer.tokenization import library
library.MOST_SECONDS = 0.1
library._serve(lambda description: time.sleep(100))
"""


@pytest.fixture
def library() -> IsolatedLibrary:
    library = IsolatedLibrary("tokenizers", "tokenizer.json")
    library.serve(tokenizer_json().encode())
    return library


def test_it_answers_as_the_library_does(library: IsolatedLibrary) -> None:
    assert library.added() == {"<end>": SYMBOLS.index("<end>")}
    found = library.encode("the a<end>")
    assert found == {
        "ids": [34, 35, SYMBOLS.index("<end>")],
        "before": [],
        "after": [],
        "pieces": [[["the", "the"]], [["Ġa", " a"]], [["<end>", "<end>"]]],
        "skipped": "",
    }
    assert library.decode([34, 35]) == "the a"


def test_what_takes_too_long_is_ended() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ENDLESS], input=b'1\nx["added"]\n', capture_output=True, timeout=60
    )
    assert ran.returncode != 0
    assert ran.stdout == b""
    assert b"Timeout" in ran.stderr


def test_an_end_in_between_is_told(library: IsolatedLibrary) -> None:
    library.added()
    library._process.kill()
    with pytest.raises(TracerError, match=r"tokenizer\.json: .*: it crashed, ran out of"):
        library.decode([1])


@pytest.mark.skipif(os.name != "posix", reason="Windows interrupts all that share a window")
def test_an_interruption_is_the_programs(library: IsolatedLibrary) -> None:
    library.added()
    library._process.send_signal(signal.SIGINT)
    assert library.decode([34]) == "the"


def test_it_ends_when_nobody_holds_it() -> None:
    held = IsolatedLibrary("tokenizers", "tokenizer.json")
    process = held._process
    del held
    gc.collect()
    assert process.returncode is not None
