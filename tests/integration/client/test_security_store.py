"""Key stores in PKCS#12, as Java's and openssl's tools make them."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.security.tls import tls_context
from tests.integration.client.certificate import Authority, require_openssl

pytest.importorskip("cryptography", reason="needs cryptography to read PKCS#12")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key, its certificate and the authority's, locked with `secret`."""
    require_openssl()
    directory = tmp_path_factory.mktemp("stores")
    authority = Authority(directory, "authority")
    client = authority.sign("client")
    path = directory / "client.p12"
    command = ["openssl", "pkcs12", "-export", "-inkey", str(client.key), "-in", str(client.chain), "-out", str(path)]
    subprocess.run([*command, "-certfile", str(authority.certificate), "-passout", "pass:secret"], check=True)
    return path


def settings(store: Path, password: str) -> ClientSettings:
    return ClientSettings.of(
        ADMIN_KEYS,
        bootstrap_servers="a:1",
        ssl_keystore_location=store,
        ssl_keystore_password=password,
        ssl_truststore_location=store,
        ssl_truststore_password=password,
    )


def test_key_and_authority_are_read(store: Path) -> None:
    subjects = [entry["subject"] for entry in tls_context(settings(store, "secret")).get_ca_certs()]
    assert ((("commonName", "authority"),),) in subjects


def test_a_wrong_password_is_told(store: Path) -> None:
    with pytest.raises(ConfigError, match=r"is ssl\.\w+\.password right"):
        tls_context(settings(store, "wrong"))


@pytest.mark.parametrize("kind", ["JKS", "JCEKS"])
def test_javas_own_store_is_refused_with_the_command_that_converts_it(kind: str, tmp_path: Path) -> None:
    if shutil.which("keytool") is None:
        pytest.skip("needs Java's keytool to make its stores")
    path = tmp_path / "my store.jks"
    passwords = ["-storepass", "secret", "-keypass", "secret"]
    name = ["-alias", "a", "-keyalg", "EC", "-dname", "CN=localhost", "-storetype", kind]
    command = ["keytool", "-genkeypair", *name, "-keystore", str(path), *passwords]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(ConfigError, match="a Java key store") as refused:
        tls_context(settings(path, "secret"))
    found = re.search(r"convert it: (keytool .*) \(then ssl.\w+.location=(.*), which", str(refused.value))
    assert found is not None
    # It asks for the new password twice, then for the old one.
    subprocess.run(shlex.split(found[1]), input="secret\n" * 3, text=True, check=True, capture_output=True)
    tls_context(settings(Path(found[2]), "secret"))
