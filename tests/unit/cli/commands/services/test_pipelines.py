"""The commands and definitions on docs/PIPELINES.md are ones that there are."""

import argparse
import json
import re
import shlex
from pathlib import Path

import pytest

from ottla.cli.commands.services import pipelines
from ottla.cli.output.advice import CommandError
from ottla.pipelines.copy.kind import CopyKind
from ottla.pipelines.runner.spec import PipelineSpec

PAGE = (Path(__file__).parents[5] / "docs" / "PIPELINES.md").read_text()


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    pipelines.add_arguments(parser)
    return parser.parse_args(words)


def test_commands_and_definitions_of_the_page_are_good() -> None:
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    commands = [shlex.split(line.removesuffix(" &")) for line in lines if line.startswith("ottla pipelines ")]
    assert len(commands) >= 3
    found = [parsed(words[2:]) for words in commands]
    definitions = [json.loads(each.definition) for each in found if each.action == "create"]
    definitions += [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    assert len(definitions) >= 2
    for definition in definitions:
        CopyKind().check(definition)


def test_the_page_has_every_action_and_every_field_of_a_spec() -> None:
    for action in pipelines._ACTIONS:
        assert re.search(rf"`[^`]*\b{action}\b[^`]*`", PAGE), action
    for field in json.loads(PipelineSpec(name="p", kind="copy").to_json()):
        assert f"| `{field}` |" in PAGE, field


@pytest.mark.parametrize("action", ["pause", "resume", "stop", "restart", "delete", "show", "log"])
def test_actions_on_a_pipeline_need_its_name(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert parsed([action, "eu"]).name == "eu"
    with pytest.raises(SystemExit):
        parsed([action])
    assert "NAME" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "definition", "said"),
    [
        ("copi", '{"from": "a", "to": "b"}', "there is no kind of pipeline 'copi'; there are connect, copy, streams"),
        ("copy", '{"from": "a"}', "'to': there has to be one"),
        ("streams", "{}", "'topology' has to be module:function"),
    ],
)
def test_a_definition_that_can_never_work_is_refused_before_it_is_written(
    kind: str, definition: str, said: str
) -> None:
    options = parsed(["create", "bad", "--kind", kind, "--definition", definition, "-b", "localhost:1", "--wait", "0"])
    with pytest.raises(CommandError, match=said):
        pipelines.run(options)
