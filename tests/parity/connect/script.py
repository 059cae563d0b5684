"""The questions, in their order: each subject leaves the worker as it found it."""

from pathlib import Path
from typing import Any, Final

from tests.parity.connect.talk import Talk

SOURCE: Final = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK: Final = "org.apache.kafka.connect.file.FileStreamSinkConnector"
SUNK: Final = "parity-sunk"
STRING: Final = "org.apache.kafka.connect.storage.StringConverter"


def ask_everything(talk: Talk, directory: Path) -> None:
    """Every subject; `directory` has the connectors' files."""
    for subject in (
        _worker,
        _shape,
        _create,
        _change,
        _state,
        _restart,
        _offsets,
        _sink_offsets,
        _validate,
        _plugin,
        _logger,
        _internal,
    ):
        subject(talk, directory)


def source(directory: Path, **more: str | None) -> dict[str, Any]:
    """A file source's settings; None leaves one out."""
    settings = {"connector.class": SOURCE, "file": str(directory / "in.txt"), "topic": "parity-lines"}
    settings |= {name.replace("__", "."): each for name, each in more.items()}  # type: ignore[misc]
    return {name: each for name, each in settings.items() if each is not None}


def sink(directory: Path, **more: str | None) -> dict[str, Any]:
    """A file sink's settings."""
    settings = {"connector.class": "FileStreamSink", "file": str(directory / "out.txt"), "topics": "parity-lines"}
    settings |= {name.replace("__", "."): each for name, each in more.items()}  # type: ignore[misc]
    return {name: each for name, each in settings.items() if each is not None}


def _worker(talk: Talk, _: Path) -> None:
    talk.ask("worker/root", "GET", "/")
    talk.ask("worker/health", "GET", "/health")
    talk.ask("worker/no connectors", "GET", "/connectors")
    talk.ask("worker/slash at the end", "GET", "/connectors/")


def _shape(talk: Talk, directory: Path) -> None:
    config = source(directory)
    talk.ask("shape/unknown path", "GET", "/nothing")
    talk.ask("shape/unknown below", "GET", "/connectors/a/b/c")
    talk.ask("shape/wrong method", "DELETE", "/connectors")
    talk.ask("shape/wrong method of status", "POST", "/connectors/a/status", {})
    talk.ask("shape/wrong type", "POST", "/connectors", {"name": "a", "config": config}, Content_Type="text/plain")
    talk.ask("shape/unacceptable", "GET", "/connectors", Accept="text/html")
    talk.ask("shape/unacceptable unknown path", "GET", "/nothing", Accept="text/html")
    for name, body in {
        "no json": b"{",
        "empty": b"",
        "list": b"[]",
        "text": b'"a"',
        "null": b"null",
        "unknown field": b'{"name":"a","config":{},"more":1}',
        "config is text": b'{"name":"a","config":"x"}',
        "no config": b'{"name":"a"}',
        "nested config": b'{"name":"a","config":{"b":{"c":1}}}',
        "initial state": b'{"name":"a","config":{},"initial_state":"FLYING"}',
    }.items():
        talk.ask(f"shape/create: {name}", "POST", "/connectors", raw=body)
    talk.ask("shape/config: list", "PUT", "/connectors/a/config", raw=b"[]")
    talk.ask("shape/config: no json", "PUT", "/connectors/a/config", raw=b"{")
    for path in ("", "/config", "/status", "/tasks", "/tasks/0/status", "/topics", "/offsets", "/tasks-config"):
        talk.ask(f"shape/unknown connector{path}", "GET", f"/connectors/nobody{path}")
    for change in ("pause", "resume", "stop", "topics/reset"):
        talk.ask(f"shape/unknown connector {change}", "PUT", f"/connectors/nobody/{change}")
    talk.ask("shape/unknown connector delete", "DELETE", "/connectors/nobody")
    talk.ask("shape/unknown connector restart", "POST", "/connectors/nobody/restart")
    talk.ask("shape/unknown connector restart tasks", "POST", "/connectors/nobody/restart?includeTasks=true")
    talk.ask("shape/unknown connector restart task", "POST", "/connectors/nobody/tasks/0/restart")
    talk.ask("shape/unknown connector patch", "PATCH", "/connectors/nobody/config", {"a": "b"})
    talk.ask("shape/unknown connector delete offsets", "DELETE", "/connectors/nobody/offsets")
    talk.ask(
        "shape/unknown connector alter offsets",
        "PATCH",
        "/connectors/nobody/offsets",
        {"offsets": [{"partition": {"a": 1}, "offset": {"b": 2}}]},
    )


