"""What the tools that Kafka wrote with argparse4j answer to calls that ask for nothing, as seen of its own tools."""

import importlib
from collections.abc import Sequence

import pytest

from ottla.cli.argument import ToolParser, add_commands

HELP_CODES = {
    "cluster": 1,
    "transactions": 1,
    "producer_perf_test": 1,
    "verifiable_producer": 1,
    "verifiable_consumer": 1,
    "features": 0,
    "metadata_quorum": 0,
    "storage": 0,
}


def ended(module: str, arguments: Sequence[str]) -> object:
    with pytest.raises(SystemExit) as end:
        importlib.import_module(f"ottla.cli.kafka.{module}").main(arguments)
    return end.value.code


@pytest.mark.parametrize(("module", "code"), HELP_CODES.items())
def test_help_costs_what_it_costs_in_kafka(module: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(module, ["--help"]) == code
    assert capsys.readouterr().out.startswith("usage: ")


def test_help_of_a_sub_command_costs_the_same() -> None:
    assert ended("cluster", ["cluster-id", "--help"]) == 1
    assert ended("features", ["describe", "--help"]) == 0


@pytest.mark.parametrize("module", [module for module in HELP_CODES if module != "features"])
def test_an_unknown_option_is_named_before_what_is_missing(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(module, ["--nonsense=5", "--more"]) == 1
    assert capsys.readouterr().err.endswith(": error: unrecognized arguments: '--nonsense=5'\n")


def test_features_have_words_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("features", ["--bootstrap-server", "a:1", "upgrade", "--nonsense"]) == 1
    said = capsys.readouterr().err
    assert said == "Command line error: unrecognized arguments: '--nonsense'. Type --help for help."


@pytest.fixture
def parser() -> ToolParser:
    made = ToolParser(prog="tool")
    made.add_argument("--server", "-s")
    made.add_argument("--count", type=int)
    command = add_commands(made, [("do", "does it")])["do"]
    command.add_argument("--how", required=True)
    return made


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--server"], "argument --server/-s: expected one argument"),
        (["--server", "a", "-x", "do"], "unrecognized arguments: '-x'"),
        (["do", "--server", "a"], "unrecognized arguments: '--server'"),
        (["do", "--how", "x", "extra"], "unrecognized arguments: 'extra'"),
        (["do"], "argument --how is required"),
        (["--server", "a"], "too few arguments"),
    ],
)
def test_the_first_mistake_is_the_one_that_is_told(
    parser: ToolParser, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parser.parse_args(arguments)
    assert end.value.code == 1
    assert capsys.readouterr().err.endswith(f"tool: error: {words}\n")


def test_what_looks_unknown_and_is_not(parser: ToolParser) -> None:
    found = parser.parse_args(["-sa", "--count", "-5", "do", "--ho=--x"])
    assert (found.server, found.count, found.how) == ("a", -5, "--x")
