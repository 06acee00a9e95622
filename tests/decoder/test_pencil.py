"""Which digits a number keeps: with `line` those printed, with `step` some more inside a step."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from fnmatch import fnmatchcase
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings

from tests.helpers.random_scenarios import scenarios
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.traces import array, bundled, numbers, records, traced
from tracer.decoder import results, roles
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.loss import targets_of
from tracer.decoder.operations import Chosen, Given, Moved, Pinned
from tracer.decoder.part import all_roles
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import Role
from tracer.decoder.sampling import Sampling
from tracer.decoder.tape import Record
from tracer.decoder.value import Form
from tracer.errors import TracerError
from tracer.formula.arithmetic import DECIMALS, Array, RoundPart, no_rounding
from tracer.lesson import entries
from tracer.scenario.carry import Carry
from tracer.scenario.loading import parse
from tracer.scenario.rounding import Digits, Rounding, Zeros

THREE, NONE = Digits(decimals=3), Digits(decimals=0)
SCORES = "layer1.attention.head1.scores"
MEAN = "layer1.ffn.norm.mean"
EXP = "layer1.attention.head1.exp"


def pencil(**rounding: Any) -> Pencil:
    """Three decimals and `carry: step`, where nothing else is said."""
    return Pencil(Rounding.model_validate(rounding))


def shown(found: Array | None) -> Any:
    """Numbers as they are written."""
    assert found is not None
    return np.asarray(np.frompyfunc(str, 1, 1)(found), object).tolist()


# --- digits by address ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ({}, THREE),
        ({"*.scores": 2}, Digits(decimals=2)),
        ({"*.scores": {"significant": 4}}, Digits(significant=4)),
        ({SCORES: 5}, Digits(decimals=5)),
        ({"*.exp": 2, "scores": 1, "*.SCORES": 1, "layer2.*": 1}, THREE),
        ({"*.head?.*": 0}, NONE),
        ({"*.scores": 2, "*": 1}, Digits(decimals=1)),  # the last one wins
        ({"*": 1, "*.scores": 2}, Digits(decimals=2)),
    ],
)
def test_digits_of_an_address(patterns: dict[str, int | dict[str, int]], expected: Digits) -> None:
    found = pencil(digits=patterns)
    assert found.digits(SCORES) == expected
    assert found.chosen(SCORES) == (None if expected == THREE else expected)
    assert found.digits(SCORES) == expected  # asked again, it is the same


@pytest.mark.parametrize(
    ("digits", "number", "places"),
    [
        (None, "6.76", 3),
        (None, "0.0004", 5),
        (2, "6.76", 3),  # 3.12 + 3.64 may well be rounded to 6.8; the products are not
        (2, "0.0152", 3),
        (2, "0.00004", 6),
        (3, "-6.76", 3),
        (5, "6.76", 5),
        (5, "0.0004", 5),
        ({"significant": 2}, "1234.5", 3),
        ({"significant": 2}, "0.0152", 3),
        ({"significant": 2}, "0.00152", 4),
        ({"significant": 2}, "0", 3),
    ],
)
def test_parts_on_the_way_have_the_usual_digits_at_least(
    digits: int | dict[str, int] | None, number: str, places: int
) -> None:
    found = pencil(digits={} if digits is None else {"*.scores": digits})
    assert found.part_places(SCORES, Decimal(number)) == places


def test_parts_that_are_large_are_powers_of_ten_with_the_usual_digits() -> None:
    found = pencil(digits={"*.scores": {"significant": 2}})
    assert found.part_places(SCORES, Decimal("12345678901234")) == -10  # 1.235×10¹³


def test_no_decimals_are_digits_too() -> None:
    found = pencil(decimals=0, digits={SCORES: {"significant": 2}})
    assert found.part_places(SCORES, Decimal("12.5")) == 0
    assert found.digits("input") == NONE


@pytest.mark.parametrize("carry", ["step", "never"])
def test_only_with_line_parts_are_rounded(carry: str) -> None:
    products = array("0.12345", "-2.0005")
    assert pencil(carry=carry).part(SCORES)(products) is products
    assert shown(pencil(carry="line").part(SCORES)(products)) == ["0.123", "-2.001"]
    chosen = pencil(carry="line", digits={"*.scores": 4})
    assert shown(chosen.part(SCORES)(products)) == ["0.1235", "-2.0005"]


# --- how a number is printed ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "places", "kept", "trim"),
    [
        ("1.08", 3, "1.080", "1.08"),
        ("5", 3, "5.000", "5"),
        ("1.0796", 3, "1.080", "1.08"),
        ("-0.5", 2, "-0.50", "-0.5"),
        ("0", 3, "0", "0"),
        ("-0.0001", 3, "0", "0"),
        ("120", 0, "120", "120"),
        ("1200000000000000", -12, "1.200E+15", "1.2E+15"),
    ],
)
def test_printed(number: str, places: int, kept: str, trim: str) -> None:
    assert str(pencil().printed(Decimal(number), places)) == kept
    trimming = pencil(trailing_zeros=Zeros.TRIM)
    assert str(trimming.printed(Decimal(number), places)) == trim


@pytest.mark.parametrize(
    ("number", "of_exponential", "of_other"),
    [
        ("2.71828", 3, 3),
        ("20.0855369", 3, 3),
        ("403.4287935", 3, 3),
        ("2980.9579", 2, 3),  # 2980.96: six significant digits
        ("105134.946", 0, 3),
        ("9999999.9", 0, 3),
        ("10000000", -4, 3),  # 1.000×10⁷
        ("1456789012.3", -6, 3),  # 1.457×10⁹
        ("12345678901234", -10, -10),
        ("0.0001234", 5, 5),
        ("0", 3, 3),
    ],
)
def test_in_full_precision_a_large_exponential_is_printed_with_fewer_digits(
    number: str, of_exponential: int, of_other: int
) -> None:
    found = pencil(carry="never")
    assert found.places(roles.EXP, EXP, Decimal(number)) == of_exponential
    assert found.places(roles.EXP_SUM, f"{EXP}_sum", Decimal(number)) == of_exponential
    assert found.places(roles.LOGITS, "logits", Decimal(number)) == of_other
    # Digits that are set hold for exponentials too.
    chosen = pencil(carry="never", digits={"*.exp": 4})
    expected = Digits(decimals=4).places(Decimal(number))
    assert chosen.places(roles.EXP, EXP, Decimal(number)) == expected


# --- what is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "keep", "trim"),
    [
        ("5.5345", "5.535", "5.535"),
        ("-5.5345", "-5.535", "-5.535"),
        ("2", "2.000", "2"),
        ("1.0796", "1.080", "1.08"),
        ("0", "0", "0"),
        ("-0.0000", "0", "0"),
        ("0.0000213", "0.000021", "0.000021"),
        ("0.0007", "0.001", "0.001"),
        ("12345678901234", "1.235E+13", "1.235E+13"),
        ("-Infinity", "-Infinity", "-Infinity"),
    ],
)
@pytest.mark.parametrize("carry", ["line", "step"])
def test_a_result_keeps_the_usual_digits(carry: str, typed: str, keep: str, trim: str) -> None:
    role, address = roles.RESIDUAL, "layer1.ffn.residual"
    found = pencil(carry=carry).kept(role, address, array([typed]), None)
    assert shown(found) == [[keep]]
    trimming = pencil(carry=carry, trailing_zeros="trim")
    assert shown(trimming.kept(role, address, array([typed]), None)) == [[trim]]


@pytest.mark.parametrize(
    ("typed", "keep", "trim"),
    [
        ("5.5345", "5.5345", "5.5345"),  # exact numbers are not padded to 5.53450
        ("0.24750625", "0.24751", "0.24751"),
        ("-1.999995", "-2.00000", "-2"),
        ("5", "5.000", "5"),
        ("5.12", "5.120", "5.12"),
        ("0", "0", "0"),
        ("0.00123", "0.00123", "0.00123"),
        ("0.0000312", "0.00003", "0.00003"),
        ("0.00000312", "0.0000031", "0.0000031"),
        ("12345678901234", "1.235E+13", "1.235E+13"),
    ],
)
def test_inside_a_step_some_decimals_more_are_kept(typed: str, keep: str, trim: str) -> None:
    found = pencil().kept(roles.MEAN, MEAN, array(typed), None)
    assert shown(found) == [keep]
    assert shown(pencil(trailing_zeros="trim").kept(roles.MEAN, MEAN, array(typed), None)) == [trim]
    # With `line` a number inside a step is printed, and used, like any other.
    usual = pencil(carry="line").kept(roles.NORM, "layer1.ffn.norm", array([typed]), None)
    assert shown(pencil(carry="line").kept(roles.MEAN, MEAN, array(typed), None)) == shown(usual)[0]


@pytest.mark.parametrize(
    ("working", "expected"), [(0, "1.413"), (1, "1.4134"), (2, "1.41343"), (5, "1.41343012")]
)
def test_how_many_more_is_said_by_working(working: int, expected: str) -> None:
    found = pencil(working=working).kept(roles.STD, "x", array("1.41343012000"), None)
    assert shown(found) == [expected]


def test_a_row_of_exponentials_shares_its_decimals() -> None:
    # Three decimals: the largest of a row has six significant digits.
    rows = array(
        *(["105134.946", "2.71828", "0"], ["20.0855369", "1", "0.0497870684"]),
        *(["0.0067379470", "0.00033546", "0"], ["0", "0", "0"]),
    )
    found = pencil().kept(roles.EXP, EXP, rows, None)
    assert shown(found) == [
        ["105135", "3", "0"],
        ["20.0855", "1.0000", "0.0498"],
        ["0.00673795", "0.00033546", "0"],
        ["0", "0", "0"],
    ]
    trimming = pencil(trailing_zeros="trim").kept(roles.EXP, EXP, rows, None)
    assert shown(trimming)[1] == ["20.0855", "1", "0.0498"]
    # Their sums have the decimals of their rows, and not those of their own size.
    sums = array("105138.4", "999999.12345678", "0.0070734070", "0")
    total = pencil().kept(roles.EXP_SUM, f"{EXP}_sum", sums, found)
    assert shown(total) == ["105138", "999999.1235", "0.00707341", "0"]


@pytest.mark.parametrize(
    ("decimals", "row", "expected"),
    [
        (1, ["105134.9", "35.67"], ["105135", "36"]),  # four digits: none behind the point
        (1, ["2.71828", "0.36788"], ["2.718", "0.368"]),
        (2, ["2.71828", "0.00002"], ["2.7183", "0.000020"]),  # not 0.0000
        (0, ["2.71828", "1"], ["2.72", "1.00"]),
        (3, ["1068647458152.4", "3.5"], ["1.069E+12", "4"]),
        (3, ["Infinity", "2.71828"], ["Infinity", "2.71828"]),
    ],
)
def test_shared_decimals(decimals: int, row: list[str], expected: list[str]) -> None:
    found = pencil(decimals=decimals).kept(roles.EXP, EXP, array(row), None)
    assert shown(found) == [expected]


def test_what_is_written_out_in_another_line_is_not_rounded() -> None:
    exact = array(["7.22123456789", "4.03"])
    assert pencil().kept(roles.DOT, "layer1.attention.head1.dot", exact, None) is None
    assert pencil().kept(roles.SCALE, "x", np.array(Decimal(2).sqrt()), None) is None
    line = pencil(carry="line").kept(roles.DOT, "layer1.attention.head1.dot", exact, None)
    assert shown(line) == [["7.221", "4.030"]]
    root = pencil(carry="line").kept(roles.SCALE, "x", np.array(Decimal(2).sqrt()), None)
    assert str(root) == "1.414"


EACH_KEEPS = [roles.NORM, roles.MEAN, roles.EXP, roles.DOT]


@pytest.mark.parametrize("role", EACH_KEEPS, ids=lambda role: role.name)
@pytest.mark.parametrize("carry", ["line", "step"])
def test_digits_that_the_author_sets_hold_whatever_a_role_keeps(carry: str, role: Role) -> None:
    given_ = array(["7.22123456789", "0.0456"])
    one = pencil(carry=carry, digits={"*.x": 1})
    assert shown(one.kept(role, "layer1.x", given_, None)) == [["7.2", "0.046"]]
    six = pencil(carry=carry, digits={"*.x": {"significant": 6}})
    assert shown(six.kept(role, "layer1.x", given_, None)) == [["7.22123", "0.0456000"]]
    assert shown(one.chosen_copy(roles.KEY, "layer1.x", given_)) == [["7.2", "0.046"]]


@pytest.mark.parametrize("role", EACH_KEEPS, ids=lambda role: role.name)
def test_with_never_nothing_is_rounded_whatever_is_set(role: Role) -> None:
    never = pencil(carry="never", digits={"*": 1})
    assert never.kept(role, "layer1.x", array(["7.22123456789"]), None) is None
    assert never.chosen_copy(role, "layer1.x", array(["7.22123456789"])) is None


@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_a_copy_is_rounded_only_where_digits_are_set_for_it(carry: str) -> None:
    found = pencil(carry=carry, digits={"*.scores": 2})
    numbers = array(["7.22123456789"])
    assert found.chosen_copy(roles.CONCAT, "layer1.attention.concat", numbers) is None


def test_the_roles_of_each_kind() -> None:
    """Where `carry: step` does not round as usual: all of it, by name."""
    kept = {
        keeps: {role.name for role in all_roles() if role.rounding_rule is keeps}
        for keeps in roles.RoundingRule
    }
    assert kept.pop(roles.RoundingRule.WORKING) == WORKING | WORKING_IN_BLOCKS | OF_STATES
    assert kept.pop(roles.RoundingRule.SHARED) == SHARED
    assert kept.pop(roles.RoundingRule.EXACT) == EXACT | of_quantized("scales")
    elements = of_quantized("elements", "largest", "smallest")
    assert kept.pop(roles.RoundingRule.ALL) == ALL | OF_ALIBI | elements
    integers = of_quantized("exponent", "integers", "zero_point", "zero_points")
    assert kept.pop(roles.RoundingRule.WHOLE) == WHOLE | integers
    assert set(kept) == {roles.RoundingRule.RESULT}


def of_quantized(*names: str) -> set[str]:
    """The names of roles of all quantized weights, those that LoRA leaves frozen among them."""
    weights = (*(f"W_{of}" for of in "QKVO123"), "unembedding.W_U")
    frozen = [f"{matrix}.frozen" for matrix in weights]
    return {f"{matrix}.{name}" for matrix in (*weights, *frozen) for name in names}


INSIDE_A_NORM = (
    *("mean", "deviation", "squared", "variance", "std"),
    *("mean_square", "rms", "standardized"),
)
NORMS_OF_PARTS = (
    *("latent.norm", "latent.query_norm"),
    *("output_norm", "unembedding.transform.norm"),
)
WORKING = {
    *("position.div_term", "position.angle"),
    *(f"position.{name}" for name in ("base", "turns", "unscaled", "attention_factor")),
    *("position.ramp", "position.ramp_start", "position.ramp_end", "position.logarithmic"),
    *(
        f"{norm}.{name}"
        for norm in ("norm", "norm_after", "query_norm", "key_norm", *NORMS_OF_PARTS)
        for name in INSIDE_A_NORM
    ),
    *("loss.token", "sampling.scaled", "sampling.candidates_sum"),
    *("embedding.scale", "residual.scaled", "logits.unscaled"),
    *("loss.error", "loss.squared", "loss.surprise"),
    *("loss.correct_word", "loss.words", "loss.words_mean"),
    *(f"W_{name}.low_rank" for name in "QKVO123"),
    "unembedding.W_U.low_rank",
}
OF_STATES = {
    *("gate.rate", "scaled_query.divisor"),
    *(f"unit_{name}.{end}" for name in ("query", "key") for end in ("squares", "length")),
}
WORKING_IN_BLOCKS = {"factor", "sum", "output", "block_output"}
SHARED = {
    "block_sum",
    *("exp", "exp_sum", "unmasked.exp", "unmasked.exp_sum"),
    *("probabilities.exp", "probabilities.exp_sum", "sampling.exp", "sampling.exp_sum"),
    *("router.exp", "router.exp_sum"),
}
EXACT = {"dot", "scale", "pairs.dot", "keys", "queries"}
ALL = {"sampling.cumulative", "parts.sum", "rounding", "pairs.of_query", "pairs.of_key"}
OF_ALIBI = {"slope"}
WHOLE = {"slope", "unembedding.transform.slope", "position.distance", "position.far"}


# --- a whole pass, rounded a second time ---------------------------------------------------------

some = settings(max_examples=7, deadline=None, suppress_health_check=list(HealthCheck))
EXACTLY = Context(prec=80, rounding=ROUND_HALF_UP)


def places_of(number: Decimal, digits: dict[str, int]) -> int:
    """How many decimals are printed, by the rules of the README: decimals, or significant ones."""
    size = number.adjusted()
    if abs(number) >= 10**12:
        return digits.get("significant", 4) - 1 - size
    if "significant" in digits:
        return max(0, digits["significant"] - 1 - size)
    decimals = digits["decimals"]
    unit = Decimal(1).scaleb(-decimals)
    tiny = unit if decimals > 4 else unit / 2
    return 1 - size if number and abs(number) < tiny else decimals


def rounded(number: Decimal, places: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places), context=EXACTLY)


def without_zeros(number: Decimal, least: int = 0) -> Decimal:
    """Zeros behind the point taken away, but for some decimals at least."""
    if abs(number) >= 10**12:
        return number.normalize(EXACTLY)
    while -exponent(number) > least and not number.as_tuple().digits[-1]:
        number = number.quantize(Decimal(1).scaleb(1 + exponent(number)), context=EXACTLY)
    return number


def exponent(number: Decimal) -> int:
    found = number.as_tuple().exponent
    assert isinstance(found, int)
    return found


class ByHand:
    """The rounding of a scenario, worked a second time, without the program's own."""

    def __init__(self, ran: Trace) -> None:
        self.rounding = ran.scenario.rounding
        self.carry = str(self.rounding.carry)
        self.usual = {"decimals": self.rounding.decimals}

    def set_for(self, address: str) -> dict[str, int] | None:
        """The digits that are set for an address; the last that fit."""
        found = None
        for pattern, digits in self.rounding.digits.items():
            if fnmatchcase(address, pattern):
                found = digits.model_dump(exclude_none=True)
        return found

    def written(self, number: Decimal, digits: dict[str, int]) -> Decimal:
        if not number.is_finite():
            return number
        found = rounded(number, places_of(number, digits))
        if not found:
            return Decimal(0)
        return without_zeros(found) if self.rounding.trailing_zeros is Zeros.TRIM else found

    def working(self, number: Decimal) -> Decimal:
        """Rounded with more decimals; zeros behind an exact number go, to the usual decimals."""
        if abs(number) >= 10**12:
            return self.written(number, self.usual)
        most = {"decimals": self.rounding.decimals + self.rounding.working}
        found = rounded(number, places_of(number, most))
        if not found:
            return Decimal(0)
        if self.rounding.trailing_zeros is Zeros.TRIM:
            return without_zeros(found)
        return without_zeros(found, self.rounding.decimals) if found == number else found

    def shared(self, row: list[Decimal], numbers: list[Decimal]) -> list[Decimal]:
        """Rounded to the decimals with which the largest of a row has three digits more."""
        largest = max([x for x in row if x.is_finite()])
        decimals = self.rounding.decimals
        if largest:
            decimals = max(0, decimals + 2 - largest.adjusted())
        return [self.written(x, {"decimals": decimals}) for x in numbers]

    def part(self, address: str) -> RoundPart:
        """With `line`, the numbers on the way have the digits of the result, or the usual ones."""
        digits = self.set_for(address) or self.usual

        def one(number: Decimal) -> Decimal:
            least = places_of(number, self.usual)
            places = least if abs(number) >= 10**12 else max(least, places_of(number, digits))
            return rounded(number, places)

        return no_rounding if self.carry != "line" else np.frompyfunc(one, 1, 1)

    def kept(self, record: Record, exact: Array) -> list[Any]:
        """All numbers of a value, from those in full."""
        address, name = record.output.address, record.output.role.name
        flat = exact.ravel().tolist()
        if self.carry == "never" or record.output.role.words:
            return flat
        if name in ALL or (
            name in OF_ALIBI and ".head" in address
        ):  # nobody reads more than twelve decimals
            return [
                x if len(str(x).partition(".")[2]) <= 12 else self.written(x, self.usual)
                for x in flat
            ]
        if digits := self.set_for(address):
            return [self.written(x, digits) for x in flat]
        if isinstance(record.operation, MOVED):
            return flat
        if self.carry == "line":
            return [self.written(x, self.usual) for x in flat]
        if name in EXACT:
            return flat
        if name in WORKING | OF_STATES or (record.output.place.block and name in WORKING_IN_BLOCKS):
            return [self.working(x) for x in flat]
        if name in SHARED:
            rows = exact if exact.ndim == 2 else record.inputs[0].numbers
            each = zip(rows.tolist(), exact.tolist(), strict=True)
            wide = exact.ndim == 2
            return [x for row, own in each for x in self.shared(row, own if wide else [own])]
        return [self.written(x, self.usual) for x in flat]


