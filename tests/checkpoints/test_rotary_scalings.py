"""Rotary positions of config.json: scalings in all spellings, and numbers as writers leave them.

The logits are those of transformers in float64, angles included, or the folder is refused.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.checkpoints import test_transformers_configs as configs
from tests.checkpoints.test_transformers_configs import BASE, MISSING, Json

torch = configs.torch

FAMILIES = ("llama", "mistral", "qwen2", "phi3", "gpt_neox", "gemma", "smollm3", "gemma3_text")
"""Keys for whose sake a configuration is refused that transformers computes."""


@pytest.fixture(autouse=True)
def in_float64(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Transformers computes frequencies, angles and norms in float32, whatever the model's type."""
    names = {name: getattr(torch, name) for name in dir(torch)} | {"float32": torch.float64}
    double = SimpleNamespace(**names | {"float": torch.float64})
    files = (name.removesuffix("_text") for name in FAMILIES)
    modules = [import_module(f"transformers.models.{name}.modeling_{name}") for name in files]
    for module in (configs.transformers.modeling_rope_utils, *modules):
        monkeypatch.setattr(module, "torch", double)
    monkeypatch.setattr(torch, "float", torch.float64)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    monkeypatch.setattr(configs, "TOLERANCE", 1e-9)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def scaling(rng: random.Random, family: str) -> Json:
    """Draw a scaling, some of whose keys are missing, null, useless or of another type."""
    kinds = ["longrope", "su", "yarn"] if family == "phi3" else []
    kind = rng.choice(kinds or ["linear", "dynamic", "llama3", "yarn", "longrope"])
    pairs = 1 if family == "gpt_neox" else 4
    said: Json = {
        "factor": rng.choice((1.0, 2, 4.0, 2.5)),
        "original_max_position_embeddings": rng.choice((4, 8, 12, 64, 512.0)),
        "attention_factor": rng.choice((MISSING, MISSING, None, 1.0, 1.25)),
        "low_freq_factor": rng.choice((1, 0.5)),
        "high_freq_factor": 4.0,
        "beta_fast": rng.choice((MISSING, None, 32, 2.0)),
        "beta_slow": rng.choice((MISSING, 1, 0.25)),
        "mscale": rng.choice((MISSING, MISSING, 1, 0.707, 0)),
        "mscale_all_dim": rng.choice((MISSING, 1.0, 0.5)),
        "truncate": rng.choice((MISSING, MISSING, False)),
        "short_factor": [rng.choice((1, 1.5, 0.9)) for _ in range(pairs)],
        "long_factor": [rng.choice((1, 2.0, 8)) for _ in range(pairs)],
        "rope_theta": rng.choice((MISSING, 100, 10000.0, 1000000.0, "10000")),
        "finetuned": rng.choice((MISSING, True)),
    }
    if kind in ("yarn", "longrope", "su") and rng.random() < 0.3:
        said["factor"] = rng.choice((None, MISSING))
    if rng.random() < 0.2:
        said["original_max_position_embeddings"] = MISSING
    spelling = rng.choice(("rope_type", "type"))
    return {spelling: kind} | {key: value for key, value in said.items() if value != MISSING}


def draws(family: str, number: int) -> Iterator[Json]:
    rng = random.Random(family)
    for _ in range(number):
        own: Json = {rng.choice(("rope_scaling", "rope_parameters")): scaling(rng, family)}
        own["max_position_embeddings"] = rng.choice((4, 7, 8, 16, 64, MISSING))
        own |= rng.choice(({}, {}, {"original_max_position_embeddings": rng.choice((4, 64))}))
        own |= rng.choice(({}, {"rope_theta": rng.choice((50, 1e6, 500.0))}))
        if family == "gemma3_text":
            own["layer_types"] = [configs.FULL, configs.SLIDING]
            if said := own.get("rope_parameters"):
                own["rope_parameters"] = {configs.FULL: said}
        if family == "phi3" and rng.random() < 0.4:
            own |= {"partial_rotary_factor": 0.75, "rope_theta": 10}
            (said,) = (own[key] for key in ("rope_scaling", "rope_parameters") if key in own)
            said |= {"short_factor": [1, 1.5, 2], "long_factor": [1, 4.0, 8.0]}
        yield {key: said for key, said in {**BASE[family], **own}.items() if said != MISSING}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_scaling_is_that_of_transformers(family: str, tmp_path: Path) -> None:
    computed = 0
    for config in draws(family, 24):
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        configs.save(configs.drawn(folder, config), folder / "model.safetensors")
        try:
            by_transformers, refused = configs.check(folder, config)
        except AssertionError as error:
            raise AssertionError(config) from error
        assert not by_transformers or not refused, config
        computed += not refused
    assert computed >= 8


@pytest.mark.parametrize(("rotated", "is_computed"), [(3, False), (4, True)])
def test_yarn_needs_pairs(rotated: int, is_computed: bool, tmp_path: Path) -> None:
    """Of three numbers, transformers turns two pairs, and has the ramp of YaRN for one of them."""
    said = {"rotary_pct": rotated / 8, "rope_scaling": {"type": "yarn", "factor": 4.0}}
    config = {**BASE["gpt_neox"], **said, "max_position_embeddings": 8}
    configs.save(configs.drawn(tmp_path, config), tmp_path / "model.safetensors")
    assert configs.check(tmp_path, config) == (True, set() if is_computed else {""})
