"""The schema that editors read says of scenarios what the program says of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from tests.helpers.command import printed
from tests.helpers.small_scenario import END, SMALL, changed
from tracer.errors import TracerError
from tracer.scenario.dimensions import Dimensioned
from tracer.scenario.loading import bundled, parse
from tracer.scenario.model import Scenario
from tracer.scenario.problems import _models as models_of
from tracer.scenario.schema import schema, template
from tracer.scenario.trained import Trained

SCHEMA = json.loads(schema())
CHECK = Draft202012Validator(SCHEMA)


def accepted(text: str) -> bool:
    # As editors read it: the JSON part of YAML, in which `no` is a text.
    return CHECK.is_valid(yaml.load(text, Loader=yaml.SafeLoader))


def test_it_is_a_schema_and_is_shipped() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert printed("schema") == schema()
    shipped = next(iter(bundled().values())).with_name("schema.json")
    assert shipped.read_text(encoding="utf-8") == schema()


@pytest.mark.parametrize("path", bundled().values(), ids=bundled())
def test_the_bundled_scenarios_name_it_and_fit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=schema.json\n")
    assert accepted(text)


def test_the_template_names_it_and_runs() -> None:
    text = template()
    first, _, rest = text.partition("\n")
    path = Path(first.removeprefix("# yaml-language-server: $schema=file://"))
    assert path.read_text(encoding="utf-8") == schema()
    assert accepted(text)
    assert "the model predicts “" in printed("run", "-", stdin=rest)
    for command in ("loss", "tutorial"):
        assert printed(command, "-", stdin=rest)


def test_every_choice_of_the_template_runs() -> None:
    """What is commented out in the template can be used as it stands, in place of the same key."""
    lines = template().replace("    # cross_attention: the", "    # the").splitlines()[5:]
    used = [line for line in lines if re.match(r" *# \w+:", line)]
    assert len(used) > 12
    for choice in used:
        uncommented = choice.replace("# ", "", 1)
        key = re.match(r" *\w+:", uncommented)
        assert key
        text = "\n".join(uncommented if line == choice else line for line in lines)
        # The key itself goes, with the rows below it.
        text = re.sub(
            rf"^{key[0]}(?![^\n]*{re.escape(uncommented[-9:])}).*\n(?:  \w+: \[.*\n)*",
            "",
            text,
            flags=re.M,
        )
        if "arithmetic" in choice:
            text = text.replace("carry: step ", "carry: never ")
        assert parse(text, "f.yaml").tokens == ("the", "cat", "sat"), choice


# --- what it says --------------------------------------------------------------------------------


def all_models() -> list[type[BaseModel]]:
    found = list[type[BaseModel]]()
    left: list[type[BaseModel]] = [Scenario, Trained, Dimensioned]
    while left:
        model = left.pop()
        if model not in found:
            found.append(model)
            left += [m for f in model.model_fields.values() for m in models_of(f.annotation)]
    return found


def test_every_key_is_described() -> None:
    for model in all_models():
        keys: dict[str, Any] = SCHEMA["$defs"][model.__name__]["properties"]
        assert keys.keys() == model.model_fields.keys()
        for name, key in keys.items():
            assert len(key["description"]) > 10, (model, name)


WRONG = [
    ("tokens: [a, b]", "token: [a, b]"),
    ("tokens: [a, b]", "tokens: {a: b}"),
    ("[[3], [4]]", "[[3], [x]]"),
    ("[[3], [4]]", "identty"),
    ("[[3], [4]]", "{random: {sed: 1}}"),
    ("[[3], [4]]", "{transposed: 3}"),
    (END, f"{END}positions: sinusoidal\n"),
    (END, f"{END}positions: {{sinusoidal: {{start: -1}}}}\n"),
    (END, f"{END}unembedding: [[1]]\n"),
    (END, f"{END}rounding: {{carry: x}}\n"),
    (END, f"{END}rounding: {{decimals: 13}}\n"),
    (END, f"{END}    norm: yes please\n"),
    (END, f"{END}mask: all\n"),
    (END, f"{END}mask: {{window: 0}}\n"),
    (END, f"{END}mask: [[0, x], [0, 0]]\n"),
    (END, f"{END}positions: {{rotary: {{layout: x}}}}\n"),
    (END, f"{END}      activation: swish\n"),
    (END, f"{END}final_norm: {{placement: pre}}\n"),
]


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_it_refuses_what_the_program_refuses(old: str, new: str) -> None:
    text = changed((old, new))
    assert not accepted(text)
    with pytest.raises(TracerError):
        parse(text, "f.yaml")


RIGHT = [
    ("tokens: [a, b]", "tokens: a b"),
    ("tokens: [a, b]", "batch: [a b, [b, a]]"),
    ("title: Two words\n", ""),
    ("[[3], [4]]", "{random: {seed: 2, largest: 2, decimals: 0, columns: 1}}"),
    ("[[3], [4]]", "{transposed: [[3, 4]]}"),
    ("[[1, 0], [0, 1]]", "identity"),
    (END, f"{END}positions: none\n"),
    (END, f"{END}positions: {{sinusoidal: {{}}}}\n"),
    (END, f"{END}    norm: none\n"),
    (END, f"{END}    norm: {{kind: rms_norm, epsilon: 1, epsilon_outside: true}}\n"),
    (END, f"{END}mask: none\n"),
    (END, f"{END}mask: {{window: 2}}\nsoftmax: shifted\nfinal_norm: {{deviation: sample}}\n"),
    (END, f"{END}mask: [[0, -inf], [0, 0]]\n"),
    (END, f"{END}mask: [[0, -99], [-0.5, 1000]]\n"),
    (END, f"{END}      W_3: [[1], [2]]\n      activation: gelu\n      activates: output\n"),
    (
        "          W_V: [[1, 0], [0, 1]]\n",
        "          W_V: [[1], [1]]\n        - {W_Q: [[1], [1]], shares: 1}\n      scale: none\n",
    ),
    (END, f"{END}vocabulary: a b\nunembedding: tied\ntargets: [b, none]\n"),
    (END, f"{END}rounding: {{digits: {{'*.exp': 2, '*.dot': {{significant: 3}}}}}}\n"),
    (END, f"{END}given: {{mask: [[0, -inf], [0, 0]], layer1.attention.head1.scale: 2}}\n"),
]


@pytest.mark.parametrize(("old", "new"), RIGHT)
def test_it_accepts_what_the_program_accepts(old: str, new: str) -> None:
    text = changed((old, new))
    assert accepted(text)
    assert parse(text, "f.yaml").embedding


def test_the_small_scenario_fits() -> None:
    assert accepted(SMALL)
