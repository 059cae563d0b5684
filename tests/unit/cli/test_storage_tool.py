"""`kafka-storage`: what it prints, what it writes, what it costs. The integration tests compare it with Kafka's own."""

from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from ottla.cli.kafka.storage import main

ID = "AAAAAAAAQACAAAAAAAAAAQ"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "server.properties"
    path.write_text(
        "process.roles=broker,controller\nnode.id=1\nlisteners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
        "controller.listener.names=CONTROLLER\ncontroller.quorum.bootstrap.servers=localhost:9093\n"
        f"log.dirs={tmp_path}/a,{tmp_path}/b\n"
    )
    return str(path)


def test_ids_are_random_and_look_like_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    found = set()
    for _ in range(50):
        assert main(["random-uuid"]) == 0
        found.add(capsys.readouterr().out.strip())
    assert len(found) == 50
    assert all(Uuid.parse(text) and not text.startswith("-") for text in found)


def test_format_then_info(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["format", "-t", ID, "-c", file, "--standalone"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == [
        f"Formatting dynamic metadata voter directory {tmp_path}/a with metadata.version 4.3-IV0.",
        f"Formatting data directory {tmp_path}/b with metadata.version 4.3-IV0.",
    ]
    assert main(["info", "-c", file]) == 0
    assert f"Found metadata: {{cluster.id={ID}, directory.id=" in capsys.readouterr().out


@pytest.mark.parametrize("problem", ["missing", "file", "empty", "other cluster", "broken"])
def test_info_names_problems(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], problem: str) -> None:
    assert main(["format", "-t", ID, "-c", file, "--standalone"]) == 0
    second = tmp_path / "b"
    meta = second / "meta.properties"
    text = meta.read_text()
    if problem == "other cluster":
        meta.write_text(text.replace(ID, "AAAAAAAAQACAAAAAAAAAAg"))
    elif problem == "broken":
        meta.write_text("version=9\n")
    else:
        for path in second.iterdir():
            path.unlink()
        if problem != "empty":
            second.rmdir()
        if problem == "file":
            second.write_text("")
    capsys.readouterr()
    assert main(["info", "-c", file]) == 1
    expected = {
        "missing": f"{second} does not exist",
        "file": f"{second} is not a directory",
        "empty": f"{second} is not formatted.",
        "other cluster": "Mismatched cluster IDs between storage directories.",
        "broken": f"Error loading {meta}: ",
    }
    assert f"Found problem:\n  {expected[problem]}" in capsys.readouterr().out


def test_a_password_is_not_printed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    user = "SCRAM-SHA-256=[name=alice,password=alice-secret]"
    assert main(["format", "-t", ID, "-c", file, "-s", "-S", user]) == 0
    printed = capsys.readouterr().out
    assert "UserScramCredentialRecord(name='alice', mechanism=1, ***)" in printed
    assert "alice-secret" not in printed


def test_a_wrong_call_costs_one_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, reason in (
        ([], "kafka-storage: error: too few arguments"),
        (["info"], "kafka-storage: error: argument --config/-c is required"),
        (["format", "-c", "x"], "kafka-storage: error: argument --cluster-id/-t is required"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 1
        assert capsys.readouterr().err.splitlines()[-1] == reason


def test_a_bad_file_is_named_with_its_line(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(file).write_text(Path(file).read_text() + "num.partitions=x\n")
    assert main(["info", "-c", file]) == 1
    assert f"{file}, line 7: Invalid value x for configuration num.partitions" in capsys.readouterr().err
