"""`value`: one number of a trace, as every other output prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command import Ran, run
from tests.weave.test_files import SCENARIO, WEIGHTS

HEAD = "layer1.attention.head1"

OF_ALEX = {
    f"{WEIGHTS}[Alex,Frank]": "0.964",
    f"{WEIGHTS}[ Alex , Frank ]": "0.964",
    f"{WEIGHTS}[4,1]": "0.964",
    f"{WEIGHTS}[4,Frank] as percent": "96.4 %",
    f"{WEIGHTS}[Frank,Frank] as percent": "100 %",
    f"{WEIGHTS}[Frank,Alex]": "0",
    f"{HEAD}.masked[Frank,Alex]": "-∞",
    f"{HEAD}.query[Alex,street-stall]": "2.589",
    f"{HEAD}.exp[4,1]": "105135",
    f"{HEAD}.d_k": "2",
    f"{HEAD}.scale": "1.414",
    "layer1.attention.W_O[info-sichuan,spicy]": "0.81",
    "layer1.attention.norm.mean[Alex]": "5.5345",  # 33.207 / 6, exactly
    "embedding[Frank,2]": "0.95",
    "tokens[3]": "Daniel",
}
DIGITS = "9" * 5_000
"""More than Python reads."""

REFUSED = {
    f"{HEAD}.weihgts[1,1]": f"{HEAD}.weihgts: no such value; did you mean '{WEIGHTS}'",
    f"{WEIGHTS}[Alex,Frnak]": f"{WEIGHTS}: no key 'Frnak'; did you mean 'Frank'?",
    f"{WEIGHTS}[0,1]": f"{WEIGHTS}: no token '0'",
    f"{WEIGHTS}[1,5]": f"{WEIGHTS}: no key '5'",
    f"{WEIGHTS}[1,-1]": f"{WEIGHTS}: no key '-1'",
    f"{WEIGHTS}[1,²]": f"{WEIGHTS}: no key '²'",
    f"{WEIGHTS}[1,]": f"{WEIGHTS}: no key ''",
    f"{WEIGHTS}[Alex]": f"{WEIGHTS}: got [Alex], expected [token,key], such as [Frank,Frank]",
    f"{WEIGHTS}[1,1,1]": f"{WEIGHTS}: got [1,1,1], expected [token,key], such as [Frank,Frank]",
    WEIGHTS: f"{WEIGHTS}: got no row or column, expected [token,key], such as [Frank,Frank]",
    f"{HEAD}.d_k[1]": f"{HEAD}.d_k: got [1], expected only the address",
    f"{WEIGHTS}[1,1] as words": f"{WEIGHTS}[1,1]: got 'as words' after the address, expected "
    f"nothing",
    f"{WEIGHTS}[1,1] as percentt": f"{WEIGHTS}[1,1]: got 'as percentt' after the address, "
    f"expected nothing",
    f"{HEAD}.d_k twice": f"{HEAD}.d_k: got 'twice' after the address, expected nothing",
    "tokens[3] as percent": "tokens[3]: 'Daniel' is a word, which has no percentage",
    f"{HEAD}.masked[1,4] as percent": f"{HEAD}.masked[1,4]: -∞ has no percentage",
    f"{WEIGHTS}[1,1": f"got '{WEIGHTS}[1,1', expected ADDRESS[ROW,COLUMN]",
    "": "got '', expected ADDRESS[ROW,COLUMN]",
    f"{WEIGHTS}[{DIGITS},1]": f"{WEIGHTS}: no token '999",
    f"{WEIGHTS}[1,{DIGITS}] as percent": f"{WEIGHTS}: no key '999",
}
TWICE = {
    "embedding[b,y]": "4",
    "embedding[a (1),y]": "2",
    "embedding[a (3),2]": "2",
    "embedding[3,2]": "2",
    f"{WEIGHTS}[b,a (1)] as percent": "26.9 %",
}


@pytest.mark.parametrize("asked", OF_ALEX)
def test_value(asked: str) -> None:
    assert run("value", asked) == Ran(0, f"{OF_ALEX[asked]}\n", "")
    assert run("value", *asked.split(" ")) == run("value", asked)


@pytest.mark.parametrize("asked", REFUSED, ids=lambda asked: asked[:60])
def test_what_is_not_there(asked: str) -> None:
    ran = run("value", asked)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(REFUSED[asked])
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("asked", TWICE)
def test_a_token_that_occurs_twice(asked: str) -> None:
    assert run("value", asked, "-s", "-", stdin=SCENARIO) == Ran(0, f"{TWICE[asked]}\n", "")


def test_a_token_that_occurs_twice_is_told_apart() -> None:
    ran = run("value", "embedding[a,y]", "-s", "-", stdin=SCENARIO)
    assert ran == Ran(2, "", "embedding: no token 'a'; did you mean 'a (1)' or 'a (3)'?\n")


def test_options(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    given = ("-s", str(path), "--given", "input=[[1, 2], [3, 4.50], [5, 6]]")
    assert run("value", "input[b,y]", *given) == Ran(0, "4.50\n", "")
    fewer = run("value", f"{WEIGHTS}[4,1]", "--decimals", "1", "--carry", "never")
    assert fewer == Ran(0, "1.0\n", "")
    missing = run("value", "input[1,1]", "-s", "missing.yaml")
    assert missing == Ran(2, "", "missing.yaml: no such file or scenario\n")
