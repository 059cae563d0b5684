"""Which twin does the work: the compiled one, or the plain Python one.

Every hot module exists twice with one behaviour. `load` picks the compiled twin where it was built, unless the
environment variable `OTTLA_PLAIN` is set. Run as a program it says in one line what this installation has.
"""

import importlib
import os
from types import ModuleType

COMPILED = (
    "ottla.protocol.codec._decoder",
    "ottla.protocol.codec._encoder",
    "ottla.protocol.records._batch",
    "ottla.protocol.records._frames",
    "ottla.protocol.records._columns",
    "ottla.protocol.records._columns_writer",
)


def load(compiled: str, plain: str) -> ModuleType:
    """The compiled module if it is there and wanted, else its plain twin."""
    if not os.environ.get("OTTLA_PLAIN"):
        try:
            return importlib.import_module(compiled)
        except ImportError:
            pass
    return importlib.import_module(plain)


def missing() -> list[str]:
    """The compiled modules that this installation lacks."""
    absent = []
    for name in COMPILED:
        try:
            importlib.import_module(name)
        except ImportError:
            absent.append(name)
    return absent


if __name__ == "__main__":
    gone = missing()
    if gone:
        print(
            f"no compiled {', '.join(gone)}: plain Python twins in use, slower (a C compiler and make would change it)"
        )
    else:
        print("compiled codecs in use")
