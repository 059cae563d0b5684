"""`…/consumer-groups`: groups, their members and assignments, and how far they are behind."""

import re
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.client.admin.value.group import ConsumerGroupDescription, MemberDescription
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.record import TopicPartition
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import V3
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.v3.link import Links, links_of, not_found, number_of

_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CONSUMER_TYPES: Final = ("", "Classic", "Consumer")
_CONSUMER_PROTOCOLS: Final = ("", "consumer")


@frozen
class _Lag:
    """The lag of a group in one partition, and the member that reads it."""

    place: TopicPartition
    member: MemberDescription | None
    current: int
    end: int

    @property
    def lag(self) -> int:
        """Records that were not read yet."""
        return self.end - self.current


class GroupApi:
    """Handlers of consumer groups."""

    def __init__(self, context: RestContext) -> None:
        self._context: Final = context
        self._admin: Final = context.admin

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(V3)
        groups = "/v3/clusters/{cluster_id}/consumer-groups"
        group = f"{groups}/{{consumer_group_id}}"
        assignments = f"{group}/consumers/{{consumer_id}}/assignments"
        place = "{topic_name}/partitions/{partition_id}"
        routes.add("GET", groups, self.list_groups)
        routes.add("GET", group, self.show_group)
        routes.add("GET", f"{group}/consumers", self.list_members)
        routes.add("GET", f"{group}/consumers/{{consumer_id}}", self.show_member)
        routes.add("GET", assignments, self.list_assignments)
        routes.add("GET", f"{assignments}/{place}", self.show_assignment)
        routes.add("GET", f"{group}/lag-summary", self.show_lag_summary)
        routes.add("GET", f"{group}/lags", self.list_lags)
        routes.add("GET", f"{group}/lags/{place}", self.show_lag)
        return routes.found

    async def list_groups(self, request: Request) -> Answer:
        """All groups of consumers."""
        links = links_of(self._context, request)
        names = [
            each.group_id
            for each in await self._admin.list_groups()
            if each.type in _CONSUMER_TYPES and each.protocol in _CONSUMER_PROTOCOLS
        ]
        # A group that is deleted meanwhile is no reason to show none.
        found = await self._admin.describe_consumer_groups(names, errors={}) if names else {}
        shown = [_shown_group(links, found[name]) for name in sorted(found)]
        return json_answer(links.listing("KafkaConsumerGroup", ("consumer-groups",), shown))

    async def show_group(self, request: Request) -> Answer:
        """One group."""
        return json_answer(_shown_group(links_of(self._context, request), await self._group(request)))

    async def list_members(self, request: Request) -> Answer:
        """The members of a group."""
        links, group = links_of(self._context, request), await self._group(request)
        shown = [_shown_member(links, group.group_id, each) for each in _members(group)]
        return json_answer(links.listing("KafkaConsumer", ("consumer-groups", group.group_id, "consumers"), shown))

    async def show_member(self, request: Request) -> Answer:
        """One member."""
        links, (group, member) = links_of(self._context, request), await self._member(request)
        return json_answer(_shown_member(links, group, member))

    async def list_assignments(self, request: Request) -> Answer:
        """The partitions that a member reads."""
        links, (group, member) = links_of(self._context, request), await self._member(request)
        shown = [_shown_assignment(links, group, member, place) for place in sorted(member.assignment)]
        path = ("consumer-groups", group, "consumers", member.member_id, "assignments")
        return json_answer(links.listing("KafkaConsumerAssignment", path, shown))

    async def show_assignment(self, request: Request) -> Answer:
        """One partition that a member reads."""
        links, (group, member) = links_of(self._context, request), await self._member(request)
        place = TopicPartition(request.parameters["topic_name"], number_of(request, "partition_id"))
        if place not in member.assignment:
            raise not_found()
        return json_answer(_shown_assignment(links, group, member, place))

    async def list_lags(self, request: Request) -> Answer:
        """Lists the lag of a group in each partition."""
        links = links_of(self._context, request)
        group, lags = await self._lags(request)
        if not lags:
            raise HttpError(404, "Consumer lags not found.")
        shown = [_shown_lag(links, group, each) for each in lags]
        return json_answer(links.listing("KafkaConsumerLag", ("consumer-groups", group, "lags"), shown))

    async def show_lag(self, request: Request) -> Answer:
        """Shows the lag of a group in one partition."""
        links = links_of(self._context, request)
        place = TopicPartition(request.parameters["topic_name"], number_of(request, "partition_id"))
        group, lags = await self._lags(request)
        for each in lags:
            if each.place == place:
                return json_answer(_shown_lag(links, group, each))
        raise not_found()

    async def show_lag_summary(self, request: Request) -> Answer:
        """Shows the total and the largest lag of a group."""
        links = links_of(self._context, request)
        group, lags = await self._lags(request)
        if not lags:
            raise not_found()
        return json_answer(_shown_summary(links, group, lags))

    async def _group(self, request: Request) -> ConsumerGroupDescription:
        name = request.parameters["consumer_group_id"]
        found = (await self._admin.describe_consumer_groups([name]))[name]
        # Brokers before Kafka 4.0 describe a group that there is not as dead.
        if found.state == "Dead":
            raise not_found()
        return found

    async def _member(self, request: Request) -> tuple[str, MemberDescription]:
        group = await self._group(request)
        for member in group.members:
            if member.member_id == request.parameters["consumer_id"]:
                return group.group_id, member
        raise not_found()

    async def _lags(self, request: Request) -> tuple[str, list[_Lag]]:
        group = await self._group(request)
        committed = (await self._admin.list_consumer_group_offsets({group.group_id: None}))[group.group_id]
        current = {place: at.offset for place, at in committed.items() if at is not None}
        readers = {place: member for member in group.members for place in member.assignment}
        wanted = dict.fromkeys(sorted(current), OffsetSpec.LATEST)
        # Partitions that are gone have offsets for a while, and no end.
        ends = await self._admin.list_offsets(wanted, errors={}) if wanted else {}
        lags = [
            _Lag(place, readers.get(place), current[place], ends[place].offset) for place in wanted if place in ends
        ]
        return group.group_id, lags


