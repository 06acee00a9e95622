"""Record what the modules of a model receive and return while it runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tracer.checkpoints.parameters import ENCODER
from tracer.errors import Problem, TracerError
from tracer.pytorch.arrays import arrays_of, of_row
from tracer.pytorch.taps import Tap
from tracer.pytorch.tokens import (
    Array,
    Text,
    Tokens,
    as_array,
    is_tensor,
    kind_of,
    tensors_in,
    text_of,
    tokens_of_pass,
)


@dataclass
class Recording:
    """The arrays of each tap by the number of the pass, for one text of the batch."""

    row: int
    has_encoder: bool = False
    encoder: Tokens | None = None
    """The encoder's tokens, which are those of all passes; None before the first."""
    keeps_gradients: bool = False
    passes: list[Tokens] = field(default_factory=list)
    arrays: dict[Tap, dict[int, Array]] = field(default_factory=lambda: defaultdict(dict))
    kinds: dict[Tap, str] = field(default_factory=dict)
    tensors: dict[Tap, Any] = field(default_factory=dict)
    """The tensors themselves, if gradients are kept."""

    def add(self, tap: Tap, tensor: Any) -> None:
        """Keep the row of a tensor; a module that runs again in a pass replaces it."""
        if self.keeps_gradients and tensor.requires_grad:
            tensor.retain_grad()
            self.tensors[tap] = tensor
        self.kinds[tap] = kind_of(tensor)
        # An encoder runs before the first pass of its decoder.
        number = 0 if tap.tower == ENCODER else len(self.passes) - 1
        self.arrays[tap][number] = self.row_of(tap, tensor)

    def row_of(self, tap: Tap, tensor: Any) -> Array:
        """Return the text's own part of a tensor.

        Raises:
            TracerError: it has another shape than the batch and its tokens; the module runs before
                the model.
        """
        tokens = self.encoder if tap.tower == ENCODER else self.passes[-1] if self.passes else None
        name = tap.module or "the model"
        if tokens is None:
            message = f"{name} runs before the model, so that its tokens are not known"
            raise TracerError(Problem(message, address=tap.address))
        try:
            return as_array(of_row(tap, tensor, tokens, self.row))
        except ValueError as error:
            raise TracerError(Problem(f"{name}: {error}", address=tap.address)) from None

    def values(
        self, tap: Tap, arrays: Mapping[int, Array] | None = None
    ) -> Iterator[tuple[str, Array]]:
        """Yield the arrays of a tap by address: those recorded, or others like them by pass."""
        yield from arrays_of(tap, self.arrays[tap] if arrays is None else arrays, self.texts())

    def texts(self) -> Mapping[str, Text]:
        """Return the text of the decoder and of the encoder."""
        found = {"": text_of(self.passes, self.row)}
        return found | ({ENCODER: text_of([self.encoder], self.row)} if self.encoder else {})


@contextmanager
def recording(
    modules: Mapping[str, Any], taps: Sequence[Tap], found: Recording
) -> Iterator[Recording]:
    """Record some taps while the model runs in this context.

    Raises:
        TracerError: as `Recording.row_of`; there is no such row.
    """
    of_module = defaultdict[str, list[Tap]](list)
    for tap in taps:
        of_module[tap.module].append(tap)

    def begin(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if found.has_encoder and found.encoder is None:
            found.encoder = tokens_of_pass(args, kwargs)
        tokens = tokens_of_pass(args, kwargs, behind_encoder=found.has_encoder)
        if not 0 <= found.row < tokens.batch:
            expected = f"expected 0 to {tokens.batch - 1}"
            raise TracerError(Problem(f"{found.row}, {expected}", address="row"))
        found.passes.append(tokens)

    with ExitStack() as hooks:
        before_the_model = modules[""].register_forward_pre_hook(begin, with_kwargs=True)
        hooks.callback(before_the_model.remove)
        for name, own in of_module.items():
            for hook in _hooks(modules[name], own, found):
                hooks.callback(hook.remove)
        yield found


def _hooks(module: Any, taps: Sequence[Tap], found: Recording) -> Iterator[Any]:
    def before(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for tap in taps:
            given = kwargs.get("hidden_states", [*args, *kwargs.values()])
            tensor = next(tensors_in(given), None) if tap.reads == "input" else None
            if tensor is not None:
                found.add(tap, tensor)

    def after(module: Any, args: tuple[Any, ...], output: Any) -> None:
        for tap in taps:
            tensor = None if tap.reads == "input" else _read(tap, output)
            if tensor is not None:
                found.add(tap, tensor)

    yield module.register_forward_pre_hook(before, with_kwargs=True)
    yield module.register_forward_hook(after)


def _read(tap: Tap, output: Any) -> Any:
    """Return the tensor of a module's output that a tap reads; None if there is no such."""
    listed = [*output.values()] if hasattr(output, "items") else output
    several = listed if isinstance(listed, list | tuple) else (output,)
    if tap.item is not None:
        return next(filter(is_tensor, several[tap.item : tap.item + 1]), None)
    if tap.reads == "weights":
        squares = (each for each in several[1:] if is_tensor(each) and each.ndim == 4)
        return next((each for each in squares if each.shape[1] == len(tap.heads)), None)
    logits = getattr(output, "logits", None)
    return next(tensors_in(output), None) if logits is None else logits
