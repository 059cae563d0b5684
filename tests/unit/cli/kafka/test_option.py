"""Options as Kafka's tools take them."""

import pytest

from ottla.cli.kafka.argument.option import Option, OptionTable, OptionValueError, ToolError

TABLE = OptionTable(
    "What it does.",
    (
        Option("list", "List."),
        Option("topic", "The topic.", "topic"),
        Option("count", "How many.", "count", "Integer", default="5"),
        Option("state", "The state.", "", is_optional=True),
    ),
)


def test_values_follow_their_names() -> None:
    chosen = TABLE.parse(["--list", "--topic", "-odd-name", "ignored", "-count=7"])
    assert chosen.has("list")
    assert chosen.text("topic") == "-odd-name"
    assert chosen.integer("count") == 7
    assert [name for name, _ in chosen.order] == ["list", "topic", "count"]


def test_defaults_count_only_when_nothing_was_given() -> None:
    chosen = TABLE.parse(["--list"])
    assert not chosen.has("count")
    assert chosen.integer("count") == 5
    assert chosen.text("topic") is None


def test_an_optional_value_may_be_left_out() -> None:
    chosen = TABLE.parse(["--state", "--list"])
    assert chosen.has("state")
    assert chosen.has("list")
    assert chosen.text("state") is None
    assert TABLE.parse(["--state", "Empty"]).text("state") == "Empty"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lis"], "lis is not a recognized option"),
        (["--topic"], "Option topic requires an argument"),
    ],
)
def test_what_can_not_be_parsed(arguments: list[str], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        TABLE.parse(arguments)


def test_several_values_where_one_is_wanted() -> None:
    chosen = TABLE.parse(["--topic", "a", "--topic", "b"])
    assert chosen.texts("topic") == ["a", "b"]
    with pytest.raises(ToolError, match="Found multiple arguments for option topic, but you asked for only one"):
        chosen.text("topic")


@pytest.mark.parametrize("number", ["1_000", " 5", "2147483648", "-2147483649", "", "٣"])
def test_numbers_are_javas(number: str) -> None:
    with pytest.raises(OptionValueError, match="Cannot parse argument"):
        TABLE.parse([f"--count={number}"]).integer("count")


def test_a_number_that_is_none() -> None:
    with pytest.raises(ToolError, match="Cannot parse argument 'x' of option count"):
        TABLE.parse(["--count", "x"]).integer("count")


def test_help_and_usage_errors_show_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    for call in (["--help"], []):
        with pytest.raises(SystemExit) as end:
            TABLE.parse(call)
        assert end.value.code == 1
        shown = capsys.readouterr().err
        assert shown.startswith("What it does.\nOption ")
        assert "--count <Integer: count>" in shown
    with pytest.raises(SystemExit):
        TABLE.parse(["--list", "--topic", "a"]).forbid("list", "topic")
    assert capsys.readouterr().err.startswith('Option "[list]" can\'t be used with option "[topic]"\n')


def test_the_version_is_kafkas(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        TABLE.parse(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, "4.3.1\n")
