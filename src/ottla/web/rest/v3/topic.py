"""`…/topics`: list, create, grow, delete."""

from typing import Any, Final

from ottla.client.admin.value.topic import NewTopic, TopicDescription
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import V3
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import bad_request
from ottla.web.rest.field import Fields
from ottla.web.rest.v3.link import Links, links_of

_NEW: Final = (
    *("topic_name", "partitions_count", "replication_factor"),
    *("replicas_assignments", "configs", "validate_only"),
)


class TopicApi:
    """Handlers of topics."""

    def __init__(self, context: RestContext) -> None:
        self._context: Final = context
        self._admin: Final = context.admin

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(V3)
        topics = "/v3/clusters/{cluster_id}/topics"
        routes.add("GET", topics, self.list_topics)
        routes.add("POST", topics, self.create)
        routes.add("GET", f"{topics}/{{topic_name}}", self.show)
        routes.add("PATCH", f"{topics}/{{topic_name}}", self.grow)
        routes.add("DELETE", f"{topics}/{{topic_name}}", self.delete)
        return routes.found

    async def list_topics(self, request: Request) -> Answer:
        """All topics that are not internal."""
        links = links_of(self._context, request)
        with_operations = request.flag("include_authorized_operations")
        found = await self._admin.describe_topics(
            await self._admin.list_topics(),
            include_authorized_operations=with_operations,
            # A topic that is deleted meanwhile is no reason to show none.
            errors={},
        )
        shown = [_shown(links, found[name], with_operations=with_operations) for name in sorted(found)]
        return json_answer(links.listing("KafkaTopic", ("topics",), shown))

    async def show(self, request: Request) -> Answer:
        """One topic."""
        links = links_of(self._context, request)
        name = request.parameters["topic_name"]
        with_operations = request.flag("include_authorized_operations")
        found = await self._admin.describe_topics([name], include_authorized_operations=with_operations)
        return json_answer(_shown(links, found[name], with_operations=with_operations))

    async def create(self, request: Request) -> Answer:
        """Makes a topic."""
        links = links_of(self._context, request)
        wish = Fields(await request.json(), _NEW)
        name = wish.text("topic_name")
        only_checked = wish.boolean("validate_only")
        topic = NewTopic(
            name,
            wish.optional_integer("partitions_count"),
            wish.optional_integer("replication_factor"),
            _assignment(wish.raw("replicas_assignments")),
            _configs(wish),
        )
        made = (await self._admin.create_topics([topic], validate_only=only_checked))[name]
        shown = _resource(links, name, made.partitions or 0, made.replication_factor or 0, is_internal=False)
        answer = json_answer({**shown, "authorized_operations": []})
        return Answer(200 if only_checked else 201, answer.body, headers={"location": shown["metadata"]["self"]})

    async def grow(self, request: Request) -> Answer:
        """Gives a topic more partitions."""
        links = links_of(self._context, request)
        name = request.parameters["topic_name"]
        count = Fields(await request.json(), ("partitions_count",)).integer("partitions_count")
        await self._admin.create_partitions({name: count})
        found = (await self._admin.describe_topics([name]))[name]
        shown = _shown(links, found, with_operations=False)
        return json_answer({**shown, "partitions_count": max(count, shown["partitions_count"])})

    async def delete(self, request: Request) -> Answer:
        """Deletes a topic."""
        links_of(self._context, request)
        await self._admin.delete_topics([request.parameters["topic_name"]])
        return Answer(204)


def _assignment(given: Any) -> dict[int, list[int]] | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise HttpError(400, "replicas_assignments must be an object: brokers by partition")
    if not given:
        return None
    found: dict[int, list[int]] = {}
    for text, brokers in given.items():
        fields = Fields({"partition": text, "brokers": brokers}, ("partition", "brokers"))
        ids = [Fields({"broker": each}, ("broker",)).integer("broker") for each in fields.optional_list("brokers")]
        found[fields.natural("partition")] = ids
    return found


def _configs(wish: Fields) -> dict[str, str]:
    configs: dict[str, str] = {}
    for each in wish.objects("configs", ("name", "value")):
        value = each.optional_text("value")
        if value is None:
            raise bad_request(f"{each.text('name')} has no value")
        configs[each.text("name")] = value
    return configs


def _shown(links: Links, found: TopicDescription, *, with_operations: bool) -> dict[str, Any]:
    replication = len(found.partitions[0].replicas) if found.partitions else 0
    shown = _resource(links, found.name, len(found.partitions), replication, is_internal=found.is_internal)
    # Brokers tell them whether they are asked or not.
    operations = (found.authorized_operations or frozenset()) if with_operations else ()
    return {**shown, "authorized_operations": [each.name for each in sorted(operations)]}


def _resource(links: Links, name: str, partitions: int, replication: int, *, is_internal: bool) -> dict[str, Any]:
    return links.resource(
        "KafkaTopic",
        ("topics", name),
        ("topic", name),
        {
            "topic_name": name,
            "is_internal": is_internal,
            "replication_factor": replication,
            "partitions_count": partitions,
            "partitions": links.related("topics", name, "partitions"),
            "configs": links.related("topics", name, "configs"),
            "partition_reassignments": links.related("topics", name, "partitions", "-", "reassignment"),
        },
    )