def _create(talk: Talk, directory: Path) -> None:
    config = source(directory)
    talk.ask("create/no class", "POST", "/connectors", {"name": "a", "config": {"topic": "t"}})
    talk.ask("create/unknown class", "POST", "/connectors", {"name": "a", "config": {"connector.class": "com.x.Nope"}})
    talk.ask("create/invalid", "POST", "/connectors", {"name": "a", "config": source(directory, topic=None)})
    talk.ask(
        "create/two errors",
        "POST",
        "/connectors",
        {"name": "a", "config": source(directory, topic=None, tasks__max="x")},
    )
    talk.ask("create/other name", "POST", "/connectors", {"name": "a", "config": {**config, "name": "b"}})
    talk.ask("create/no name", "POST", "/connectors", {"config": config})
    talk.ask("create/empty name", "POST", "/connectors", {"name": "", "config": config})
    talk.ask("create/blank name", "POST", "/connectors", {"name": "  ", "config": config})
    talk.ask("create/control character", "POST", "/connectors", {"name": "a\nb", "config": config})
    talk.ask("create/null value", "POST", "/connectors", {"name": "a", "config": {**config, "file": None}})
    talk.ask("create/delete null value", "DELETE", "/connectors/a")
    talk.ask("create/bad state", "POST", "/connectors", {"name": "a", "config": config, "initial_state": "off"})
    talk.ask("create/new", "POST", "/connectors", {"name": "  lines ", "config": {**config, "tasks.max": 2, "x": True}})
    talk.until_tasks("lines", 1)
    talk.ask("create/again", "POST", "/connectors", {"name": "lines", "config": config})
    talk.ask("create/get", "GET", "/connectors/lines")
    talk.ask("create/get config", "GET", "/connectors/lines/config")
    talk.ask("create/get tasks", "GET", "/connectors/lines/tasks")
    talk.ask("create/get tasks config", "GET", "/connectors/lines/tasks-config")
    talk.ask("create/status", "GET", "/connectors/lines/status")
    talk.ask("create/task status", "GET", "/connectors/lines/tasks/0/status")
    talk.ask("create/no such task", "GET", "/connectors/lines/tasks/7/status")
    talk.ask("create/task is no number", "GET", "/connectors/lines/tasks/x/status")
    talk.ask("create/list", "GET", "/connectors")
    talk.ask("create/expand both", "GET", "/connectors?expand=info&expand=status")
    talk.ask("create/expand info", "GET", "/connectors?expand=info")
    talk.ask("create/expand unknown", "GET", "/connectors?expand=all")
    talk.ask("create/topics reset", "PUT", "/connectors/lines/topics/reset")
    talk.ask("create/unicode", "PUT", "/connectors/z%C3%BCrich%20see/config", source(directory))
    talk.until_tasks("z%C3%BCrich%20see", 1)
    talk.ask("create/get unicode", "GET", "/connectors/z%C3%BCrich%20see")
    talk.ask("create/delete unicode", "DELETE", "/connectors/z%C3%BCrich%20see")
    talk.until("/connectors", lambda _, found: found == ["lines"])
    talk.ask("create/paused", "POST", "/connectors", {"name": "rests", "config": config, "initial_state": "paused"})
    talk.until_state("rests", "PAUSED")
    talk.ask("create/paused tasks", "GET", "/connectors/rests/tasks")
    talk.ask("create/stopped", "POST", "/connectors", {"name": "off", "config": config, "initial_state": "STOPPED"})
    talk.until_state("off", "STOPPED")
    talk.ask("create/stopped status", "GET", "/connectors/off/status")
    talk.ask("create/null state", "POST", "/connectors", {"name": "null", "config": config, "initial_state": None})
    talk.until_tasks("null", 1)
    for name in ("rests", "off", "null", "lines"):
        talk.ask(f"create/delete {name}", "DELETE", f"/connectors/{name}")
    talk.until("/connectors", lambda _, found: found == [])
    talk.ask("create/delete again", "DELETE", "/connectors/lines")
    talk.until("/connectors/lines/status", lambda status, _: status == 404)
    talk.ask("create/status of deleted", "GET", "/connectors/lines/status")