def _members(group: ConsumerGroupDescription) -> list[MemberDescription]:
    return sorted(group.members, key=lambda member: member.member_id)


def upper_words(name: str) -> str:
    """Kafka's name of a state as the API writes it.

    >>> upper_words("PreparingRebalance")
    'PREPARING_REBALANCE'
    """
    return _WORD.sub("_", name).upper()


def _shown_group(links: Links, group: ConsumerGroupDescription) -> dict[str, Any]:
    path = ("consumer-groups", group.group_id)
    is_mixed = group.type == "Consumer" and any(member.is_upgraded is False for member in group.members)
    return links.resource(
        "KafkaConsumerGroup",
        path,
        ("consumer-group", group.group_id),
        {
            "consumer_group_id": group.group_id,
            "is_simple": group.is_simple,
            "partition_assignor": group.assignor,
            "state": upper_words(group.state),
            "type": upper_words(group.type or "Classic"),
            "is_mixed_consumer_group": is_mixed,
            "coordinator": links.related("brokers", group.coordinator.id),
            "consumers": links.related(*path, "consumers"),
            "lag_summary": links.related(*path, "lag-summary"),
        },
    )


def _shown_member(links: Links, group: str, member: MemberDescription) -> dict[str, Any]:
    path = ("consumer-groups", group, "consumers", member.member_id)
    return links.resource(
        "KafkaConsumer",
        path,
        ("consumer-group", group, "consumer", member.member_id),
        {
            "consumer_group_id": group,
            "consumer_id": member.member_id,
            "instance_id": member.instance_id,
            "client_id": member.client_id,
            "assignments": links.related(*path, "assignments"),
        },
    )


def _shown_assignment(links: Links, group: str, member: MemberDescription, place: TopicPartition) -> dict[str, Any]:
    where = (place.topic, "partitions", place.partition)
    return links.resource(
        "KafkaConsumerAssignment",
        ("consumer-groups", group, "consumers", member.member_id, "assignments", *where),
        (
            "consumer-group",
            group,
            "consumer",
            member.member_id,
            "assignment",
            place.topic,
            "partition",
            place.partition,
        ),
        {
            "consumer_group_id": group,
            "consumer_id": member.member_id,
            "topic_name": place.topic,
            "partition_id": place.partition,
            "partition": links.related("topics", *where),
            "lag": links.related("consumer-groups", group, "lags", *where),
        },
    )


def _shown_lag(links: Links, group: str, found: _Lag) -> dict[str, Any]:
    topic, partition = found.place
    return links.resource(
        "KafkaConsumerLag",
        ("consumer-groups", group, "lags", topic, "partitions", partition),
        ("consumer-group", group, "lag", topic, "partition", partition),
        {
            "consumer_group_id": group,
            "topic_name": topic,
            "partition_id": partition,
            "current_offset": found.current,
            "log_end_offset": found.end,
            "lag": found.lag,
            **_reader(found.member),
        },
    )


def _reader(member: MemberDescription | None, prefix: str = "") -> dict[str, Any]:
    return {
        f"{prefix}consumer_id": "" if member is None else member.member_id,
        f"{prefix}instance_id": None if member is None else member.instance_id,
        f"{prefix}client_id": "" if member is None else member.client_id,
    }


def _shown_summary(links: Links, group: str, lags: list[_Lag]) -> dict[str, Any]:
    most = max(lags, key=lambda each: each.lag)
    reader = _reader(most.member, "max_lag_")
    consumer = reader["max_lag_consumer_id"]
    return links.resource(
        "KafkaConsumerGroupLagSummary",
        ("consumer-groups", group, "lag-summary"),
        ("consumer-group", group, "lag-summary"),
        {
            "consumer_group_id": group,
            **reader,
            "max_lag_topic_name": most.place.topic,
            "max_lag_partition_id": most.place.partition,
            "max_lag": most.lag,
            "total_lag": sum(each.lag for each in lags),
            "max_lag_consumer": links.related("consumer-groups", group, "consumers", consumer),
            "max_lag_partition": links.related("topics", most.place.topic, "partitions", most.place.partition),
        },
    )
