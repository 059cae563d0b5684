"""The consoles for Avro, JSON Schema and Protobuf, by their names and flags, with a broker and a registry."""

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.integration.web.registry_process import RegistryProcess
from tests.kafka.server import Server

AVRO = (
    '{"type":"record","name":"R","fields":[{"name":"f1","type":"string"},'
    '{"name":"nick","type":["null","string"],"default":null}]}'
)
JSON = '{"type":"object","properties":{"f1":{"type":"string"},"nick":{"type":["null","string"]}}}'
PROTOBUF = 'syntax = "proto3"; message R { string f1 = 1; optional string nick = 2; }'
KINDS = {
    "avro": (AVRO, '{"f1":"grüß","nick":{"string":"x"}}', '{"f1":7,"nick":null}'),
    "json-schema": (JSON, '{"f1":"grüß","nick":"x"}', '{"f1":7}'),
    "protobuf": (PROTOBUF, '{"f1":"grüß","nick":"x"}', '{"f1":7}'),
}


def console(name: str, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
    """Runs a script of the installation."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name(name)), *arguments],
        input=stdin.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    "kind", ["avro", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("json-schema", "protobuf"))]
)
def test_lines_go_in_and_come_out(kafka: Server, registry: RegistryProcess, kind: str, tmp_path: Path) -> None:
    schema, good, bad = KINDS[kind]
    topic = f"lines-{kind}-{uuid.uuid4().hex[:8]}"
    common = ("--bootstrap-server", kafka.bootstrap, "--topic", topic)
    url = ("--property", f"schema.registry.url={registry.url}")
    writing = ("--property", f"value.schema={schema}", "--property", "parse.key=true", "--property", "null.marker=NULL")
    text_key = ("--property", "key.serializer=org.apache.kafka.common.serialization.StringSerializer")
    code, out, err = console(
        f"kafka-{kind}-console-producer", *common, *url, *writing, *text_key, stdin=f"k\t{good}\nl\tNULL\n"
    )
    assert (code, err) == (0, ""), out
    subject = f"{topic}-value"
    assert registry.ask("GET", f"/subjects/{subject}/versions")[1] == [1]

    reading = ("--from-beginning", "--max-messages", "2", "--property", "print.key=true", "--timeout-ms", "60000")
    text = ("--key-deserializer", "org.apache.kafka.common.serialization.StringDeserializer")
    code, out, err = console(f"kafka-{kind}-console-consumer", *common, *url, *reading, *text)
    assert (code, out.splitlines()[-2:]) == (0, [f"k\t{good}", "l\tnull"]), err

    file = tmp_path / "schema"
    file.write_text(schema)
    code, out, err = console(
        f"kafka-{kind}-console-producer", *common, *url, "--property", f"value.schema.file={file}", stdin=f"{bad}\n"
    )
    assert code == 1
    assert "can't be written" in err
    code, _, err = console(f"kafka-{kind}-console-producer", *common, *url, stdin=good)
    assert code == 1
    assert "Must provide the" in err


def test_keys_have_schemas_of_their_own(kafka: Server, registry: RegistryProcess) -> None:
    topic = f"keyed-{uuid.uuid4().hex[:8]}"
    common = ("--bootstrap-server", kafka.bootstrap, "--topic", topic)
    url = ("--property", f"schema.registry.url={registry.url}", "--property", "key.separator=|")
    number = registry.ask("POST", f"/subjects/{topic}-value/versions", {"schema": AVRO})[1]["id"]
    writing = ("--property", "parse.key=true", "--property", "key.schema=long")
    code, _, err = console(
        "kafka-avro-console-producer",
        *(*common, *url, *writing, "--property", f"value.schema.id={number}"),
        stdin='7|{"f1":"a","nick":null}\n',
    )
    assert (code, err) == (0, "")
    assert registry.ask("GET", f"/subjects/{topic}-key/versions/latest")[1]["schema"] == '"long"'
    reading = ("--from-beginning", "--max-messages", "1", "--property", "print.key=true", "--timeout-ms", "60000")
    code, out, err = console("kafka-avro-console-consumer", *common, *url, *reading)
    assert (code, out.splitlines()[-1]) == (0, '7|{"f1":"a","nick":null}'), err