def _change(talk: Talk, directory: Path) -> None:
    talk.ask("change/put new", "PUT", "/connectors/c/config", source(directory))
    talk.until_tasks("c", 1)
    talk.ask("change/put again", "PUT", "/connectors/c/config", source(directory, batch__size="7"))
    talk.ask("change/put less", "PUT", "/connectors/c/config", source(directory))
    talk.ask("change/put other name", "PUT", "/connectors/c/config", source(directory, name="d"))
    talk.ask("change/put invalid", "PUT", "/connectors/c/config", source(directory, batch__size="many"))
    talk.ask("change/put wrong class", "PUT", "/connectors/c/config", sink(directory))
    talk.ask("change/put back", "PUT", "/connectors/c/config", source(directory))
    talk.ask("change/patch", "PATCH", "/connectors/c/config", {"batch.size": 9, "topic": "parity-other"})
    talk.ask("change/patch remove", "PATCH", "/connectors/c/config", {"batch.size": None, "never": None})
    talk.ask("change/patch invalid", "PATCH", "/connectors/c/config", {"topic": None})
    talk.ask("change/patch nothing", "PATCH", "/connectors/c/config", {})
    talk.ask("change/patch list", "PATCH", "/connectors/c/config", [])
    talk.ask("change/patch name", "PATCH", "/connectors/c/config", {"name": "other"})
    talk.ask("change/get", "GET", "/connectors/c/config")
    talk.ask("change/delete", "DELETE", "/connectors/c")
    talk.until("/connectors", lambda _, found: found == [])


def _state(talk: Talk, directory: Path) -> None:
    talk.ask("state/put", "PUT", "/connectors/s/config", source(directory))
    talk.until_tasks("s", 1)
    talk.ask("state/pause", "PUT", "/connectors/s/pause")
    talk.until_state("s", "PAUSED")
    talk.ask("state/pause again", "PUT", "/connectors/s/pause")
    talk.ask("state/paused tasks", "GET", "/connectors/s/tasks")
    talk.ask("state/resume", "PUT", "/connectors/s/resume")
    talk.until_state("s", "RUNNING")
    talk.ask("state/resume again", "PUT", "/connectors/s/resume")
    talk.ask("state/stop", "PUT", "/connectors/s/stop")
    talk.until_state("s", "STOPPED")
    talk.until("/connectors/s/status", lambda _, found: found["tasks"] == [])
    talk.ask("state/stop again", "PUT", "/connectors/s/stop")
    talk.ask("state/stopped", "GET", "/connectors/s/status")
    talk.ask("state/stopped tasks", "GET", "/connectors/s/tasks")
    talk.ask("state/stopped get", "GET", "/connectors/s")
    talk.ask("state/stopped task status", "GET", "/connectors/s/tasks/0/status")
    talk.ask("state/stopped put", "PUT", "/connectors/s/config", source(directory, batch__size="3"))
    talk.until_state("s", "STOPPED")
    talk.ask("state/stopped pause", "PUT", "/connectors/s/pause")
    talk.until_state("s", "PAUSED")
    talk.ask("state/paused no tasks", "GET", "/connectors/s/tasks")
    talk.ask(
        "state/paused alter",
        "PATCH",
        "/connectors/s/offsets",
        {"offsets": [{"partition": {"filename": "x"}, "offset": {"position": 1}}]},
    )
    talk.ask("state/resume at last", "PUT", "/connectors/s/resume")
    talk.until_tasks("s", 1)
    talk.ask("state/get pause", "GET", "/connectors/s/pause")
    talk.ask("state/delete", "DELETE", "/connectors/s")
    talk.until("/connectors", lambda _, found: found == [])


def _restart(talk: Talk, directory: Path) -> None:
    talk.ask("restart/put", "PUT", "/connectors/r/config", source(directory))
    talk.until_tasks("r", 1)
    talk.until_state("r", "RUNNING")
    talk.ask("restart/connector", "POST", "/connectors/r/restart")
    talk.until_state("r", "RUNNING")
    talk.ask("restart/with tasks", "POST", "/connectors/r/restart?includeTasks=true")
    talk.until_state("r", "RUNNING")
    talk.until_tasks("r", 1)
    talk.ask("restart/only failed", "POST", "/connectors/r/restart?onlyFailed=true")
    talk.ask("restart/both", "POST", "/connectors/r/restart?includeTasks=true&onlyFailed=true")
    talk.ask("restart/no flag", "POST", "/connectors/r/restart?includeTasks=yes")
    talk.until_state("r", "RUNNING")
    talk.ask("restart/task", "POST", "/connectors/r/tasks/0/restart")
    talk.ask("restart/no such task", "POST", "/connectors/r/tasks/5/restart")
    talk.ask("restart/task is no number", "POST", "/connectors/r/tasks/x/restart")
    talk.ask("restart/negative task", "POST", "/connectors/r/tasks/-1/restart")
    talk.ask("restart/delete", "DELETE", "/connectors/r")
    talk.until("/connectors", lambda _, found: found == [])


