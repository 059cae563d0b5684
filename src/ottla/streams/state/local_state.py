"""The state of all tasks of one partition number on a local disk, versioned by batch.

A batch leads from one position of the inputs to the next. State, position and what undoes the batch are written in
one LMDB transaction. A batch that comes again starts from the state before it; any other position is a mismatch.

A state that is synced survives a power cut. One that is not is as safe from processes that die, and is not believed
after a restart of the machine: what the system had not written yet may be torn. Changelogs have it all.

    at 100, batch [100,180) → at 180, undo to 100        again [100,180) → undone, at 100 → at 180
    at 180, batch [180,200) → at 200, undo to 180        batch [100,180) or [300,310) → `StateMismatchError`
"""

import errno
import json
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ottla.streams.state.errors import StateMismatchError, StateUnavailableError, unwritable
from ottla.streams.state.lmdb_map import LmdbMap, UndoLog
from ottla.streams.state.undo import packed, unpacked

try:
    import lmdb
except ImportError:  # pragma: no cover - the extra that brings it is not installed
    lmdb = None  # type: ignore[assignment]

_log = logging.getLogger(__name__)

Position = Mapping[str, int]
"""Where a partition number stands: the next offset of each of its topics."""
Times = Mapping[str, Mapping[str, tuple[int, ...]]]
"""By task: the numbers of `Task.times`."""
MAP_BYTES: Final = 1 << 38
"""How large an environment may become: address space, not disk."""
_LOCK_BYTES: Final = 8_192
"""What LMDB's table of readers takes."""
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
FORM: Final = ", form 2"
"""How the files are laid out; with what a state belongs to, it says whether this code can read it."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_IDENTITY: Final = b"identity"
_POSITION: Final = b"position"
_PREVIOUS: Final = b"previous"
_TIMES: Final = b"times"
_TIMES_BEFORE: Final = b"times before"
_STORE: Final = b"store "
_NOWHERE: Final = b"\xff\xff"
"""Where nothing lies: the place of a store that has not been written to yet."""


class LocalState:
    """An open environment. One process has it open at a time: LMDB's lock makes others wait."""

    def __init__(self, path: Path, identity: str, *, is_synced: bool = True, bytes_max: int = MAP_BYTES) -> None:
        """Opens or makes it; `StateMismatchError` if it belongs to something else than `identity` says."""
        if lmdb is None:
            raise StateUnavailableError("stores on disk need LMDB: pip install 'ottla[streams]'")
        self._path = path
        try:
            _make(path, is_synced=is_synced)
            self._environment: Any = lmdb.open(
                str(path), map_size=bytes_max, max_dbs=3, sync=is_synced, metasync=is_synced
            )
        except (OSError, lmdb.Error) as error:
            raise _unopened(path, error) from error
        try:
            self._data, self._undo, self._meta = (self._environment.open_db(name) for name in (b"d", b"u", b"m"))
            self._check(identity + FORM)
        except BaseException as error:
            self.close()
            if isinstance(error, lmdb.Error):
                raise _unopened(path, error) from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def position(self) -> Position | None:
        """The offset of each input up to which records are in the state; None if it is new."""
        with self._environment.begin() as transaction:
            return _loaded(transaction.get(_POSITION, db=self._meta))

    def is_before(self, start: Position) -> bool:
        """Whether a batch can start from this state, for the first time or again."""
        with self._environment.begin() as transaction:
            return any(_fits(_loaded(transaction.get(at, db=self._meta)), start) for at in (_POSITION, _PREVIOUS))

    def begin(self, start: Position) -> "StateBatch":
        """Opens the state as it was at `start`; raises `StateMismatchError` if it no longer has that, or not yet."""
        transaction = self._environment.begin(write=True)
        try:
            if not _fits(_loaded(transaction.get(_POSITION, db=self._meta)), start):
                self._go_back(transaction, start)
            return StateBatch(transaction, (self._data, self._undo, self._meta), start)
        except BaseException:
            transaction.abort()
            raise

    def go_on(self) -> "StateBatch":
        """Opens the state where it stands, for what is not repeated."""
        transaction = self._environment.begin(write=True)
        position = _loaded(transaction.get(_POSITION, db=self._meta))
        return StateBatch(transaction, (self._data, self._undo, self._meta), position)

    def commit_and_go_on(self, batch: "StateBatch", end: Position, times: Times, *, can_be_undone: bool = True) -> None:
        """Makes a batch durable and begins the next one at its end: maps and scans of the first stay valid."""
        batch.commit(end, times)
        batch.renew(self._environment.begin(write=True), end if can_be_undone else None)

    def begin_behind(self) -> "StateBatch":
        """Opens what is sure to be in the changelogs, to be brought up from there: the last batch is undone."""
        transaction = self._environment.begin(write=True)
        try:
            previous = _loaded(transaction.get(_PREVIOUS, db=self._meta))
            if previous is not None:
                self._go_back(transaction, previous)
            return StateBatch(transaction, (self._data, self._undo, self._meta), None)
        except BaseException:
            transaction.abort()
            raise

    def restore(self) -> "StateBatch":
        """Opens an empty state that is to be filled from changelogs."""
        transaction = self._environment.begin(write=True)
        for database in (self._data, self._undo):
            transaction.drop(database, delete=False)
        for name in (_POSITION, _PREVIOUS, _TIMES, _TIMES_BEFORE):
            transaction.delete(name, db=self._meta)
        return StateBatch(transaction, (self._data, self._undo, self._meta), None)

    def catch_up(self) -> "StateBatch":
        """Opens a copy of an earlier state that is to be brought up to date from changelogs."""
        return StateBatch(self._environment.begin(write=True), (self._data, self._undo, self._meta), None)

    def copy_to(self, directory: Path) -> None:
        """Writes a copy of the state as it is now into a directory, which is there."""
        try:
            self._environment.copy(str(directory), compact=True)
        except (OSError, lmdb.Error) as error:
            raise StateUnavailableError(
                f"the state in {self._path} cannot be copied to {directory}: {error}"
            ) from error

    def read(self) -> "StateBatch":
        """Opens the state of the last batch for reading: `map` alone may be used, and `abort` ends it."""
        transaction = self._environment.begin()
        return StateBatch(transaction, (self._data, self._undo, self._meta), None, is_writable=False)

    def close(self) -> None:
        """Closes it."""
        self._environment.close()

    def _check(self, identity: str) -> None:
        with self._environment.begin(write=True) as transaction:
            found = transaction.get(_IDENTITY, db=self._meta)
            if found is None:
                transaction.put(_IDENTITY, identity.encode(), db=self._meta)
            elif found.decode() != identity:
                raise StateMismatchError(
                    f"the state in {self._path} belongs to something else: it says {found.decode()}, not {identity}"
                )

    def _go_back(self, transaction: Any, start: Position) -> None:
        """Undoes the last batch if `start` is where it began."""
        position = _loaded(transaction.get(_POSITION, db=self._meta))
        previous = _loaded(transaction.get(_PREVIOUS, db=self._meta))
        if previous is None or not _fits(previous, start):
            raise StateMismatchError(
                f"the state in {self._path} stands at {_text(position)} (before that: {_text(previous)}), and the "
                f"batch begins at {_text(start)}"
            )
        for _, piece in transaction.cursor(self._undo):
            for key, value in unpacked(piece):
                if value is None:
                    transaction.delete(key, db=self._data)
                else:
                    transaction.put(key, value, db=self._data)
        transaction.put(_TIMES, transaction.get(_TIMES_BEFORE, db=self._meta) or b"{}", db=self._meta)
        transaction.put(_POSITION, _dumped(previous), db=self._meta)


