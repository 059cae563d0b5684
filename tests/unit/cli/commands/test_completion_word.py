"""What Tab offers, found in the parsers themselves."""

from argparse import Namespace

import pytest

from ottla.cli.commands.completion_word import candidates
from ottla.cli.main import COMMANDS, main

ASKED: list[tuple[str, str | None]] = []


def _names(kind: str, options: Namespace) -> list[str]:
    ASKED.append((kind, options.bootstrap))
    return {"topic": ["orders", "users"], "group": ["billing"]}[kind]


def _words(*words: str) -> list[str]:
    return [word for word, _ in candidates(words, _names)]


def test_commands_and_actions() -> None:
    assert _words() == list(COMMANDS)
    assert _words("con") == ["config", "consume", "configs", "connect"]
    assert _words("topics", "d") == ["describe", "delete"]
    assert _words("nonsense", "") == []


def test_options_and_their_values() -> None:
    assert _words("consume", "--fi") == ["--filter"]
    assert "--if-not-exists" in _words("topics", "create", "--")
    assert _words("produce", "orders", "--format", "") == ["lines", "json"]
    assert _words("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("topics describe ", ["orders", "users"]),
        ("topics describe orders u", ["users"]),
        ("consume -b there:1 or", ["orders"]),
        ("produce ", ["orders", "users"]),
        ("produce orders ", []),
        ("groups reset ", ["billing"]),
        ("groups reset billing --topic ", ["orders", "users"]),
        ("configs show topic ", []),
    ],
)
def test_topics_and_groups_are_asked_for(line: str, found: list[str]) -> None:
    assert _words(*line.split(" ")) == found


def test_the_cluster_on_the_line_is_the_one_that_is_asked() -> None:
    ASKED.clear()
    _words("consume", "-b", "there:1", "")
    assert ASKED == [("topic", "there:1")]


@pytest.mark.parametrize(
    ("shell", "hook"),
    [("bash", "complete -o default -F"), ("zsh", "compdef"), ("fish", "complete -c ottla")],
)
def test_scripts_hook_into_their_shell(shell: str, hook: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert hook in capsys.readouterr().out