def _offsets(talk: Talk, directory: Path) -> None:
    path = "/connectors/o/offsets"
    talk.ask(
        "offsets/put",
        "POST",
        "/connectors",
        {"name": "o", "config": source(directory, file=str(directory / "none.txt"))},
    )
    talk.until_tasks("o", 1)
    talk.ask("offsets/none", "GET", path)
    one = {"partition": {"filename": "a"}, "offset": {"position": 3}}
    talk.ask("offsets/alter running", "PATCH", path, {"offsets": [one]})
    talk.ask("offsets/reset running", "DELETE", path)
    talk.ask("offsets/pause", "PUT", "/connectors/o/pause")
    talk.until_state("o", "PAUSED")
    talk.ask("offsets/alter paused", "PATCH", path, {"offsets": [one]})
    talk.ask("offsets/stop", "PUT", "/connectors/o/stop")
    talk.until_state("o", "STOPPED")
    talk.until("/connectors/o/status", lambda _, found: found["tasks"] == [])
    talk.ask("offsets/alter", "PATCH", path, {"offsets": [one]})
    talk.ask("offsets/altered", "GET", path)
    two = {"partition": {"filename": "b"}, "offset": {"position": 5}}
    talk.ask("offsets/alter two", "PATCH", path, {"offsets": [two, {**one, "offset": None}]})
    talk.ask("offsets/altered two", "GET", path)
    for name, body in {
        "empty list": {"offsets": []},
        "no list": {},
        "null": None,
        "list": [],
        "unknown field": {"offsets": [one], "x": 1},
        "null list": {"offsets": None},
        "no partition": {"offsets": [{"offset": {"position": 1}}]},
        "no offset": {"offsets": [{"partition": {"filename": "b"}}]},
        "partition is text": {"offsets": [{"partition": "b", "offset": {"position": 1}}]},
        "wrong partition": {"offsets": [{"partition": {"file": "b"}, "offset": {"position": 1}}]},
        "wrong offset": {"offsets": [{"partition": {"filename": "b"}, "offset": {"line": 1}}]},
        "offset is text": {"offsets": [{"partition": {"filename": "b"}, "offset": {"position": "1"}}]},
        "offset is negative": {"offsets": [{"partition": {"filename": "b"}, "offset": {"position": -1}}]},
        "twice": {"offsets": [one, {**one, "offset": {"position": 9}}]},
    }.items():
        talk.ask(f"offsets/alter: {name}", "PATCH", path, body)
    talk.ask("offsets/get after", "GET", path)
    talk.ask("offsets/delete connector", "DELETE", "/connectors/o")
    talk.until("/connectors", lambda _, found: found == [])
    talk.ask(
        "offsets/again", "POST", "/connectors", {"name": "o", "config": source(directory), "initial_state": "STOPPED"}
    )
    talk.until_state("o", "STOPPED")
    talk.ask("offsets/kept", "GET", path)
    talk.ask("offsets/reset", "DELETE", path)
    talk.ask("offsets/reset again", "DELETE", path)
    talk.ask("offsets/gone", "GET", path)
    talk.ask("offsets/delete", "DELETE", "/connectors/o")
    talk.until("/connectors", lambda _, found: found == [])


