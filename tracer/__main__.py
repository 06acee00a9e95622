"""What `decoder-trace` and `python -m tracer` start."""

import atexit
import gc


def collect_seldom() -> None:
    """Look for garbage seldom, and not at the end.

    A run is short, and what loading modules and keeping a tape leaves looks like garbage and is
    none: looking for some would take a sixth of the time.
    """
    gc.set_threshold(1_000_000, 50, 100)
    atexit.register(gc.freeze)


def main() -> None:
    """Run the command line."""
    collect_seldom()
    from tracer.cli import app

    app(prog_name="decoder-trace")


if __name__ == "__main__":
    main()
