"""The judge of what a text says of `--given`: what is given, what is a mean, what it changes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.helpers.judge import Judge, as_shown, form, told_apart

MEAN = "over all tokens, per column, of what the model computes there without --given\\."
EACH = "Each given row is the mean over all tokens, per column, of what the model computes here "
SIGNS = r" Here, z is the logit of a word and p its probability\."


@form(r"(?P<sites>“.+”) (?P<are>is|are) given, not computed\.")
def sites(at: Judge, said: dict[str, Any]) -> None:
    """All values that the command line gives, and no others."""
    names = re.findall("“(.+?)”(?:, | and |$)", said["sites"])
    assert (said["are"] == "is") == (len(names) == 1)
    addresses = {re.sub(r"\[.*", "", name) for name in names}
    assert addresses == set(at.spec["given"])
    assert all(at.values[address]["operation"] == "given" for address in addresses)


@form(rf"(?P<sites>“.+”) (?P<are>is the mean|are means) {MEAN}")
def means(at: Judge, said: dict[str, Any]) -> None:
    names = re.findall("“(.+?)”(?:, | and |$)", said["sites"])
    assert (said["are"] == "is the mean") == (len(names) == 1)
    for name in names:
        address, _, token = name.partition("[")
        value, plain = at.values[address], at.further["plain"][address]
        rows = [np.array(each["data"], object).astype(float) for each in (value, plain)]
        tokens = told_apart(plain["axes"][0]["labels"])
        given = rows[0][tokens.index(token[:-1])] if token else rows[0]
        size = max(1.0, float(np.abs(rows[1][np.isfinite(rows[1])]).max(initial=0)))
        assert np.allclose(
            given, rows[1].mean(axis=0), atol=size * 10.0 ** -at.rounding["decimals"], rtol=0
        )


@form(rf"(?P<rows>.+ (is|are) given, not computed\.)(?P<mean> {EACH}without --given\.)")
def mean_rows(at: Judge, said: dict[str, Any]) -> None:
    given_rows(at, said)


@form(r"(?P<rows>The rows? of “.+” in .+ (is|are) given, not computed\.)")
def given_rows(at: Judge, said: dict[str, Any]) -> None:
    match = re.fullmatch(r"(?:(The rows?) of (“.+”) in )?(.+?) (?:is|are) given.*", said["rows"])
    assert match
    named = [v for v in at.values.values() if v["symbol"] == match[3]]
    given = [v for v in named if v["operation"] == "given"]
    tokens = re.findall("“(.+?)”(?:, | and |$)", match[2]) if match[2] else None
    assert (match[1] == "The row") == (tokens is not None and len(tokens) == 1)
    wanted = [
        None if rows is None else [told_apart(v["axes"][0]["labels"])[row] for row in rows]
        for v, rows in ((v, v["parameters"].get("given_rows")) for v in given)
    ]
    assert tokens in wanted


@form(rf"After “(?P<token>.+?)”, the model predicts “(?P<word>.+?)” (?P<how>.+)\.{SIGNS}")
def predicts(at: Judge, said: dict[str, Any]) -> None:
    assert said["token"] == told_apart(at.tokens)[at.token]
    plain, found = (
        as_shown(run["prediction"]["data"][at.token]) for run in (at.further["plain"], at.values)
    )
    assert said["word"] == plain
    same = "without and with the given values"
    other = f"without the given values, and “{found}” with them"
    assert said["how"] == (same if plain == found else other)


@form(r"The output for “(?P<token>.+)”:")
def output(at: Judge, said: dict[str, Any]) -> None:
    assert said["token"] == told_apart(at.tokens)[at.token] and "prediction" not in at.values


@form(r"The change of each logit, with − without:")
def change(at: Judge, said: dict[str, Any]) -> None:
    assert "prediction" in at.values