MOVED = get_args(Moved)


def whole_pass(spec: Scenario) -> Trace:
    """A pass with everything in it: no mask, the loss, a word drawn; rejected if it has none."""
    scenario = parse(to_yaml(spec), "f.yaml")
    learns = any(target is not None for target in targets_of(scenario))
    sampling = Sampling(Decimal("0.37"), Decimal("1.7"), 2)
    try:
        return trace("f", scenario, PassOptions(True, learns, sampling=sampling))
    except TracerError as error:
        assert "by zero" in str(error) or "to compute with" in str(error)
        reject()


def again(record: Record, part: RoundPart) -> Array:
    """What an operation gives, unrounded; choices are made on unrounded numbers."""
    chooses = isinstance(record.operation, get_args(Chosen))
    inputs = [value.computed if chooses else value.numbers for value in record.inputs]
    assert not isinstance(record.operation, Given | Pinned)
    with DECIMALS.context():
        return results.result(DECIMALS, record.operation, inputs, record.output.axes, part)


def check(ran: Trace) -> None:
    """Every number is the one that follows from the numbers before it, rounded by hand."""
    by_hand = ByHand(ran)
    for address, record in records(ran).items():
        value = record.output
        if isinstance(record.operation, Given | Pinned):
            continue
        exact = again(record, by_hand.part(address))
        assert (value.computed == exact).all(), address
        expected = by_hand.kept(record, exact)
        assert list(map(str, value.numbers.flat)) == list(map(str, expected)), address


