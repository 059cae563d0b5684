"""docs/REGISTRY.md: its commands run, and its settings exist; the commands of `ottla schemas` say what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

from ottla.cli.kafka.schema_registry_stop import registry_processes
from ottla.web.registry.config import REGISTRY_KEYS
from tests.integration.web.registry_process import RegistryProcess

PAGE = Path(__file__).parents[3] / "docs" / "REGISTRY.md"


def run(script: str, registry: RegistryProcess, directory: Path) -> str:
    """What a script prints, which has to end well; `localhost:8081` is the registry of the test."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "OTTLA_SCHEMA_REGISTRY": registry.url}
    text = script.replace("localhost:8081", f"127.0.0.1:{registry.port}")
    command = ["sh", "-e", "-c", text]
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), (text, done.stdout, done.stderr)
    return done.stdout


def test_the_commands_of_the_page(registry: RegistryProcess, tmp_path: Path) -> None:
    scripts = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    said = [run(script, registry, tmp_path) for script in scripts]
    assert "orders-value version 1, id " in said[0]
    assert "grown.avsc may be the next version of orders-value (BACKWARD)" in said[0]
    assert '+      "name": "total",' in said[0]
    assert "READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0, beside version 2" in said[1]
    assert said[1].endswith("it may not\n")
    assert '"orders-value"' in said[2]
    assert '{"compatibility":"FULL"}' in said[2]


def test_the_settings_of_the_page() -> None:
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", PAGE.read_text(), re.MULTILINE)
    named = [(name, default) for names, default in rows for name in re.findall(r"`(.*?)`", names)]
    assert len(named) > 10
    assert [name for name, _ in named if name not in REGISTRY_KEYS] == []
    for name, default in named:
        key = REGISTRY_KEYS[name]
        if default.isdecimal():
            assert str(key.default) == default, name


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
    for command, expected in (
        ("show nothing", "Subject 'nothing' not found; `ottla schemas list` shows those that exist"),
        ("register a b.avsc", "b.avsc: No such file or directory; give a file that exists"),
        ("list -r localhost:1", "start a registry with `ottla registry`, or name yours with --url"),
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
    assert registry.pid in set(registry_processes())
