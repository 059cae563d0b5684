"""`ottla perf` measures something, and `ottla completion` asks the cluster."""

import pytest

from ottla.testing import EmbeddedBroker
from tests.integration.cli.ottla_command import Ottla


@pytest.fixture
def ottla(ottla_broker: EmbeddedBroker) -> Ottla:
    """The commands."""
    return Ottla(ottla_broker.bootstrap_servers)


def test_writing_and_reading_are_measured(ottla: Ottla, ottla_topic: str) -> None:
    assert "is empty; write to it first" in ottla("perf", "consume", ottla_topic).err
    written = ottla("perf", "produce", ottla_topic, "-n", "2000", "--size", "50", "--json").document
    assert (written["records"], written["bytes"]) == (2000, 100_000)
    assert 0 < written["latency"]["p50_ms"] <= written["latency"]["max_ms"]
    for more in ((), ("--arrow",)):
        read = ottla("perf", "consume", ottla_topic, "--json", *more).document
        assert read["records"] == 2000
        assert read["records_per_second"] > 0
    assert " records/s" in ottla("perf", "consume", ottla_topic).lines[0]


def test_the_way_there_and_back_is_measured(ottla: Ottla, ottla_topic: str) -> None:
    done = ottla("perf", "latency", ottla_topic, "-n", "20")
    assert done.lines[0] == "20 records, from send() to poll()"
    assert done.lines[1].startswith("latency  average ")


def test_tab_offers_the_topics_of_the_cluster(ottla: Ottla, ottla_topic: str) -> None:
    assert f"{ottla_topic}\ttopic" in ottla("completion", "words", "--", "consume", ottla_topic[:5]).lines
    silent = Ottla("127.0.0.1:1")("completion", "words", "--", "consume", "")
    assert (silent.code, silent.out, silent.err) == (0, "", "")


def test_a_shell_that_is_missing_or_unknown_is_answered_with_the_shells(ottla: Ottla) -> None:
    for arguments in (("completion",), ("completion", "ksh")):
        done = ottla(*arguments)
        assert done.code == 2
        assert "bash,zsh,fish" in done.err
        assert "words" not in done.err


def test_kafkas_name_of_the_option_is_taken_as_ours(ottla_broker: EmbeddedBroker) -> None:
    nowhere = Ottla("127.0.0.1:1")
    for option in ("-b", "--bootstrap", "--bootstrap-server"):
        assert nowhere("topics", "list", option, ottla_broker.bootstrap_servers).code == 0
