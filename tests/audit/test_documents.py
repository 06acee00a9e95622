"""The five documents that the project began with: each numeric equation, and how it holds.

Each is worked out here in double precision, from the numbers as they are printed: `=` where the
result is the printed one, rounded; `~` where it is not, but is with what those numbers may have
been before they were rounded; and the code of what is said of it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tracer.audit.judging.findings import audit
from tracer.audit.judging.judgement import Verdict
from tracer.audit.reading.texts import Markup, Text

FOLDER = Path(__file__).parents[3] / "shared" / "documents"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the documents are not here")

ALEX = """
76 ~ 16.352 / 1.414 : 11.563
77 ~ 11.254 / 1.414 : 7.956
78 = 8.620 / 1.414 : 6.096
79 ~ 9.148 / 1.414 : 6.469
83 A01 exp(11.563) : 104800
83 ~ exp(7.956) : 2851
83 A01 exp(6.096) : 442
83 = exp(6.469) : 645
105 = 0.296 + 7.494 : 7.790
154 = 33.207 / 6 : 5.535
168 = 11.986 / 6 : 1.998
172 ~ sqrt(1.998) : 1.413
178 ~ -2.335 / 1.413 : -1.652
213 ~ -0.282 + 0.315 - 0.165 + 0.691 - 0.028 - 0.012 : 0.520
213 ~ -0.035 + 1.102 - 0.330 + 0.077 - 0.223 - 0.006 : 0.584
213 ~ -0.106 + 0.157 - 1.322 + 0.154 - 0.028 - 0.041 : -1.185
217 = max(0, 0.541) : 0.541
221 = 0.364 + 0.058 : 0.422
221 = 0.104 + 0.467 : 0.571
221 = 0.052 + 0.117 : 0.169
221 = 0.416 + 0.058 : 0.474
221 = 0.052 + 0.409 : 0.461
221 = 0.104 + 0.058 : 0.162
246 = 2.303 / 6 : 0.384
246 = sqrt(1.264) : 1.124
246 = 1.755 / 1.124 : 1.561
"""

SCIENCE = """
122 = 1.0 + 0.1 : 1.1
123 = 1.0 + 0.2 : 1.2
124 = 1.0 + 0.3 : 1.3
125 = 2.0 + 0.4 : 2.4
210 = 1.1*1 + 0.1*1 : 1.2
231 = 1.1*1 + 0.1*1 : 1.2
232 = 0.2*1 + 1.2*1 : 1.4
233 = 1.3*1 + 1.3*1 : 2.6
234 = 2.4*1 + 1.4*1 : 3.8
275 = sqrt(2) : 1.414
278 = 2.64 + 1.68 : 4.32
279 = 0.48 + 1.96 : 2.44
280 = 3.12 + 3.64 : 6.76
281 = 5.76 + 5.32 : 11.08
284 = sqrt(2) : 1.414
287 = 4.32 / 1.414 : 3.06
288 = 2.44 / 1.414 : 1.73
289 = 6.76 / 1.414 : 4.78
290 = 11.08 / 1.414 : 7.84
344 = exp(3.06) : 21.3
345 ~ exp(1.73) : 5.65
346 = exp(4.78) : 119
347 ~ exp(7.84) : 2550
353 A04 21.3 + 5.65 + 119 + 2550 : 2695
359 = 21.3 / 2695 : 0.008
360 = 5.65 / 2695 : 0.002
361 = 119 / 2695 : 0.044
362 = 2550 / 2695 : 0.946
393 A02 0.0096 + 0.0028 + 0.1144 + 3.5948 : 3.73
400 ~ 0.0008 + 0.0024 + 0.0572 + 1.3244 : 1.39
423 = 2.4 + 3.73 : 6.13
452 = max(0, 6.13) : 6.13
498 = 6.13*1 + 2.79*0 : 6.13
499 = 6.13*0 + 2.79*1 : 2.79
500 = 6.13*1 + 2.79*1 : 8.92
"""

OTHERS = {
    "000": ALEX,
    "001": SCIENCE,
    "002": "",
    "003": """
28 = -log(10000) / 4 : -2.30
29 = -log(10000) / 4 : -2.30
126 = -log(0.85) : 0.16
128 = (6.9 + 0.002 + 0.16) / 3 : 2.35
""",
    "004": "169 = 8 * 64 : 512",
}

SIGNS = {
    Verdict.EXACT: "=",
    Verdict.ROUNDED: "=",
    Verdict.CONSISTENT: "~",
    Verdict.FALSE: "A01",
    Verdict.LAST_DIGIT: "A02",
    Verdict.CUT: "A04",
}


def listed(name: str) -> list[tuple[int, str, str, str]]:
    """Line, verdict, expression, printed figure."""
    rows = []
    for row in OTHERS[name].strip().splitlines():
        told, _, printed = row.partition(" : ")
        line, verdict, expression = told.split(maxsplit=2)
        rows.append((int(line), verdict, expression, printed))
    return rows


def text(name: str) -> Text:
    (file,) = FOLDER.glob(f"{name}_*.txt")
    return Text(file.name, file.read_text(encoding="utf-8"), Markup.PLAIN)


@pytest.mark.parametrize("name", OTHERS)
def test_each_equation_has_its_verdict(name: str) -> None:
    document = text(name)
    found = [
        (document.place(chain.start)[0], SIGNS[chain.verdict]) for chain in audit(document).chains
    ]
    assert found == [(line, verdict) for line, verdict, _, _ in listed(name)]


@pytest.mark.parametrize("name", OTHERS)
def test_no_true_one_is_flagged_and_each_other_does_not_hold_with_its_digits(name: str) -> None:
    functions: dict[str, Any] = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt, "max": max}
    for _, verdict, expression, printed in listed(name):
        value = eval(expression, {"__builtins__": {}}, functions)
        decimals = len(printed.partition(".")[2])
        unit = 100 if printed == "104800" else 10 if printed == "2550" else 10.0**-decimals
        holds = abs(value - float(printed)) <= unit / 2 * (1 + 1e-9)
        # One tenth of a unit off, 2550 is what 10 as a unit makes of 2540.2, and 2551 of 2545.
        assert holds == (verdict == "="), (expression, value, printed)
