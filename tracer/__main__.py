"""`python -m tracer` is `decoder-trace`."""

from tracer.cli import app

if __name__ == "__main__":
    app(prog_name="decoder-trace")
