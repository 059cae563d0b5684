"""The common part of both requests that alter configs: the resources that this broker checks (KIP-226, KIP-339).

The broker refuses what is malformed and what it could not apply to itself, changes its own loggers, and forwards the
rest to the controller; the answer has every resource of the request in its order. A resource that is named more than
once is refused each time, and not altered: Apache Kafka never answers such an AlterConfigs.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ottla.base.frozen import frozen
from ottla.broker.config.node_resource import node_id_of
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.protocol.errors import ApiError, ErrorCode, InvalidRequestError
from ottla.protocol.messages import alter_configs as legacy
from ottla.protocol.messages import incremental_alter_configs as incremental

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts

Res = TypeVar("Res", incremental.AlterConfigsResource, legacy.AlterConfigsResource)
AnyResource = incremental.AlterConfigsResource | legacy.AlterConfigsResource
AnyAnswer = incremental.AlterConfigsResourceResponse | legacy.AlterConfigsResourceResponse
Judge = Callable[[Res], bool]
"""Whether a resource is done with; False if the controller is to alter it. Raises what is wrong with it."""
CodeAndMessage = tuple[int, str | None]
"""An error code and what it does not say by itself."""

FINE: Final[CodeAndMessage] = (ErrorCode.NONE, None)

_FORWARDED: Final = (ResourceType.TOPIC, ResourceType.CLIENT_METRICS, ResourceType.GROUP)


@frozen
class Judgement(Generic[Res]):
    """This broker's part of a request: outcomes of resources, by place, and the resources to forward."""

    resources: Sequence[Res]
    done: Mapping[int, CodeAndMessage]

    @property
    def forwarded(self) -> list[Res]:
        """The resources that the controller has to alter."""
        return [resource for place, resource in enumerate(self.resources) if place not in self.done]

    def outcomes(self, answers: Sequence[AnyAnswer]) -> list[tuple[Res, CodeAndMessage]]:
        """The outcome of each resource, from this broker or from the controller's answers."""
        answered = {key_of(answer): (answer.error_code, answer.error_message) for answer in answers}
        missing = (ErrorCode.UNKNOWN_SERVER_ERROR, None)
        return [
            (resource, self.done[place] if place in self.done else answered.get(key_of(resource), missing))
            for place, resource in enumerate(self.resources)
        ]


def judge_all(resources: Sequence[Res], judge: Judge[Res]) -> Judgement[Res]:
    """Has each resource judged that is named once and well-formed."""
    times = Counter(key_of(resource) for resource in resources)
    done: dict[int, CodeAndMessage] = {}
    for place, resource in enumerate(resources):
        try:
            if times[key_of(resource)] > 1:
                raise InvalidRequestError("Each resource must appear at most once.")
            if judge(resource):
                done[place] = FINE
        except ApiError as error:
            done[place] = (error.code, None if error.message == error.default_message else error.message)
    return Judgement(resources, done)


def check_keys(resource: AnyResource, valued: Sequence[incremental.AlterableConfig | legacy.AlterableConfig]) -> None:
    """Every key once, and those that are `valued` have a value."""
    if len({config.name for config in resource.configs}) < len(resource.configs):
        raise InvalidRequestError("Error due to duplicate config keys")
    nulls = [config.name for config in valued if config.value is None]
    if nulls:
        raise InvalidRequestError(f"Null value not supported for : {', '.join(nulls)}")


def check_forwarded(resource: AnyResource) -> None:
    """Refuses a resource of a type that has no configs to store."""
    if resource.resource_type not in _FORWARDED:
        raise InvalidRequestError(f"Unknown resource type {resource.resource_type}")


def check_broker(parts: "BrokerParts", resource: AnyResource, configs: Mapping[str, str]) -> None:
    """Refuses configs that this broker could not run with. An empty name stands for all brokers, this one included."""
    check_this_broker(parts, resource)
    parts.dynamic.validate_broker_change(configs, per_broker=bool(resource.resource_name))


def check_this_broker(parts: "BrokerParts", resource: AnyResource) -> None:
    """Refuses the configs of another broker, which only that one can judge."""
    name = resource.resource_name
    if name and node_id_of(name, called="Node id") != parts.node_id:
        raise InvalidRequestError(f"Unexpected broker id, expected {parts.node_id}, but received {name}")


def key_of(part: AnyResource | AnyAnswer) -> ConfigResource:
    """The resource of an entry in a request or an answer."""
    return ConfigResource(part.resource_type, part.resource_name)
