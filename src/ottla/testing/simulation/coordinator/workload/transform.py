"""Consume, transform, produce: what is read comes out once, with the offsets in the same transaction (KIP-447)."""

from typing import Final

from ottla.coordinator.ports import PartitionKey
from ottla.testing.simulation.coordinator.controller import LED_TOPICS, OUTPUT
from ottla.testing.simulation.coordinator.history import Attempt, InputRecord
from ottla.testing.simulation.coordinator.workload.member import Identity, Membership
from ottla.testing.simulation.coordinator.workload.producer import Progress, TransactionalProducer
from ottla.testing.simulation.coordinator.workload.task import Sleep, Steps

_RECORDS_MAX: Final = 4
_FENCED_MS: Final = 400
_REGRETS_ONE_IN: Final = 8


class TransformWork:
    """One transaction a round."""

    def __init__(self, producer: TransactionalProducer) -> None:
        self._producer: Final = producer

    def round(self, member: Membership) -> Steps[None]:
        """Reads a little, writes it out, commits both; or none of it."""
        producer, identity = self._producer, member.identity
        if not producer.is_ready:
            if (yield from producer.init()) is not Progress.DONE:
                yield Sleep(_FENCED_MS)
            return
        # While the producer was made, or since the last round, somebody else may have gone on with these.
        if identity is None:
            return
        attempt = member.outside.history.begin(member.plan.group_id, producer.transactional_id)
        offsets = self._read(member)
        progress = yield from self._write(attempt, member, identity, offsets)
        if progress is not Progress.FENCED:
            # Now and then the application does not like what it did.
            is_good = progress is Progress.DONE and member.outside.random.randrange(_REGRETS_ONE_IN) > 0
            attempt.is_commit_asked = is_good
            progress = yield from self._end(attempt, member, committed=is_good)
        if progress is Progress.FENCED:
            yield Sleep(_FENCED_MS)
        if attempt.outcome:
            for key, offset in offsets.items():
                if key in member.positions:
                    member.positions[key] = offset
        else:
            # Where the group really is is to be found out again.
            member.positions.clear()

    def _read(self, member: Membership) -> dict[PartitionKey, int]:
        random = member.outside.random
        keys = random.sample(sorted(member.positions), k=random.randint(1, min(2, len(member.positions))))
        return {key: member.positions[key] + random.randint(1, _RECORDS_MAX) for key in keys}

    def _write(
        self, attempt: Attempt, member: Membership, identity: Identity, offsets: dict[PartitionKey, int]
    ) -> Steps[Progress]:
        self._producer.begin()
        records: dict[PartitionKey, list[InputRecord]] = {}
        for key, end in offsets.items():
            for offset in range(member.positions[key], end):
                output = PartitionKey(OUTPUT, member.outside.random.randrange(LED_TOPICS[OUTPUT]))
                records.setdefault(output, []).append(InputRecord(*key, offset))
        for output, read in records.items():
            progress = yield from self._producer.send(output, [attempt.value(record) for record in read])
            if progress is not Progress.DONE:
                return progress
            attempt.written.update(dict.fromkeys(read, output))
        return (yield from self._producer.commit_offsets(member.plan.group_id, identity, offsets))

    def _end(self, attempt: Attempt, member: Membership, *, committed: bool) -> Steps[Progress]:
        progress = yield from self._producer.end(committed=committed)
        if progress is Progress.DONE:
            member.outside.history.told(attempt, committed=committed)
        return progress
