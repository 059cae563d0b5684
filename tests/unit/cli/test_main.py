"""`ottla` itself: help, versions, commands that are not there, and what it imports before it must."""

import subprocess
import sys

import pytest

from ottla.cli.main import COMMANDS, main


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed and command.summary in printed for name, command in COMMANDS.items())


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ottla 0.")


def test_an_unknown_command_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["brokr"]) == 2
    assert "there is no command brokr, did you mean broker?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("topics list --jsn", "there is no option --jsn, did you mean --json?"),
        ("topics list --jsn=1", "there is no option --jsn, did you mean --json?"),
        ("topics list --zzzzz", "there is no option --zzzzz; --help lists them"),
        ("topics", "an action is missing: list, describe, create, delete, alter, repartition"),
        ("topics lst", "there is no lst, did you mean list?"),
        ("topics zzzzz", "there is no zzzzz; there are list, describe, create, delete, alter, repartition"),
        ("perf produce t --acks al", "argument --acks: there is no al, did you mean all?"),
    ],
)
def test_what_is_mistyped_is_answered_with_the_nearest(
    wrong: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(wrong.split())
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"{said}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: ottla {command}" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["topics list", "doctor", "registry", "connect", "connect redrive", "streams list"])
def test_the_broker_is_named_as_in_kafkas_tools(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    assert "--bootstrap-server HOST:PORT" in capsys.readouterr().out


def test_help_fits_the_terminal_and_examples_stay_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        main(["cluster", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert "The cluster at a glance: brokers with what they hold, the" in lines
    assert any(
        line.endswith("would a partition fall below min.insync.replicas or lose its last leader candidate")
        for line in lines
    )


@pytest.mark.parametrize("arguments", ["--help", "broker --help", "config docs --help"])
def test_help_waits_for_no_heavy_import(arguments: str) -> None:
    code = (
        "import sys\nfrom ottla.cli.main import main\n"
        f"try: main({arguments.split()!r})\nexcept SystemExit: pass\n"
        "print(sorted(n for n in sys.modules if n in ('asyncio', 'immutables', 'cramjam') or n.startswith('ottla')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(eval(done.stdout.splitlines()[-1])) <= {
        "ottla", "ottla.base", "ottla.base.errors", "ottla.base.version", "ottla.cli", "ottla.cli.main",
        "ottla.cli.command_parser", "ottla.cli.ending", "ottla.cli.node", "ottla.cli.node.listen_default",
        "ottla.cli.commands", "ottla.cli.commands.node", "ottla.cli.commands.node.broker",
        "ottla.cli.commands.node.config",
    }  # fmt: skip


def test_an_error_is_one_line_and_costs_one(capsys: pytest.CaptureFixture[str], tmp_path: str) -> None:
    assert main(["broker", f"{tmp_path}/none.properties"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith(f"ottla: {tmp_path}/none.properties: could not be read")
    assert printed.count("\n") == 1
