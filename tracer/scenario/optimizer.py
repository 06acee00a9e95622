"""The optimizer: how weights are updated by their gradients."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from tracer.errors import Problem, TracerError
from tracer.scenario.fields import Frozen, NotNegative, Positive, Share, Word, described


class Optimizer(Frozen):
    """SGD, Adam (Kingma and Ba 2015) or AdamW (Loshchilov and Hutter 2019)."""

    kind: Literal["sgd", "adam", "adamw"] = described(
        "Steps against the gradient (sgd), or steps that adapt to each weight (adam, adamw).",
        "adam",
        "sgd",
    )
    learning_rate: Positive = described("η, the learning rate.", "0.05", Decimal("0.01"))
    momentum: Share = described(
        "The share of the previous step that is added to the next; only for sgd.", "0.9", Decimal(0)
    )
    weight_decay: NotNegative = described(
        "λ, the weight decay: how strongly each weight shrinks toward 0. The default of PyTorch's "
        "AdamW is 0.01.",
        "0.01",
        Decimal(0),
    )
    beta_1: Share = described(
        "β₁: how slowly the mean of the gradients changes; not for sgd.", "0.8", Decimal("0.9")
    )
    beta_2: Share = described(
        "β₂: how slowly the mean of their squares changes; not for sgd.", "0.99", Decimal("0.999")
    )
    epsilon: NotNegative = described(
        "ε, added to the root of the mean square, which must not be 0 without it; not for sgd.",
        "0.0001",
        Decimal("0.00000001"),
    )
    clip: Positive | None = described(
        "The largest allowed norm of all gradients together; larger gradients are scaled down.",
        "1",
        None,
    )

    trains: Annotated[tuple[Word, ...], Field(min_length=1)] | None = described(
        "The addresses of the parameters that are trained, or patterns such as *.W_Q; all others "
        "keep their numbers. Default: all.",
        "[unembedding.W_U]",
        None,
    )

    def does_train(self, address: str) -> bool:
        """Return whether the parameter at an address is trained."""
        return self.trains is None or any(fnmatchcase(address, each) for each in self.trains)

    def changed(self, kind: str | None, said: Mapping[str, Any]) -> Self:
        """Return the optimizer with the command line's options.

        Another kind resets the rest, but not which parameters are trained.

        Raises:
            TracerError: the settings contradict each other.
        """
        before = {name: getattr(self, name) for name in self.model_fields_set - {"trains"}}
        kept = before if kind in (None, self.kind) else {}
        new = {name: value for name, value in said.items() if value is not None}
        if kind is not None:
            new["kind"] = kind
        texts = {name: str(value) for name, value in {**kept, **new}.items() if value is not None}
        try:
            return self.model_validate({**texts, "trains": self.trains})
        except ValidationError as error:
            raise TracerError(*_on_the_command_line(error)) from None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        said = self.model_fields_set
        if self.kind != "sgd" and "momentum" in said:
            raise ValueError("momentum goes with sgd only")
        if self.kind == "sgd" and said & {"beta_1", "beta_2", "epsilon"}:
            raise ValueError("beta_1, beta_2 and epsilon go with adam and adamw only")
        return self


def _on_the_command_line(error: ValidationError) -> Iterator[Problem]:
    """Yield the problems of a setting at its command-line option."""
    for detail in error.errors():
        name = str(detail["loc"][0]).replace("_", "-") if detail["loc"] else "optimizer"
        message = str(detail.get("ctx", {}).get("error", detail["msg"]))
        yield Problem(message, address=f"--{name}")