@some
@given(scenarios(carry="line", speaks=True, max_layers=2))
def test_with_line_every_number_is_rounded_as_it_is_printed(spec: Scenario) -> None:
    check(whole_pass(spec))


@some
@given(scenarios(carry="step", speaks=True, max_layers=2))
def test_with_step_numbers_inside_a_step_keep_some_more(spec: Scenario) -> None:
    check(whole_pass(spec))


@some
@given(scenarios(carry="never", speaks=True, max_layers=2))
def test_with_never_nothing_is_rounded(spec: Scenario) -> None:
    check(whole_pass(spec))


@some
@given(scenarios(speaks=True, max_layers=2))
def test_with_line_and_step_what_is_worked_on_with_is_what_is_printed(spec: Scenario) -> None:
    ran = whole_pass(spec)
    for address, record in records(ran).items():
        value = record.output
        if value.role.words:
            continue
        computed = not isinstance(record.operation, (Given, Pinned, *MOVED))
        in_step = ran.scenario.rounding.carry is Carry.STEP
        exact = in_step and computed and value.role.name in EXACT
        if ran.scenario.rounding.carry is Carry.NEVER:
            assert not computed or value.form is Form.ROUNDED_FOR_PRINT, address
            continue
        assert (value.form is Form.ROUNDED_FOR_PRINT) is exact, address
        if not exact:
            for index, number in np.ndenumerate(value.numbers):
                assert str(entries.number(ran.pencil, value, index).value) == str(number), address


