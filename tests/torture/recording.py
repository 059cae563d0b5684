"""Histories on disk: one file for each process, a line of JSON before and after every operation.

A line is handed to the kernel in one call, so that kill -9 of the writer loses at most what it had not begun to tell.

`{"t": 17, "op": 5, "begin": "send", …}`, then `{"t": 19, "op": 5, "end": "ok", …}`; `{"t": 18, "note": "poll", …}`.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.torture.history import Assigned, Commit, Decision, History, Outcome, Poll, Send, Transaction

_SUFFIX = ".jsonl"


class Recorder:
    """Writes one process's part of the history; it may be used by the threads of a client."""

    def __init__(self, directory: Path, process: str) -> None:
        self._file = os.open(directory / (process + _SUFFIX), os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self._operations = 0

    def begin(self, kind: str, **fields: Any) -> int:
        """An operation is about to start; its number."""
        self._operations += 1
        number = self._operations
        self._write({"op": number, "begin": kind, **fields})
        return number

    def end(self, operation: int, outcome: Outcome, **fields: Any) -> None:
        """What came of it."""
        self._write({"op": operation, "end": outcome, **fields})

    def note(self, kind: str, **fields: Any) -> None:
        """Something that was seen."""
        self._write({"note": kind, **fields})

    def _write(self, entry: dict[str, Any]) -> None:
        os.write(self._file, json.dumps({"t": time.monotonic_ns(), **entry}, separators=(",", ":")).encode() + b"\n")


def load(directory: Path) -> History:
    """The history that the processes of a run have written, without how it ended."""
    history = History()
    for path in sorted(directory.glob(f"*{_SUFFIX}")):
        _load_process(history, path.stem, list(_lines(path)))
    return history


def failures(directory: Path) -> dict[str, int]:
    """What clients complained about, and how often."""
    counts: dict[str, int] = defaultdict(int)
    for path in sorted(directory.glob(f"*{_SUFFIX}")):
        for line in _lines(path):
            if line.get("note") == "error":
                counts[f"{path.stem.partition('.')[0]}: {line['text']}"] += 1
    return dict(counts)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n")[:-1]:
        yield json.loads(line)


def _load_process(history: History, process: str, lines: list[dict[str, Any]]) -> None:
    ends = {line["op"]: line for line in lines if "end" in line}
    transactions: dict[str, Transaction] = {}
    for line in lines:
        if "note" in line:
            _load_note(history, process, line)
        elif "begin" in line:
            end = ends.get(line["op"], {"end": Outcome.UNKNOWN})
            _load_operation(history, process, line, end, transactions)
    history.transactions.extend(transactions.values())


def _load_note(history: History, process: str, line: dict[str, Any]) -> None:
    if line["note"] == "assigned":
        for partition in line["partitions"]:
            history.reads.append(Assigned(process, line["group"], partition, line["t"]))
    elif line["note"] == "poll":
        for at_ns, partition, offset, value in line["records"]:
            history.reads.append(Poll(process, partition, offset, value, at_ns, line.get("committed", True)))


def _load_operation(
    history: History,
    process: str,
    begin: dict[str, Any],
    end: dict[str, Any],
    transactions: dict[str, Transaction],
) -> None:
    outcome = Outcome(end["end"])
    span = {"started_ns": begin["t"]} | ({"ended_ns": end["t"]} if "t" in end else {})
    if begin["begin"] == "send":
        source = tuple(begin["source"]) if "source" in begin else None
        transaction = begin.get("transaction")
        send = Send(process, begin["partition"], begin["value"], outcome, end.get("offset"), transaction, source)
        history.sends.append(send)
    elif begin["begin"] == "commit":
        for partition, offset in begin["offsets"].items():
            transaction = begin.get("transaction")
            history.commits.append(Commit(process, begin["group"], partition, offset, outcome, transaction, **span))
    elif begin["begin"] == "decide":
        decided = Transaction(begin["transaction"], process, Decision(begin["decision"]), outcome, **span)
        before = transactions.get(decided.id)
        # A commit that failed may have happened all the same, unless the abort behind it succeeded.
        if before is None or decided.outcome is Outcome.OK:
            transactions[decided.id] = decided
