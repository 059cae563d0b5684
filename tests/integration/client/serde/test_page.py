"""docs/SERIALIZERS.md: its examples run, over `ottla registry`."""

import os
import re
import subprocess
import sys
from pathlib import Path

from ottla.client.registry.setting import REGISTRY_KEYS
from ottla.client.serde.schema.setting import SERIALIZER_KEYS
from ottla.testing import EmbeddedBroker
from tests.integration.client.test_documents import DOCS, program_of
from tests.integration.web.registry_process import RegistryProcess

PAGE = DOCS / "SERIALIZERS.md"


def test_examples(tmp_path: Path) -> None:
    program = tmp_path / "serializers.py"
    program.write_text(program_of(PAGE))
    with EmbeddedBroker() as broker:
        registry = RegistryProcess(tmp_path / "registry", broker.bootstrap_servers).start()
        addresses = {"BROKER": broker.bootstrap_servers, "REGISTRY": registry.url}
        command = [sys.executable, "-W", "error", program.name]
        ended = subprocess.run(
            command, cwd=tmp_path, env=os.environ | addresses, capture_output=True, text=True, timeout=120, check=False
        )
        registry.stop()
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_table_has_every_setting_of_serializers() -> None:
    table = PAGE.read_text().split("| Serializers |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `([a-z.]+)`", table, re.MULTILINE)) == set(SERIALIZER_KEYS)
    for name, default in re.findall(r"^\| `([a-z.]+)` \| `([^`]+)`", table, re.MULTILINE):
        assert str(SERIALIZER_KEYS[name].default).lower() == default.lower(), name
    registry = PAGE.read_text().split("| `SchemaRegistry` |")[1].split("\n\n")[0]
    names = set(re.findall(r"`([a-z]+(?:\.[a-z]+)+)`", registry))
    assert {name for name in names if not name.endswith(".md")} <= set(REGISTRY_KEYS)
