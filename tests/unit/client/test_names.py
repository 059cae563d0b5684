"""What `ottla.client` offers, and that it loads no more than what is used."""

import inspect
import subprocess
import sys

import pytest

import ottla.client


@pytest.mark.parametrize("name", ottla.client.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(ottla.client, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Productor'"):
        ottla.client.Productor  # noqa: B018


def test_a_value_loads_no_client() -> None:
    program = "import sys; from ottla.client import TopicPartition; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("heavy", ["fastavro", "google.protobuf", "jsonschema", "pyarrow", "http.client"])
def test_the_front_door_loads_no_extras(heavy: str) -> None:
    program = f"import sys, ottla.client; print('{heavy}' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_avro_needs_no_protobuf() -> None:
    program = "import sys, ottla.client as client; client.AvroSerializer; print('google.protobuf' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_prompt_completes_names_that_are_not_imported_yet() -> None:
    program = "import ottla.client; print(*dir(ottla.client))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"NewTopic", "TopicPartition", "NoBrokersAvailableError", "Producer"} <= set(done.stdout.split())


@pytest.mark.parametrize("send", [ottla.client.Producer.send, ottla.client.AsyncProducer.send])
def test_a_type_checker_knows_all_that_headers_may_be(send: object) -> None:
    hint = str(inspect.signature(send).parameters["headers"].annotation)  # type: ignore[arg-type]
    assert "Mapping[str, bytes | str | None]" in hint
    assert "Sequence[tuple[str, bytes | str | None]]" in hint