# --- scenarios worked by hand --------------------------------------------------------------------


def test_alex_between_mean_and_deviation() -> None:
    """r₁ is 5.037, 7.759, 3.200, 6.620, 5.140, 5.451; three decimals, and inside a step six."""
    found = records(bundled("alex"))

    def row(name: str) -> Any:
        numbers = found[f"layer1.attention.{name}"].output.numbers[3]
        return list(map(str, numbers)) if np.ndim(numbers) else str(numbers)

    residual = ["5.037", "7.759", "3.200", "6.620", "5.140", "5.451"]
    assert row("residual") == residual
    assert row("norm.mean") == "5.5345"  # 33.207 / 6
    deviations = ["-0.4975", "2.2245", "-2.3345", "1.0855", "-0.3945", "-0.0835"]
    assert row("norm.deviation") == deviations
    # 0.24750625, 4.94840025, 5.44989025, 1.17831025, 0.15563025, 0.00697225
    squares = ["0.247506", "4.948400", "5.449890", "1.178310", "0.155630", "0.006972"]
    assert row("norm.squared") == squares
    assert row("norm.variance") == "1.997785"  # 11.986708 / 6 = 1.9977846…
    assert row("norm.std") == "1.413430"  # √1.997785 = 1.4134302…
    # -0.4975 / 1.41343 = -0.35198…, 2.2245 / 1.41343 = 1.57383…
    assert row("norm")[:2] == ["-0.352", "1.574"]


