"""Each popular model, with every flag of its public config.json, opens or is refused by its part.

Each is scaled down and has random weights. Where PyTorch and transformers are installed, its logits
are those of transformers in float64.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.popular_models import lines, published, scaled
from tracer.checkpoints.hugging_face import architecture_of
from tracer.errors import TracerError

REFUSED = [model for model in lines() if "refused" in lines()[model]]
LATER = [model for model in lines() if "later" in lines()[model]]
"""Models whose parts or families are not all declared."""
OPEN = [model for model in lines() if model not in {*REFUSED, *LATER}]


def test_there_are_many_and_most_open() -> None:
    assert len(lines()) >= 150
    assert len(OPEN) >= 130


@pytest.mark.parametrize("model", [*OPEN, *LATER])
def test_a_popular_model_opens_and_is_computed_as_transformers_does(
    model: str, tmp_path: Path
) -> None:
    config = scaled(published(model))
    try:
        architecture_of(config, "config.json")
    except TracerError as error:
        if model in LATER:
            pytest.skip(str(error))
        raise
    if not find_spec("torch") or not find_spec("transformers"):
        return
    from tests.checkpoints.test_transformers_configs import check, drawn, save

    folder = tmp_path / "model"
    folder.mkdir()
    save(drawn(folder, config), folder / "model.safetensors")
    assert check(folder, config) == (True, set())


@pytest.mark.parametrize("model", REFUSED)
def test_a_refusal_names_the_part_that_is_missing(model: str) -> None:
    config = scaled(published(model))
    with pytest.raises(TracerError) as caught:
        architecture_of(config, "config.json")
    first = str(caught.value).splitlines()[0]
    assert lines()[model]["refused"] in first


@pytest.mark.parametrize("model", OPEN)
def test_a_model_has_the_flags_that_are_public(model: str) -> None:
    """Scaling changes numbers and lists, no other flag and no key."""
    config, small = published(model), scaled(published(model))
    assert config.keys() == small.keys()
    for key in config:
        kinds = (int, list, dict)
        assert small[key] == config[key] or isinstance(config[key], kinds), key
