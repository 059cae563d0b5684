"""`python -m tests.parity.connect.run --record` asks Apache Kafka Connect and writes `answers.jsonl.gz`.

`--port N` asks a worker that runs already.
"""

import argparse
import gzip
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ottla.client import Admin
from ottla.client.admin.value.topic import NewTopic
from tests.parity.connect.script import SUNK, ask_everything
from tests.parity.connect.talk import Talk

RECORDED: Final = Path(__file__).parent / "answers.jsonl.gz"


def answers_of(port: int, bootstrap: str, directory: Path) -> dict[str, Any]:
    """What the worker at `port` answers to everything."""
    with Admin({"bootstrap.servers": bootstrap}) as admin:
        if SUNK not in admin.list_topics():
            admin.create_topics([NewTopic(SUNK, 1, 1)])
    (directory / "in.txt").write_text("one\ntwo\n")
    talk = Talk(port, {str(directory): "DIRECTORY"})
    ask_everything(talk, directory)
    return talk.answers


def recorded() -> dict[str, Any]:
    """What Apache Kafka Connect answered."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    return {entry.pop("name"): entry for entry in entries}


def record(found: Mapping[str, Any]) -> None:
    """Writes the answers down, one on a line."""
    lines = [json.dumps({"name": name, **answer}, ensure_ascii=False) + "\n" for name, answer in found.items()]
    RECORDED.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))


def main() -> None:
    """Asks, and writes down or prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        found = answers_of(options.port, options.bootstrap, Path(directory))
    if options.record:
        record(found)
    else:
        print(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
