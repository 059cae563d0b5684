"""What a running node's process does with signals and settings, as far as that needs no node."""

import logging
import os

import pytest

from ottla.cli import serving
from tests.unit.broker.config.settings import config_of


def test_the_second_interrupt_ends_the_process_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    service = serving._Service(config_of(), None)
    service._interrupted()
    assert codes == []
    service._interrupted()
    assert codes == [130]


def test_an_interrupt_after_a_termination_ends_the_process_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    service = serving._Service(config_of(), None)
    service._terminated()
    service._interrupted()
    assert codes == [130]


def test_a_node_that_would_serve_unprotected_does_not_start(caplog: pytest.LogCaptureFixture) -> None:
    assert serving.serve(config_of(authorizer_class_name="x")) == 1
    assert "no such Python class" in caplog.text


def test_settings_are_reported_a_line_each(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        serving.report(config_of(num_partition="3", num_network_threads="3", ssl_protocol="TLSv1.2"))
    assert [record.getMessage() for record in caplog.records] == [
        "unknown configuration num.partition (did you mean num.partitions?)",
        "These settings are accepted, but nothing acts on them: num.network.threads, ssl.protocol",
    ]
