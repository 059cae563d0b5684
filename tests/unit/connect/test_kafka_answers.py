"""Transforms, converters and definitions of settings answer as Kafka Connect 4.3.1 does, case by case.

`make connect-vectors` asks Kafka Connect again. Where we differ, `tests/vectors/connect/deviation.py` says why.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.vectors.connect.answer import all_cases, answer
from tests.vectors.connect.deviation import DEVIATIONS

RECORDED = Path(__file__).parents[2] / "vectors" / "connect" / "answers.jsonl.gz"


def test_every_answer_is_kafkas_or_a_declared_deviation() -> None:
    different = []
    needed = set()
    for case, kafka in recorded():
        ours = answer(case)
        if in_order(ours) == in_order(kafka):
            continue
        deviation = next((each for each in DEVIATIONS if each.applies(case, in_order(kafka), in_order(ours))), None)
        if deviation is None:
            different.append((case, kafka, ours))
        else:
            needed.add(deviation.reason)
    assert not different, f"{len(different)} answers differ, the first: {different[0]}"
    assert needed == {each.reason for each in DEVIATIONS}


def test_the_recorded_cases_are_those_of_the_tables() -> None:
    asked = all_cases()
    assert [case for case, _ in recorded()] == asked
    assert len(asked) > 6_000


def recorded() -> Iterator[tuple[Any, Any]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in lines:
            both = json.loads(line)
            yield both["case"], both["answer"]


def in_order(found: Any) -> Any:
    """Kafka lists the values of a validation in the order of a hash table."""
    return {"values": sorted(found["values"], key=lambda each: each["name"])} if "values" in found else found
