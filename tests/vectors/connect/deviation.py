"""Where our answers differ from Kafka Connect's on purpose: every one of them, with the reason.

A case may differ only if a line here says so, and a line that no case needs is an error of the test.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

Node = Any


class Deviation(NamedTuple):
    """One difference."""

    reason: str
    applies: Callable[[Node, Node, Node], bool]
    """Told by the case, Kafka's answer and ours."""


def _is(case: Node, name: str) -> bool:
    return str(case.get("class", "")).rpartition(".")[2].startswith(name)


def _message(answer: Node) -> str:
    return str(answer.get("message", ""))


def _unordered(text: str | None) -> list[int]:
    return sorted(bytes.fromhex(text or ""))


DEVIATIONS = (
    Deviation(
        "JSON that does not fit its schema is refused: Kafka wraps numbers, cuts decimals and makes 0, false or null",
        lambda case, kafka, ours: case["kind"] == "to_connect"
        and _is(case, "JsonConverter")
        and _message(ours).startswith("Invalid value ")
        and _message(ours).endswith(" field"),
    ),
    Deviation(
        "whole numbers in JSON without schema keep all their digits: Kafka keeps the low 64 bits",
        lambda case, kafka, ours: ours.get("value") == {"int64": 12345678901234567890123},
    ),
    Deviation(
        "maps keep the order in which they were filled: Kafka's have that of a hash table",
        lambda case, kafka, ours: case["kind"] == "from_connect"
        and "map" in str(case["value"])
        and _unordered(kafka.get("bytes")) == _unordered(ours.get("bytes")),
    ),
    Deviation(
        "bytes as text are base64: Kafka prints the address of the array",
        lambda case, kafka, ours: _is(case, "StringConverter") and "5b4240" in str(kafka.get("bytes")),
    ),
    Deviation(
        "an encoding that does not exist is refused when the connector starts, not with every record",
        lambda case, kafka, ours: _is(case, "StringConverter") and case.get("config", {}).get("converter.encoding") == "nothing",
    ),
    Deviation(
        "a masked decimal keeps the scale of its schema: Kafka's cannot be written afterwards",
        lambda case, kafka, ours: _is(case, "MaskField") and str(ours).replace("'0.00'", "'0'") == str(kafka),
    ),
    Deviation(
        "a field, or a decimal's scale, that is not there is named: Kafka fails with a null pointer",
        lambda case, kafka, ours: kafka.get("error") == "java.lang.NullPointerException"
        and _message(ours).startswith(("Field does not exist: ", "Invalid Decimal schema: ")),
    ),
    Deviation(
        "what is wrong with a regular expression is said in Python's words",
        lambda case, kafka, ours: "Invalid regex: " in _message(kafka) and "Invalid regex: " in _message(ours),
    ),
    Deviation(
        "the same in lists of errors",
        lambda case, kafka, ours: case["kind"] == "validation" and "Invalid regex: " in str(ours),
    ),
    Deviation(
        "a pattern of dates that is none is refused when the transform starts, not with the first record",
        lambda case, kafka, ours: _is(case, "TimestampRouter") and "Illegal pattern" in _message(ours),
    ),
    Deviation(
        "numbers of 32 bits print their shortest digits, as Java does since 19: the recorder's Java is older",
        lambda case, kafka, ours: case.get("config") == {"spec": "at:float32"},
    ),
    Deviation(
        "dates before 1582 are of the Gregorian calendar",
        lambda case, kafka, ours: case.get("record", {}).get("value") == "-5-01-01",
    ),
    Deviation(
        "an error of InsertField names the field: Kafka prints the address of an object",
        lambda case, kafka, ours: "InsertField$InsertionSpec@" in _message(kafka),
    ),
    Deviation(
        "an empty path with field.syntax.version=V2 finds nothing: Kafka fails with an index",
        lambda case, kafka, ours: "fromIndex(0) > toIndex(-1)" in _message(kafka),
    ),
    Deviation(
        "sources and sinks have settings of ours beside Kafka's: restarts, and dead letters of sources",
        lambda case, kafka, ours: case.get("class") in ("source", "sink") and _without_ours(ours) == _without_ours(kafka),
    ),
)  # fmt: skip


def _without_ours(answer: Node) -> Node:
    names = ("tasks.restart.", "errors.deadletterqueue.")
    listed = answer.get("keys") or answer.get("values") or []
    return [each for each in listed if not each["name"].startswith(names)]
