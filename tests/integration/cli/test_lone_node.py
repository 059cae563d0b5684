"""The settings of `ottla broker`: useful without a file, a file's own where there is one."""

from pathlib import Path

import pytest

from ottla.broker.config.listener import HostPort, ListenerAddress
from ottla.broker.config.loading import ConfigLoadError
from ottla.broker.config.server_config import ServerConfig
from ottla.cli.node.auto_format import AutoFormatError, format_if_empty
from ottla.cli.node.lone_node import LoneNodeOptions, lone_node_settings
from ottla.storage.disk.local import LocalDisk
from ottla.storage.meta_properties import read_meta_properties


def _config(**options: object) -> ServerConfig:
    return lone_node_settings(LoneNodeOptions(**options)).config()  # type: ignore[arg-type]


def _file(directory: Path, text: str) -> str:
    path = directory / "server.properties"
    path.write_text(text)
    return str(path)


def test_without_a_file_it_is_a_cluster_of_its_own() -> None:
    config = _config(http="off")
    assert config.roles == {"broker", "controller"}
    assert config.node_id == 1
    assert config.broker_listeners == (ListenerAddress("PLAINTEXT", "127.0.0.1", 9092),)
    assert config.controller_listeners[0].host == "127.0.0.1"
    assert config.follow_dialled_address
    assert config.log_dirs == ("./ottla-data",)
    assert config.integer("offsets.topic.replication.factor") == 1
    assert config.http_listen is None


def test_options_say_where(tmp_path: Path) -> None:
    config = _config(data=str(tmp_path / "d"), listen=":19092", http="127.0.0.1:19644", overrides=["num.partitions=7"])
    assert config.broker_listeners == (ListenerAddress("PLAINTEXT", "", 19092),)
    assert config.log_dirs == (str(tmp_path / "d"),)
    assert config.http_listen == HostPort("127.0.0.1", 19644)
    assert config.integer("num.partitions") == 7


def test_what_a_file_says_counts_and_the_rest_keeps_its_default(tmp_path: Path) -> None:
    text = (
        "listeners=PLAINTEXT://:29092,C://localhost:29093\ncontroller.listener.names=C\nprocess.roles=broker,controller\n"
        "node.id=5\ncontroller.quorum.voters=5@localhost:29093\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,"
        f"C:PLAINTEXT\nadvertised.listeners=PLAINTEXT://h:1\nlog.dirs={tmp_path}/d\noffsets.topic.replication.factor=3\n"
    )
    config = _config(config=_file(tmp_path, text))
    assert config.node_id == 5
    assert config.broker_listeners == (ListenerAddress("PLAINTEXT", "", 29092),)
    assert config.quorum_bootstrap_servers == ()
    assert not config.follow_dialled_address
    assert config.integer("offsets.topic.replication.factor") == 3
    assert config.integer("transaction.state.log.min.isr") == 1


def test_the_controller_leaves_the_port_for_metrics_alone() -> None:
    config = _config(listen="127.0.0.1:19092", http="127.0.0.1:19093")
    assert config.http_listen == HostPort("127.0.0.1", 19093)
    assert config.controller_listeners[0].port != 19093


def test_a_small_file_needs_no_word_of_controllers(tmp_path: Path) -> None:
    config = _config(config=_file(tmp_path, "listeners=PLAINTEXT://localhost:29092\nbroker.id=3\n"))
    assert config.node_id == 3
    assert [listener.name for listener in config.listeners] == ["PLAINTEXT", "CONTROLLER"]


def test_where_clients_connect_can_be_said_beside_a_file(tmp_path: Path) -> None:
    text = "listeners=PLAINTEXT://:29092,CONTROLLER://localhost:29093\ncontroller.listener.names=CONTROLLER\n"
    config = _config(config=_file(tmp_path, text), listen="39092")
    assert config.broker_listeners == (ListenerAddress("PLAINTEXT", "127.0.0.1", 39092),)
    assert config.controller_listeners == (ListenerAddress("CONTROLLER", "localhost", 29093),)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigLoadError, match="localhost is no address to listen on"):
        _config(listen="localhost")


def test_data_in_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(ConfigLoadError, match="data is no directory"):
        _config(data=str(tmp_path / "data"))


def test_an_empty_directory_is_formatted_once(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    assert format_if_empty(_config(data=data))
    first = read_meta_properties(LocalDisk(), data)
    assert first is not None
    assert first.node_id == 1
    assert not format_if_empty(_config(data=data))
    assert read_meta_properties(LocalDisk(), data) == first


def test_data_of_another_node_id_is_served_under_that_id(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    format_if_empty(_config(data=data, overrides=["node.id=42"]))
    assert _config(data=data).node_id == 42


def test_a_further_directory_joins_the_cluster_that_there_is(tmp_path: Path) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    format_if_empty(_config(data=one))
    assert not format_if_empty(_config(data=f"{one},{two}"))
    first, second = (read_meta_properties(LocalDisk(), directory) for directory in (one, two))
    assert first is not None
    assert second is not None
    assert first.cluster_id == second.cluster_id
    with pytest.raises(AutoFormatError, match="was a disk lost"):
        format_if_empty(_config(data=f"{tmp_path / 'zero'},{one}"))


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(AutoFormatError, match=r"neither empty nor formatted \(it holds thesis\.tex\)"):
        format_if_empty(_config(data=str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "more",
    [
        "controller.quorum.bootstrap.servers=elsewhere:9093\n",
        "controller.quorum.voters=1@a:1,2@b:2\n",
        "process.roles=broker\ncontroller.listener.names=C\ncontroller.quorum.bootstrap.servers=elsewhere:9093\n",
    ],
)
def test_a_node_of_a_larger_cluster_is_not_formatted_by_itself(tmp_path: Path, more: str) -> None:
    config = _config(config=_file(tmp_path, more), data=str(tmp_path / "data"))
    with pytest.raises(AutoFormatError, match="cluster of several"):
        format_if_empty(config)
