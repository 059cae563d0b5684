"""JSON for programs: one document, or a line per item."""

import json


def print_document(value: object) -> None:
    """Prints one document."""
    print(document(value))


def document(value: object) -> str:
    """A document as text, with every value that JSON has no word for as a string."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def json_line(value: object) -> str:
    """A value on one line.

    >>> json_line({"key": "café", "offset": 3})
    '{"key": "café", "offset": 3}'
    """
    return json.dumps(value, ensure_ascii=False, default=str)
