"""Configs: described, changed one by one, and the resources that have any."""

from collections.abc import Iterable, Mapping, Sequence

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import ANY_NODE, CONTROLLER, Route
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import outcome, settle
from ottla.client.admin.value.config import (
    AlterConfigOp,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
)
from ottla.protocol.messages.create_topics import CreatableTopicConfigs
from ottla.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse


class ConfigOperations(AdminOperations):
    """Operations on configs."""

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        errors: dict[ConfigResource, OttlaError] | None = None,
    ) -> dict[ConfigResource, dict[str, ConfigEntry]]:
        """All configs of resources, by name; a broker is asked about itself."""

        async def ask(
            node: int, asked: list[ConfigResource]
        ) -> dict[ConfigResource, dict[str, ConfigEntry] | OttlaError]:
            request = DescribeConfigsRequest(
                resources=[_described(resource) for resource in asked],
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            )
            response = await self._channel.ask(node, request, DescribeConfigsResponse)
            return {
                ConfigResource(ConfigResourceType(found.resource_type), found.resource_name): _entries(found)
                for found in response.results
            }

        return settle(await self._channel.ask_each(resources, _nodes_or(ANY_NODE), ask, may_retry=_never), errors)

    async def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Sequence[AlterConfigOp]],
        *,
        validate_only: bool = False,
        errors: dict[ConfigResource, OttlaError] | None = None,
    ) -> None:
        """Changes single configs and leaves the others as they are."""

        async def ask(node: int, asked: list[ConfigResource]) -> dict[ConfigResource, OttlaError | None]:
            request = IncrementalAlterConfigsRequest(
                resources=[_altered(resource, changes[resource]) for resource in asked], validate_only=validate_only
            )
            response = await self._channel.ask(node, request, IncrementalAlterConfigsResponse)
            return {
                ConfigResource(ConfigResourceType(found.resource_type), found.resource_name): outcome(
                    None, found.error_code, found.error_message
                )
                for found in response.responses
            }

        settle(await self._channel.ask_each(changes, _nodes_or(CONTROLLER), ask, may_retry=_never), errors)

    async def list_config_resources(self, types: Iterable[ConfigResourceType] = ()) -> list[ConfigResource]:
        """The resources of these types, or of all, that have dynamic configs (KIP-1142)."""
        request = ListConfigResourcesRequest(resource_types=[int(kind) for kind in types])
        response = await self._channel.ask(ANY_NODE, request, ListConfigResourcesResponse)
        return [
            ConfigResource(ConfigResourceType(found.resource_type), found.resource_name)
            for found in response.config_resources
        ]

    async def list_client_metrics_resources(self) -> list[str]:
        """The names of the client metrics subscriptions (KIP-1000)."""
        found = await self.list_config_resources([ConfigResourceType.CLIENT_METRICS])
        return [resource.name for resource in found]


def _nodes_or(otherwise: int) -> Route[ConfigResource]:
    """Brokers and their loggers to the brokers themselves, everything else to `otherwise`."""
    own = (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)

    async def route(resources: list[ConfigResource]) -> Mapping[ConfigResource, int | OttlaError]:
        return {
            resource: int(resource.name) if resource.type in own and resource.name.isdecimal() else otherwise
            for resource in resources
        }

    return route


def _never(_error: OttlaError) -> bool:
    """An answer about configs is final: Kafka's own client doesn't ask again either."""
    return False


def _described(resource: ConfigResource) -> DescribeConfigsResource:
    return DescribeConfigsResource(resource_type=resource.type, resource_name=resource.name, configuration_keys=None)


def _altered(resource: ConfigResource, changes: Sequence[AlterConfigOp]) -> AlterConfigsResource:
    configs = [
        AlterableConfig(name=change.name, config_operation=change.op_type, value=change.value) for change in changes
    ]
    return AlterConfigsResource(resource_type=resource.type, resource_name=resource.name, configs=configs)


def _entries(found: DescribeConfigsResult) -> dict[str, ConfigEntry] | OttlaError:
    entries = {config.name: config_entry(config) for config in found.configs}
    return outcome(entries, found.error_code, found.error_message or None)


def config_entry(found: DescribeConfigsResourceResult | CreatableTopicConfigs) -> ConfigEntry:
    """A config as DescribeConfigs tells it, or CreateTopics, which knows less."""
    entry = ConfigEntry(
        name=found.name,
        value=found.value,
        source=ConfigSource(found.config_source),
        is_sensitive=found.is_sensitive,
        is_read_only=found.read_only,
    )
    if isinstance(found, CreatableTopicConfigs):
        return entry
    return entry._replace(
        synonyms=tuple(
            ConfigSynonym(synonym.name, synonym.value, ConfigSource(synonym.source)) for synonym in found.synonyms
        ),
        type=ConfigType(found.config_type),
        documentation=found.documentation,
    )
