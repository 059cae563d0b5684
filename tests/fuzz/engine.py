"""One fuzzing process: atheris around the `fuzz_one` of a target (`python -m tests.fuzz.engine TARGET [flags]`)."""

import importlib
import sys

import atheris


def main() -> None:
    """Instruments the target and what it imports, then fuzzes until told to stop."""
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["ottla", "tests.fuzz"]):
        target = importlib.import_module(f"tests.fuzz.{name}")
    atheris.Setup(sys.argv, target.fuzz_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
