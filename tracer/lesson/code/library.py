"""NumPy and PyTorch: the words in which they differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Library(StrEnum):
    """The library that code is written for."""

    NUMPY = "numpy"
    PYTORCH = "pytorch"


@dataclass(frozen=True)
class Words:
    """How a library calls what code uses; the names of functions stand before a bracket."""

    title: str
    module: str
    array: str
    concatenate: str
    axis: str
    keep: str
    largest: str
    rows_of_triangle: str
    repeat: str
    nine_decimals: str
    """The argument with which a function rounds to 9 decimals."""
    functions: dict[str, str]
    scalars: str
    """The module with functions of single numbers."""


NUMPY = Words(
    title="NumPy",
    module="np",
    array="np.array",
    concatenate="np.concatenate",
    axis="axis",
    keep="keepdims",
    largest="max",
    rows_of_triangle="k",
    repeat="repeat",
    nine_decimals="9",
    functions={"ln": "np.log", "Φ": "normal_cdf", "E2M1": "e2m1"},
    scalars="np",
)

PYTORCH = Words(
    title="PyTorch",
    module="torch",
    array="torch.tensor",
    concatenate="torch.cat",
    axis="dim",
    keep="keepdim",
    largest="amax",
    rows_of_triangle="diagonal",
    repeat="repeat_interleave",
    nine_decimals="decimals=9",
    functions={"ln": "torch.log", "Φ": "torch.special.ndtr", "E2M1": "e2m1"},
    scalars="math",
)

WORDS = {Library.NUMPY: NUMPY, Library.PYTORCH: PYTORCH}
