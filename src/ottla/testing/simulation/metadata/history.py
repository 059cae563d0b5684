"""The metadata as seen from outside: every image that any node published, and the answers that clients got.

Parts report here while a node acts; the invariants read it when the node has acted. The nodes themselves can't read it.
"""

from typing import NamedTuple

from ottla.base.ids import Uuid
from ottla.metadata.batch import CommittedBatch
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.protocol.metadata_log.topic import RemoveTopicRecord, TopicRecord
from ottla.protocol.metadata_log.transaction import AbortTransactionRecord
from ottla.testing.simulation.metadata.setting import Key, Settings, SettingsModel, Value


class PublishedImage(NamedTuple):
    """An image that a node's loader came to."""

    node_id: int
    image: MetadataImage
    settings: Settings | None
    """What the log says about settings up to there; None if the log was read further already."""


class PrematureAnswer(NamedTuple):
    """An answer that left while what it rests on could still be lost."""

    node_id: int
    request: str
    offset: int
    high_watermark: int


class HastyFencing(NamedTuple):
    """A broker that was fenced for its silence, though it had been heard."""

    node_id: int
    broker_id: int
    silent_ms: int


class MetadataHistory:
    """The committed past, and the promises made about it."""

    def __init__(self) -> None:
        self.latest: MetadataImage = EMPTY_IMAGE
        """The image that reaches furthest."""
        self.end_offset = 0
        """How much of the log any node has applied."""
        self.published: list[PublishedImage] = []
        """Images that the invariants have not looked at yet."""
        self.premature_answers: list[PrematureAnswer] = []
        self.created: set[Uuid] = set()
        """Topics whose creation was committed."""
        self.deleted: set[Uuid] = set()
        self.answered_created: dict[Uuid, str] = {}
        """Topics that a client was told exist, by id, with their names."""
        self.answered_deleted: set[Uuid] = set()
        self.producer_id_blocks: list[tuple[int, int]] = []
        """First id and length of each block that a broker was given."""
        self.settings = SettingsModel()
        self.answered_settings: list[tuple[Key, Value]] = []
        """Changes that a client was told of, and the invariants not yet."""
        self.hasty_fencings: list[HastyFencing] = []
        self.answers = 0
        self.aborted_transactions = 0

    def publish(self, node_id: int, image: MetadataImage) -> None:
        """A node came to an image."""
        settings = self.settings.now if image.provenance.offset == self.end_offset - 1 else None
        self.published.append(PublishedImage(node_id, image, settings))

    def applied(self, batch: CommittedBatch) -> None:
        """A node applied a batch; only the first to do so brings news."""
        if batch.last_offset < self.end_offset:
            return
        self.end_offset = batch.last_offset + 1
        self.settings.take(batch.records)
        for record in batch.records:
            if isinstance(record, TopicRecord):
                self.created.add(record.topic_id)
            elif isinstance(record, RemoveTopicRecord):
                self.deleted.add(record.topic_id)
            elif isinstance(record, AbortTransactionRecord):
                self.aborted_transactions += 1
