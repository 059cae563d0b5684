"""Follows the committed log of the quorum into images, tells the node's parts, and writes snapshots now and then.

The order is fixed: loader and its listeners first, then the controller, whose answers a client may act on at once and
must find true. A long stretch of log is taken in over several turns of the loop, so that a node which replays much is
still a member of the quorum that answers.

What ends the node and what does not, as in Apache Kafka:

- A listener that raises is counted (`metadata-apply-error-count`) and logged with its traceback, and the node goes on:
  it knows the truth still, and the listener hears with the next image what it missed.
- A listener that raises when it is added fails the start: what it was to set up would never be there.
- A record that cannot be decoded or does not fit the image ends the node (`metadata-load-error-count`): all that it
  says from there on would be untrue. So does a controller that raises on what was committed. (A broker of Kafka's goes
  on after such a record, without it; a controller of Kafka's ends.)
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from ottla.base.metric import Counter
from ottla.broker.quorum.controller_driver import ControllerDriver
from ottla.broker.quorum.raft_driver import RaftDriver
from ottla.broker.quorum.snapshot_generator import SnapshotGenerator
from ottla.broker.quorum.state_machine import Done
from ottla.metadata.batch import CommittedBatch, read_batches
from ottla.metadata.image.metadata_image import MetadataImage, Provenance
from ottla.metadata.loader import MetadataListener, MetadataLoader
from ottla.metadata.store.metadata_store import MetadataStore
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.raft.effect import ApplyCommitted
from ottla.raft.identity import LeaderAndEpoch, OffsetAndEpoch

_log = logging.getLogger(__name__)

RECORDS_PER_TURN: Final = 500
"""Some milliseconds of work."""


class MetadataPublisher:
    """A `StateMachine`: the metadata of one node."""

    def __init__(self, store: MetadataStore, raft: RaftDriver, snapshots: SnapshotGenerator) -> None:
        self.loader = MetadataLoader()
        self.controller: ControllerDriver | None = None
        """Set before the quorum starts, on a node that may lead it."""
        self._store = store
        self._raft = raft
        self._snapshots = snapshots
        self._loop = asyncio.get_running_loop()
        self._records_this_turn = 0
        self._caught_up: Callable[[], None] | None = None
        self._awaited: list[tuple[int, Callable[[], None]]] = []
        self._leader_listeners: list[Callable[[LeaderAndEpoch], None]] = []
        self.apply_errors = Counter()
        """Changes of the metadata that a listener failed to take in."""
        self.load_errors = Counter()
        """Records and snapshots that could not be taken into the image."""

    @property
    def image(self) -> MetadataImage:
        """The newest image."""
        return self.loader.image

    def add_listener(self, listener: MetadataListener) -> None:
        """Adds a listener behind the others; it first hears of everything that there is."""
        self.loader.add_listener(listener)

    def remove_listener(self, listener: MetadataListener) -> None:
        """The listener hears nothing more."""
        self.loader.remove_listener(listener)

    def on_leader_change(self, callback: Callable[[LeaderAndEpoch], None]) -> None:
        """Calls whenever there is a new epoch or a new leader in it."""
        self._leader_listeners.append(callback)

    def when_caught_up(self, callback: Callable[[], None]) -> None:
        """Calls once the image holds all that the quorum is known to have committed; one callback at a time."""
        self._caught_up = callback
        self._check_caught_up()

    def when_level(self, callback: Callable[[], None]) -> None:
        """Calls once the image holds what the log of this node holds now, committed or not; at once if it does.

        What a new leader cuts off is never held: the call then comes with whatever is committed in its place.
        """
        end_offset = self._raft.core.next_offset
        if self.image.provenance.offset + 1 >= end_offset:
            callback()
        else:
            self._awaited.append((end_offset, callback))

    # The state machine

    def apply_committed(self, effect: ApplyCommitted, done: Done) -> None:
        self._apply(effect, read_batches(effect.batches), done)

    def load_snapshot(self, snapshot_id: OffsetAndEpoch, done: Done) -> None:
        with self._loading():
            found = self._store.snapshot(snapshot_id)
        self._collect(found.records, [], lambda records: self._loaded(snapshot_id, found.provenance, records, done))

    def leader_changed(self, leader: LeaderAndEpoch) -> None:
        if self.controller is not None:
            self.controller.leader_changed(leader)
        for callback in self._leader_listeners:
            self._call(partial(callback, leader))

    def role_settled(self) -> None:
        if self.controller is not None:
            self.controller.role_settled()
        self._check_caught_up()

    def _apply(self, effect: ApplyCommitted, batches: Iterator[CommittedBatch], done: Done) -> None:
        """One turn's worth of batches, and the rest in the next turn."""
        taken: list[CommittedBatch] = []
        with self._loading():
            for batch in batches:
                taken.append(batch)
                if self._is_turn_over(len(batch.records)):
                    self._load(taken)
                    self._raft.call_soon(self._apply, effect, batches, done)
                    return
            self._load(taken)
        if self.controller is not None:
            self.controller.committed(effect.last_offset)
        self._tell_level()
        self._snapshots.loaded(len(effect.batches), self.loader)
        done()

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """Counts an exception in loading, which leaves the image wrong and ends the node."""
        try:
            yield
        except Exception:
            self.load_errors.add()
            raise

    @contextmanager
    def _publishing(self) -> Iterator[None]:
        """All have heard; those that failed are told of."""
        try:
            yield
        except ExceptionGroup as failures:
            for failure in failures.exceptions:
                self.note_fault(failure)

    def _load(self, batches: list[CommittedBatch]) -> None:
        with self._publishing():
            self.loader.load(batches)

    def _call(self, callback: Callable[[], None]) -> None:
        try:
            callback()
        except Exception as error:  # noqa: BLE001 - the metadata is true whatever a part makes of it
            self.note_fault(error)

    def note_fault(self, error: Exception) -> None:
        """A part of this node failed to take in a change."""
        self.apply_errors.add()
        _log.error("a part of this node could not take in a change of the metadata: %s", error, exc_info=error)

    def _collect(
        self,
        records: Iterator[MetadataRecord],
        collected: list[MetadataRecord],
        then: Callable[[list[MetadataRecord]], None],
    ) -> None:
        """Decodes a snapshot's records over as many turns as it takes."""
        with self._loading():
            for record in records:
                collected.append(record)
                if self._is_turn_over(1):
                    self._raft.call_soon(self._collect, records, collected, then)
                    return
        then(collected)

    def _loaded(
        self, snapshot_id: OffsetAndEpoch, provenance: Provenance, records: list[MetadataRecord], done: Done
    ) -> None:
        if snapshot_id.offset or records:
            with self._loading(), self._publishing():
                self.loader.load_snapshot(records, provenance)
        self._tell_level()
        self._snapshots.taken()
        done()

    def _is_turn_over(self, records: int) -> bool:
        """Counts records; a turn that has had its share is over, and the next one begins."""
        if not self._records_this_turn:
            self._loop.call_soon(self._next_turn)
        self._records_this_turn += max(records, 1)
        return self._records_this_turn >= RECORDS_PER_TURN

    def _next_turn(self) -> None:
        self._records_this_turn = 0

    def _tell_level(self) -> None:
        if self._awaited:
            offset = self.image.provenance.offset + 1
            level = [callback for wanted, callback in self._awaited if wanted <= offset]
            self._awaited = [waiting for waiting in self._awaited if waiting[0] > offset]
            for callback in level:
                self._call(callback)

    def _check_caught_up(self) -> None:
        callback, high_watermark = self._caught_up, self._raft.core.high_watermark
        if callback is None or high_watermark is None or self.image.is_empty:
            return
        if self.image.provenance.offset + 1 >= high_watermark:
            self._caught_up = None
            callback()
