"""Definitions of connectors: what is read, what is refused, and what a task's process is told."""

from pathlib import Path
from typing import Any

import pytest

from ottla.pipelines.connect.definition import TaskJob, read_definition
from ottla.pipelines.connect.kind import ConnectorKind
from ottla.pipelines.runner.kind import InvalidDefinitionError, kind_of

CONFIG = {"connector.class": "FileStreamSource", "file": "a.txt", "topic": "lines"}
CLUSTER = {"bootstrap.servers": "b:9092", "security.protocol": "SSL"}


def test_a_connector_plans_its_tasks_where_the_definition_does_not() -> None:
    found = read_definition("lines", {"config": CONFIG, "worker": {"bootstrap.servers": "c:9092"}}, CLUSTER)
    assert found.worker == {"bootstrap.servers": "c:9092", "security.protocol": "SSL"}
    [job] = found.jobs("place")
    assert (job.name, job.number, job.settings["file"], found.is_sink) == ("lines", 0, "a.txt", False)
    assert TaskJob(**job.to_json()) == job
    assert "a.txt" not in repr(job)
    assert isinstance(kind_of("connect"), ConnectorKind)


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        ({"config": CONFIG, "tasks": {}}, "'tasks' has to be a list of objects"),
        ({"config": CONFIG, "tasks": [{"a": 1}]}, "'tasks' has to be an object of texts"),
        ({"config": {**CONFIG, "tasks.max": 2}}, "'config' has to be an object of texts"),
        ({"config": CONFIG, "worker": {"bootstrap.servers": ""}}, "there has to be 'bootstrap.servers'"),
        ({"config": {**CONFIG, "connector.class": "None"}}, "Failed to find any class that implements Connector"),
        ({"config": {**CONFIG, "tasks.max": "no"}}, "Not a number of type INT"),
        ({"configuration": {}}, "'configuration' is none of config, connector, tasks"),
    ],
)
def test_what_can_never_work_is_refused(definition: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        ConnectorKind().check(definition)


def test_placeholders_are_replaced_where_the_task_runs(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("topic=hidden\n")
    worker = {
        "bootstrap.servers": "b:9092", "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }  # fmt: skip
    config = {**CONFIG, "topic": f"${{file:{tmp_path}/secrets:topic}}"}
    [job] = read_definition("lines", {"config": config, "worker": worker, "tasks": [config]}, {}).jobs("place")
    assert "hidden" not in str(job.to_json())
    assert (job.resolved().config["topic"], job.resolved().settings["topic"]) == ("hidden", "hidden")
