"""Which number the next calculation uses."""

from enum import StrEnum


class Carry(StrEnum):
    """Which number the next calculation uses.

    LINE: the one printed. STEP: rounded where its step ends. NEVER: the one in full precision.
    """

    LINE = "line"
    STEP = "step"
    NEVER = "never"
