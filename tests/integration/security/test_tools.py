"""Every tool on a listener with TLS, log-in and rights: `--command-config` is all that it takes."""

from collections.abc import Iterator

import pytest

from tests.integration.cli.ottla_command import Ottla
from tests.integration.security.lab import run
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED

TOPIC = "tools"
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    changes = {**GUARDED, "super.users": "User:ANONYMOUS;User:alice", "delegation.token.secret.key": "secret"}
    with SecuredNode(tmp_path_factory.mktemp("tools"), **changes) as found:
        yield found


@pytest.fixture(scope="module")
def config(node: SecuredNode, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Alice's settings."""
    path = tmp_path_factory.mktemp("client") / "alice.properties"
    path.write_text(
        f"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nssl.truststore.location={node.authority.certificate}\n"
        f'sasl.jaas.config={_MODULE} username="alice" password="secret";\n'
    )
    return str(path)


@pytest.fixture(scope="module", autouse=True)
def topic(node: SecuredNode, config: str) -> None:
    made = run("topics", "--bootstrap-server", node.address("SASLTLS"), "--command-config", config,
               "--create", "--topic", TOPIC)  # fmt: skip
    assert made.code == 0, made.said
    sent = run("console_producer", "--bootstrap-server", node.address("SASLTLS"), "--command-config", config,
               "--topic", TOPIC, given="one\n")  # fmt: skip
    assert sent.code == 0, sent.said


@pytest.mark.long
@pytest.mark.parametrize(
    "call",
    [
        "topics --describe",
        "configs --describe --entity-type topics --entity-name tools",
        "acls --list",
        "broker_api_versions",
        "client_metrics --list",
        "cluster cluster-id --bootstrap-server {address} --config {config}",
        "console_consumer --topic tools --from-beginning --max-messages 1 --timeout-ms 60000",
        "consumer_groups --list",
        "consumer_perf_test --topic tools --num-records 1 --timeout 60000",
        "delegation_tokens --create --max-life-time-period -1",
        "e2e_latency {address} tools 1 1 20 {config}",
        "features describe",
        "get_offsets --topic tools",
        "groups --list",
        "leader_election --election-type preferred --all-topic-partitions",
        "log_dirs --describe --topic-list tools",
        "metadata_quorum describe --status",
        "producer_perf_test --topic tools --num-records 1 --record-size 10 --throughput -1",
        "transactions list",
    ],
)  # fmt: skip
def test_kafkas_tools(node: SecuredNode, config: str, call: str) -> None:
    address = node.address("SASLTLS")
    tool, *words = call.format(config=config, address=address).split()
    usual = () if "{address}" in call else ("--bootstrap-server", address, "--command-config", config)
    done = run(tool, *usual, *words)
    assert done.code == 0, done.said


@pytest.mark.parametrize(
    "call",
    [
        "topics list", "topics describe tools", "configs show topic tools", "groups list", "offsets tools",
        "acls list", "users list", "cluster", "consume tools --from beginning -n 1",
        "records delete tools --before 1",
    ],
)  # fmt: skip
def test_our_commands(node: SecuredNode, config: str, call: str) -> None:
    done = Ottla(node.address("SASLTLS"))(*call.split(), "--command-config", config)
    assert done.code == 0, f"{done.out}\n{done.err}"
