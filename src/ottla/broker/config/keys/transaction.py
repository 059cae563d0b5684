"""Transactions and idempotent producers on the broker's side."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, INT, MIB, SHORT
from ottla.broker.config.keys.node_key import cluster_wide, fixed, internal

TRANSACTION_KEYS: Final = ConfigKeys((
    fixed("transaction.state.log.min.isr", INT, 2, Range(1),
          "`min.insync.replicas` of `__transaction_state`."),
    fixed("transaction.state.log.load.buffer.size", INT, 5 * MIB, Range(1),
          "Bytes read at once when a transaction coordinator loads its partition."),
    fixed("transaction.state.log.replication.factor", SHORT, 3, Range(1),
          "Replicas of `__transaction_state`; the topic is made once that many brokers are there."),
    fixed("transaction.state.log.num.partitions", INT, 50, Range(1),
          "Partitions of `__transaction_state`; not to be changed once it is made."),
    fixed("transaction.state.log.segment.bytes", INT, 100 * MIB, Range(1),
          "Segment size of `__transaction_state`."),
    cluster_wide("transaction.partition.verification.enable", BOOLEAN, True, None,
                 "Whether a partition asks the coordinator that a transaction is open before it takes records of it."),
    cluster_wide("producer.id.expiration.ms", INT, 86_400_000, Range(1),
                 "How long the sequence numbers of a silent producer are remembered."),
    internal("producer.id.expiration.check.interval.ms", INT, 600_000, Range(1),
             "Time between two looks for producers to forget."),
    fixed("transactional.id.expiration.ms", INT, 604_800_000, Range(1),
          "How long an unused transactional id is remembered."),
    fixed("transaction.max.timeout.ms", INT, 900_000, Range(1),
          "Longest time-out that a producer may give its transactions."),
    fixed("transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10_000, Range(1),
          "Time between two looks for transactions that are overdue."),
    fixed("transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3_600_000, Range(1),
          "Time between two looks for transactional ids to forget."),
    fixed("transaction.two.phase.commit.enable", BOOLEAN, False, None,
          "Whether producers may leave a transaction prepared for as long as an outside coordinator needs."),
    fixed("add.partitions.to.txn.retry.backoff.max.ms", INT, 100, Range(0),
          "How long a broker keeps asking a transaction coordinator that is busy with the last transaction."),
    fixed("add.partitions.to.txn.retry.backoff.ms", INT, 20, Range(1),
          "Pause between two such questions."),
))  # fmt: skip
