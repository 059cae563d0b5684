"""The arithmetic of a reassignment: what it adds and removes, when it is complete, what undoing it means.

replicas [1,2,3] → target [2,3,4]: the partition gets replicas [2,3,4,1], adding [4], removing [1]; once 4 is in the ISR
it becomes [2,3,4].
"""

from typing import NamedTuple

from ottla.metadata.image.partition import PartitionRegistration

Replicas = tuple[int, ...]


class Completed(NamedTuple):
    """The replicas and ISR of a partition after its reassignment."""

    replicas: Replicas
    isr: Replicas


class ReassignmentReplicas(NamedTuple):
    """A reassignment, maybe of nothing."""

    replicas: Replicas
    adding: Replicas
    removing: Replicas

    @classmethod
    def of(cls, partition: PartitionRegistration) -> "ReassignmentReplicas":
        """The reassignment that a partition is in."""
        return cls(partition.replicas, partition.adding_replicas, partition.removing_replicas)

    def redirected(self, target: Replicas) -> "ReassignmentReplicas":
        """The reassignment to `target` instead; replicas to remove stay, at the end, until it is complete.

        A replica that was being added and is wanted still goes on being added; one that is no longer wanted is removed
        and not waited for. (Kafka 4.3 keeps waiting for it: a reassignment turned back on itself never ends there.)
        """
        removing = tuple(sorted(set(self.replicas).difference(target)))
        adding = tuple(sorted(set(target).difference(self.original)))
        return ReassignmentReplicas((*target, *removing), adding, removing)

    @property
    def original(self) -> Replicas:
        """The replicas without those that are being added."""
        return tuple(replica for replica in self.replicas if replica not in self.adding)

    def completed(self, isr: Replicas) -> Completed | None:
        """The partition after its reassignment if `isr` completes it; None if it does not yet.

        [0,1,2,3,4] → [2,3,4,5] with an ISR of 0, 1 and 5 waits, though all that is added is in sync: completing it
        would shrink the ISR from three to one.
        """
        if not self.adding and not self.removing:
            return None
        new_isr = tuple(replica for replica in isr if replica not in self.removing)
        new_replicas = tuple(replica for replica in self.replicas if replica not in self.removing)
        if self.removing and (not new_isr or not new_replicas):
            return None
        if not set(self.adding) <= set(new_isr):
            return None
        if len(self.adding) < len(self.removing) and not set(new_replicas) <= set(new_isr):
            return None
        return Completed(new_replicas, new_isr)
