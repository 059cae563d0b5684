from ottla.protocol.records.batch_plain import Batch as Batch
from ottla.protocol.records.batch_plain import Batches as Batches