class StateBatch:
    """The state while one batch changes it: seen by this batch alone until `commit`."""

    def __init__(
        self, transaction: Any, databases: tuple[Any, Any, Any], start: Position | None, *, is_writable: bool = True
    ) -> None:
        self._transaction = transaction
        self._data, self._undo_database, self._meta = databases
        self._start = start
        self._is_writable: Final = is_writable
        self._undo = UndoLog(is_kept=start is not None)
        self._maps: Final[dict[str, LmdbMap]] = {}

    @property
    def position(self) -> Position:
        """The position before the batch; empty if the state is new."""
        return _loaded(self._transaction.get(_POSITION, db=self._meta)) or {}

    @property
    def times(self) -> Times:
        """The times that the last batch has stored."""
        found = json.loads(self._transaction.get(_TIMES, db=self._meta) or b"{}")
        return {task: {name: tuple(numbers) for name, numbers in times.items()} for task, times in found.items()}

    def map(self, store: str) -> LmdbMap:
        """The bytes of a store."""
        if store not in self._maps:
            self._maps[store] = LmdbMap(self._transaction, self._data, self._prefix(store), self._undo)
        return self._maps[store]

    def commit(self, end: Position, times: Times) -> None:
        """Makes the batch durable: the state stands at `end`, and knows the way back to its start."""
        transaction, meta = self._transaction, self._meta
        try:
            transaction.drop(self._undo_database, delete=False)
            if self._start is None:
                transaction.delete(_PREVIOUS, db=meta)
            else:
                for number, piece in enumerate(packed(self._undo.before)):
                    transaction.put(number.to_bytes(4), piece, db=self._undo_database, append=True)
                transaction.put(_PREVIOUS, _dumped(self._start), db=meta)
                transaction.put(_TIMES_BEFORE, transaction.get(_TIMES, db=meta) or b"{}", db=meta)
            transaction.put(_POSITION, _dumped(end), db=meta)
            transaction.put(_TIMES, json.dumps(times).encode(), db=meta)
            transaction.commit()
        except (OSError, lmdb.Error) as error:
            raise unwritable(error) from error

    def renew(self, transaction: Any, start: Position | None) -> None:
        """Goes on as the batch that begins at `start`, in a transaction of its own; None: it cannot be undone."""
        self._transaction = transaction
        self._start = start
        self._undo = UndoLog(is_kept=start is not None)
        for found in self._maps.values():
            found.renew(transaction, self._undo)

    def abort(self) -> None:
        """Forgets the batch."""
        self._transaction.abort()

    def _prefix(self, store: str) -> bytes:
        found = store_prefix(self._transaction, self._meta, store)
        if found != _NOWHERE or not self._is_writable:
            return found
        name = _STORE + store.encode()
        count = sum(1 for key in self._transaction.cursor(self._meta).iternext(values=False) if key.startswith(_STORE))
        prefix = count.to_bytes(2, "big")
        self._transaction.put(name, prefix, db=self._meta)
        return prefix


