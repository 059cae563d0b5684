"""Settings of topics, of brokers, and those that all brokers share: list, show, set, reset, and many at once."""

from collections.abc import Sequence
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.admin.value.config import (
    AlterConfigOp,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
)
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import V3
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import bad_request, from_kafka
from ottla.web.rest.field import Fields
from ottla.web.rest.v3.link import Links, links_of, not_found, number_of

_ENTRY: Final = ("name", "value", "operation")
_OPERATIONS: Final = {"SET": AlterConfigOpType.SET, "DELETE": AlterConfigOpType.DELETE}


@frozen
class _Target:
    """Whose settings a path is about."""

    kind: str
    resource: ConfigResource
    path: tuple[object, ...]
    name: tuple[object, ...]
    """What stands before the setting in a resource's name; the last word is the setting's kind."""
    fields: dict[str, object]

    def shown(self, links: Links, entry: ConfigEntry) -> dict[str, Any]:
        """One setting."""
        fields = {
            **self.fields,
            "name": entry.name,
            "value": entry.value,
            "is_default": entry.is_default,
            "is_read_only": entry.is_read_only,
            "is_sensitive": entry.is_sensitive,
            "source": entry.source.name,
            "synonyms": [
                {"name": each.name, "value": each.value, "source": each.source.name} for each in entry.synonyms
            ],
        }
        return links.resource(self.kind, (*self.path, entry.name), (*self.name, entry.name), fields)


class ConfigApi:
    """Handlers of settings."""

    def __init__(self, context: RestContext) -> None:
        self._context: Final = context
        self._admin: Final = context.admin

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(V3)
        cluster = "/v3/clusters/{cluster_id}"
        for path in ("/broker-configs", "/brokers/{broker_id}/configs", "/topics/{topic_name}/configs"):
            routes.add("GET", f"{cluster}{path}", self.list_configs)
            routes.add("POST", f"{cluster}{path}:alter", self.alter)
            routes.add("GET", f"{cluster}{path}/{{name}}", self.show)
            routes.add("PUT", f"{cluster}{path}/{{name}}", self.set_one)
            routes.add("DELETE", f"{cluster}{path}/{{name}}", self.reset_one)
        routes.add("GET", f"{cluster}/brokers/-/configs", self.list_all_of_brokers)
        routes.add("GET", f"{cluster}/topics/-/configs", self.list_all_of_topics)
        routes.add("POST", f"{cluster}/topics/-/configs:alter", self.alter_topics)
        return routes.found

    async def list_configs(self, request: Request) -> Answer:
        """All settings of one resource."""
        links, target = links_of(self._context, request), _target(request)
        return json_answer(links.listing(target.kind, target.path, await self._shown(links, [target])))

    async def list_all_of_brokers(self, request: Request) -> Answer:
        """All settings of all brokers."""
        links = links_of(self._context, request)
        nodes = (await self._admin.describe_cluster()).nodes
        targets = [_broker(number) for number in sorted(node.id for node in nodes)]
        shown = await self._shown(links, targets)
        return json_answer(links.listing("KafkaBrokerConfig", ("brokers", "-", "configs"), shown))

    async def list_all_of_topics(self, request: Request) -> Answer:
        """All settings of all topics that are not internal."""
        links = links_of(self._context, request)
        shown = await self._shown(links, [_topic(name) for name in sorted(await self._admin.list_topics())])
        return json_answer(links.listing("KafkaTopicConfig", ("topics", "-", "configs"), shown))

    async def show(self, request: Request) -> Answer:
        """One setting."""
        links, target = links_of(self._context, request), _target(request)
        entry = (await self._entries([target]))[0].get(request.parameters["name"])
        if entry is None:
            raise not_found()
        return json_answer(target.shown(links, entry))

    async def set_one(self, request: Request) -> Answer:
        """Sets one setting."""
        links_of(self._context, request)
        target, name = _target(request), request.parameters["name"]
        value = Fields(await request.json(), ("value",)).optional_text("value")
        await self._check_known(target, [name])
        await self._change(target, [AlterConfigOp(name, value)])
        return Answer(204)

    async def reset_one(self, request: Request) -> Answer:
        """Has one setting at its default again."""
        links_of(self._context, request)
        target, name = _target(request), request.parameters["name"]
        await self._check_known(target, [name])
        await self._change(target, [AlterConfigOp(name, None, AlterConfigOpType.DELETE)])
        return Answer(204)

    async def alter(self, request: Request) -> Answer:
        """Changes several settings of one resource at once, or none."""
        links_of(self._context, request)
        body = Fields(await request.json(), ("data", "validate_only"))
        target, changes = _target(request), _changes(body, "data")
        await self._check_known(target, [change.name for change in changes])
        await self._change(target, changes, only_checked=body.boolean("validate_only"))
        return Answer(204)

    async def alter_topics(self, request: Request) -> Answer:
        """Changes settings of several topics, each by itself."""
        links_of(self._context, request)
        body = Fields(await request.json(), ("data", "validate_only"))
        wishes = [
            (each.text("topic_name"), _changes(each, "configs"))
            for each in body.objects("data", ("topic_name", "configs"))
        ]
        errors: dict[ConfigResource, OttlaError] = {}
        changes = {ConfigResource(ConfigResourceType.TOPIC, name): each for name, each in wishes}
        if changes:
            only_checked = body.boolean("validate_only")
            await self._admin.incremental_alter_configs(changes, validate_only=only_checked, errors=errors)
        if not errors:
            return Answer(204)
        failures = [(resource.name, from_kafka(error)) for resource, error in errors.items()]
        shown = [
            {"topic_name": name, "error_code": error.error_code, "message": error.message} for name, error in failures
        ]
        return json_answer({"failures": shown}, 207)

    async def _shown(self, links: Links, targets: Sequence[_Target]) -> list[dict[str, Any]]:
        found = await self._entries(targets)
        return [
            target.shown(links, entries[name])
            for target, entries in zip(targets, found, strict=True)
            for name in sorted(entries)
        ]

    async def _entries(self, targets: Sequence[_Target]) -> list[dict[str, ConfigEntry]]:
        resources = [target.resource for target in targets]
        if any(resource.type is ConfigResourceType.BROKER and resource.name for resource in resources):
            await self._check_brokers(resources)
        found = await self._admin.describe_configs(resources, include_synonyms=True) if resources else {}
        return [found[resource] for resource in resources]

    async def _check_brokers(self, resources: Sequence[ConfigResource]) -> None:
        """Raises `HttpError` 404 for a broker that there is not: a client would wait for it."""
        there = {str(node.id) for node in (await self._admin.describe_cluster()).nodes}
        for resource in resources:
            if resource.name not in there:
                raise not_found()

    async def _check_known(self, target: _Target, names: Sequence[str]) -> None:
        """Raises `HttpError` 404 for a setting that the resource has not; those of all brokers are not looked up."""
        if not target.resource.name:
            return
        known = (await self._entries([target]))[0]
        for name in names:
            if name not in known:
                kind, cluster = target.resource.type.name, self._context.cluster_id
                message = f"Config {name} cannot be found for {kind} {target.resource.name} in cluster {cluster}."
                raise HttpError(404, message)

    async def _change(self, target: _Target, changes: Sequence[AlterConfigOp], *, only_checked: bool = False) -> None:
        if changes:
            await self._admin.incremental_alter_configs({target.resource: changes}, validate_only=only_checked)


