"""How a command ends before its time: by Ctrl-C, because its output is closed, or on a full disk.

None of it is worth a traceback. Imports nothing that `--help` would have to wait for.
"""

import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

INTERRUPTED: Final = 130
"""What shells expect of a program that ended by Ctrl-C."""

Main = Callable[[Sequence[str] | None], int]


def ends_quietly(main: Main) -> Callable[..., int]:
    """A `main` that returns an exit code also for Ctrl-C and for `kafka-topics --list | head -1`."""

    @functools.wraps(main)
    def run(arguments: Sequence[str] | None = None) -> int:
        try:
            code = main(arguments)
            # What is still to be written is written here, where a closed pipe is no surprise.
            sys.stdout.flush()
        except BrokenPipeError:
            leave_output()
            return 0
        except OSError as error:
            leave_output()
            print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return INTERRUPTED
        return code

    return run


def leave_output() -> None:
    """The interpreter flushes once more at its end: that would fail again, and be told as an error of its own."""
    if sys.__stdout__ is None or sys.stdout is not sys.__stdout__:
        return  # a test reads it
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno())
    os.close(nowhere)
