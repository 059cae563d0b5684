"""`ottla config upgrade`: what was changed carries a comment, all else stays."""

from pathlib import Path

import pytest

from ottla.base.config.file import parse_properties
from ottla.broker.config.server_config import ServerConfig
from ottla.cli.node.config_upgrade import UpgradeError, upgraded, upgraded_file

OLDER = """\
# my server
broker.id=0
port = 19693
host.name=127.0.0.1
zookeeper.connect=one:2181,\\
  two:2181

log.dirs=./logs/kafka-0
log.message.format.version=1.1
"""


def test_every_changed_line_has_a_comment_and_the_rest_stays() -> None:
    lines = upgraded(OLDER).splitlines()
    assert lines[:11] == [
        "# my server",
        "broker.id=0",
        "# 4.3: port = 19693 is gone, listeners names host and port",
        "listeners=PLAINTEXT://127.0.0.1:19693,CONTROLLER://localhost:29693",
        "# 4.3: host.name=127.0.0.1 is gone, listeners has it",
        "# 4.3: zookeeper.connect is gone, there is no ZooKeeper any more: without controller.quorum.bootstrap.servers "
        "a node is a cluster of its own",
        "#   zookeeper.connect=one:2181,\\",
        "#     two:2181",
        "",
        "log.dirs=./logs/kafka-0",
        "# 4.3: log.message.format.version=1.1 is gone, records always have format 2",
    ]


def test_the_result_is_a_file_that_starts_and_is_not_changed_again() -> None:
    result = upgraded(OLDER)
    config = ServerConfig(parse_properties(result))
    assert (config.node_id, config.is_broker, config.is_controller, config.unknown) == (0, True, True, ())
    assert upgraded(result) == f"# ottla config upgrade: nothing in this file is of an older Kafka.\n{result}"


def test_listeners_that_were_there_get_the_controllers_beside_them() -> None:
    lines = upgraded("zookeeper.connect=a:1\nlisteners=PLAINTEXT://:9092\n").splitlines()
    assert lines[1:3] == [
        "# 4.3: was listeners=PLAINTEXT://:9092, the controller listens, too",
        "listeners=PLAINTEXT://:9092,CONTROLLER://localhost:19092",
    ]


@pytest.mark.parametrize(
    ("older", "listeners"),
    [
        ("process.roles=broker,controller\nbroker.id=1\nport=19393\nzookeeper.connect=a:1\n",
         "PLAINTEXT://:19393,CONTROLLER://localhost:29393"),
        ("process.roles=broker,controller\nnode.id=1\n", "PLAINTEXT://:9092,CONTROLLER://localhost:19092"),
        ("process.roles=broker,controller\nnode.id=1\nlisteners=PLAINTEXT://:9092,CONTROLLER://:9093\n",
         "PLAINTEXT://:9092,CONTROLLER://:9093"),
        ("process.roles=controller\nnode.id=1\nport=9093\n", "PLAINTEXT://:9093"),
        ("process.roles=controller\nnode.id=1\n", "CONTROLLER://localhost:9093"),
        ("process.roles=controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:9093\n",
         "CONTROLLER://localhost:9093"),
    ],
)  # fmt: skip
def test_a_controller_without_a_listener_gets_one(older: str, listeners: str) -> None:
    config = ServerConfig(parse_properties(upgraded(older)))
    assert ",".join(config.strings("listeners")) == listeners
    assert [address.port for address in config.controller_listeners] == [
        *(server.port for server in config.quorum_bootstrap_servers),
        *(voter.port for voter in config.quorum_voters),
    ]


def test_a_file_that_is_none_is_answered_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UpgradeError, match=r"absent: No such file or directory; give the server\.properties"):
        upgraded_file(str(tmp_path / "absent"))
    broken = tmp_path / "broken"
    broken.write_text("a=\\u12\n")
    with pytest.raises(UpgradeError, match="broken, line 1: malformed"):
        upgraded_file(str(broken))
