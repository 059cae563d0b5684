"""Writes the cases for `Recorder.java`: `python -m tests.vectors.connect FILE`; `make connect-vectors` runs both."""

import sys
from pathlib import Path

from tests.vectors.connect.answer import all_cases
from tests.vectors.connect.notation import text_of


def main() -> None:
    """A line for each case."""
    Path(sys.argv[1]).write_text("".join(text_of(case) + "\n" for case in all_cases()))


if __name__ == "__main__":
    main()
