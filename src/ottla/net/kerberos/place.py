"""The places of Kerberos' keys and tickets: the options of Java's `Krb5LoginModule`, and `KAFKA_OPTS`.

Needs no library, so that settings are checked also where there is none.
"""

import os
import re
from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen

_CONFIG: Final = re.compile(r"-Djava\.security\.krb5\.conf==?(\"[^\"]*\"|'[^']*'|\S+)")
_VARIABLE: Final = "KRB5_CONFIG"
_EXAMPLE: Final = (
    "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
    'keyTab="/etc/kafka.keytab" principal="kafka/host@REALM";'
)


@frozen
class Place:
    """None: what the system has."""

    principal: str | None = None
    keytab: str | None = None
    ticket_cache: str | None = None


@frozen
class KerberosLogin:
    """A client's credentials, and the service that it shows them to."""

    place: Place
    service: str


def place_of(options: Mapping[str, str]) -> Place:
    """The place that a login module's options name. Raises `ValueError` if they name none.

    >>> place_of({"useKeyTab": "true", "keyTab": "/etc/k.keytab", "principal": "kafka/a@B"}).keytab
    '/etc/k.keytab'
    """
    principal = options.get("principal")
    if principal == "*":
        principal = None
    if _is_set(options, "useKeyTab"):
        return Place(principal, options.get("keyTab"))
    if _is_set(options, "useTicketCache"):
        return Place(principal, ticket_cache=options.get("ticketCache"))
    raise ValueError(f"Kerberos needs a login module that says where keys or tickets are, such as {_EXAMPLE}")


def service_of(setting: str | None, options: Mapping[str, str]) -> str:
    """The name of the brokers' service, by setting or login module. Raises `ValueError`, as Kafka does."""
    option = options.get("serviceName")
    if setting and option and setting != option:
        raise ValueError(f"Conflicting serviceName values: {option} in JAAS, {setting} in sasl.kerberos.service.name")
    name = setting or option
    if not name:
        raise ValueError(
            "No serviceName defined in either JAAS or Kafka config: it is what the brokers' principal begins with, "
            "mostly kafka"
        )
    return name


def use_configuration(environment: Mapping[str, str]) -> None:
    """Has the library read the file that `-Djava.security.krb5.conf` names, unless KRB5_CONFIG names one."""
    path = configuration(environment)
    if path is not None and _VARIABLE not in environment:
        os.environ[_VARIABLE] = path


def configuration(environment: Mapping[str, str]) -> str | None:
    """The file that `KAFKA_OPTS` names; of several the last, as in Java.

    >>> configuration({"KAFKA_OPTS": "-Xmx1g -Djava.security.krb5.conf=/etc/krb5.conf"})
    '/etc/krb5.conf'
    """
    found = _CONFIG.findall(environment.get("KAFKA_OPTS", ""))
    return found[-1].strip("\"'") if found else None


def _is_set(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "").lower() == "true"
