"""Plans of reassignments, and the throttles they need."""

import json

import pytest

from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.subcommand.reassign_execute import Move, proposed_moves, throttled_replicas
from ottla.cli.kafka.subcommand.reassign_plan import check_plan, parse_plan, render_plan
from ottla.client.admin.value.replica import PartitionReassignment, TopicPartitionReplica
from ottla.client.record import TopicPartition

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


def _text(*parts: dict[str, object]) -> str:
    return json.dumps({"version": 1, "partitions": list(parts)})


def test_a_plan_is_read_and_written_alike() -> None:
    text = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","/d"]}]}'
    plan = parse_plan(text)
    assert plan.partitions == {FIRST: (1, 2)}
    assert plan.log_dirs == {TopicPartitionReplica("t", 0, 2): "/d"}
    assert render_plan(plan.partitions, plan.log_dirs) == text


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([], "list cannot be empty"),
        ([{"topic": "t", "partition": 0, "replicas": []}], "replica list cannot be empty"),
        ([{"topic": "t", "partition": 0, "replicas": [1]}] * 2, "duplicate topic partitions: t-0"),
        ([{"topic": "t", "partition": 0, "replicas": [1, 1]}], "t-0 contains multiple entries for 1"),
        ([{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": []}], "different from size of log dirs"),
        ([{"topic": "t", "partition": 0}], "No such field exists: `replicas`"),
        ([{"topic": "t", "partition": 0, "replicas": ["x"]}], "Expected `Integer` value"),
    ],
)
def test_plans_that_make_no_sense(parts: list[dict[str, object]], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        check_plan(parse_plan(_text(*parts)))


def test_moves_know_where_data_comes_from_and_goes_to() -> None:
    under_way = {FIRST: PartitionReassignment((1, 2, 3), (3,), (1,))}
    moves = proposed_moves(under_way, {FIRST: (4, 2), SECOND: (2, 3)}, {SECOND: (1, 2)})
    assert moves == {FIRST: Move(frozenset({1, 2}), frozenset({4})), SECOND: Move(frozenset({1, 2}), frozenset({3}))}
    assert throttled_replicas(moves) == {"t": ("0:1,0:2,1:1,1:2", "0:4,1:3")}
