"""Models in several processes, on several devices and with a part on disk: captured as they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.checkpoints.test_transformers_configs import BASE
from tests.helpers.torch_models import NanoGPT, of_transformers, shaken, torch
from tracer.errors import TracerError
from tracer.library import trace
from tracer.pytorch.capture import Captured, capture
from tracer.pytorch.scenario import scenario_of

IDS = [3, 1, 4, 1, 5]
TRAINED = {"ids": torch.tensor([IDS]), "targets": torch.tensor([[1, 4, 1, 5, 9]])}


def agree(found: Captured, plain: Captured) -> None:
    """The captured values are those of the model without a wrapper."""
    assert found.keys() == plain.keys()
    for address, array in plain.items():
        np.testing.assert_allclose(found[address], array, atol=1e-6, err_msg=address)


def nano_gpt() -> Any:
    torch.manual_seed(1)
    return shaken(NanoGPT(bias=True))


def of_llama() -> Any:
    return of_transformers(BASE["llama"])


def wrapped(model: Any) -> dict[str, Any]:
    """The model in each wrapper; the last one changes the model itself."""
    fsdp = pytest.importorskip("torch.distributed.fsdp")
    sharded_in = fsdp.FullyShardedDataParallel
    policy = pytest.importorskip("torch.distributed.fsdp.wrap").ModuleWrapPolicy
    in_parallel = pytest.importorskip("torch.nn.parallel").DistributedDataParallel

    blocks = model().transformer["h"] if model is nano_gpt else model().model.layers
    settings = {
        "device_id": torch.device("cpu"),
        "auto_wrap_policy": policy({type(blocks[0])}),
    }
    sharded = model()
    for module in sharded.modules():
        if isinstance(module, type(blocks[0])):
            fsdp.fully_shard(module)
    return {
        "DDP": in_parallel(model()),
        "FSDP": sharded_in(model(), **settings),
        "FSDP of original": fsdp.FullyShardedDataParallel(
            model(), use_orig_params=True, **settings
        ),
        "fully_shard": fsdp.fully_shard(sharded),
    }


def in_a_process(rank: int, store: str) -> None:
    """Capture models in each wrapper, and compare them with the plain ones."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=2
    )
    for of_model in (nano_gpt, of_llama):
        plain = of_model()
        captured, scenario = capture(plain, IDS), trace(scenario_of(plain, IDS))
        for name, model in wrapped(of_model).items():
            agree(capture(model, IDS), captured)
            with torch.no_grad():
                agree(capture(model, IDS), captured)
            own = trace(scenario_of(model, IDS))
            assert own.keys() == scenario.keys(), name
            np.testing.assert_array_equal(own["logits"].array, scenario["logits"].array)
    gradients = capture(nano_gpt(), TRAINED, backward=True)
    models = wrapped(nano_gpt)
    for name in ("DDP", "fully_shard"):
        agree(capture(models[name], TRAINED, backward=True), gradients)
    for name in ("FSDP", "FSDP of original"):
        with pytest.raises(TracerError, match=r"backward: .* expected fully_shard"):
            capture(models[name], TRAINED, backward=True)
    torch.distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore")
def test_each_process_captures_the_whole_model(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(in_a_process, (str(tmp_path / "store"),), nprocs=2)


def test_a_model_with_a_device_map_is_captured(tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed")
    plain = of_llama()
    places = {"model.embed_tokens": "disk", "model.layers.0": "cpu", "model.layers.1": "disk"}
    places |= {"model.norm": "cpu", "lm_head": "cpu", "model.rotary_emb": "cpu"}
    model = accelerate.dispatch_model(of_llama(), places, offload_dir=str(tmp_path))
    agree(capture(model, IDS), capture(plain, IDS))
    with pytest.raises(TracerError, match=r"embed_tokens\.weight: not in memory"):
        scenario_of(model, IDS)
