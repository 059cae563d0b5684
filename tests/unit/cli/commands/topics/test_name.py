"""Topics and partitions as a command line names them."""

import pytest

from ottla.cli.commands.topics.name import TopicPart, no_topic, parse_part
from ottla.cli.output.advice import CommandError


def test_parts_of_topics() -> None:
    assert parse_part("orders") == TopicPart("orders")
    assert parse_part("orders:3,0-1,1") == TopicPart("orders", (3, 0, 1))


@pytest.mark.parametrize("text", ["orders:", "orders:a", "orders:1-", "orders:-1", "orders:1,,2"])
def test_what_is_no_partition_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="partitions are numbers such as orders:0"):
        parse_part(text)


def test_a_topic_that_is_not_there_is_answered_with_the_nearest() -> None:
    assert no_topic("ordres", ["orders", "users"]) == "there is no topic ordres; did you mean orders?"
    assert no_topic("x", ["orders"]) == "there is no topic x; `ottla topics list` shows them"
