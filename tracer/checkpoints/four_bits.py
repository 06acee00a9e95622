"""The numbers of four bits that MXFP4 stores."""

from decimal import Decimal
from typing import Final

E2M1: Final = tuple(map(Decimal, ("0", "0.5", "1", "1.5", "2", "3", "4", "6")))
"""The positive numbers: two bits of exponent, one of mantissa (OCP MX v1.0, table 5)."""
