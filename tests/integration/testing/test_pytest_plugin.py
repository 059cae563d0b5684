"""The plugin's fixtures, as somebody's test suite uses them."""

import subprocess
import sys
from pathlib import Path

from tests.integration.testing.plugin import PLUGIN, run_tests

SUITE = """
import pytest

SEEN = []

@pytest.fixture(scope="module")
def client(ottla_broker):
    from confluent_kafka import Producer
    return Producer({"bootstrap.servers": ottla_broker.bootstrap_servers, "reconnect.backoff.max.ms": 100})

@pytest.mark.parametrize("odd", ["ä / ö", "b"])
def test_topics_are_new(client, ottla_topic, odd):
    SEEN.append(ottla_topic)
    assert len(set(SEEN)) == len(SEEN)
    assert len(client.list_topics(ottla_topic, timeout=30).topics[ottla_topic].partitions) == 4

def test_one_broker_for_all_that_is_killed(ottla_broker):
    SEEN.append(ottla_broker.bootstrap_servers)
    ottla_broker.kill()

def test_one_broker_for_all_that_is_there_again_and_drops(ottla_broker, client):
    assert ottla_broker.bootstrap_servers == SEEN[-1]
    assert ottla_broker.is_running
    ottla_broker.faults.drop("Produce", count=None)

def test_one_broker_for_all_without_faults(client, ottla_topic):
    client.produce(ottla_topic, b"v")
    assert client.flush(30) == 0

def test_a_fresh_one_is_another(ottla_broker, ottla_fresh_broker):
    assert ottla_broker.bootstrap_servers != ottla_fresh_broker.bootstrap_servers
    ottla_fresh_broker.create_topic("orders")
"""
CONFTEST = """
import pytest

@pytest.fixture(scope="session")
def ottla_broker_settings():
    return {"num.partitions": 4}
"""


def test_the_fixtures(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_suite.py").write_text(SUITE)
    assert "6 passed" in run_tests(tmp_path, "-W", "error")


def test_users_see_what_there_is(tmp_path: Path) -> None:
    said = run_tests(tmp_path, "--fixtures")
    for name in ("ottla_broker", "ottla_topic", "ottla_fresh_broker", "ottla_broker_settings"):
        assert f"\n{name} " in said


def test_who_asks_for_no_broker_imports_none() -> None:
    program = f"import pytest, sys; import {PLUGIN}; print([m for m in sys.modules if m.startswith('ottla.broker')])"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"


def test_who_has_no_pytest_needs_none() -> None:
    program = "import sys; sys.modules['pytest'] = None; from ottla.testing import EmbeddedBroker; EmbeddedBroker()"
    subprocess.run([sys.executable, "-c", program], check=True)
