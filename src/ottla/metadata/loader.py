"""Follows the committed log: batches in, images out, and listeners told in order what changed.

Between BeginTransaction and EndTransaction nothing is published: the records are held back, then taken in together, or
dropped on an abort (KIP-868). [begin, a, b][c, end] gives one image after `end`; a crash of the controller after `b`
gives [begin, a, b][abort] and no image of its own.

A listener that fails hides nothing from those behind it: all of them hear of the image, all batches are taken in, and
then `load` and `load_snapshot` raise what went wrong together, as one `ExceptionGroup`. With the next image the
listener hears of everything since the last one that it took in, so what it missed is not lost to it. A record that does
not fit the image is another matter: from there on the image would be untrue, and its error goes straight up.
"""

from collections.abc import Iterable
from typing import Protocol

from ottla.base.collector import collector_off
from ottla.metadata.batch import CommittedBatch
from ottla.metadata.errors import MetadataError
from ottla.metadata.image.difference import difference
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage, Provenance
from ottla.metadata.image.snapshot import load_snapshot
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)


class MetadataListener(Protocol):
    """A part of a node that acts on the cluster's metadata."""

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """`image` is the newest (its `provenance` says how far it reaches), `delta` what changed since the last."""


class MetadataLoader:
    """Holds the newest image of a node.

    >>> from ottla.protocol.metadata_log.feature import FeatureLevelRecord
    >>> loader = MetadataLoader()
    >>> record = FeatureLevelRecord(name="metadata.version", feature_level=30)
    >>> loader.load([CommittedBatch(0, 0, epoch=1, timestamp_ms=0, records=[record])])
    >>> loader.image.provenance.offset, str(loader.image.features.version)
    (0, '4.3-IV0')
    """

    def __init__(self) -> None:
        self.image = EMPTY_IMAGE
        self._delta = MetadataDelta(EMPTY_IMAGE)
        self._is_dirty = False
        self._read = EMPTY_IMAGE.provenance
        self.is_batch_aligned = True
        """Whether `image` ends where a batch ends: only then can it be a snapshot, behind which the log goes on."""
        self._transaction: list[MetadataRecord] | None = None
        self._listeners: list[MetadataListener] = []
        self._failures: list[Exception] = []
        self._missed: dict[int, MetadataImage] = {}
        """The image that a listener took in last, by the listener's identity, for those that failed since."""

    @property
    def in_transaction(self) -> bool:
        """Whether the log, as far as it was loaded, ends within a metadata transaction."""
        return self._transaction is not None

    @property
    def last_offset(self) -> int:
        """The last offset that was read: beyond `image` within a transaction."""
        return self._read.offset

    def add_listener(self, listener: MetadataListener) -> None:
        """Adds a listener behind the others; it first hears of everything that there is, and what it raises goes up."""
        self._listeners.append(listener)
        if not self.image.is_empty:
            listener.metadata_changed(difference(EMPTY_IMAGE, self.image), self.image)

    def remove_listener(self, listener: MetadataListener) -> None:
        """The listener hears nothing more."""
        self._listeners.remove(listener)
        self._missed.pop(id(listener), None)

    def load(self, batches: Iterable[CommittedBatch]) -> None:
        """Takes in committed batches, in order; what they change is published once."""
        with collector_off():
            for batch in batches:
                if batch.base_offset <= self._read.offset:
                    raise MetadataError(f"batch at {batch.base_offset}, but the log was read up to {self._read.offset}")
                self._replay(batch)
                self._read = Provenance(batch.last_offset, batch.epoch, batch.timestamp_ms)
                self._is_dirty = True
        if self._transaction is None and self._is_dirty:
            self.is_batch_aligned = True
            self._publish(self._read)
        self._raise_failures()

    def load_snapshot(self, records: Iterable[MetadataRecord], provenance: Provenance) -> None:
        """Replaces the image by a snapshot's; listeners hear of the difference."""
        with collector_off():
            loaded = load_snapshot(records, provenance)
        self._delta = difference(self.image, loaded)
        self._transaction = None
        self.is_batch_aligned = True
        self._read = provenance
        self._publish(provenance)
        self._raise_failures()

    def _replay(self, batch: CommittedBatch) -> None:
        """Takes in runs of records of the image, and between them the brackets and what they hold."""
        records, place = batch.records, 0
        while place < len(records):
            if self._transaction is None:
                place = self._delta.replay_run(records, place)
            if place < len(records):
                self._replay_bracket(records[place], batch, place)
                place += 1

    def _replay_bracket(self, record: MetadataRecord, batch: CommittedBatch, place: int) -> None:
        if isinstance(record, BeginTransactionRecord):
            self._begin(batch, place)
        elif isinstance(record, EndTransactionRecord):
            self._delta.replay_all(self._end("EndTransactionRecord"))
        elif isinstance(record, AbortTransactionRecord):
            self._end("AbortTransactionRecord")
        elif self._transaction is not None:
            self._transaction.append(record)
        else:
            raise MetadataError(f"{type(record).__name__} is no record of the image")

    def _begin(self, batch: CommittedBatch, place: int) -> None:
        if self._transaction is not None:
            raise MetadataError(f"BeginTransactionRecord in batch {batch.base_offset}, within a transaction")
        self._transaction = []
        if place:
            self._read = Provenance(batch.base_offset + place - 1, batch.epoch, batch.timestamp_ms)
            self.is_batch_aligned = False
        if self._is_dirty or place:
            self._publish(self._read)

    def _end(self, name: str) -> list[MetadataRecord]:
        if self._transaction is None:
            raise MetadataError(f"{name} without a BeginTransactionRecord before it")
        records, self._transaction = self._transaction, None
        return records

    def _publish(self, provenance: Provenance) -> None:
        delta = self._delta
        self.image = delta.apply(provenance)
        self._delta = MetadataDelta(self.image)
        self._is_dirty = False
        for listener in list(self._listeners):
            missed_since = self._missed.pop(id(listener), None)
            try:
                if missed_since is None:
                    listener.metadata_changed(delta, self.image)
                else:
                    listener.metadata_changed(difference(missed_since, self.image), self.image)
            except Exception as error:  # noqa: BLE001 - one part's mistake is not the others': all have to hear
                self._missed[id(listener)] = delta.base if missed_since is None else missed_since
                self._failures.append(error)

    def _raise_failures(self) -> None:
        failures, self._failures = self._failures, []
        if failures:
            raise ExceptionGroup("metadata listeners failed", failures)
