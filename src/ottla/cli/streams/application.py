"""What a cluster knows of an application: its group, its internal topics, what it has committed."""

from collections.abc import Iterable
from typing import Final

from ottla.base.frozen import frozen
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.group import ConsumerGroupDescription
from ottla.client.record import TopicPartition
from ottla.protocol.errors import GroupIdNotFoundError

_ENDINGS: Final = (
    "-changelog",
    "-repartition",
    "-subscription-registration-topic",
    "-subscription-response-topic",
)


@frozen
class ApplicationView:
    """One application."""

    application_id: str
    group: ConsumerGroupDescription | None
    internal_topics: tuple[str, ...]
    committed: dict[TopicPartition, int]

    @property
    def members(self) -> int:
        """How many live members its group has."""
        return 0 if self.group is None else len(self.group.members)

    @property
    def state(self) -> str:
        """The state of its group; `Dead` if there is none any more."""
        return "Dead" if self.group is None else self.group.state

    @property
    def input_topics(self) -> tuple[str, ...]:
        """The topics that it reads and does not make itself."""
        return tuple(sorted({place.topic for place in self.committed} - set(self.internal_topics)))


def internal_topics(application_id: str, topics: Iterable[str]) -> list[str]:
    """The topics that an application has made, by their names.

    >>> internal_topics("shop", ["shop-counts-changelog", "shop-orders", "shopping-x-changelog"])
    ['shop-counts-changelog']
    """
    return sorted(name for name in topics if name.startswith(f"{application_id}-") and name.endswith(_ENDINGS))


async def view_of(admin: AsyncAdmin, application_id: str, topics: Iterable[str] | None = None) -> ApplicationView:
    """An application; one that is not there has neither group nor topics."""
    failed: dict[str, Exception] = {}
    names = list(await admin.list_topics()) if topics is None else topics
    found = (await admin.describe_consumer_groups([application_id], errors=failed)).get(application_id)  # type: ignore[arg-type]
    error = failed.get(application_id)
    if error is not None and not isinstance(error, GroupIdNotFoundError):
        raise error
    offsets = (await admin.list_consumer_group_offsets({application_id: None}))[application_id]
    committed = {place: offset.offset for place, offset in offsets.items() if offset is not None}
    return ApplicationView(application_id, found, tuple(internal_topics(application_id, names)), committed)


async def all_views(admin: AsyncAdmin) -> list[ApplicationView]:
    """All groups that have made topics as applications do."""
    topics = list(await admin.list_topics())
    groups = [group.group_id for group in await admin.list_groups()]
    return [await view_of(admin, group, topics) for group in sorted(groups) if internal_topics(group, topics)]