def _changes(body: Fields, name: str) -> list[AlterConfigOp]:
    changes: list[AlterConfigOp] = []
    for each in body.objects(name, _ENTRY):
        operation = (each.optional_text("operation") or "SET").upper()
        if operation not in _OPERATIONS:
            raise bad_request(f"operation {operation} is neither SET nor DELETE")
        value = None if operation == "DELETE" else each.optional_text("value")
        changes.append(AlterConfigOp(each.text("name"), value, _OPERATIONS[operation]))
    if len({change.name for change in changes}) < len(changes):
        raise bad_request("a setting is there twice")
    return changes


def _target(request: Request) -> _Target:
    if "topic_name" in request.parameters:
        return _topic(request.parameters["topic_name"])
    if "broker_id" in request.parameters:
        return _broker(number_of(request, "broker_id"))
    resource = ConfigResource(ConfigResourceType.BROKER, "")
    return _Target("KafkaClusterConfig", resource, ("broker-configs",), ("broker-config",), {"config_type": "BROKER"})


def _topic(name: str) -> _Target:
    resource = ConfigResource(ConfigResourceType.TOPIC, name)
    path = ("topics", name, "configs")
    return _Target("KafkaTopicConfig", resource, path, ("topic", name, "config"), {"topic_name": name})


def _broker(number: int) -> _Target:
    resource = ConfigResource(ConfigResourceType.BROKER, str(number))
    path = ("brokers", number, "configs")
    return _Target("KafkaBrokerConfig", resource, path, ("broker", number, "config"), {"broker_id": number})