TWO_WORKING = """
title: Two decimals more inside a step
tokens: [a]
embeddings: [[5.037, 7.759, 3.200, 6.620, 5.140, 5.451]]
layers:
  - ffn:
      W_1: [[0], [0], [0], [0], [0], [0]]
      W_2: [[0, 0, 0, 0, 0, 0]]
      norm: {}
rounding: {ROUNDING}
"""


@pytest.mark.parametrize(
    ("rounding", "mean", "squared", "variance", "std", "first"),
    [
        ("carry: step", "5.5345", "0.24751", "1.99779", "1.41343", "-0.352"),
        ("carry: step, working: 0", "5.535", "0.248", "1.998", "1.414", "-0.352"),
        ("carry: line", "5.535", "0.248", "1.998", "1.414", "-0.352"),
        ("carry: step, working: 1", "5.5345", "0.2475", "1.9978", "1.4134", "-0.352"),
        ("carry: step, digits: {'*.mean': 1}", "5.5", "0.21437", "1.99898", "1.41385", "-0.327"),
    ],
)
def test_a_norm_with_more_or_fewer_working_decimals(
    rounding: str, mean: str, squared: str, variance: str, std: str, first: str
) -> None:
    ran = traced(TWO_WORKING.replace("{ROUNDING}", f"{{{rounding}}}"))
    at = "layer1.ffn.norm"
    assert numbers(ran, f"{at}.mean") == [mean]
    assert numbers(ran, f"{at}.squared")[0][0] == squared
    assert numbers(ran, f"{at}.variance") == [variance]
    assert numbers(ran, f"{at}.std") == [std]
    assert numbers(ran, at)[0][0] == first


