"""What `decoder-trace` and `python -m tracer` start."""

import atexit
import gc


def main() -> None:
    """Run the command line."""
    # A run is short, and what loading modules leaves looks like garbage and is none: collecting
    # it, on the way or at the end, would take a sixth of the time.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)
    from tracer.cli import app

    app(prog_name="decoder-trace")


if __name__ == "__main__":
    main()
