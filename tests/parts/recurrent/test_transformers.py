"""The gated delta rule, compared with the functions of Qwen3-Next in transformers."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.testing import assert_allclose

from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tests.parts.recurrent.test_decoder import AT, drawn

torch: Any = pytest.importorskip("torch")
qwen3_next: Any = pytest.importorskip(
    "transformers.models.qwen3_next.modeling_qwen3_next", exc_type=ImportError
)

DELTA = [seed for seed in range(16) if seed & 1]


def spec_of(seed: int) -> dict[str, Any]:
    """A random layer with the delta rule, whose keys have the length 1 with the ε of Qwen3-Next."""
    spec = drawn(seed)
    part = spec["layers"][0]["attention"]
    part["unit_length"] = {"epsilon": "0.000001"}
    part["scale"] = "sqrt"
    part.pop("feature_map", None)
    return spec


@pytest.mark.parametrize("way", ["recurrent", "chunk"])
@pytest.mark.parametrize("seed", DELTA)
def test_outputs_and_states_are_those_of_qwen3_next(seed: int, way: str) -> None:
    function = getattr(qwen3_next, f"torch_{way}_gated_delta_rule")
    ran = traced(to_yaml(spec_of(seed)))
    for h in (1, 2):
        at = f"{AT}head{h}."
        q, k, v = (
            torch.tensor(ran[f"{at}{name}"].array)[None, :, None]
            for name in ("query", "key", "value")
        )
        n = q.shape[1]

        def of_tokens(name: str, n: int = n, h: int = h) -> Any:
            found = ran.values.get(f"{AT}{name}")
            numbers = torch.ones(n, dtype=torch.float64)
            if found is not None:
                array = torch.tensor(found.array)
                numbers = array[:, h - 1] if array.ndim == 2 else array.expand(n)
            return numbers[None, :, None]

        output, state = function(
            *(q, k, v),
            g=of_tokens("gate").log(),
            beta=of_tokens("beta"),
            initial_state=None,
            output_final_state=True,
            use_qk_l2norm_in_kernel=True,
        )
        # Both functions compute in float32.
        assert_allclose(output[0, :, 0].numpy(), ran[f"{at}output"].array, rtol=1e-4, atol=2e-5)
        last = ran[f"{at}token{n}.state"].array
        assert_allclose(state[0, 0].numpy(), last, rtol=1e-4, atol=2e-5)
