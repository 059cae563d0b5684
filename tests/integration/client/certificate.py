"""Certificates for tests, made by `openssl`: authorities, servers and clients."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Certificate:
    """A key and its certificates as PEM: beside each other, and in one file."""

    key: Path
    chain: Path
    both: Path


def require_openssl() -> None:
    """Skips the calling test where there is no `openssl`."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make certificates")


class Authority:
    """Somebody who signs certificates."""

    def __init__(self, directory: Path, name: str) -> None:
        self.certificate = directory / f"{name}.pem"
        self._directory = directory
        self._key = directory / f"{name}.key"
        subject = ("-subj", f"/CN={name}", "-days", "2")
        _openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, "-keyout", self._key, "-out", self.certificate
        )

    def sign(self, name: str, *alternative_names: str) -> Certificate:
        """A key and a certificate for `name`."""
        key, request, chain, both = (self._directory / f"{name}.{end}" for end in ("key", "csr", "crt", "pem"))
        _openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extensions = self._directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={','.join(alternative_names)}\n" if alternative_names else "")
        signer = ("-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial")
        _openssl("x509", "-req", "-in", request, *signer, "-days", "2", "-extfile", extensions, "-out", chain)
        both.write_text(key.read_text() + chain.read_text())
        return Certificate(key, chain, both)


def encrypted(key: Path, password: str) -> Path:
    """The same key, locked with a password."""
    locked = key.with_suffix(".locked.key")
    _openssl("pkcs8", "-topk8", "-in", key, "-out", locked, "-passout", f"pass:{password}")
    return locked


def _openssl(*arguments: object) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
