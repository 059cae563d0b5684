"""Runs all scripts on a server: `python -m tests.parity.run --record` asks Apache Kafka and writes `answers.jsonl`.

`python -m tests.parity.run [--peer] [SUBJECT …]` prints where a server's answers differ from the recorded ones.
"""

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.clients.server import APACHE, OTTLA, start_server
from tests.kafka.server import Server
from tests.parity.difference import reason
from tests.parity.plain import Masking
from tests.parity.talk import Talk

SUBJECTS = (
    "framing",
    "produce",
    "fetch",
    "offsets",
    "topics",
    "configs",
    "config_values",
    "repetition",
    "cluster",
    "security",
    "telemetry",
    "classic_groups",
    "consumer_groups",
    "commits",
    "refused_joins",
    "conversions",
    "transactions",
)
RECORDED = Path(__file__).parent / "answers.jsonl"
SETTINGS = {
    "auto_create_topics_enable": "true",
    "num_partitions": "2",
    "log_retention_ms": "-1",
    # Groups settle at once.
    "group_initial_rebalance_delay_ms": "0",
    "group_consumer_assignment_interval_ms": "0",
}


def ask_everything(server: Server, subjects: Iterable[str] = SUBJECTS) -> dict[str, tuple[Any, str]]:
    """Every question's name with the answer and the question."""
    paths = {str(server.log_directory): "LOGS", str(server.directory): "DIRECTORY"}
    ports = {f":{server.port}": ":PORT", f":{server.controller_port}": ":PORT"}
    masking = Masking(paths=paths | ports)
    found: dict[str, tuple[Any, str]] = {}
    for subject in subjects:
        talk = Talk(server, subject, masking)
        importlib.import_module(f"tests.parity.subject.{subject}").run(talk)
        for key, answer in talk.answers.items():
            found[f"{subject}/{key}"] = answer, talk.requests[key]
    return found


def recorded() -> dict[str, dict[str, Any]]:
    """What Apache Kafka answered; an answer that another version has too is written once."""
    known: dict[str, dict[str, Any]] = {}
    for line in RECORDED.read_text().splitlines() if RECORDED.exists() else []:
        entry = json.loads(line)
        if "as" in entry:
            entry |= {key: value for key, value in known[entry["as"]].items() if key != "name"}
        known[entry["name"]] = entry
    return known


def record(found: Mapping[str, tuple[Any, str]]) -> None:
    """Writes the answers down, one on a line; those of subjects that were not asked about stay.

    What is listed in one subject may come from another one before it: the last word has a recording of all.
    """
    asked = {subject_of(name) for name in found}
    entries = {name: entry for name, entry in recorded().items() if subject_of(name) not in asked}
    for name, (answer, request) in found.items():
        entries[name] = {"request": request, "answer": answer}
    first_with: dict[str, str] = {}
    with RECORDED.open("w") as lines:
        for name in sorted(entries, key=lambda name: SUBJECTS.index(subject_of(name))):
            entry = {key: value for key, value in entries[name].items() if key not in ("name", "as")}
            same = first_with.setdefault(json.dumps(entry), name)
            entry = {"name": name} | (entry if same == name else {"as": same})
            lines.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")


def subject_of(name: str) -> str:
    """The subject that a question belongs to."""
    return name.partition("/")[0]


def main() -> int:
    """Asks one server."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity.run", description=__doc__)
    parser.add_argument("--record", action="store_true", help="ask Apache Kafka, and write its answers down")
    parser.add_argument("--peer", action="store_true", help="ask Apache Kafka, and compare")
    parser.add_argument("subjects", nargs="*", default=SUBJECTS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = start_server(APACHE if arguments.record or arguments.peer else OTTLA, Path(directory), **SETTINGS)
        try:
            found = ask_everything(server, arguments.subjects)
        finally:
            server.stop()
    if arguments.record:
        record(found)
        return 0
    return _report(found)


def _report(found: Mapping[str, tuple[Any, str]]) -> int:
    known, different = recorded(), 0
    for name, (answer, request) in found.items():
        entry = known.get(name, {"answer": "not recorded"})
        changes = list(differences(entry["answer"], answer))
        if changes:
            different += reason(name) is None
            print(f"{name}{f' (justified: {reason(name)})' if reason(name) else ''}\n  asked {request}")
            print("".join(f"  {change}\n" for change in changes[:20]), end="")
    print(f"{len(found)} questions, {different} answered differently without a reason")
    return 1 if different else 0


def differences(expected: Any, found: Any, path: str = "") -> Iterator[str]:
    """Where two answers differ, field by field."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            yield from differences(expected.get(key, "default"), found.get(key, "default"), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path or 'answer'}: Kafka has {len(expected)}, here {len(found)} entries"
        for index, (left, right) in enumerate(zip(expected, found, strict=False)):
            yield from differences(left, right, f"{path}[{index}]")
    elif expected != found:
        yield f"{path or 'answer'}: Kafka {_short(expected)}, here {_short(found)}"


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:300]


if __name__ == "__main__":
    sys.exit(main())
