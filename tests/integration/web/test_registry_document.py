"""docs/REGISTRY.md: its commands run, and its settings exist; the commands of `ottla schemas` say what they say."""

import subprocess
import sys
from pathlib import Path

from ottla.cli.kafka.schema_registry_start import SCRIPT
from ottla.cli.kafka.service_script import processes
from ottla.web.registry.config import REGISTRY_KEYS
from tests.integration.web import page
from tests.integration.web.registry_process import RegistryProcess


def run(script: str, registry: RegistryProcess, directory: Path) -> str:
    """What a script prints; `localhost:8081` is the registry of the test."""
    return page.run(script, {"localhost:8081": registry.port}, directory, OTTLA_SCHEMA_REGISTRY=registry.url)


def test_the_commands_of_the_page(registry: RegistryProcess, tmp_path: Path) -> None:
    said = [run(script, registry, tmp_path) for script in page.scripts_of("REGISTRY.md")]
    assert "orders-value version 1, id " in said[0]
    assert "grown.avsc may be the next version of orders-value (BACKWARD)" in said[0]
    assert '+      "name": "total",' in said[0]
    assert "READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0, beside version 2" in said[1]
    assert said[1].endswith("it may not\n")
    assert "Order(id='a', total=7.5)" in said[2]
    assert '"orders-value"' in said[3]
    assert '{"compatibility":"FULL"}' in said[3]


def test_the_settings_of_the_page() -> None:
    page.check_settings("REGISTRY.md", REGISTRY_KEYS)


def test_a_schema_is_deleted_and_a_level_is_set(registry: RegistryProcess, tmp_path: Path) -> None:
    (tmp_path / "a.avsc").write_text('{"type":"record","name":"A","fields":[]}')
    said = run(
        "ottla schemas register cli-value a.avsc; ottla schemas config cli-value --level none;"
        " ottla schemas config cli-value --unset; ottla schemas delete cli-value;"
        " ottla schemas delete cli-value --permanent --yes; ottla schemas list cli-",
        registry,
        tmp_path,
    )
    assert "compatibilityLevel=NONE\ncompatibilityLevel=BACKWARD\n" in said
    assert said.count("deleted cli-value version 1\n") == 2
    assert said.endswith("There are no subjects yet: `ottla schemas register SUBJECT FILE` makes one\n")


def test_refusals_say_what_to_do(registry: RegistryProcess, tmp_path: Path) -> None:
    (tmp_path / "bad.avsc").write_text('{"type":"record","name":"A","fields":[{"name":"x","type":"strin"}]}')
    for command, expected in (
        ("register a bad.avsc", "Invalid schema of type AVRO, details: Undefined schema: strin"),
        ("show nothing", "Subject 'nothing' not found; `ottla schemas list` shows those that exist"),
        ("register a b.avsc", "b.avsc: No such file or directory; give a file that exists"),
        ("list -r localhost:1", "start one with `ottla registry`, or name yours with --url"),
    ):
        arguments = [sys.executable, "-m", "ottla.cli.main", "schemas", *command.split()]
        done = subprocess.run(
            [*arguments, *([] if "-r" in arguments else ["--url", registry.url])],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 1
        assert expected in done.stderr


def test_the_stop_script_finds_what_runs(registry: RegistryProcess) -> None:
    assert registry.pid in set(processes(SCRIPT))
