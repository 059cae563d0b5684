"""Settings of the commands that serve HTTP, made of their options."""

import argparse

import pytest

from ottla.cli.service_option import add_service_arguments, service_settings


@pytest.mark.parametrize(
    ("given", "listeners"),
    [("8085", "127.0.0.1:8085"), (":8085", ":8085"), ("0.0.0.0:8085", "0.0.0.0:8085"), ("https://:1", "https://:1")],
)
def test_a_port_alone_means_this_machine_as_for_the_broker(given: str, listeners: str) -> None:
    parser = argparse.ArgumentParser()
    add_service_arguments(parser, "127.0.0.1:8081")
    assert service_settings(parser.parse_args(["--listen", given])) == {"listeners": listeners}
