"""`ottla groups` on a broker: lag in records and seconds, resets with a preview."""

import time

import pytest

from ottla.client import Consumer
from ottla.testing import EmbeddedBroker
from tests.integration.cli.ottla_command import Ottla


@pytest.fixture
def ottla(ottla_broker: EmbeddedBroker) -> Ottla:
    """The commands."""
    return Ottla(ottla_broker.bootstrap_servers)


@pytest.fixture
def group(ottla: Ottla, ottla_broker: EmbeddedBroker, ottla_topic: str) -> str:
    """A group that has read 4 of 10 records, the next of which is an hour old; named like its topic."""
    topic = ottla_broker.create_topic(f"{ottla_topic}-one", partitions=1)
    start_ms = round(time.time() * 1000) - 3_600_000
    lines = b"".join(b'{"value": "%d", "timestamp": %d}\n' % (n, start_ms + n - 4) for n in range(10))
    ottla("produce", topic, "--format", "json", stdin=lines)
    ottla("consume", topic, "--group", topic, "--from", "beginning", "-n", "4")
    return topic


def test_lag_is_told_in_records_and_in_seconds(ottla: Ottla, group: str) -> None:
    shown = ottla("groups", "describe", group, "--json").document[0]
    assert (shown["state"], shown["lag_records"]) == ("Empty", 6)
    assert 3_600 <= shown["lag_seconds"] < 3_720
    text = ottla("groups", "describe", group)
    assert text.lines[0].startswith(f"{group}  Empty, 0 members, 6 records or 1 h")
    assert text.lines[-1].split()[:5] == [group, "0", "4", "10", "6"]
    assert group in ottla("groups", "list", "--names").lines
    ottla("consume", group, "--group", group, "-e")
    assert ", no lag" in ottla("groups", "describe", group).lines[0]


def test_a_reset_is_shown_before_it_is_done(ottla: Ottla, group: str) -> None:
    planned = ottla("groups", "reset", group, "--to", "beginning")
    assert planned.lines[1].split() == [group, "0", "4", "0", "-4"]
    assert planned.lines[-1] == "Nothing was changed: add --execute to do it."
    assert ottla("groups", "describe", group, "--json").document[0]["lag_records"] == 6
    for arguments, offset in (
        (("--to", "2"), 2),
        (("--shift", "3"), 5),
        (("--shift", "-100"), 0),
        (("--to", "end"), 10),
        (("--to", "90m"), 0),
        (("--to", "-3", "--topic", group), 7),
    ):
        done = ottla("groups", "reset", group, *arguments, "--execute", "--json").document
        assert (done["executed"], done["partitions"][0]["new_offset"]) == (True, offset)
    assert ottla("groups", "describe", group, "--json").document[0]["lag_records"] == 3


def test_a_group_can_be_given_offsets_before_its_first_consumer(ottla: Ottla, group: str) -> None:
    assert "there is no consumer group" in ottla("groups", "reset", "unborn", "--to", "end").err
    done = ottla("groups", "reset", "unborn", "--topic", group, "--to", "3", "--execute")
    assert done.lines[1].split() == [group, "0", "-", "3", "-"]
    assert ottla("groups", "describe", "unborn", "--json").document[0]["lag_records"] == 7


def test_live_members_are_shown_and_keep_their_group(ottla: Ottla, group: str) -> None:
    with Consumer(bootstrap_servers=ottla.bootstrap, group_id=group, client_id="reader") as consumer:
        consumer.subscribe([group])
        while not consumer.assignment():
            consumer.poll(0.1)
        shown = ottla("groups", "describe", group)
        assert shown.lines[0].startswith(f"{group}  Stable, 1 member, ")
        assert shown.lines[-1].split()[-2:] == ["reader", "127.0.0.1"]
        assert f"{group}:0" in ottla("groups", "describe", group, "--members").lines[-1]
        assert "has 1 live member" in ottla("groups", "reset", group, "--to", "end").err
        assert "stop its consumers first" in ottla("groups", "delete", group, "--yes").err


def test_groups_are_deleted_and_those_that_are_none_are_named(ottla: Ottla, group: str) -> None:
    assert f"did you mean {group}?" in ottla("groups", "describe", group + "x").err
    assert ottla("groups", "delete", group).code == 1
    assert ottla("groups", "delete", group, "--yes").out == f"Deleted {group}.\n"
    assert "there is no consumer group" in ottla("groups", "delete", group, "--yes").err
