"""Users to begin a cluster with (KIP-900): `SCRAM-SHA-256=[name=alice,password=secret]` to a record of the log.

Instead of a password there may be `saltedpassword` with its `salt`, both base64; `iterations` is 4096 unless given.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Final

from ottla.metadata.controller.resource.scram import ITERATIONS_MAX, ITERATIONS_MIN
from ottla.metadata.errors import FormatError
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.security import UserScramCredentialRecord
from ottla.protocol.scram import ScramMechanism

_MECHANISMS: Final = {
    "SCRAM-SHA-256": (ScramMechanism.SCRAM_SHA_256, "sha256"),
    "SCRAM-SHA-512": (ScramMechanism.SCRAM_SHA_512, "sha512"),
}
_SALT_BYTES: Final = 26
_SETTINGS: Final = frozenset({"name", "salt", "iterations", "password", "saltedpassword"})


def parse_scram_argument(text: str, random_bytes: Callable[[int], bytes]) -> VersionedRecord:
    """The credential that one argument asks for; `FormatError` if it asks for none.

    >>> record, _ = parse_scram_argument("SCRAM-SHA-256=[name=alice,password=secret]", bytes)
    >>> record.name, record.mechanism, record.iterations, len(record.stored_key)
    ('alice', 1, 4096, 32)
    """
    name, equals, settings_text = text.strip().partition("=")
    if not equals:
        # The text is not repeated: it holds a password.
        raise FormatError("Failed to find equals sign in SCRAM argument")
    if name not in _MECHANISMS:
        raise FormatError(f"The add-scram mechanism {name} is not supported.")
    if not settings_text.startswith("["):
        raise FormatError("Expected configuration string to start with [")
    if not settings_text.endswith("]"):
        raise FormatError("Expected configuration string to end with ]")
    return VersionedRecord(_credential(name, _settings(settings_text[1:-1]), random_bytes), 0)


def _settings(text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise FormatError("No equals sign found in SCRAM component")
        quoted = len(value) >= 2 and value[0] == value[-1] == '"'
        settings[name] = value[1:-1] if quoted else value
    unknown = sorted(settings.keys() - _SETTINGS)
    if not settings.get("name"):
        raise FormatError("You must supply 'name' to add-scram")
    if unknown:
        raise FormatError(f"Unknown SCRAM configurations: {', '.join(unknown)}")
    return settings


def _credential(
    mechanism: str, settings: dict[str, str], random_bytes: Callable[[int], bytes]
) -> UserScramCredentialRecord:
    """Keys that check a proof but don't make one (RFC 5802 section 3)."""
    number, digest = _MECHANISMS[mechanism]
    iterations = _iterations(settings.get("iterations", str(ITERATIONS_MIN)), mechanism)
    given_salt = _base64(settings, "salt")
    salted = _base64(settings, "saltedpassword")
    salt = random_bytes(_SALT_BYTES) if given_salt is None else given_salt
    if "password" in settings:
        salted = hashlib.pbkdf2_hmac(digest, settings["password"].encode(), salt, iterations)
    elif salted is None:
        raise FormatError("You must supply one of 'password' or 'saltedpassword' to add-scram")
    elif given_salt is None:
        raise FormatError("You must supply 'salt' with 'saltedpassword' to add-scram")
    client_key = hmac.digest(salted, b"Client Key", digest)
    return UserScramCredentialRecord(
        name=settings["name"],
        mechanism=int(number),
        salt=salt,
        stored_key=hashlib.new(digest, client_key).digest(),
        server_key=hmac.digest(salted, b"Server Key", digest),
        iterations=iterations,
    )


def _iterations(text: str, mechanism: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise FormatError(f"Failed to parse iterations count: {text}")
    iterations = int(text)
    if iterations < ITERATIONS_MIN:
        raise FormatError(f"The 'iterations' value must be >= {ITERATIONS_MIN} for add-scram using {mechanism}")
    if iterations > ITERATIONS_MAX:
        raise FormatError(f"The 'iterations' value must be <= {ITERATIONS_MAX} for add-scram using {mechanism}")
    return iterations


def _base64(settings: dict[str, str], name: str) -> bytes | None:
    text = settings.get(name)
    if text is None:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"Failed to decode given {name}") from error
