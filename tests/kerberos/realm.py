"""MIT's KDC in a directory of its own, with principals and their keytabs.

Where its programs, or the package `gssapi`, are missing the tests that need them skip with one line.
"""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.clients.patience import until
from tests.kafka.port import free_port

NAME = "EXAMPLE.TEST"
"""Of a realm that is given no other."""
_PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


class Realm:
    """A realm, served while the context lasts."""

    def __init__(self, directory: Path, name: str = NAME) -> None:
        self._programs = {name: _program(name) for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")}
        if importlib.util.find_spec("gssapi") is None:
            pytest.skip("needs the package gssapi, which needs libkrb5-dev to be built")
        directory.mkdir(parents=True, exist_ok=True)
        self.name = name
        self._directory = directory
        self._port = free_port()
        self.configuration = directory / "krb5.conf"
        self.configuration.write_text(self._client_settings())
        (directory / "kdc.conf").write_text(self._server_settings())
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What programs need to find the realm, Java's among them."""
        return {
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_KDC_PROFILE": str(self._directory / "kdc.conf"),
            "KRB5RCACHENAME": f"file2:{self._directory}/replays",
            "KAFKA_OPTS": f"-Djava.security.krb5.conf={self.configuration}",
        }

    def keytab(self, principal: str) -> Path:
        """A new principal with random keys, and the file that has them."""
        path = self._directory / f"{principal.replace('/', '-')}.keytab"
        self.administer(f"addprinc -randkey {principal}")
        self.administer(f"ktadd -k {path} {principal}")
        return path

    def administer(self, query: str) -> None:
        """`kadmin.local -q`."""
        self._run("kadmin.local", "-q", query)

    def tickets(self, principal: str, keytab: Path) -> Path:
        """A cache of tickets, as `kinit` leaves it."""
        path = self._directory / f"{principal.replace('/', '-')}.tickets"
        self._run("kinit", "-k", "-t", str(keytab), "-c", f"FILE:{path}", principal)
        return path

    def stop(self) -> None:
        """Nobody gets a ticket any more."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def start(self) -> None:
        """Serves."""
        command = [self._programs["krb5kdc"], "-n", "-r", self.name]
        with (self._directory / "kdc.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**os.environ, **self.environment}, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        until(True, lambda: self._is_serving)

    def __enter__(self) -> Self:
        self._run("kdb5_util", "-r", self.name, "create", "-s", "-P", "master", "-W")
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def _is_serving(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._directory / "kdc.log").read_text()
        return "commencing operation" in (self._directory / "kdc.log").read_text()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs[program], *arguments],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert not done.returncode, f"{program}: {done.stdout}{done.stderr}"

    def _client_settings(self) -> str:
        return (
            f"[libdefaults]\n default_realm = {self.name}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
            " rdns = false\n dns_canonicalize_hostname = false\n udp_preference_limit = 1\n"
            f"[realms]\n {self.name} = {{\n  kdc = 127.0.0.1:{self._port}\n }}\n"
        )

    def _server_settings(self) -> str:
        place = self._directory
        return (
            f"[kdcdefaults]\n kdc_listen = 127.0.0.1:{self._port}\n kdc_tcp_listen = 127.0.0.1:{self._port}\n"
            f"[realms]\n {self.name} = {{\n  database_name = {place}/principals\n  key_stash_file = {place}/stash\n"
            f"  acl_file = {place}/acl\n  supported_enctypes = aes256-cts:normal\n  max_life = 1h\n }}\n"
            f"[logging]\n kdc = STDERR\n"
        )


def _program(name: str) -> str:
    found = shutil.which(name, path=_PLACES)
    if found is None:
        pytest.skip(f"needs {name} of MIT Kerberos (scripts/install-debian-packages)")
    return found
