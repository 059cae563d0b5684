"""Snapshots of a local state in a directory that outlives the machine: a state that is lost starts from the newest one.

A snapshot is a copy of the state with the offsets of its changelogs at that moment; what came later is read from
there. One that is half made is never seen: it is written under another name first. A snapshot of another layout is
not used, nor one that is so old that the changelogs may have forgotten deletions since.

    <directory>/<application.id>/<partition number>/<milliseconds>/data.mdb, manifest.json
"""

import json
import logging
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from ottla.streams.state.local_state import FORM, LocalState

_log = logging.getLogger(__name__)
_MANIFEST: Final = "manifest.json"
_DATA: Final = "data.mdb"
_KEPT: Final = 2
"""Another machine may be copying the one before the newest."""
_AGE_MS_MAX: Final = 12 * 3_600_000
"""Changelogs keep deletions for `delete.retention.ms`, a day unless told otherwise."""


@dataclass(frozen=True)
class Snapshot:
    """The manifest of a snapshot."""

    identity: str
    taken_ms: int
    offsets: dict[str, int]
    """By changelog topic: the first record that is not in the copy."""
    topic_ids: dict[str, str]
    """The changelogs that are meant: one made anew under the same name has another id."""


class SnapshotDirectory:
    """The snapshots of one partition number."""

    def __init__(self, root: Path, application_id: str, number: int, identity: str) -> None:
        self._path: Final = root / application_id / str(number)
        self._identity: Final = identity + FORM

    def newest(self) -> Snapshot | None:
        """The newest snapshot that can be used."""
        for path in self._made():
            try:
                found = Snapshot(**json.loads((path / _MANIFEST).read_text()))
            except (OSError, ValueError, TypeError) as error:
                _log.warning("The snapshot in %s cannot be read: %s", path, error)
                continue
            if found.identity == self._identity and found.taken_ms > _now_ms() - _AGE_MS_MAX:
                return found
        return None

    def is_due(self, interval_ms: int) -> bool:
        """Whether the newest snapshot is older than the interval."""
        found = self.newest()
        return found is None or found.taken_ms <= _now_ms() - interval_ms

    def take(self, state: LocalState, offsets: Mapping[str, int], topic_ids: Mapping[str, str]) -> None:
        """Copies the state, which holds what the changelogs have below these offsets."""
        taken_ms = _now_ms()
        target = self._path / f"{taken_ms:015d}"
        partial = self._path / f"partial-{os.getpid()}-{taken_ms}"
        try:
            partial.mkdir(parents=True)
            state.copy_to(partial)
            manifest = Snapshot(self._identity, taken_ms, dict(offsets), dict(topic_ids))
            (partial / _MANIFEST).write_text(json.dumps(asdict(manifest)))
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        for old in self._made()[_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)

    def install(self, snapshot: Snapshot, path: Path) -> None:
        """Makes a directory, which is not there, the state that was copied."""
        path.mkdir(parents=True)
        shutil.copyfile(self._path / f"{snapshot.taken_ms:015d}" / _DATA, path / _DATA)

    def _made(self) -> list[Path]:
        """Those that are complete, newest first."""
        if not self._path.is_dir():
            return []
        return sorted((path for path in self._path.iterdir() if path.name.isdigit()), reverse=True)


def _now_ms() -> int:
    return int(time.time() * 1000)
