"""Records what Apache Kafka's assignors answer, for the tests that run without Java.

`python -m tests.property.client_assignor.record` writes them anew.
"""

import json
import tempfile
from pathlib import Path

from tests.kafka.peer import java
from tests.property.client_assignor import example

VECTORS = Path(__file__).parents[2] / "unit" / "client" / "consumer" / "assignor" / "java_vectors.jsonl"
_COUNT = 100
_FIRST_SEED = 50_000


def answers(given: list[example.Example], directory: Path) -> list[example.Answer | str]:
    """Java's answers; a text where its assignor failed on its own account (a NullPointerException)."""
    inputs = directory / "examples.jsonl"
    inputs.write_text("".join(json.dumps(each) + "\n" for each in given))
    printed = java(str(Path(__file__).with_name("Assign.java")), str(inputs)).splitlines()
    assert len(printed) == len(given)
    return [json.loads(line) for line in printed]


def main() -> None:
    """Writes the file."""
    given = [example.draw(_FIRST_SEED + number) for number in range(_COUNT)]
    with tempfile.TemporaryDirectory() as directory:
        answered = answers(given, Path(directory))
    lines = (
        json.dumps({"example": each, "answer": answer}, separators=(",", ":")) + "\n"
        for each, answer in zip(given, answered, strict=True)
        if not isinstance(answer, str)
    )
    VECTORS.write_text("".join(lines))


if __name__ == "__main__":
    main()