def _sink_offsets(talk: Talk, directory: Path) -> None:
    path = "/connectors/k/offsets"
    talk.ask(
        "sink/put",
        "POST",
        "/connectors",
        {"name": "k", "config": sink(directory, topics=SUNK, tasks__max="2"), "initial_state": "STOPPED"},
    )
    talk.until_state("k", "STOPPED")
    talk.ask("sink/none", "GET", path)
    one = {"partition": {"kafka_topic": SUNK, "kafka_partition": 0}, "offset": {"kafka_offset": 3}}
    talk.ask("sink/alter", "PATCH", path, {"offsets": [one]})
    talk.ask("sink/altered", "GET", path)
    text = {"partition": {"kafka_topic": SUNK, "kafka_partition": "0"}, "offset": {"kafka_offset": "4"}}
    talk.ask("sink/alter text", "PATCH", path, {"offsets": [text]})
    talk.ask("sink/altered text", "GET", path)
    talk.ask("sink/remove", "PATCH", path, {"offsets": [{**one, "offset": None}]})
    talk.ask("sink/removed", "GET", path)
    partition = {"kafka_topic": SUNK, "kafka_partition": 0}
    for name, entry in {
        "no topic": {"partition": {"kafka_partition": 0}, "offset": {"kafka_offset": 3}},
        "no partition": {"partition": {"kafka_topic": SUNK}, "offset": {"kafka_offset": 3}},
        "partition is text": {"partition": {**partition, "kafka_partition": "x"}, "offset": {"kafka_offset": 3}},
        "no offset": {"partition": partition, "offset": {"position": 3}},
        "offset is text": {"partition": partition, "offset": {"kafka_offset": "x"}},
        "offset is negative": {"partition": partition, "offset": {"kafka_offset": -3}},
        "null partition": {"partition": None, "offset": {"kafka_offset": 3}},
    }.items():
        talk.ask(f"sink/alter: {name}", "PATCH", path, {"offsets": [entry]})
    talk.ask("sink/reset", "DELETE", path)
    talk.ask("sink/reset again", "DELETE", path)
    talk.ask("sink/resume", "PUT", "/connectors/k/resume")
    talk.until_tasks("k", 2)
    talk.ask("sink/status", "GET", "/connectors/k/status")
    talk.ask("sink/tasks", "GET", "/connectors/k/tasks")
    talk.ask("sink/alter running", "PATCH", path, {"offsets": [one]})
    talk.ask("sink/delete", "DELETE", "/connectors/k")
    talk.until("/connectors", lambda _, found: found == [])


def _validate(talk: Talk, directory: Path) -> None:
    def validate(name: str, config: object, plugin: str = "FileStreamSource") -> None:
        talk.ask(f"validate/{name}", "PUT", f"/connector-plugins/{plugin}/config/validate", config)

    validate("good source", source(directory, name="v"))
    validate("good sink", sink(directory, name="v"), "FileStreamSink")
    validate("full name", source(directory, name="v"), SOURCE)
    validate("simple name", source(directory, name="v"), "FileStreamSourceConnector")
    validate("other plugin", source(directory, name="v"), "FileStreamSink")
    validate("unknown plugin", source(directory, name="v"), "Nope")
    validate("no class", {"name": "v", "topic": "t"})
    validate("empty", {})
    validate("no name", source(directory))
    validate("no topic", source(directory, name="v", topic=None))
    validate("empty topic", source(directory, name="v", topic=""))
    validate("tasks.max", source(directory, name="v", tasks__max="x"))
    validate("tasks.max too small", source(directory, name="v", tasks__max="0"))
    validate("tolerance", source(directory, name="v", errors__tolerance="some"))
    validate("null value", {**source(directory, name="v"), "file": None})
    validate("unknown key", source(directory, name="v", colour="red"))
    validate("converter", source(directory, name="v", value__converter=STRING))
    validate(
        "json converter",
        source(directory, name="v", value__converter="JsonConverter", value__converter__schemas__enable="maybe"),
    )
    validate("unknown converter", source(directory, name="v", value__converter="com.x.Nope"))
    validate("a class that is no converter", source(directory, name="v", value__converter=SOURCE))
    validate(
        "transform",
        source(
            directory,
            name="v",
            transforms="a",
            transforms__a__type="org.apache.kafka.connect.transforms.HoistField$Value",
            transforms__a__field="line",
        ),
    )
    validate("transform without type", source(directory, name="v", transforms="a"))
    validate("transform of unknown type", source(directory, name="v", transforms="a", transforms__a__type="com.x.Nope"))
    validate(
        "transform that lacks an option",
        source(
            directory,
            name="v",
            transforms="a",
            transforms__a__type="org.apache.kafka.connect.transforms.HoistField$Value",
        ),
    )
    validate(
        "transform twice",
        source(
            directory,
            name="v",
            transforms="a,a",
            transforms__a__type="org.apache.kafka.connect.transforms.HoistField$Value",
            transforms__a__field="l",
        ),
    )
    validate(
        "predicate",
        source(
            directory,
            name="v",
            transforms="a",
            predicates="p",
            transforms__a__type="org.apache.kafka.connect.transforms.Filter",
            transforms__a__predicate="p",
            predicates__p__type="org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
            predicates__p__pattern="a.*",
        ),
    )
    validate(
        "negate without predicate",
        source(
            directory,
            name="v",
            transforms="a",
            transforms__a__type="org.apache.kafka.connect.transforms.Filter",
            transforms__a__negate="true",
        ),
    )
    validate(
        "predicate that is not declared",
        source(
            directory,
            name="v",
            transforms="a",
            transforms__a__type="org.apache.kafka.connect.transforms.Filter",
            transforms__a__predicate="p",
        ),
    )
    validate(
        "topic creation",
        source(
            directory,
            name="v",
            topic__creation__groups="g",
            topic__creation__g__include="a.*",
            topic__creation__default__partitions="3",
            topic__creation__default__replication__factor="1",
        ),
    )
    validate("topic creation default alone", source(directory, name="v", topic__creation__default__partitions="3"))
    validate(
        "topic creation wrong",
        source(
            directory,
            name="v",
            topic__creation__default__partitions="0",
            topic__creation__default__replication__factor="-2",
        ),
    )
    validate("exactly once", source(directory, name="v", exactly__once__support="required"))
    validate("boundary", source(directory, name="v", transaction__boundary="connector"))
    validate("override", source(directory, name="v", producer__override__linger__ms="x"))
    validate("override unknown", source(directory, name="v", producer__override__colour="x"))
    validate("no topics", sink(directory, name="v", topics=None), "FileStreamSink")
    validate("both topics", sink(directory, name="v", topics__regex="a.*"), "FileStreamSink")
    validate("bad regex", sink(directory, name="v", topics=None, topics__regex="["), "FileStreamSink")
    validate("doubled topics", sink(directory, name="v", topics="a,a"), "FileStreamSink")
    validate(
        "dead letters to itself",
        sink(directory, name="v", errors__deadletterqueue__topic__name="parity-lines"),
        "FileStreamSink",
    )
    talk.ask("validate/no json", "PUT", "/connector-plugins/FileStreamSource/config/validate", raw=b"{")


