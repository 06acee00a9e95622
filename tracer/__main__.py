"""What `decoder-trace` and `python -m tracer` start."""

import atexit
import gc
import os
import sys
import threading
from typing import NoReturn


def collect_seldom() -> None:
    """Look for garbage seldom.

    A run is short, and what loading modules and keeping a tape leaves looks like garbage and is
    none: looking for some would take a sixth of the time.
    """
    gc.set_threshold(1_000_000, 50, 100)


def end(code: int) -> NoReturn:
    """End without freeing each object, which takes a fortieth of a short run.

    What is registered for the end is called first, and both streams are flushed.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Run the command line; Ctrl-C ends it from the first moment on."""
    try:
        from tracer.console import interruption

        interruption.ends_the_program()
    except KeyboardInterrupt:  # so early that it is not said yet how Ctrl-C ends
        os.write(2, b"interrupted\n")
        os._exit(130)
    collect_seldom()
    # OpenBLAS's threads wait by spinning: most products of a pass are too small to share.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Plugins that an environment has for pydantic are not looked for: none is used here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from tracer.console import streams

    streams.prepare()
    from tracer.cli import start

    try:
        start()
    except SystemExit as reason:
        is_alone = threading.active_count() == 1
        if is_alone and isinstance(reason.code, int):
            end(reason.code)
        raise


if __name__ == "__main__":
    main()
