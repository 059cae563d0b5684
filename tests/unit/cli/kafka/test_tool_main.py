"""The frame of Kafka's tools: exit codes, the arguments of the process, and the words of an error."""

import sys

import pytest

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import Option, OptionTable, OptionValueError, ToolError
from ottla.cli.kafka.session.tool_main import Tell, behind, plainly, tool_main, with_any_java_class, with_java_class
from ottla.protocol.errors import NonEmptyGroupError

JAVA = "org.apache.kafka.common.errors.GroupNotEmptyException"


def test_work_without_an_exit_code_has_succeeded() -> None:
    @tool_main()
    def main(arguments: list[str]) -> None:
        assert arguments == ["--list"]

    assert main(["--list"]) == 0


def test_arguments_are_those_of_the_process_if_none_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    @tool_main()
    def main(arguments: list[str]) -> int:
        return len(arguments)

    monkeypatch.setattr(sys, "argv", ["kafka-topics", "--list", "--exclude-internal"])
    assert (main(), main([])) == (2, 0)


@pytest.mark.parametrize(
    ("tell", "error", "said"),
    [
        (plainly, NonEmptyGroupError("it has members"), "it has members\n"),
        (with_java_class, NonEmptyGroupError("it has members"), f"{JAVA}: it has members\n"),
        (with_java_class, ToolError("no such option"), "no such option\n"),
        (with_any_java_class, ToolError("not so"), "java.lang.IllegalArgumentException: not so\n"),
        (behind("ERROR: "), ToolError("not so"), "ERROR: not so\n"),
    ],
)
def test_an_error_costs_one_and_is_told(
    tell: Tell, error: OttlaError, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @tool_main(tell)
    def main(arguments: list[str]) -> None:
        raise error

    assert main([]) == 1
    assert capsys.readouterr() == ("", said)


def test_the_options_are_shown_to_a_user_whose_call_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    options = OptionTable("A tool.", [Option("topic", "The topic.", "topic")])
    with pytest.raises(SystemExit, match="1"), options.shown_for_errors():
        options.parse(["--topik"])
    said = capsys.readouterr().err
    assert said.startswith("topik is not a recognized option\n")
    assert "--topic <String: topic>" in said


def test_errors_with_words_of_their_own_pass(capsys: pytest.CaptureFixture[str]) -> None:
    options = OptionTable("A tool.", [Option("timeout", "How long.", "ms", "Integer")])
    with pytest.raises(OptionValueError), options.shown_for_errors(but=OptionValueError):
        options.parse(["--timeout", "soon"]).integer("timeout")
    assert capsys.readouterr() == ("", "")