def has_position(transaction: Any, meta: Any) -> bool:
    """Whether a batch or a restoration was committed."""
    return transaction.get(_POSITION, db=meta) is not None


def store_prefix(transaction: Any, meta: Any, store: str) -> bytes:
    """The prefix of a store's keys; an unused one for a store that was never written to."""
    found: bytes | None = transaction.get(_STORE + store.encode(), db=meta)
    return _NOWHERE if found is None else found


def remove_state(path: Path) -> None:
    """Deletes an environment that is not open."""
    shutil.rmtree(path, ignore_errors=True)


def _make(path: Path, *, is_synced: bool) -> None:
    """Makes the directory, without what it holds if that was not synced before the machine was started."""
    path.mkdir(parents=True, exist_ok=True)
    note, boot = path / "boot", _BOOT.read_text() if _BOOT.exists() else ""
    if note.exists() and note.read_text() != boot:
        _log.warning("The state in %s was not synced before the machine was restarted: it is made anew", path)
        remove_state(path)
        path.mkdir(parents=True, exist_ok=True)
    if is_synced:
        note.unlink(missing_ok=True)
    elif not note.exists():
        note.write_text(boot)
    _reserve_lock(path / "lock.mdb")


def _reserve_lock(path: Path) -> None:
    """Takes the room that LMDB's table of readers needs: it maps the file, and a full disk would end the process."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        if os.fstat(descriptor).st_blocks == 0:
            os.posix_fallocate(descriptor, 0, _LOCK_BYTES)
    finally:
        os.close(descriptor)


def _unopened(path: Path, error: Exception) -> StateUnavailableError:
    """The error for a state that cannot be opened; a full disk is one that passes."""
    if (getattr(error, "errno", None) or getattr(error, "code", None)) in _NO_ROOM:
        return unwritable(error, f"the state in {path}")
    return StateUnavailableError(f"the state in {path} cannot be opened: {error}")


def _fits(at: Position | None, start: Position) -> bool:
    """Whether `at` is the position `start`; topics that `at` lacks are new and count as equal."""
    return at is not None and all(at.get(topic, offset) == offset for topic, offset in start.items())


def _dumped(position: Position) -> bytes:
    return json.dumps(dict(position), sort_keys=True).encode()


def _loaded(data: bytes | None) -> dict[str, int] | None:
    return None if data is None else {topic: int(offset) for topic, offset in json.loads(data).items()}


def _text(position: Position | None) -> str:
    return "nothing" if position is None else ", ".join(f"{topic} {at}" for topic, at in sorted(position.items()))
