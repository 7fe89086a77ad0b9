"""Where the command begins: an interrupt ends it quietly also while modules are being loaded."""

# `signal` itself loads others, in which an interrupt would be a traceback.
import _signal  # type: ignore[import-not-found]
import os

_INTERRUPTED = 130


def entry() -> None:
    """The `triplane` command."""
    _signal.signal(_signal.SIGINT, _leave)
    from compiler.cli.main import entry as run

    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    run()


def _leave(number: int, frame: object) -> None:
    """Nothing has begun that would have to be put away."""
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)
