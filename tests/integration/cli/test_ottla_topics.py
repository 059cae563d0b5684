"""`ottla topics`, `configs` and `cluster` on a broker."""

import pytest

from ottla.testing import EmbeddedBroker
from tests.integration.cli.ottla_command import Ottla, terminal


@pytest.fixture
def ottla(ottla_fresh_broker: EmbeddedBroker) -> Ottla:
    """The commands, and a broker without topics."""
    return Ottla(ottla_fresh_broker.bootstrap_servers)


def test_the_life_of_a_topic(ottla: Ottla) -> None:
    assert ottla("topics", "list").out == "There are no topics yet. Create one: ottla topics create NAME\n"
    made = ottla("topics", "create", "orders", "-p", "2", "-c", "retention.ms=60000")
    assert (made.code, made.out) == (0, "Created orders: 2 partitions, 1 replica.\n")
    assert ottla("topics", "list").lines == [
        "TOPIC   PARTITIONS  REPLICAS  STATE",
        "orders           2         1  in sync",
    ]
    ottla("produce", "orders", stdin=b"a\nb\n")
    shown = ottla("topics", "describe", "orders")
    assert shown.lines[0].startswith("orders  2 partitions, 1 replica, 2 records, ")
    assert "retention.ms = 60000" in shown.lines
    assert shown.lines[-3].split() == [
        "PARTITION",
        "LEADER",
        "REPLICAS",
        "IN",
        "SYNC",
        "START",
        "END",
        "RECORDS",
        "SIZE",
    ]
    assert ottla("topics", "alter", "orders", "-p", "5").out == "orders has 5 partitions, 2 before.\n"
    assert len(ottla("topics", "describe", "orders", "--json").document[0]["partitions"]) == 5
    assert ottla("topics", "delete", "orders", "--yes").out == "Deleted orders.\n"
    assert ottla("topics", "list", "--json").document == []


def test_lists_are_narrowed(ottla: Ottla) -> None:
    ottla("topics", "create", "orders", "old-orders", "users")
    assert ottla("topics", "list", "--names").lines == ["old-orders", "orders", "users"]
    assert ottla("topics", "list", "--names", "--like", "orders").lines == ["old-orders", "orders"]
    assert ottla("topics", "list", "--names", "--like", "o*s").lines == ["old-orders", "orders"]
    assert ottla("topics", "list", "--trouble").out == "No topic is in trouble.\n"
    assert ottla("topics", "list", "--like", "zzz").out == "No topic matches zzz.\n"


def test_trouble_is_one_sentence_with_a_way_out(ottla: Ottla) -> None:
    ottla("topics", "create", "orders")
    for arguments, said in (
        (("create", "orders"), "Topic 'orders' already exists; choose another name, or add --if-not-exists"),
        (("create", "x", "-r", "3"), "`ottla cluster` shows how many brokers there are"),
        (("describe", "ordrs"), "there is no topic ordrs; did you mean orders?"),
        (("delete", "ordrs", "--yes"), "there is no topic ordrs; did you mean orders?"),
        (("delete", "orders"), "there is no terminal to ask at: add --yes to go on"),
        (("alter", "orders"), "nothing to change: give --partitions, --config or --unset"),
        (("create", "x", "--config", "retention.mss=5"), "config name: retention.mss; did you mean retention.ms?"),
        (("list", "-b", "localhost:1", "--wait", "0"), "Start one with `ottla broker`, name yours with -b HOST:PORT"),
    ):
        done = ottla("topics", *arguments)
        assert (done.code, done.out) == (1, "")
        assert said in done.err
        assert done.err.count("\n") == 1, "one line"
    assert ottla("topics", "create", "orders", "--if-not-exists").out == "orders exists.\n"
    assert ottla("topics", "delete", "none", "--if-exists", "--yes").code == 0
    assert ottla("topics", "create", "maybe", "--dry-run").out.startswith("Could create maybe: ")
    assert ottla("topics", "list", "--names").lines == ["orders"]


def test_settings_are_shown_set_and_unset(ottla: Ottla) -> None:
    ottla("topics", "create", "orders")
    assert "--all shows the defaults" in ottla("configs", "show", "topic", "orders").out
    done = ottla("configs", "set", "topic", "orders", "retention.ms=60000", "cleanup.policy+=compact")
    assert [line.split() for line in done.lines] == [
        ["SETTING", "BEFORE", "NOW"],
        ["retention.ms", "604800000", "60000"],
        ["cleanup.policy", "delete", "delete,compact"],
    ]
    shown = ottla("configs", "show", "topic", "orders", "--json").document
    assert [(entry["name"], entry["value"]) for entry in shown] == [
        ("cleanup.policy", "delete,compact"), ("retention.ms", "60000"),
    ]  # fmt: skip
    assert ottla("configs", "unset", "topic", "orders", "retention.ms").lines[1].split()[1:] == ["60000", "604800000"]
    assert "did you mean retention.ms?" in ottla("configs", "set", "topic", "orders", "retenton.ms=1").err
    assert "Not a number" in ottla("configs", "set", "topic", "orders", "retention.ms=x").err
    assert ottla("configs", "show", "broker", "1", "--like", "node.id").lines[1].split() == [
        "node.id", "1", "server.properties",
    ]  # fmt: skip
    assert ottla("configs", "show", "broker", "one").code == 1


def test_the_cluster_at_a_glance(ottla: Ottla) -> None:
    ottla("topics", "create", "orders", "-p", "4")
    done = ottla("cluster", "--check")
    assert done.code == 0
    assert "1 broker, 1 topic, 4 partitions" in done.lines[0]
    assert f" {ottla.bootstrap} " in done.out
    assert done.lines[-1] == "✓ all partitions are online and in sync"
    shown = ottla("cluster", "--json").document
    assert (shown["healthy"], shown["brokers"][0]["leaders"], shown["quorum"]["leader_id"]) == (True, 4, 1)


def test_a_terminal_gets_colours_and_is_asked(ottla: Ottla) -> None:
    ottla("topics", "create", "orders", "users")
    with terminal(ottla.bootstrap, "topics", "list") as session:
        assert session.wait() == 0
        assert "\x1b[36morders\x1b[0m" in session.seen
    with terminal(ottla.bootstrap, "topics", "list", NO_COLOR="1") as session:
        session.wait()
        assert "\x1b" not in session.seen
    with terminal(ottla.bootstrap, "topics", "delete", "orders") as session:
        session.wait_for("[y/N]")
        session.type("n\n")
        assert session.wait() == 1
    with terminal(ottla.bootstrap, "topics", "delete", "users") as session:
        session.wait_for("Delete users with all records?")
        session.type("y\n")
        assert session.wait() == 0
    assert ottla("topics", "list", "--names").lines == ["orders"]
