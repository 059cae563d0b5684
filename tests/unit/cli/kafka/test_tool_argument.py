"""What tools make of their arguments before they ask any server."""

import pytest

from ottla.cli.kafka.argument.config_entity import checked_entities
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.argument.topic_filter import TopicFilter
from ottla.cli.kafka.configs import OPTIONS as CONFIGS
from ottla.cli.kafka.configs import config_pairs
from ottla.cli.kafka.delete_records import parse_offsets
from ottla.cli.kafka.get_offsets import offset_time
from ottla.cli.kafka.leader_election import parse_partitions
from ottla.cli.kafka.output.identifier import parse_uuid
from ottla.cli.kafka.subcommand.consumer_groups_reset import listed_partitions, read_plan
from ottla.cli.kafka.subcommand.metadata_quorum_voter import controller_endpoints
from ottla.cli.kafka.topics import replica_assignment
from ottla.client.record import TopicPartition

FIRST = TopicPartition("t", 0)


def test_a_replica_assignment() -> None:
    assert replica_assignment("1:2, 2:1") == {0: [1, 2], 1: [2, 1]}
    assert replica_assignment(None) == {}
    for wrong, words in (("1:1", "duplicate entries: 1"), ("1,1:2", "different replication factor"), ("x", "input")):
        with pytest.raises(ToolError, match=words):
            replica_assignment(wrong)


def test_topics_by_pattern() -> None:
    only = TopicFilter(' "a.*, b" ')
    assert [name for name in ("a", "ab", "b", "bc") if only.allows(name)] == ["a", "ab", "b"]
    with pytest.raises(ToolError, match="invalid regex"):
        TopicFilter("a(")


def test_config_pairs() -> None:
    assert config_pairs("a=1, b=[x,y] ,c=[k=v]") == {"a": "1", "b": "x,y", "c": "k=v"}
    with pytest.raises(ToolError, match="requirement failed"):
        config_pairs("a")


def test_entities_keep_the_order_of_their_names() -> None:
    words = (
        "--bootstrap-server a:1 --describe --entity-type users --entity-default --entity-type clients --entity-name c"
    )
    assert checked_entities(CONFIGS.parse(words.split())) == (("users", "clients"), ("", "c"))
    flags = "--bootstrap-server a:1 --describe --user u --client-defaults"
    assert checked_entities(CONFIGS.parse(flags.split())) == (("users", "clients"), ("u", ""))


def test_plans_for_groups() -> None:
    assert read_plan("t,0,5\nt,1,6\n", ["g"]) == {"g": {FIRST: 5, TopicPartition("t", 1): 6}}
    assert read_plan("h,t,0,5\n", ["g", "h"]) == {"h": {FIRST: 5}}
    with pytest.raises(ToolError, match="reset plan"):
        read_plan("t,x,5", ["g"])
    assert listed_partitions("t:0,2") == [FIRST, TopicPartition("t", 2)]


def test_partitions_in_files() -> None:
    assert parse_offsets('{"partitions": [{"topic": "t", "partition": 0, "offset": -1}]}') == {FIRST: -1}
    assert parse_partitions('{"partitions": [{"topic": "t", "partition": 0}]}') == [FIRST]
    for wrong in ("[]", '{"partitions": {}}', '{"partitions": [{"topic": 1, "partition": 0, "offset": 1}]}'):
        with pytest.raises(ToolError):
            parse_offsets(wrong)


def test_special_times() -> None:
    assert [offset_time(text) for text in ("latest", "-2", "17")] == [-1, -2, 17]
    with pytest.raises(ToolError, match="Malformed time argument soon"):
        offset_time("soon")


def test_ids() -> None:
    assert str(parse_uuid("3lLhQS5lRGCPoEFj82_M5Q")) == "3lLhQS5lRGCPoEFj82_M5Q"
    for wrong, words in (("zz", "decoded as 1 bytes"), ("x" * 30, "too long")):
        with pytest.raises(ToolError, match=words):
            parse_uuid(wrong)


def test_endpoints_of_a_controller() -> None:
    settings = {
        "listeners": "PLAINTEXT://:9092,CONTROLLER://0.0.0.0:9093",
        "advertised.listeners": "CONTROLLER://[::1]:9094",
        "controller.listener.names": "controller",
    }
    assert controller_endpoints(settings) == [("CONTROLLER", "::1", 9094)]
    with pytest.raises(ToolError, match="Cannot find information about controller listener name: OTHER"):
        controller_endpoints({**settings, "controller.listener.names": "OTHER"})
