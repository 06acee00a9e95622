"""What could be meant otherwise is not reported; a true error of the same form is."""

from __future__ import annotations

import json

import pytest

from tracer.audit import Report
from tracer.audit.judging.findings import audit
from tracer.audit.reading.texts import Markup, Text
from tracer.audit.reasons import Doubt
from tracer.audit.reports.report import rendered
from tracer.audit.reports.results import Kind, result

LONG = "A sentence about something else altogether. " * 30
"""Longer than a text in which an equation is alone."""

DOUBTS: dict[Doubt, list[tuple[str, str]]] = {
    Doubt.AFTER: [("22 + 2 = 25 (+ 1)", "22 + 2 = 25 (a remark)")],
    Doubt.UNCONFIRMED: [
        (LONG + r" It is $8 \cdot 4 = 9$.", LONG + r" It is $8 \cdot 4 \cdot 1 = 9$."),
        ("1 / 36 = 72", "1 / 36 = 0.72"),
        ("2^20 = 2^28", "2^20 = 2^21"),
        (LONG + " It is 8 × 4 = 5.", "It is 8 × 4 = 5."),
        (LONG + " It is 8 × 4 = 50.", LONG + " It is 8 × 4 = 38."),
        (LONG + " It is 8 × 4 = 50.", LONG + " It is p = 8 × 4 = 50."),
    ],
    Doubt.BEFORE: [
        ("It is \\$200 --\n(\\$60 + \\$15) = \\$125", "It is \\$200.\n(\\$60 + \\$15) = \\$125"),
        ("(64×256) + fc2 (256×64) = 16385", "64×256 + 256×64 = 32767"),
        ("1 OR (1 + 1) = 3", "It is (1 + 2) = 4"),
        ("72 minus 7225 = 361 - 7", "We pass 7225 = 7361 - 7"),
        ("f(1 + 1 = 3 when", "f(1) + 1 = 3 when (2 + 1 = 4)"),
    ],
    Doubt.COLUMNS: [(r"$$ 0.75 & \frac{0.1}{0.4} = 0.25 $$", r"$$ 0.75 \frac{0.1}{0.4} = 0.25 $$")],
    Doubt.FUNCTION: [
        ("$5^{(4)}=120$", "$5^{4}=120$"),
        ("σ(6) = 12.5", "σ(0.6) = 12.5"),
    ],
    Doubt.MIXED: [(r"$16\frac{2}{3}\% = 0.1667$", r"$16 \cdot \frac{2}{3}\% = 0.1667$")],
    Doubt.ORDER: [
        ("5 / 1/6 = 30", "5 / 1 / 6 = 30"),
        ("6/2(1+2) = 1", "6/(2(1+2)) = 2"),
    ],
    Doubt.PERCENT: [
        ("50 + 10% = 55", "0.5 + 0.1 = 0.7"),
        ("1.6% = 8/5", "8/5 = 170%"),
        (r"gives $1.08 \times 1.03 = +11.2\%$", r"gives $1.08 \times 1.03 = 11.2$"),
    ],
    Doubt.RANGE: [("(10-12) = 3", r"$$ \frac{(8-10)^2}{10} = 0.7 $$")],
    Doubt.REMARK: [
        (r"$0.61\ (61\%) = 0.61$", r"$0.61 \cdot 61\% = 0.61$"),
        (r"$$ 0.61\ (61\%) = 0.61 $$", r"$$ 0.61 \left(1 + 1\right) = 0.61 $$"),
    ],
    Doubt.SHAPE: [
        ("(3×4) @ (4×2) = (3×2)", "[3, 4] @ [4, 2] = 12"),
        ("2×3 · 3×4 = 2×4", "2×3 · 3×4 = 2×5"),
    ],
    Doubt.BINARY: [
        ("$1.0011 + 0.1101 = 0.0000$", "$1.0011 + 0.1201 = 0.0000$"),
        (r"$0.1011 \div 0.1101 \approx 0.821$", r"$0.1011 \div 0.1102 \approx 0.821$"),
        ("1 + 1 = 1", "1.0 + 1.0 = 1.0"),
    ],
    Doubt.FEW_DIGITS: [
        ("841 - 833 = 8.21", "841 - 833 = 9.21"),
        ("7.2e16 / 1e12 = 72,058", "7.2e16 / 1e12 = 73,058"),
        ("3e+14 / 2e+12 = 156", "3e14 / 2e12 = 156"),
        ("25000 / 60 = 417, and 417 × 2 = 833", "400 + 17 = 417, and 417 × 2 = 833"),
        ("1,157,407 x 3 = 3,472,222", "1,157,407 x 3 = 3,472,212"),
        ("1.73/0.09 = 18.6", "1.73/0.09 = 17.6"),
        ("5.25/1.7 = 3.05", "0.5/0.7 = 0.75"),
    ],
    Doubt.FLOAT: [
        ("24/51 = 0.47058823529411703", "24/51 = 0.47058923529411703"),
        ("1 - 0.9 - 0.1 = -2.7e-17", "1 - 0.9 - 0.1 = 2.7e-2"),
    ],
    Doubt.WHOLE_QUOTIENT: [
        ("15 * (160/136 + 1) + 13 = 43", "15 * (160/136 + 1) + 13 = 44"),
        ("15 * (160/136 + 1) = 45", "15.0 * (160/136 + 1) = 45"),
        (r"$\frac{60}{512} + 60 = 1 + 60$", r"$\frac{60}{512} + 60 = 2 + 60$"),
    ],
    Doubt.TWICE: [
        ("分拆 112 =55 +34 +23112=55+34+23", "分拆 112 =55 +34 +24"),
        ("因此有 9 ×9 =819×9=81 行", "因此有 9 ×9 =82 行"),
    ],
    Doubt.APART: [("One carries (5+4=1) it", "One carries (5+4=8) it")],
    Doubt.APPROXIMATION: [
        ("It is 23 x 5 = ~120 events", "It is 23 x 5 = ~119 events"),
        (r"$70/3 \approx 25$ years", r"$70/3 \approx 28$ years"),
        ("5,000 / 4,000 = 1.0 → capped", "5,000 / 4,000 = 1.0 → good"),
        ("159 nF ≈ 150 nF = 3·50 nF", "159 nF = 150 nF = 3·50 nF"),
    ],
    Doubt.DELIBERATE: [
        (r"$18 = 2\cdot 3^3$ should be $2\cdot 3^2$", r"$18 = 2\cdot 3^3$ is $2\cdot 3^2$"),
        (
            r"$\frac{1}{2} + \frac{1}{3} = \frac{2}{5}$. Ова е ГРЕШНО!",
            r"$\frac{1}{2} + \frac{1}{3} = \frac{2}{5}$. Ова е!",
        ),
        ("| `2^8/3^5 ≈ 0.555` | CORRECTED |", "| `2^8/3^5 ≈ 0.555` | CHECKED |"),
        ("It would be wrong that 4 × 2 = 9.", "False positives: 4 × 2 = 9."),
        ('*"$4 × 2 = 9$."* No.', '*"No"*: $4 × 2 = 9$.'),
    ],
    Doubt.STEPS: [
        (
            "```\nx = 2 x 0.1 = 0.2\n   + 3 x 0.1 = 0.3\n   + 4 x 0.1 = 0.4\n```",
            "```\nx = 2 x 0.1 = 0.2\ny = 3 x 0.1 = 0.3\nz = 4 x 0.1 = 0.5\n```",
        ),
        ("72*100 = 7200 - 72*2", "72*100 = 7300 - 72*2"),
        ("9 + 2 + 7 = 9 + 2", "9 + 2 + 7 = 9 + 3"),
        ("SHIFT = 16 = 2¹⁶", "SHIFT = 17 = 2⁴"),
    ],
    Doubt.MAGNITUDE: [
        (r"$3.4 \times 10^{38} \approx e^{88}$", r"$3.4 \times 10^{38} \approx e^{86}$"),
        ("$256^{784} ≈ 10^{1888}$", "$2^{33} ≈ 10^{11}$"),
        (r"$26! \approx 10^{26}$", r"$26! \approx 1.3 \cdot 10^{26}$"),
    ],
    Doubt.WEAK: [
        (r"$0.5 \times 0.6 = 300 \text{ mZ}$", r"$0.5 \times 0.6 = 300$"),
        ("8^8 ≈ 17 milyon", "8^2 ≈ 47 tane"),
        ("15 + 20 = 35 million", "15 million + 20 million = 45 million"),
    ],
    Doubt.UNIT: [
        ("2 ms × 3 = 7", "2 ms × 3 = 7 ms"),
        (r"K = $5/200 = 2.5 \text{ per } \$100$ of it", r"K = $5/200 = 2.5 \text{ for } 100$"),
    ],
    Doubt.NOTATION: [(LONG + "It is p = 8 × 4 = 15.\n\n" * 5, LONG + "It is p = 8 × 4 = 15.")],
}
"""For each doubt, texts with it, and what differs little from them and is certainly false."""

