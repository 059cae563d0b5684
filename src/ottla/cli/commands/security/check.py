"""`ottla security check`: what is weak in files of settings, keys and certificates. Connects to no broker.

A file of settings is looked at with the files that it names; of a directory, every file in it. Secrets are not printed.
"""

import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ottla.base.config.file import PropertiesError, parse_properties
from ottla.cli.commands.doctor.finding import Finding, doubtful, fine, skipped, wrong
from ottla.cli.commands.security.check_certificate import check_certificates

_SECRET: Final = re.compile(
    rb"PRIVATE KEY-----|(?:password|\.secret\.key)\b[\"']?\s*[=:]\s*[\"']?[^\s\"']", re.IGNORECASE
)
_STORES: Final = (".p12", ".pfx", ".pkcs12", ".jks", ".keystore")
"""Files of keys that only their password opens."""
_BYTES_MAX: Final = 1_000_000
"""Larger files hold data, not settings."""
_USERS: Final = "sasl.users.file"
_NAMED: Final = ("ssl.keystore.location", "ssl.truststore.location", _USERS)
_IDENTIFICATION: Final = "ssl.endpoint.identification.algorithm"
_OPEN: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_LOOPBACK: Final = ("localhost", "127.", "[::1]")


def check(place: Path) -> Iterator[Finding]:
    """The findings about a file, or about the files of a directory."""
    paths = sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else [place]
    users: set[Path] = set()
    for path in [*paths]:
        for key, named in _named_files(path):
            if key.endswith(_USERS):
                users.add(named.resolve())
            if not named.is_file():
                yield wrong(path.name, f"{key} names {named}, which is not there", "put the file there")
            elif named.resolve() not in [known.resolve() for known in paths]:
                paths.append(named)
    for path in paths:
        found = list(_check_file(path, is_secret=path.resolve() in users))
        yield from found or [fine(path.name, "nothing wrong")]


def _check_file(path: Path, *, is_secret: bool) -> Iterator[Finding]:
    content = _content(path)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077 and (is_secret or _SECRET.search(content)):
        yield wrong(path.name, f"it holds secrets, and others may read it (mode {mode:o})", f"chmod 600 {path}")
    if b"-----BEGIN" in content and path.suffix != ".properties":
        yield from check_certificates(path.name, content)
    if path.suffix.lower() in _STORES:
        yield skipped(path.name, "a store that a password opens; what is in it was not looked at")
    if path.suffix == ".properties":
        settings = _settings(content)
        if settings is None:
            yield wrong(path.name, "it can't be read as a file of settings", "write key=value lines in UTF-8")
        else:
            yield from check_settings(path.name, settings)


def check_settings(name: str, settings: Mapping[str, str]) -> Iterator[Finding]:
    """The weaknesses in the settings of a server or a client."""
    for key, value in settings.items():
        if key.endswith(_IDENTIFICATION) and not value.strip():
            said = f"{key} is empty: any certificate of the authority can pose as a broker"
            yield wrong(name, said, "take the setting out; certificates need the names that are dialled")
    for where, mechanisms in _without_tls(settings):
        open_ones = [mechanism for mechanism in mechanisms if mechanism in _OPEN]
        if open_ones:
            said = f"{where}: {', '.join(open_ones)} without TLS beyond this machine, so the network learns passwords"
            yield wrong(name, said, "use SASL_SSL")
    if "listeners" in settings and not settings.get("authorizer.class.name"):
        yield doubtful(name, "no authorizer: any client may do everything", "see docs/AUTHORIZATION.md")


def _without_tls(settings: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The listeners and clients that log in without TLS beyond this machine, with their mechanisms."""
    if settings.get("security.protocol") == "SASL_PLAINTEXT":
        servers = settings.get("bootstrap.servers", "")
        if not all(server.strip().startswith(_LOOPBACK) for server in servers.split(",")):
            yield "security.protocol=SASL_PLAINTEXT", [settings.get("sasl.mechanism", "GSSAPI")]
    protocols = dict(
        pair.strip().partition(":")[::2] for pair in settings.get("listener.security.protocol.map", "").split(",")
    )
    for listener in filter(None, settings.get("listeners", "").split(",")):
        name, _, address = listener.strip().partition("://")
        if protocols.get(name, name) == "SASL_PLAINTEXT" and not address.startswith(_LOOPBACK):
            key = "sasl.enabled.mechanisms"
            offered = settings.get(f"listener.name.{name.lower()}.{key}", settings.get(key, "GSSAPI"))
            yield f"listener {name}", [mechanism.strip() for mechanism in offered.split(",")]


def _named_files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.suffix != ".properties":
        return
    for key, value in (_settings(_content(path)) or {}).items():
        if key.endswith(_NAMED) and value:
            yield key, Path(value)


def _settings(content: bytes) -> dict[str, str] | None:
    try:
        return parse_properties(content.decode())
    except (PropertiesError, UnicodeDecodeError):
        return None


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.stat().st_size <= _BYTES_MAX else b""
