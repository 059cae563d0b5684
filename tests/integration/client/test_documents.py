"""The clients' pages and docstrings: their examples run, and the pages' tables name what is really there."""

import asyncio
import importlib
import inspect
import itertools
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

import ottla.client
from ottla.base.config import ConfigKeys
from ottla.client import Producer
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.testing import EmbeddedBroker

DOCS = Path(__file__).parents[3] / "docs"
PAGES = [DOCS / f"{name}.md" for name in ("CLIENTS", "PRODUCER", "CONSUMER", "ADMIN")]
KEYS = {"CLIENTS": ADMIN_KEYS, "PRODUCER": PRODUCER_KEYS, "CONSUMER": CONSUMER_KEYS, "ADMIN": ADMIN_KEYS}
CLASSES = ("Producer", "AsyncProducer", "Consumer", "AsyncConsumer", "Admin", "AsyncAdmin")
_TIMEOUT_S = 180
_NOT_FOR_USERS = {"bootstrap", "max_usable_produce_magic"}


def program_of(page: Path) -> str:
    """The examples one after the other, each line with the number that it has on the page: tracebacks point there."""
    lines, is_example = [], False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            is_example = line == "```python"
            lines.append("")
        else:
            lines.append(line if is_example else "")
    return "\n".join(lines)


def tables(page: Path) -> Iterator[list[list[str]]]:
    """The tables as rows of cells, the heading first."""
    for table in re.findall(r"(?:^\|.*\n)+", page.read_text(), re.MULTILINE):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]
        yield [rows[0], *rows[2:]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(page: Path, tmp_path: Path) -> None:
    program = tmp_path / f"{page.stem}.py"
    program.write_text(program_of(page))
    ended = subprocess.run(
        [sys.executable, "-W", "error", program.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_settings_have_the_defaults_that_are_told(page: Path) -> None:
    told = {row[0]: row[1] for table in tables(page) if table[0][:2] == ["Setting", "Default"] for row in table[1:]}
    assert told
    keys = KEYS[page.stem]
    assert {name: default.split(" (")[0] for name, default in told.items()} == {
        name: _shown(keys, name.strip("`")) for name in told
    }


def _shown(keys: ConfigKeys, name: str) -> str:
    default = keys[name].default
    if default is None or default == "" or default == ():
        return "none"
    shown = ",".join(default) if isinstance(default, tuple) else str(default)
    return f"`{shown.lower() if isinstance(default, bool) else shown}`"


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_methods_that_are_named_exist(page: Path) -> None:
    """A heading names classes; each `name()` below is a method of the class that stands above it."""
    checked = 0
    for heading, *rows in tables(page):
        owners = [re.fullmatch(r"`([\w.]+)\.(\w+)`", cell) for cell in heading]
        for row in rows if all(owners) else ():
            for owner, cell in zip(owners, row, strict=True):
                assert owner is not None
                kind = getattr(importlib.import_module(owner[1]), owner[2])
                for name in re.findall(r"`(\w+)\(", cell):
                    assert hasattr(kind, name), f"{owner[0]} has no {name}()"
                    checked += 1
    assert checked > 30


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_every_method_of_the_other_libraries_is_named(page: Path) -> None:
    for heading, *rows in tables(page):
        owners = [re.fullmatch(r"`([\w.]+)\.(\w+)`", cell) for cell in heading]
        for column, owner in enumerate(owners if all(owners) else ()):
            assert owner is not None
            kind = getattr(importlib.import_module(owner[1]), owner[2])
            named = set(re.findall(r"`(\w+)\(", " ".join(row[column] for row in rows)))
            methods = {name for name, found in inspect.getmembers(kind, callable) if not name.startswith("_")}
            assert methods - named - _NOT_FOR_USERS == set(), f"{owner[0]} on {page.name}"


class EnoughError(Exception):
    """An example that would go on for ever has shown what it shows."""


@pytest.mark.parametrize("name", CLASSES)
def test_docstring_examples(name: str) -> None:
    printed: list[object] = []

    def show(shown: object) -> None:
        printed.append(shown)
        if "Consumer" in name:
            raise EnoughError

    with EmbeddedBroker() as broker, ExitStack() as stack:
        if "Consumer" in name:
            broker.create_topic("orders")
            stack.enter_context(fed(broker.bootstrap_servers, "orders"))
        example = docstring_example(getattr(ottla.client, name)).replace("localhost:9092", broker.bootstrap_servers)
        assert broker.bootstrap_servers in example
        names = {"asyncio": asyncio, "values": [b"one", b"two"], "print": show}
        names |= {public: getattr(ottla.client, public) for public in ottla.client.__all__}
        with suppress(EnoughError):
            run(example, names)
    assert printed or "print(" not in example


def docstring_example(kind: type) -> str:
    """The block that begins with the class's `with`."""
    lines = inspect.getdoc(kind).splitlines()  # type: ignore[union-attr]
    start = next(at for at, line in enumerate(lines) if re.match(rf"\s*(async )?with {kind.__name__}\(", line))
    depth = len(lines[start]) - len(lines[start].lstrip())
    inside = itertools.takewhile(lambda line: line.startswith(" " * (depth + 1)), lines[start + 1 :])
    return textwrap.dedent("\n".join([lines[start], *inside]))


def run(example: str, names: dict[str, object]) -> None:
    """Runs it, in an event loop if it needs one."""
    if example.startswith("async"):
        exec("async def main():\n" + textwrap.indent(example, "    "), names)
        asyncio.run(names["main"]())  # type: ignore[operator]
    else:
        exec(example, names)


@contextmanager
def fed(servers: str, topic: str) -> Iterator[None]:
    """Has records come into a topic, for those who begin to read at its end."""
    over = threading.Event()

    def feed() -> None:
        with Producer(bootstrap_servers=servers) as producer:
            while not over.wait(0.1):
                producer.send(topic, b"news")

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        yield
    finally:
        over.set()
        feeder.join()
