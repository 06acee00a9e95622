"""Results with a suffix, such as 16 GB and 3.15e23 FLOPs, and what explains or refutes them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tracer.audit.judging.findings import audit
from tracer.audit.reading.texts import Markup, Text

POWERS = [Fraction(base) ** power for base in (1000, 1024) for power in range(-9, 10)]


def read(content: str) -> tuple[int, list[tuple[str, str | None]]]:
    """Return how many equations are read, and the code and printed figure of each finding."""
    found = audit(Text("text", content, Markup.MARKDOWN))
    return found.read, [(each.code, each.printed) for each in found.findings]


def may_be(value: str | Fraction, printed: str) -> bool:
    """Whether a value gives the digits under a power, with further digits rounded or cut off."""
    figure, (_, _, decimals) = Fraction(printed), printed.partition("e")[0].partition(".")
    unit = Fraction(10) ** (-len(decimals) + int(printed.partition("e")[2] or 0))
    return any(-unit / 2 <= Fraction(value) * power - figure < unit for power in POWERS)


CASES = [
    ("2 × 32 × 4096 × 32 × 128 × 2 = # GB", 2 * 32 * 4096 * 32 * 128 * 2, "2", "8"),
    ("7B × 2 bytes = # GB", 14, "14", "15"),
    ("1024 tokens × 512 KB/token = # MB", 1024 * 512, "512", "612"),
    ("175e9 * 300e9 * 6 = # FLOPs", 175 * 300 * 6 * 10**18, "3.15e23", "3.51e23"),
    ("224*224*64=#M", 224 * 224 * 64, "3.2", "3.7"),
    ("2 × 1,024 × 1,600 × 1,600 = # GFLOPs", 2 * 1024 * 1600**2, "5.24", "5.44"),
    ("14 GB / 3.35 TB/s = # ms", Fraction(14) / Fraction("3.35"), "4.18", "4.81"),
    ("32×32×2048×2048×128 = #B operations", 32 * 32 * 2048**2 * 128, "550", "274"),
    ("50,257 x 768 = # Million", 50257 * 768, "38.6", "38.4"),
    ("2 (K and V) × 80 layers × 8 KV heads × 128 = #K", 2 * 80 * 8 * 128, "164", "184"),
    (r"$2 \times 32 \text{ layers} \times 4096 = # \text{ KB}$", 2 * 32 * 4096, "256", "265"),
    ("共有 32层 × 32头 × 128维 × 2字节 = # KB，", 32 * 32 * 128 * 2, "256", "265"),
    ("16 attention heads × 64 = #", 1024, "1024", "1034"),
    ("70×10^9 parameters × 2 Bytes/parameter = # GB", 140, "140", "14"),
    ("1024 × 8192 × 0.25 × 8 = # MB/batch", 1024 * 2048 * 8, "16.8", "167.8"),
    (r"$\frac{4.58\ TFLOPS}{320\ GB/s} = #$", Fraction("4.58") / 320, "14.3", "13.6"),
]


@pytest.mark.parametrize(("line", "value", "true", "false"), CASES)
def test_a_size_is_false_if_it_is_wrong_under_every_power(
    line: str, value: Fraction, true: str, false: str
) -> None:
    assert (may_be(value, true), may_be(value, false)) == (True, False)
    assert read(line.replace("#", true)) == (1, [])
    [(code, printed)] = read(line.replace("#", false))[1]
    assert code in ("A01", "A03") and (printed or "").split()[0] == false


@pytest.mark.parametrize(
    "line",
    [
        "2 × 32 × 4096 × 32 × 128 × 2 = 2,147,483,648 bytes = 2 GiB",  # and 2³¹ = 2 · 1024³
        "7B × 2 bytes = 13 GB",  # 14·10⁹ / 1024³ = 13.04
        r"$2 \cdot 8 = 14.9\text{GiB}$",  # 16·10⁹ / 1024³
        "70B params × 4 bit = 35 GB",  # 280 Gbit
        "7 * 5 = 280 bits",  # 35 bytes
        "1024 × 8 = 1 KiB",  # 8,192 bits
        "450 GFLOPS / 312 TFLOPS = 0.14%",  # 0.00144
        "$1/8000=0.125$ ms",
        "10000 * 1KB * 86400 * 7 = 5.8TB",  # 6.048·10⁹ KB / 1024² / 1000 = 5.77
        "12 × 7M ≈ 86M",  # of 7.17 million each
        "12 × 12 × 2.36M = 339M",  # cut, of 339.84
        "8 × 5.33 GB = 43 GB",  # 42.64
    ],
)
def test_a_size_holds_with_what_explains_it(line: str) -> None:
    assert read(line) == (1, [])


@pytest.mark.parametrize(
    "line",
    [
        "312 TFLOPS / 2 = 166",  # of an unknown unit
        "Of 1.07B, only 2/8 = 268M are active",
        "$2 · 3G = 12$",  # a symbol
        "In 2 (a + b) × 3 = 12 the sum is 2",
        "1 token = 2 × 32 × 128",  # which it takes
        "3 apples × 4 = 13",
        "The 8 of them × 4 tokens = 33",
    ],
)
def test_what_may_mean_something_else_is_left_alone(line: str) -> None:
    assert read(line)[1] == []


def test_a_power_of_ten_is_an_error_of_scale() -> None:
    assert read("7B × 2 bytes = 140 GB")[1] == [("A03", "140")]


@pytest.mark.parametrize(
    ("line", "true", "false"),
    [
        ("上限为 （32*8-24.6）/ 2 = #。", "115.7", "118.7"),  # 231.4 / 2
        ("共 １２ × ３ ＝ #，所以", "36", "38"),
        ("损失为 ２．５ ＋ ０．７５ － １ ＝ #。", "2.25", "2.75"),
        ("占 ３ ／ ４ ＝ #％", "75", "85"),
        ("softmax（[1，2，3]）= [0.09, 0.245, #]", "0.665", "0.865"),  # e³ / (e + e² + e³)
    ],
)
def test_full_width_signs_are_read_at_their_places(line: str, true: str, false: str) -> None:
    assert read(line.replace("#", true)) == (1, [])
    content = line.replace("#", false)
    [finding] = audit(Text("text", content, Markup.MARKDOWN)).findings
    assert content[slice(*finding.marks)] == false


def test_full_width_brackets_hold_remarks() -> None:
    assert read("共 7（3 + 5）= 8 个，2 × 3 = 6（个）")[1] == []


def test_a_power_of_ten_that_is_written_is_judged_as_it_is() -> None:
    assert read("2 × 7168 × 512 = 7.34 × 10⁶ FLOPs/token") == (1, [])
    assert read("2 × 7168 × 512 = 7.34 × 10⁹ FLOPs/token")[1] == [("A03", "7.34 × 10⁹")]