CASES = [(reason, *pair) for reason, pairs in DOUBTS.items() for pair in pairs]


def test_each_doubt_has_a_case() -> None:
    assert set(DOUBTS) == set(Doubt)


@pytest.mark.parametrize(("reason", "doubtful", "false"), CASES)
def test_what_could_be_meant_otherwise_is_doubtful(
    reason: Doubt, doubtful: str, false: str
) -> None:
    found = audit(Text("text", doubtful, Markup.MARKDOWN))
    assert (found.findings, {each.reason for each in found.doubtful}) == ([], {reason})
    found = audit(Text("text", false, Markup.MARKDOWN))
    assert (len(found.findings), found.doubtful) == (1, [])


def test_a_text_is_misread_if_few_of_several_equations_hold() -> None:
    false, true = "It is p = 8 × 4 = 15.\n\n", "It is p = 8 × 4 = 32.\n\n"
    for several, codes in (
        (LONG + false * 4, ["A01"] * 4),
        (false * 5, ["A01"] * 5),
        (LONG + false * 5 + true * 2, []),
        (LONG + false * 5 + true * 3, ["A01"] * 5),
    ):
        found = audit(Text("text", several, Markup.MARKDOWN))
        assert [each.code for each in found.findings] == codes


def test_what_is_doubtful_is_counted_and_listed_with_its_reason() -> None:
    text = Text("a.md", "First 1 + 1 = 2.\n\nThen 101 + 1 = 110.", Markup.MARKDOWN)

    def report(form: Report, *kinds: Kind) -> str:
        return rendered(form, [result("a.md", [(text, audit(text))], kinds)], kinds, "")

    summary = "1 equation read: 1 hold; 1 doubtful, 0 signs not read"
    assert report(Report.TERMINAL) == f"{summary} (--show-skipped)\n"
    assert report(Report.TERMINAL, Kind.DOUBTFUL, Kind.UNREAD) == (
        f"a.md:3:6: doubtful: 101 + 1 = 110: may be binary numbers\n{summary}\n"
    )
    plain = json.loads(report(Report.JSON))
    assert (plain["doubtful"], "doubts" in plain) == (1, False)
    listed = json.loads(report(Report.JSON, Kind.DOUBTFUL, Kind.UNREAD))
    assert listed["unread"] == []
    [doubt] = listed["doubts"]
    place = {"file": "a.md", "line": 3, "column": 6}
    assert doubt == {**place, "equation": "101 + 1 = 110", "reason": "may be binary numbers"}
