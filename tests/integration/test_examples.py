"""Runs every program in examples/ against a broker, and reads what it says."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client import Producer
from ottla.streams import Serdes, TopologyTestDriver
from ottla.testing import EmbeddedBroker
from tests.integration.postgres import find_program, postgres_server
from tests.integration.web.registry_process import RegistryProcess

EXAMPLES = Path(__file__).parents[2] / "examples"
WITH_DATABASE = "exactly_once_postgres.py"
WITH_REGISTRY = "employees.py"
WITH_SPARK = "word_count.py"
SAID = {
    "consume_transform_produce.py": ["THE QUICK BROWN FOX", "JUMPS OVER", "THE LAZY DOG"],
    "delivery_guarantees.py": [
        "at most once: 3 lost, 0 done twice",
        "at least once: 0 lost, 2 done twice",
        "exactly once: 0 lost, 0 done twice",
    ],
    "futures_and_callbacks.py": ["waited: partition 0, offset 0", "called: 5 times, in order: True"],
    "priority.py": ["first:", "  urgent 9", "  urgent 19"],
    "quickstart.py": ["0 0 b'key-0' b'hello 0'", "0 9 b'key-9' b'hello 9'"],
    "stock_prices.py": ["partition 0: Ara", "partition 1: Bolt"],
    "worker_pool.py": ["60 records of 4 partitions, in order, by 4 threads"],
}
"""Lines that each program prints."""


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as started:
        yield started


@pytest.fixture
def database() -> Iterator[str]:
    initdb, postgres = find_program("initdb"), find_program("postgres")
    if initdb is None or postgres is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip("needs PostgreSQL and psycopg: scripts/install-debian-packages, pip install -e '.[postgres]'")
    with postgres_server(initdb, postgres) as address:
        yield address


def lines_of(program: str, *arguments: str) -> list[str]:
    """What a program prints, which has to end well and without warnings."""
    command = [sys.executable, "-W", "error", EXAMPLES / program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "program", sorted({path.name for path in EXAMPLES.glob("*.py")} - {WITH_DATABASE, WITH_REGISTRY, WITH_SPARK})
)
def test_an_example(broker: EmbeddedBroker, program: str) -> None:
    said = lines_of(program, broker.bootstrap_servers)
    assert [line for line in SAID[program] if line not in said] == []
    again = lines_of(program, broker.bootstrap_servers)
    # Offsets go on where topics have the same name again; all else is as it was.
    assert [line for line in SAID[program] if line not in again and line[0] not in "0w"] == []


def test_exactly_once_into_a_database(broker: EmbeddedBroker, database: str) -> None:
    assert lines_of(WITH_DATABASE, broker.bootstrap_servers, database) == ["stored 100 orders now, 0 when asked again"]
    assert lines_of(WITH_DATABASE, broker.bootstrap_servers, database) == ["stored 0 orders now, 0 when asked again"]


def test_an_evolving_schema(broker: EmbeddedBroker, tmp_path: Path) -> None:
    registry = RegistryProcess(tmp_path, broker.bootstrap_servers).start()
    try:
        said = lines_of(WITH_REGISTRY, broker.bootstrap_servers, registry.url)
    finally:
        registry.stop()
    assert said == [
        "a reader of version 1 sees 99 employees, with an age: 0",
        "a reader of version 2 sees the ages [-1, 42]",
        "renamed without an alias, is it compatible? False: {errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', de",
        "and registering it: 409",
        "a reader of version 3 finds by its alias: Jones 1",
        "versions: [1, 2, 3]",
    ]


def test_the_table_of_examples_is_complete() -> None:
    table = (EXAMPLES / "README.md").read_text()
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*SAID, WITH_DATABASE, WITH_REGISTRY, WITH_SPARK}
    names = [str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py")]
    assert [name for name in names if f"]({name})" not in table] == []


def test_the_quickstart_shows_its_own_records_whatever_the_readme_left() -> None:
    with EmbeddedBroker() as fresh:
        with Producer(bootstrap_servers=fresh.bootstrap_servers) as producer:
            producer.send("greetings", b"hello").result()
        for _ in range(2):
            said = lines_of("quickstart.py", fresh.bootstrap_servers)
            assert [line.split(maxsplit=2)[2] for line in said] == [f"b'key-{n}' b'hello {n}'" for n in range(10)]


def test_the_table_says_what_an_example_needs() -> None:
    table = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.glob("*.py"):
        row = next(line for line in table.splitlines() if line.startswith(f"| [{path.name}]"))
        assert ("import psycopg" in path.read_text()) == ("(needs PostgreSQL)" in row)


def test_the_topology_of_the_word_count() -> None:
    spec = importlib.util.spec_from_file_location("word_count", EXAMPLES / WITH_SPARK)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    text = Serdes.string()
    with TopologyTestDriver(example.word_count("lines", "counts")) as driver:
        driver.create_input_topic("lines", text, text).pipe_input(None, "To be or not to be", 1)
        found = driver.create_output_topic("counts", text, Serdes.long()).read_key_values_to_map()
    assert found == {"to": 2, "be": 2, "or": 1, "not": 1}


@pytest.mark.long
def test_the_word_count_on_spark(broker: EmbeddedBroker) -> None:
    pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    command = [sys.executable, EXAMPLES / WITH_SPARK, broker.bootstrap_servers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-8:] == [
        "be 2", "is 1", "not 1", "or 1", "question 1", "that 1", "the 1", "to 2"
    ]  # fmt: skip
