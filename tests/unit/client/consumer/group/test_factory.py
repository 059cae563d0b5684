import pytest

from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.assignor.assignor_table import AssignorMismatchError
from ottla.client.consumer.assignor.sticky import StickyAssignor
from ottla.client.consumer.group.factory import assignors_of, config_of


def settings(**given: object) -> ClientSettings:
    return ClientSettings.of(CONSUMER_KEYS, None, bootstrap_servers="localhost:9092", group_id="g", **given)


def test_kafkas_defaults() -> None:
    config = config_of(settings())
    assert (config.session_timeout_ms, config.heartbeat_interval_ms, config.max_poll_interval_ms) == (
        45_000,
        3_000,
        300_000,
    )
    assert (config.group_instance_id, config.rack_id, config.server_assignor, config.is_static) == (
        None,
        None,
        None,
        False,
    )
    assert [assignor.name for assignor in assignors_of(settings())] == ["range", "cooperative-sticky"]


@pytest.mark.parametrize(
    "given",
    [
        "sticky",
        "org.apache.kafka.clients.consumer.StickyAssignor",
        "ottla.client.consumer.assignor.sticky:StickyAssignor",
        [StickyAssignor],
        [StickyAssignor()],
    ],
)
def test_assignors_are_named_or_given(given: object) -> None:
    assert [assignor.name for assignor in assignors_of(settings(partition_assignment_strategy=given))] == ["sticky"]


def test_what_is_no_assignor_is_refused() -> None:
    with pytest.raises(AssignorMismatchError, match="no PartitionAssignor"):
        assignors_of(settings(partition_assignment_strategy=[dict]))


def test_a_static_member() -> None:
    config = config_of(settings(group_instance_id="i", client_rack="r", group_remote_assignor="range"))
    assert (config.is_static, config.rack_id, config.server_assignor) == (True, "r", "range")
