"""Why a query failed, in a sentence: what Spark says about it is a hundred lines, and the sentence is one of them."""

import re
from typing import Final

_PYTHON_ERROR: Final = re.compile(r"^(?:[a-z_]+\.)+[A-Z]\w*(?:Error|Exception): (.+(?:\n  .+)*)$", re.MULTILINE)
"""The end of a Python traceback, with the lines that belong to it; of several the last is what was raised."""
_FIRST_LINE_MAX: Final = 500


def reason(error: BaseException | None) -> str:
    """The text of the Python error in what Spark tells, else the first line of it.

    >>> reason(ValueError("[X] it failed\\nottla.client.errors.KafkaTimeoutError: no broker answers\\n\\tat org"))
    'no broker answers'
    """
    if error is None:
        return "unknown cause"
    text = str(error)
    found = _PYTHON_ERROR.findall(text)
    return str(found[-1]) if found else text.strip().partition("\n")[0][:_FIRST_LINE_MAX]
