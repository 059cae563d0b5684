"""Which port a node could listen on, and why not on another."""

import socket

import pytest

from ottla.cli.node.port import free_port, is_taken, refusal


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_taken_port_is_told_from_a_free_one_in_both_families(family: socket.AddressFamily, host: str) -> None:
    with socket.socket(family) as other:
        try:
            other.bind((host, 0))
        except OSError:
            pytest.skip(f"there is no {host} on this machine")
        other.listen()
        port = other.getsockname()[1]
        found = refusal(host, port)
        assert found is not None
        assert is_taken(found)
        assert free_port(host, port) != port
        assert refusal(host, 0) is None
