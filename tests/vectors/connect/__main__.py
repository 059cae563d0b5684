"""Writes the cases for `Recorder.java`: `python -m tests.vectors.connect FILE`; `make connect-vectors` runs both."""

import sys
from pathlib import Path

from tests.vectors.connect import converter_case, transform_case
from tests.vectors.connect.notation import text_of


def main() -> None:
    """A line for each case."""
    cases = [*transform_case.cases(), *converter_case.cases()]
    Path(sys.argv[1]).write_text("".join(text_of(case) + "\n" for case in cases))


if __name__ == "__main__":
    main()
