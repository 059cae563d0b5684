"""From files and overrides to settings: a bad one is named with its file, line, key and reason."""

from pathlib import Path

import pytest

from ottla.broker.config.loading import ConfigLoadError, load_server_config
from tests.unit.broker.config.settings import COMBINED


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text("# a node\n" + "".join(f"{name}={value}\n" for name, value in COMBINED.items()))
    return path


def _add(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


def test_overrides_lie_over_the_file(file: Path) -> None:
    _add(file, "num.partitions=3\n")
    assert load_server_config(file).integer("num.partitions") == 3
    assert load_server_config(file, ["num.partitions=4", "num.partitions = 5"]).integer("num.partitions") == 5


def test_a_bad_value_names_file_line_key_and_reason(file: Path) -> None:
    _add(file, "\nnum.partitions = many\n")
    with pytest.raises(ConfigLoadError) as caught:
        load_server_config(file)
    assert str(caught.value) == (
        f"{file}, line 8: Invalid value many for configuration num.partitions: Not a number of type INT"
    )


def test_a_conflict_names_the_line_of_the_setting_to_change(file: Path) -> None:
    _add(file, "broker.id=9\n")
    with pytest.raises(ConfigLoadError, match=r"line 7: You must set `node\.id` to the same value as `broker\.id`"):
        load_server_config(file)


def test_a_missing_setting_names_the_file(file: Path) -> None:
    file.write_text("node.id=1\n")
    with pytest.raises(ConfigLoadError, match=r'server\.properties: Missing required configuration "process\.roles"'):
        load_server_config(file)


def test_a_bad_override_is_told_as_such_and_shows_no_secret(file: Path) -> None:
    with pytest.raises(ConfigLoadError, match=r"--override node\.id: Invalid value x"):
        load_server_config(file, ["node.id=x"])
    with pytest.raises(ConfigLoadError, match="it should read name=value"):
        load_server_config(file, ["node.id"])
    with pytest.raises(ConfigLoadError) as caught:
        load_server_config(file, ["ssl.keystore.passwort=hunter2"], strict=True)
    assert "hunter2" not in str(caught.value)


def test_unknown_names_are_refused_only_when_strict(file: Path) -> None:
    _add(file, "nmu.partitions=3\nsuper.users=User:a\n")
    assert [unknown.nearest for unknown in load_server_config(file).unknown] == ["num.partitions"]
    with pytest.raises(ConfigLoadError) as caught:
        load_server_config(file, strict=True)
    assert str(caught.value) == (f"{file}, line 7: unknown configuration nmu.partitions (did you mean num.partitions?)")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigLoadError, match=r"none\.properties: could not be read: No such file"):
        load_server_config(tmp_path / "none.properties")


def test_a_line_that_is_no_property_is_named(file: Path) -> None:
    _add(file, "broker.rack=\\u12\n")
    with pytest.raises(ConfigLoadError, match=r"server\.properties, line 7: malformed"):
        load_server_config(file)


def test_files_in_the_encoding_of_java_are_read(file: Path) -> None:
    file.write_bytes(file.read_bytes() + "broker.rack=Zürich\n".encode("latin-1"))
    assert load_server_config(file).rack == "Zürich"
    file.write_bytes(file.read_bytes().replace("ü".encode("latin-1"), "ü".encode()))
    assert load_server_config(file).rack == "Zürich"


def test_a_sentence_that_does_not_name_its_setting_gets_the_name(file: Path) -> None:
    _add(file, "group.coordinator.rebalance.protocols=consumer\n")
    with pytest.raises(ConfigLoadError) as caught:
        load_server_config(file)
    assert str(caught.value) == (
        f"{file}, line 7: group.coordinator.rebalance.protocols: Disabling the 'classic' protocol is not supported."
    )
