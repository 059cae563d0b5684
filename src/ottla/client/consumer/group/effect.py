"""Effects of a member of either protocol.

Steps exclude each other: a new one takes the place of one that is still under way, and each ends in one event.
"""

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.record import TopicPartition

Partitions = frozenset[TopicPartition]


@frozen
class ReleasePartitions:
    """Step: the user gives up these; of lost ones nothing can be committed. Ends in PartitionsReleased."""

    partitions: Partitions
    are_lost: bool


@frozen
class AdoptAssignment:
    """Step: the user gives up `revoked`, then has `assigned`, of which `added` is new. Ends in AssignmentAdopted."""

    revoked: Partitions
    assigned: Partitions
    added: Partitions


@frozen
class AbandonStep:
    """Whatever step is under way is of no use any more."""


@frozen
class ForgetCoordinator:
    """The coordinator is another one, or gone: look it up again before the next request."""


@frozen
class Report:
    """The user's next call raises this; `is_final` if joining again is out of the question."""

    error: OttlaError
    is_final: bool = False


@frozen
class LogRebalance:
    """One line in the log: what a rebalance changed, and why there was one."""

    reason: str
    member_id: str
    generation_id: int
    change: AdoptAssignment
    took_ms: int
    by: str = ""
    """Which assignor decided, and for how many, as far as this member knows."""


@frozen
class LogTrouble:
    """One line in the log: the membership was interrupted, and why."""

    text: str


MemberEffect = (
    ReleasePartitions | AdoptAssignment | AbandonStep | ForgetCoordinator | Report | LogRebalance | LogTrouble
)