MOVING = """
title: What is moved keeps its digits
tokens: [a, b]
embeddings: [[1.50, 0.25], [0.125, 2]]
positions: {sinusoidal: {start: 1}}
layers:
  - attention:
      heads:
        - {W_Q: [[1], [0]], W_K: [[0.5], [1]], W_V: [[0.3333], [0.11111]]}
        - {W_Q: [[0], [1]], W_K: [[1], [0]], W_V: [[0.7], [0.012345]]}
      residual: false
    ffn: {W_1: [[1.23456], [2.34567]], W_2: [[1, 1]], activation: none}
rounding:
  carry: CARRY
  digits: {"*.head1.output": 1, "*.head2.output": 5, "*.hidden": 6, position.sin: 4 MORE}
"""


@pytest.mark.parametrize("carry", ["line", "step"])
def test_what_is_moved_keeps_the_digits_that_it_has(carry: str) -> None:
    ran = traced(MOVING.replace("CARRY", carry).replace("MORE", ""))
    one, five = (numbers(ran, f"layer1.attention.head{n}.output") for n in (1, 2))
    assert all(len(x.partition(".")[2]) == 1 for [x] in one)
    assert all(len(x.partition(".")[2]) == 5 for [x] in five)
    concat = numbers(ran, "layer1.attention.concat")
    assert concat == [[*left, *right] for left, right in zip(one, five, strict=True)]
    assert numbers(ran, "layer1.attention.output") == concat
    hidden = numbers(ran, "layer1.ffn.hidden")
    assert all(len(x.partition(".")[2]) == 6 for [x] in hidden)
    assert numbers(ran, "layer1.ffn.activation") == hidden
    # sin 1 = 0.84147098…, cos 1 = 0.54030230…, sin 2 = 0.90929742…, cos 2 = -0.41614683…
    assert numbers(ran, "position") == [["0.8415", "0.540"], ["0.9093", "-0.416"]]
    scores = numbers(ran, "layer1.attention.head1.scores")
    masked = [[scores[0][0], "-Infinity"], scores[1]]
    assert numbers(ran, "layer1.attention.head1.masked") == masked
    assert numbers(ran, "output") == numbers(ran, "layer1.ffn.residual")