def _plugin(talk: Talk, _: Path) -> None:
    talk.ask("plugin/connectors", "GET", "/connector-plugins")
    talk.ask("plugin/all", "GET", "/connector-plugins?connectorsOnly=false")
    for name in (
        "FileStreamSource",
        "FileStreamSink",
        SOURCE,
        "JsonConverter",
        "org.apache.kafka.connect.json.JsonConverter",
        "org.apache.kafka.connect.transforms.Cast$Value",
        "org.apache.kafka.connect.transforms.HoistField$Key",
        "Filter",
        "TimestampConverter",
        "RegexRouter",
        "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
        "StringConverter",
        "Nope",
    ):
        talk.ask(f"plugin/config {name}", "GET", f"/connector-plugins/{name}/config")
    talk.ask("plugin/config of a version", "GET", "/connector-plugins/FileStreamSource/config?version=4.3.1")
    talk.ask("plugin/config of the latest", "GET", "/connector-plugins/FileStreamSource/config?version=latest")
    talk.ask("plugin/config of no version", "GET", "/connector-plugins/FileStreamSource/config?version=0.1")


def _logger(talk: Talk, _: Path) -> None:
    talk.ask("logger/unknown", "GET", "/admin/loggers/never.seen")
    talk.ask("logger/set", "PUT", "/admin/loggers/org.parity.a", {"level": "debug"})
    talk.ask("logger/get", "GET", "/admin/loggers/org.parity.a")
    talk.ask("logger/set worker", "PUT", "/admin/loggers/org.parity.a?scope=worker", {"level": "WARN"})
    talk.ask("logger/set cluster", "PUT", "/admin/loggers/org.parity.b?scope=cluster", {"level": "ERROR"})
    talk.ask("logger/set unknown scope", "PUT", "/admin/loggers/org.parity.a?scope=moon", {"level": "INFO"})
    talk.ask("logger/no level", "PUT", "/admin/loggers/org.parity.a", {})
    talk.ask("logger/null level", "PUT", "/admin/loggers/org.parity.a", {"level": None})
    talk.ask("logger/unknown level", "PUT", "/admin/loggers/org.parity.a", {"level": "LOUD"})
    talk.ask("logger/list", "PUT", "/admin/loggers/org.parity.a", raw=b"[]")


def _internal(talk: Talk, _: Path) -> None:
    talk.ask("internal/tasks", "POST", "/connectors/a/tasks", [{}])
    talk.ask("internal/fence", "PUT", "/connectors/a/fence")
    signed = {"X-Connect-Authorization": "YWJj", "X-Connect-Request-Signature-Algorithm": "HmacSHA256"}
    talk.ask("internal/tasks with a false signature", "POST", "/connectors/a/tasks", [{}], **signed)
    talk.ask("internal/fence with a false signature", "PUT", "/connectors/a/fence", **signed)
