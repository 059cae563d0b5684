"""Where Apache Kafka's test server listens as a controller, for formatting a directory in its place."""

from pathlib import Path

from ottla.raft.endpoint import Address, Endpoints
from tests.unit.metadata.store.node import LISTENER


def controller_endpoints(server_directory: Path) -> Endpoints:
    """The controller listener in the server's configuration."""
    lines = (server_directory / "server.properties").read_text().splitlines()
    listeners = dict(line.split("=", 1) for line in lines)["listeners"].split(",")
    [address] = [entry.removeprefix(f"{LISTENER}://") for entry in listeners if entry.startswith(LISTENER)]
    host, _, port = address.partition(":")
    return Endpoints({LISTENER: Address(host, int(port))})