@pytest.mark.parametrize("carry", ["line", "step"])
def test_what_is_moved_is_rounded_where_digits_are_set_for_it(carry: str) -> None:
    more = ", '*.concat': 0, '*.activation': 2, position: 1, input: 3"
    ran = traced(MOVING.replace("CARRY", carry).replace(" MORE", more))

    def half_away(rows: Any, places: int) -> Any:
        return [[str(rounded(Decimal(x), places)) for x in row] for row in rows]

    heads = (numbers(ran, f"layer1.attention.head{n}.output") for n in (1, 2))
    side_by_side = [[*left, *right] for left, right in zip(*heads, strict=True)]
    assert numbers(ran, "layer1.attention.concat") == half_away(side_by_side, 0)
    hidden = numbers(ran, "layer1.ffn.hidden")
    assert numbers(ran, "layer1.ffn.activation") == half_away(hidden, 2)
    assert numbers(ran, "position") == [["0.8", "0.5"], ["0.9", "-0.4"]]


def test_typed_numbers_are_never_rounded() -> None:
    for carry in ("line", "step", "never"):
        ran = traced(MOVING.replace("CARRY", carry).replace("MORE", ", '*': 1"))
        assert numbers(ran, "embedding") == [["1.50", "0.25"], ["0.125", "2"]]
        assert numbers(ran, "layer1.ffn.W_1") == [["1.23456"], ["2.34567"]]


