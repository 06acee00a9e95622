"""What `decoder-trace` and `python -m tracer` start."""

import gc


def main() -> None:
    """Run the command line."""
    # A run is short, and loading modules makes much that looks like garbage and is none.
    gc.set_threshold(100_000, 50, 100)
    from tracer.cli import app

    app(prog_name="decoder-trace")


if __name__ == "__main__":
    main()
