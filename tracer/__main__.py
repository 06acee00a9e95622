"""What `decoder-trace` and `python -m tracer` start."""

import atexit
import gc
import os


def collect_seldom() -> None:
    """Look for garbage seldom, and not at the end.

    A run is short, and what loading modules and keeping a tape leaves looks like garbage and is
    none: looking for some would take a sixth of the time.
    """
    gc.set_threshold(1_000_000, 50, 100)
    atexit.register(gc.freeze)


def main() -> None:
    """Run the command line; Ctrl-C ends it from the first moment on."""
    try:
        from tracer.console import interruption

        interruption.ends_the_program()
    except KeyboardInterrupt:  # so early that it is not said yet how Ctrl-C ends
        os.write(2, b"interrupted\n")
        os._exit(130)
    collect_seldom()
    # To find plugins, pydantic reads the metadata of every package that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # OpenBLAS's threads wait by spinning: most products of a pass are too small to share.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tracer.console import streams

    streams.prepare()
    from tracer.commands.cli import start

    start()


if __name__ == "__main__":
    main()