PRODUCTS = """
title: 0.5×0.5 is 0.25, for a pencil with one decimal 0.3
tokens: [a]
embeddings: [[0.5, 0.5]]
layers:
  - ffn: {W_1: [[0.5, 0.5, 0.5], [0.5, 0.6, 0.7]], W_2: [[1], [1], [1]], residual: false}
rounding: {decimals: 1, carry: CARRY}
"""


@pytest.mark.parametrize(
    ("carry", "hidden"),
    [
        ("line", ["0.6", "0.6", "0.7"]),  # 0.3 + 0.3, 0.3 + 0.3, 0.3 + 0.4
        ("step", ["0.5", "0.6", "0.6"]),  # 0.50, 0.55, 0.60, each rounded
        ("never", ["0.50", "0.55", "0.60"]),
    ],
)
def test_only_with_line_products_are_rounded_before_they_are_added(
    carry: str, hidden: list[str]
) -> None:
    assert numbers(traced(PRODUCTS.replace("CARRY", carry)), "layer1.ffn.hidden") == [hidden]


def test_with_line_the_root_of_the_width_is_the_one_printed() -> None:
    ran = bundled("science", Carry.LINE)
    assert numbers(ran, "layer1.attention.head1.scale") == "1.414"
    # 4.32 / 1.414 = 3.055…, 2.44 / 1.414 = 1.725…, 6.76 / 1.414 = 4.780…, 11.08 / 1.414 = 7.835…
    assert numbers(ran, "layer1.attention.head1.scores")[3] == ["3.06", "1.73", "4.78", "7.84"]


def test_with_step_the_root_of_the_width_is_not_rounded() -> None:
    ran = traced(MOVING.replace("CARRY", "step").replace("MORE", "").replace("[0]]", "[0]]"))
    value = ran["layer1.attention.head1.dot"]
    assert value.form is Form.ROUNDED_FOR_PRINT
    # (1.5 + sin 1) × (0.5×(1.5 + sin 1) + 0.25 + cos 1): x is 2.342, 0.790, with three decimals.
    assert ran["input"].numbers[0].tolist() == [Decimal("2.342"), Decimal("0.790")]
    assert value.numbers[0, 0] == Decimal("2.342") * Decimal("1.961")


def test_of_a_float_only_sure_digits_are_printed() -> None:
    """The nearest float to 999998879940.347634 is …3477: its fourth decimal is not the result's."""
    rounding = Rounding(decimals=4, carry=Carry.NEVER)
    number = Decimal("999998879940.3477")
    assert Pencil(rounding, decimal=False).places(roles.SQUARED, "x", number) == 1
    assert Pencil(rounding).places(roles.SQUARED, "x", number) == 4
