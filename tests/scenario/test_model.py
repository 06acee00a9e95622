"""What a scenario can say: numbers as typed, tokens as text, defaults, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from tests.helpers.small_scenario import END, SMALL, problems, scenario
from tracer.scenario.carry import Carry
from tracer.scenario.model import Sinusoidal
from tracer.scenario.networks import FFN
from tracer.scenario.norms import Norm
from tracer.scenario.rounding import Digits, Rounding, Zeros


def plain(number: Decimal) -> str:
    return format(number, "f")


def row(*numbers: int) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, numbers))


# --- numbers and tokens --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "digits"),
    [
        *(("1", "1"), ("1.80", "1.80"), ("-0.50", "-0.50"), ("0.000", "0.000"), ("'2.0'", "2.0")),
        *((".5", "0.5"), ("1.", "1"), ("+1.5", "1.5"), ("007", "7")),
        *(("1e-3", "0.001"), ("1E3", "1000"), ("1.50e1", "15.0"), ("2.5e+2", "250")),
        *(("1e12", "1000000000000"), ("-1e12", "-1000000000000"), ("1e-30", "0." + "0" * 29 + "1")),
        ("12345.678901234567890", "12345.678901234567890"),
        ("1.7976931348623157e-05", "0.000017976931348623157"),
        ("-0.00012345678901234567", "-0.00012345678901234567"),
    ],
)
def test_a_number_keeps_its_digits(typed: str, digits: str) -> None:
    found = scenario(("a: [1, 2]", f"a: [{typed}, 2]")).embedding[0][0]
    assert plain(found) == digits


@pytest.mark.parametrize(
    "typed",
    [
        *("0x10", "0o17", "0b1", "1_000", "'1 000'", "1:30", "1/2", "½", "50%"),
        *(".inf", "-.inf", "inf", "Infinity", ".nan", "nan", "NaN", "sNaN"),
        *("１", "١", "²", "−1", "--1", "+-1", "1e", "e5", "1e5.0", ".", "-", "1.2.3", "1d3"),
        *("true", "no", "~", "null", "''", "' 1'", "'1 '", '"1\\n"', "x"),
        *("1e13", "1000000000001", "-1e13", "1e9999", "1e-41", "1e-9999", "0." + "3" * 21),
    ],
)
def test_what_is_no_number_is_refused(typed: str) -> None:
    (told,) = problems(("a: [1, 2]", f"a: [1, {typed}]"))
    assert told.startswith("f.yaml:4:10: embeddings.a entry 2: expected a number")
    assert ", got " in told


@pytest.mark.parametrize("odd", ["1e0", ".5", "1" * 11, "0." + "1" * 11, "007", "-0.0", "+1."])
def test_a_number_is_read_alike_in_any_row(odd: str) -> None:
    alone = scenario(("a: [1, 2]", f"a: [{odd}, 1e0]")).embedding[0]
    among = scenario(("a: [1, 2]", f"a: [{odd}, 1]")).embedding[0]
    assert [str(number) for number in among] == [str(number) for number in alone]


def test_all_wrong_numbers_of_a_row_are_told() -> None:
    told = problems(("a: [1, 2]", "a: [x, 2, [3], '1,5', 1.5]"))
    assert [problem.partition(",")[0] for problem in told[:3]] == [
        f"f.yaml:4:{column}: embeddings.a entry {number}: expected a number"
        for column, number in ((7, 1), (13, 3), (18, 4))
    ]


@pytest.mark.parametrize("wrong", ["[1]", "{x: 1}"])
def test_a_number_is_no_list(wrong: str) -> None:
    (told,) = problems(("[[1, 2]]", f"[[1, {wrong}]]"))
    assert told.startswith("f.yaml:14:17: layer1.ffn.W_2 row 1 column 2: expected a number, got a ")


@pytest.mark.parametrize(
    "token",
    [
        *("no", "null", "~", "true", "1.0", "1e-3", "007", "0x10", "2024-01-01", "12:30", ".inf"),
        *("1_000", "none", "日本"),
    ],
)
def test_a_token_is_the_text_that_was_typed(token: str) -> None:
    found = scenario(("[a, b]", f"[a, {token}]"), ("  b: [", f"  {token}: ["))
    assert found.tokens == ("a", token)
    assert found.embedding[1] == row(3, 4)


def test_labels_and_vocabulary_are_texts_too() -> None:
    found = scenario(
        ("layers:", "features: [1.0, no]\nlayers:"),
        ("- W_Q", "- labels: {query: [1e3]}\n          W_Q"),
        (END, END + "vocabulary: [null, 2024-01-01]\nunembedding: {W_U: [[1, 2], [3, 4]]}\n"),
    )
    assert found.features == ("1.0", "no")
    assert found.vocabulary == ("null", "2024-01-01")
    assert found.layers[0].attention
    assert found.layers[0].attention.heads[0].labels.query == ("1e3",)


# --- defaults and variants -----------------------------------------------------------------------


def test_defaults() -> None:
    found = scenario()
    assert found.rounding == Rounding(
        decimals=3, carry=Carry.STEP, working=2, trailing_zeros=Zeros.KEEP, digits={}
    )
    assert found.arithmetic == "decimal"
    assert (found.token_ids, found.features, found.positions) == (None, None, None)
    assert (found.vocabulary, found.unembedding) == (None, None)
    (layer,) = found.layers
    assert layer.attention
    assert isinstance(layer.ffn, FFN)
    assert (layer.attention.residual, layer.ffn.residual) == (True, True)
    assert (layer.norm, layer.attention.norm, layer.ffn.norm) == (None, None, None)
    assert (layer.attention.W_O, layer.attention.b_O) == (None, None)
    assert (layer.ffn.b_1, layer.ffn.b_2, layer.ffn.labels) == (None, None, None)
    assert layer.ffn.activation == "relu"
    (head,) = layer.attention.heads
    assert (head.b_Q, head.b_K, head.b_V) == (None, None, None)
    assert (head.labels.query, head.labels.key, head.labels.value) == (None, None, None)


def test_a_layer_may_be_attention_or_ffn_alone() -> None:
    attention = SMALL[SMALL.index("  - attention") : SMALL.index("    ffn")]
    without = scenario((attention, "  -\n")).layers[0]
    assert without.attention is None
    assert without.ffn
    without = scenario((SMALL[SMALL.index("    ffn") :], "")).layers[0]
    assert without.attention
    assert without.ffn is None


OWN, LAYERS = (Norm.model_validate({"epsilon": text}) for text in ("0.5", "0.25"))


@pytest.mark.parametrize(
    ("of_layer", "of_ffn", "after_attention", "after_ffn"),
    [
        ("", "", None, None),
        ("{epsilon: 0.25}", "", LAYERS, LAYERS),
        ("{epsilon: 0.25}", "{epsilon: 0.5}", LAYERS, OWN),
        ("{epsilon: 0.25}", "none", LAYERS, None),
        ("", "{epsilon: 0.5}", None, OWN),
        ("none", "{epsilon: 0.5}", None, OWN),
        ("{}", "", Norm(), Norm()),
    ],
)
def test_a_sub_layer_has_its_own_norm_or_the_layers(
    of_layer: str, of_ffn: str, after_attention: Norm | None, after_ffn: Norm | None
) -> None:
    norms = (f"      norm: {of_ffn}\n" if of_ffn else "") + (
        f"    norm: {of_layer}\n" if of_layer else ""
    )
    (layer,) = scenario((END, END + norms)).layers
    assert layer.attention
    assert layer.ffn
    assert layer.norm_of(layer.attention) == after_attention
    assert layer.norm_of(layer.ffn) == after_ffn


def test_a_norm_has_gain_shift_and_epsilon() -> None:
    (layer,) = scenario((END, END + "    norm: {gain: [1.0, 2], shift: [-1, 0]}\n")).layers
    assert layer.norm
    assert (layer.norm.gain, layer.norm.shift, layer.norm.epsilon) == (
        row(1, 2),
        row(-1, 0),
        Decimal(0),
    )


@pytest.mark.parametrize(
    ("typed", "sinusoidal", "table"),
    [
        ("{sinusoidal: {}}", Sinusoidal(start=1), None),
        ("{sinusoidal: {start: 0}}", Sinusoidal(start=0), None),
        ("{table: [[1, 2], [3, 4]]}", None, ((1, 2), (3, 4))),
        ("{table: [[1, 2], [3, 4], [5, 6]]}", None, ((1, 2), (3, 4), (5, 6))),
    ],
)
def test_positions(typed: str, sinusoidal: Sinusoidal | None, table: Any) -> None:
    found = scenario(("layers:", f"positions: {typed}\nlayers:")).positions
    assert found
    assert (found.sinusoidal, found.table) == (sinusoidal, table)


def test_no_positions() -> None:
    assert scenario(("layers:", "positions: none\nlayers:")).positions is None


def test_embeddings_by_position_and_by_token() -> None:
    by_token = scenario(("[a, b]", "[b, a, b]"))
    assert by_token.embedding == (row(3, 4), row(1, 2), row(3, 4))
    by_position = scenario(("\n  a: [1, 2]\n  b: [3, 4]\n", " [[5, 6], [7, 8]]\n"))
    assert by_position.embedding == (row(5, 6), row(7, 8))


@pytest.mark.parametrize("carry", ["line", "step"])
def test_floats_are_not_rounded_on_the_way(carry: str) -> None:
    never = scenario((END, f"{END}rounding: {{carry: never}}\narithmetic: float64\n"))
    assert never.arithmetic == "float64"
    rounded = (END, f"{END}arithmetic: float64\nrounding: {{carry: {carry}}}\n")
    told = "arithmetic: float64 goes with `rounding: {carry: never}` only"
    assert problems(rounded) == [f"f.yaml:15:1: {told}"]


def test_a_wrong_rounding_is_one_problem_with_floats_too() -> None:
    (told,) = problems((END, f"{END}arithmetic: float64\nrounding: {{carry: x}}\n"))
    assert told.startswith("f.yaml:16:12: rounding.carry: expected line, step or never")


@pytest.mark.parametrize(
    ("typed", "number"), [("yes", True), ("true", True), ("no", False), ("false", False)]
)
def test_a_residual_is_on_or_off(typed: str, number: bool) -> None:
    (layer,) = scenario((END, f"{END}      residual: {typed}\n")).layers
    assert layer.ffn
    assert layer.ffn.residual is number


def test_digits_of_rounding() -> None:
    digits = '{decimals: 4, carry: never, digits: {"*.exp": 0, x: {significant: 2}}}'
    found = scenario((END, f"{END}rounding: {digits}\n")).rounding
    assert (found.decimals, found.carry, found.trailing_zeros) == (4, Carry.NEVER, Zeros.KEEP)
    assert found.digits == {"*.exp": Digits(decimals=0), "x": Digits(significant=2)}


def test_a_scenario_is_frozen() -> None:
    found = scenario((END, f"{END}    norm: {{}}\n"))
    (layer,) = found.layers
    assert layer.attention
    parts: list[Any] = [found, found.rounding, layer, layer.norm, layer.ffn, layer.attention]
    for part in [*parts, layer.attention.heads[0], layer.attention.heads[0].labels]:
        field = next(iter(type(part).model_fields))
        with pytest.raises(ValidationError, match="frozen"):
            setattr(part, field, None)
    assert found == scenario((END, f"{END}    norm: {{}}\n"))
