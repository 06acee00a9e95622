"""The names of Hugging Face are those of modules, outputs and tensors with the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.checkpoints.test_transformers_configs import BASE, ROUNDS_MORE
from tests.helpers import tiny_marian
from tests.helpers.of_transformers import OF_MASKED_WORDS
from tests.helpers.torch_models import of_transformers, torch
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.library import trace
from tracer.pytorch.modules import modules_of
from tracer.pytorch.scenario import scenario_of
from tracer.pytorch.weights import tensors_of
from tracer.scenario.other_names import hugging_face

NAMES_OF_HEAD = ("W_Q", "W_K", "W_V", "query", "key", "value", "weights")
IN_EVERY_FAMILY = {
    *("input", "output", "logits", "layer1.attention.W_O", "layer2.attention.output"),
    *(f"layer{layer}.attention.head1.{name}" for layer in (1, 2) for name in NAMES_OF_HEAD),
}
"""Whatever its modules are called, each family has names for these."""
IDS, OTHERS = [3, 1, 4, 1, 5, 9], [7, 2, 6, 0]


@pytest.mark.parametrize("family", [*BASE, "marian"])
def test_each_name_has_the_numbers_of_its_addresses(family: str) -> None:
    is_marian = family == "marian"
    kind = "AutoModelForSeq2SeqLM" if is_marian else "AutoModelForCausalLM"
    if family in OF_MASKED_WORDS:
        kind = "AutoModelForMaskedLM"
    model = of_transformers(tiny_marian.CONFIG if is_marian else BASE[family], kind).double()
    own = trace(scenario_of(model, IDS, OTHERS if is_marian else None))
    theirs = recorded(model, is_marian)
    checked = set[str]()
    for name, addresses in hugging_face(own.scenario).items():
        if not {*addresses} <= {*own}:
            continue
        assert name in theirs, name
        allowed = 1e-6 * ROUNDS_MORE.get(family, 1)
        assert_same(theirs[name], [own[address].array for address in addresses], name, allowed)
        checked.add(name)
    found = {address for name in checked for address in hugging_face(own.scenario)[name]}
    assert found >= IN_EVERY_FAMILY


def recorded(model: Any, is_marian: bool) -> dict[str, Any]:
    """What the modules return, what the model returns, and its tensors as a file has them."""
    found = dict[str, Any]()

    def keep(name: str) -> Any:
        def hook(module: Any, args: Any, output: Any) -> None:
            first = output[0] if isinstance(output, tuple) else output
            if torch.is_tensor(first):
                found[name] = first.clone()  # Falcon adds to it where it is

        return hook

    modules = modules_of(model)
    hooks = [module.register_forward_hook(keep(name)) for name, module in modules.items()]
    with torch.no_grad():
        ids = torch.tensor([IDS])
        said = {"output_hidden_states": True, "output_attentions": True}
        if is_marian:
            output = model(torch.tensor([OTHERS]), decoder_input_ids=ids, **said)
            hidden, weights = output.decoder_hidden_states, output.decoder_attentions
        else:
            output = model(ids, **said)
            hidden, weights = output.hidden_states, output.attentions
    for hook in hooks:
        hook.remove()
    found |= {f"hidden_states[{i}]": each for i, each in enumerate(hidden)}
    found |= {f"attentions[{i}]": each for i, each in enumerate(weights)}
    found |= {"last_hidden_state": hidden[-1], "logits": output.logits}
    found |= tensors_of(modules, model.state_dict())
    older = FAMILIES[model.config.model_type].layout.older
    for other, part in older.items():
        found = {name.replace(other, part): each for name, each in found.items()}
    return found


def assert_same(theirs: Any, ours: list[Any], name: str, allowed: float) -> None:
    """Check that an array, or its transposition, has the numbers of the parts in their order."""
    array = theirs.detach().numpy()
    side_by_side = np.concatenate(ours, axis=-1) if ours[0].ndim else np.array(ours)
    forms = [array, array.T, array[0], array.reshape(-1, array.shape[-1])]
    if array.ndim == 4:
        forms += [np.concatenate(list(array[0]), axis=-1)]  # heads first
        forms += [array[0].reshape(len(array[0]), -1)]
    if name.startswith("attentions"):
        forms, side_by_side = [array[0]], np.stack(ours)
    for form in forms:
        scale = np.abs(side_by_side).max()
        if form.shape == side_by_side.shape and np.allclose(
            form, side_by_side, allowed, allowed * scale
        ):
            return
    raise AssertionError(name)
