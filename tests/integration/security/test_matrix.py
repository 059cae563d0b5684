"""Every mechanism with each client in Go and Python that we did not write, right credentials and wrong ones.

`test_clients` has the short form, `test_java` has Java, `test_kerberos` has GSSAPI, which of these only kcat can.
"""

import asyncio
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import aiokafka
import aiokafka.abc
import aiokafka.errors
import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient

from tests.integration.security import kafka_python_login
from tests.integration.security.secured_node import MECHANISMS, SecuredNode
from tests.integration.security.test_clients import TIMEOUT_S, librdkafka, round_trip, unsigned

pytestmark = pytest.mark.long

_GO = Path(__file__).parents[2] / "clients" / "go"
EXPIRED_S = -600.0


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("matrix")) as found:
        yield found


@pytest.fixture(scope="module")
def login(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that logs in by franz-go."""
    if shutil.which("go") is None:
        pytest.skip("needs Go 1.21 or later, which fetches the Go that franz-go wants")
    path = tmp_path_factory.mktemp("go") / "login"
    subprocess.run(["go", "build", "-o", str(path), "./login"], cwd=_GO, check=True)
    return path


def token(*, is_right: bool) -> str:
    return unsigned("alice") if is_right else unsigned("alice", EXPIRED_S)


def with_librdkafka(node: SecuredNode, mechanism: str, *, is_right: bool) -> None:
    settings = librdkafka(node, "SASLTLS", mechanism)
    if is_right:
        round_trip(settings, f"matrix-rd-{mechanism.lower()}")
        return
    errors: list[confluent_kafka.KafkaError] = []
    settings["error_cb"] = errors.append
    if mechanism == "OAUTHBEARER":
        settings["oauth_cb"] = lambda _: (token(is_right=False), time.time() + 600)
    else:
        settings["sasl.password"] = "wrong"
    admin = AdminClient(settings)
    deadline = time.monotonic() + TIMEOUT_S
    while not errors and time.monotonic() < deadline:
        admin.poll(0.2)
    assert errors[0].code() == confluent_kafka.KafkaError._AUTHENTICATION
    raise RefusedError(errors[0].str())


class RefusedError(Exception):
    """The client was not let in."""


def with_aiokafka(node: SecuredNode, mechanism: str, *, is_right: bool) -> None:
    class Provider(aiokafka.abc.AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return token(is_right=is_right)

    async def main() -> None:
        given = {"sasl_plain_username": "alice", "sasl_plain_password": "secret" if is_right else "wrong"}
        if mechanism == "OAUTHBEARER":
            given = {"sasl_oauth_token_provider": Provider()}
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=node.address("SASLTLS"),
            security_protocol="SASL_SSL",
            ssl_context=ssl.create_default_context(cafile=str(node.authority.certificate)),
            sasl_mechanism=mechanism,
            **given,
        )
        try:
            await producer.start()
            await producer.send_and_wait(f"matrix-aio-{mechanism.lower()}", b"hello")
        except aiokafka.errors.KafkaError as error:
            raise RefusedError(str(error)) from error
        finally:
            await producer.stop()

    asyncio.run(main())


CLIENTS = {"librdkafka": with_librdkafka, "aiokafka": with_aiokafka}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_python(node: SecuredNode, client: Callable[..., None], mechanism: str) -> None:
    client(node, mechanism, is_right=True)
    with pytest.raises(RefusedError):
        client(node, mechanism, is_right=False)


def run(command: list[str], node: SecuredNode, mechanism: str, *, is_right: bool) -> "subprocess.CompletedProcess[str]":
    """Runs a program that logs in."""
    secret = token(is_right=is_right) if mechanism == "OAUTHBEARER" else "secret" if is_right else "wrong"
    topic = f"matrix-{Path(command[-1]).suffix}{mechanism.lower()}".replace(".", "")
    arguments = [node.address("SASLTLS"), str(node.authority.certificate), topic, mechanism, "alice", secret]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=2 * TIMEOUT_S, check=False)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python(node: SecuredNode, mechanism: str) -> None:
    command = [sys.executable, "-m", kafka_python_login.__name__]
    done = run(command, node, mechanism, is_right=True)
    assert not done.returncode, done.stdout + done.stderr
    assert run(command, node, mechanism, is_right=False).returncode == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_franz_go(node: SecuredNode, login: Path, mechanism: str) -> None:
    done = run([str(login)], node, mechanism, is_right=True)
    assert not done.returncode, done.stdout
    refused = run([str(login)], node, mechanism, is_right=False)
    assert refused.returncode == 1
    # franz-go's own words for a token that the broker refuses.
    wanted = "unexpected data in oauth" if mechanism == "OAUTHBEARER" else "SASL_AUTHENTICATION_FAILED"
    assert wanted in refused.stdout
