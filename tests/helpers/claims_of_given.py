"""The judge of what a text says of `--given`: what is given, what is a mean, what it changes."""

from __future__ import annotations

import re

import numpy as np

from tests.helpers.judge import Check, Judge, Said, as_shown, told_apart

MEAN = "over all tokens, per column, of what the model computes there without --given."
EACH = "Each given row is the mean over all tokens, per column, of what the model computes here "
SIGNS = " Here, z is the logit of a word and p its probability."


def sites(at: Judge, said: Said) -> None:
    """All values that the command line gives, and no others."""
    names = re.findall("“(.+?)”(?:, | and |$)", said["sites"])
    assert (said["are"] == "is") == (len(names) == 1)
    addresses = {re.sub(r"\[.*", "", name) for name in names}
    assert addresses == set(at.spec["given"])
    assert all(at.values[address]["operation"] == "given" for address in addresses)


def means(at: Judge, said: Said) -> None:
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


def given_rows(at: Judge, said: Said) -> bool:
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
    return tokens in wanted


def predicts(at: Judge, said: Said) -> None:
    assert said["token"] == told_apart(at.tokens)[at.token]
    plain, found = (
        as_shown(run["prediction"]["data"][at.token]) for run in (at.further["plain"], at.values)
    )
    assert said["word"] == plain
    same = "without and with the given values"
    other = f"without the given values, and “{found}” with them"
    assert said["how"] == (same if plain == found else other)


CLAIMS: dict[str, Check] = {
    "{sites:“.+”} {are:is|are} given, not computed.": sites,
    "{sites:“.+”} {are:is the mean|are means} " + MEAN: means,
    "{rows:.+ (?:is|are) given, not computed\\.} " + EACH + "without --given.": given_rows,
    r"{rows:The rows? of “.+” in .+ (is|are) given, not computed\.}": given_rows,
    "After “{token:name}”, the model predicts “{word:name}” {how:text}." + SIGNS: predicts,
    "The output for “{token:text}”:": lambda at, said: (
        said["token"] == told_apart(at.tokens)[at.token] and "prediction" not in at.values
    ),
    "The change of each logit, with − without:": lambda at, _: "prediction" in at.values,
}
