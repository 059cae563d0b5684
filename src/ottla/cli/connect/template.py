"""`ottla connect new`: a package with a connector in Python and a test that passes, to begin with."""

import argparse
import keyword
import re
import sys
from pathlib import Path
from typing import Final

from ottla.cli.output.advice import CommandError

_SOURCE: Final = '''"""A source: every line that it is given becomes a record."""

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.connector import SourceConnector, SourceTask
from ottla.connect.record import SourceRecord


class {stem}Connector(SourceConnector):
    """Describes the settings, and shares the work among tasks."""

    version = "0.1.0"
    config_def = ConfigDef(
        ConfigKey("topic", ConfigType.STRING, REQUIRED, "Where the records go."),
        ConfigKey("lines", ConfigType.LIST, REQUIRED, "What the records say, with commas between."),
    )

    def task_class(self):
        return {stem}Task


class {stem}Task(SourceTask):
    """Brings the records; one that is started again goes on where the last one was stored."""

    PLACE = {{"lines": "all"}}

    def start(self, context, settings):
        parsed = {stem}Connector.config_def.parse(settings)
        self.topic, self.lines = parsed["topic"], parsed["lines"]
        stored = context.offset(self.PLACE)
        self.next = 0 if stored is None else stored["next"]

    def poll(self):
        if self.next >= len(self.lines):
            return []
        line, self.next = self.lines[self.next], self.next + 1
        return [SourceRecord(self.PLACE, {{"next": self.next}}, self.topic, line)]
'''
_SOURCE_TEST: Final = """from ottla.connect.harness import SourceHarness

SETTINGS = {{"connector.class": "{module}:{stem}Connector", "topic": "t", "lines": "one,two"}}


def test_each_line_is_a_record():
    source = SourceHarness(SETTINGS)
    assert [record.value for record in source.poll()] == [b"one"]


def test_after_a_crash_it_goes_on_where_it_was():
    source = SourceHarness(SETTINGS)
    source.poll()
    source.restart()
    assert [record.value for record in source.poll()] == [b"two"]
    assert source.poll() == []
"""
_SINK: Final = '''"""A sink: every record becomes a line of a file."""

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.connector import SinkConnector, SinkTask


class {stem}Connector(SinkConnector):
    """Describes the settings; the tasks share the partitions of the topics."""

    version = "0.1.0"
    config_def = ConfigDef(ConfigKey("path", ConfigType.STRING, REQUIRED, "The file that records are appended to."))

    def task_class(self):
        return {stem}Task


class {stem}Task(SinkTask):
    """Takes the records; after `flush` their offsets are committed."""

    def start(self, context, settings):
        self.file = open({stem}Connector.config_def.parse(settings)["path"], "a", encoding="utf-8")

    def put(self, records):
        for record in records:
            print(record.value, file=self.file)

    def flush(self, offsets):
        self.file.flush()

    def stop(self):
        self.file.close()
'''
_SINK_TEST: Final = """from ottla.connect.harness import SinkHarness


def test_each_record_is_a_line(tmp_path):
    path = tmp_path / "out.txt"
    sink = SinkHarness({{"connector.class": "{module}:{stem}Connector", "topics": "t", "path": str(path)}})
    sink.put(b"one")
    assert path.read_text() == "one\\n"
"""
_PROJECT: Final = """[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
dependencies = ["ottla"]

[project.entry-points."ottla.connectors"]
{cls} = "{module}:{stem}Connector"

[tool.setuptools]
py-modules = ["{module}"]
"""
_CONFIG: Final = """{{
  "name": "{name}",
  "config": {{
    "connector.class": "{cls}",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    {settings}
  }}
}}
"""


def make(options: argparse.Namespace) -> int:
    """Writes the package into a new directory; the exit code."""
    directory = Path(options.name)
    names = names_of(directory.name)
    try:
        directory.mkdir(parents=True)
        for file, text in files(names, is_sink=options.sink).items():
            (directory / file).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise CommandError(f"{directory} is there already; give another name") from None
    except OSError as error:
        raise CommandError(f"{directory}: {error.strerror}") from None
    print(f"Made {directory}. Its test: cd {directory} && python -m pytest")
    where = directory if directory.is_absolute() or directory.parts[0] == ".." else f"./{directory}"
    print(f"Installed where the workers are (pip install {where}), connectors name it {names['cls']}.")
    return 0


def names_of(name: str) -> dict[str, str]:
    """The package, its module, its name as a connector, and what its classes begin with.

    >>> names_of("my-connector")
    {'name': 'my-connector', 'module': 'my_connector', 'cls': 'MyConnector', 'stem': 'My'}
    """
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*", name) is None:
        raise CommandError(f"{name}: a name has letters, digits and hyphens, and begins with a letter")
    module = name.replace("-", "_").lower()
    if keyword.iskeyword(module) or module in ("ottla", "test") or module in sys.stdlib_module_names:
        raise CommandError(f"{name}: Python has another meaning for this name; give another one")
    words = re.split("[-_]", name)
    cls = "".join(word[0].upper() + word[1:] for word in words)
    return {"name": name, "module": module, "cls": cls, "stem": cls.removesuffix("Connector") or cls}


def files(names: dict[str, str], *, is_sink: bool) -> dict[str, str]:
    """The text of each file."""
    source, test = (_SINK, _SINK_TEST) if is_sink else (_SOURCE, _SOURCE_TEST)
    settings = '"topics": "numbers", "path": "out.txt"' if is_sink else '"topic": "numbers", "lines": "one,two"'
    module = names["module"]
    return {
        f"{module}.py": source.format(**names),
        f"test_{module}.py": test.format(**names),
        "pyproject.toml": _PROJECT.format(**names),
        f"{names['name']}.json": _CONFIG.format(**names, settings=settings),
    }
