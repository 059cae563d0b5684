"""Blocks of producer ids handed to brokers, in the metadata log (KIP-730).

Written for each AllocateProducerIds, before the answer. `next_producer_id` is the first id behind the block, that is
the first of the next block; a snapshot holds only the latest. Broker and epoch say who asked and carry no state. Ids
grow only, so a lost block leaves a gap and never a duplicate.
"""

from ottla.protocol.field import int32, int64
from ottla.protocol.metadata_log.record import MetadataRecord


class ProducerIdsRecord(MetadataRecord, type_id=15, versions="0", flexible="0+"):
    broker_id: int = int32("0+")
    broker_epoch: int = int64("0+", default=-1)
    next_producer_id: int = int64("0+")
