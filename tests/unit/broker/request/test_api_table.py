"""What is served and advertised, against the definitions and against what Apache Kafka 4.3.1 advertises."""

import importlib
import json
import pkgutil
from pathlib import Path

import pytest

from ottla.broker.request.answerer import ROOMS, find_handler
from ottla.broker.request.api_table import API_ROWS, BROKER_SERVED, CONTROLLER_SERVED, ApiTable
from ottla.protocol.api_key import BROKER_APIS, CONTROLLER_APIS, CONTROLLER_ONLY_APIS, ApiKey
from ottla.protocol.catalog import request_type
from ottla.protocol.versions import VersionRange

TABLES = [BROKER_SERVED, CONTROLLER_SERVED]
ANSWERS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1-answers" / "data.json"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.handlers)
def test_versions_are_those_of_the_definitions(table: ApiTable) -> None:
    unstable = {ApiKey.INIT_PRODUCER_ID: VersionRange(0, 5)}
    for api, served in table.served.items():
        assert served.versions == unstable.get(api, request_type(api).valid_versions), api.name


def test_brokers_advertise_what_kafka_advertises() -> None:
    kafka = json.loads(ANSWERS.read_text())["frame: versions"]
    for api, served in BROKER_SERVED.served.items():
        if served.advertised is None:
            assert f"v4 {api.name}" not in kafka
        else:
            assert kafka[f"v4 {api.name}"] == f"{served.advertised.lowest}-{served.advertised.highest}", api.name


def test_brokers_keep_what_is_for_controllers_to_themselves() -> None:
    assert not CONTROLLER_ONLY_APIS & set(BROKER_SERVED.served)


def test_controllers_serve_all_that_is_theirs() -> None:
    assert set(CONTROLLER_SERVED.served) == CONTROLLER_APIS


def test_telemetry_is_answered_but_not_advertised() -> None:
    for api in (ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY):
        assert BROKER_SERVED.served[api].versions == VersionRange(0, 0)
        assert BROKER_SERVED.served[api].advertised is None


def test_old_produce_is_advertised_for_the_sake_of_librdkafka() -> None:
    produce = BROKER_SERVED.served[ApiKey.PRODUCE]
    assert (produce.versions, produce.advertised) == (VersionRange(3, 13), VersionRange(0, 13))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.handlers)
def test_every_call_has_a_handler(table: ApiTable) -> None:
    for api, served in table.served.items():
        assert callable(find_handler(table.handlers, api, served.answerer).handle), api.name


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.handlers)
def test_every_handler_has_a_call(table: ApiTable) -> None:
    path = importlib.import_module(table.handlers).__path__
    calls = {api.name.lower() for api in ApiKey}
    found = (module for module in pkgutil.walk_packages(path, f"{table.handlers}.") if not module.ispkg)
    places = (module.name.removeprefix(table.handlers).rpartition(".") for module in found)
    modules = {(room, name) for room, _, name in places if name in calls}
    answered = {(ROOMS.get(served.answerer), api.name.lower()) for api, served in table.served.items()}
    assert modules == {(room, name) for room, name in answered if room is not None}


def test_where_a_call_is_served_is_what_the_protocol_says() -> None:
    unknown = set(ApiKey) - set(API_ROWS)
    assert set(BROKER_SERVED.served) == BROKER_APIS - unknown
    assert set(CONTROLLER_SERVED.served) == CONTROLLER_APIS
