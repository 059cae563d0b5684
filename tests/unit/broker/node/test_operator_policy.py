"""Operators' policies: what they refuse is refused with their words, and one that cannot be had refuses the start."""

from collections.abc import Mapping
from typing import Any

import pytest

from ottla.base.config import ConfigError
from ottla.broker.config.rule import check_startable
from ottla.broker.node.operator_policy import ConfigAlteration, NewTopic, OperatorPolicy
from ottla.metadata.image.config import topic_resource
from ottla.protocol.errors import PolicyViolationError, UnknownServerError
from tests.unit.broker.config.settings import BROKER, config_of


class ThreePartitions:
    def configure(self, settings: Mapping[str, str]) -> None:
        self.partitions_max = int(settings.get("num.partitions", 3))

    def validate(self, topic: NewTopic) -> None:
        count = len(topic.assignments or ()) or topic.num_partitions or 0
        if count > self.partitions_max:
            raise PolicyViolationError(f"{topic.name}: at most {self.partitions_max} partitions")


class NoInfiniteRetention:
    def validate(self, change: ConfigAlteration) -> None:
        if change.configs.get("retention.ms") == "-1":
            raise PolicyViolationError(f"{change.resource.name} may not be kept for ever")


class Broken:
    def validate(self, topic: NewTopic) -> None:
        raise KeyError(topic.name)


class Unmakeable:
    def __init__(self) -> None:
        raise RuntimeError("no rules file")

    def validate(self, topic: NewTopic) -> None:
        pass


def named(policy: type[Any], separator: str = ":") -> str:
    return f"{policy.__module__}{separator}{policy.__name__}"


def test_without_policies_everything_passes() -> None:
    policy = OperatorPolicy(config_of())
    policy.check_topic(NewTopic("a", 100, 1, None, {}))
    policy.check_configs(topic_resource("a"), {"retention.ms": "-1"})


@pytest.mark.parametrize("separator", [":", "."])
def test_a_topic_policy_reads_the_settings_and_refuses(separator: str) -> None:
    config = config_of(create_topic_policy_class_name=named(ThreePartitions, separator), num_partitions="2")
    check_startable(config)
    policy = OperatorPolicy(config)
    policy.check_topic(NewTopic("a", 2, 1, None, {}))
    with pytest.raises(PolicyViolationError, match="b: at most 2 partitions"):
        policy.check_topic(NewTopic("b", None, None, {0: [1], 1: [1], 2: [1]}, {}))
    policy.check_configs(topic_resource("a"), {"retention.ms": "-1"})


def test_a_config_policy_refuses() -> None:
    policy = OperatorPolicy(config_of(alter_config_policy_class_name=named(NoInfiniteRetention)))
    policy.check_configs(topic_resource("a"), {"retention.ms": None})
    with pytest.raises(PolicyViolationError, match="a may not be kept for ever"):
        policy.check_configs(topic_resource("a"), {"retention.ms": "-1"})


def test_a_policy_that_fails_fails_the_request(caplog: pytest.LogCaptureFixture) -> None:
    policy = OperatorPolicy(config_of(create_topic_policy_class_name=named(Broken)))
    with pytest.raises(UnknownServerError, match=r"The policy Broken failed: KeyError\('a'\)"):
        policy.check_topic(NewTopic("a", 1, 1, None, {}))
    assert "Traceback" in caplog.text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("org.example.SafePolicy", "no such Python class"),
        ("NoModule", "no such Python class"),
        (f"{__name__}:Missing", "no such Python class"),
        (f"{__name__}:named", "no method validate"),
    ],
)
def test_a_policy_that_is_none_refuses_the_start(name: str, reason: str) -> None:
    for key in ("create_topic_policy_class_name", "alter_config_policy_class_name"):
        with pytest.raises(ConfigError, match=reason):
            check_startable(config_of(**{key: name}))
    # It counts on controllers alone.
    check_startable(config_of(BROKER, create_topic_policy_class_name=name))


def test_a_policy_that_cannot_be_made_refuses_the_start() -> None:
    with pytest.raises(ConfigError, match="no rules file"):
        OperatorPolicy(config_of(create_topic_policy_class_name=named(Unmakeable)))


def test_tiered_storage_is_refused() -> None:
    with pytest.raises(ConfigError, match="Tiered storage is asked for"):
        check_startable(config_of(remote_log_storage_system_enable="true"))
