"""Kerberos by MIT's library: who accepts clients, who shows tickets, and the contexts between them.

An initiator asks the KDC, which blocks: it belongs in a thread. An acceptor needs the keytab alone, reads it again for
each client, and never prompts for a password.
"""

import logging
from typing import Final

import gssapi
from gssapi.exceptions import GSSError

from ottla.net.errors import NoProofError
from ottla.net.kerberos.place import Place
from ottla.net.sasl.gssapi import GssFailedError

_log = logging.getLogger(__name__)

_MECHANISMS: Final = (gssapi.MechType.kerberos,)
_NO_CACHE: Final = "No credentials cache found"
_UNREACHABLE: Final = frozenset({2529639068, 2529639066})
"""KRB5_KDC_UNREACH and KRB5_REALM_CANT_RESOLVE: they pass."""


class Context:
    """One side of a context: `ottla.net.sasl.gssapi.SecurityContext`."""

    def __init__(self, context: gssapi.SecurityContext, what: str) -> None:
        self._context: Final = context
        self._what: Final = what
        self._first: bytes | None = None
        self.is_complete = False
        """Whether each side knows the other."""

    def begin(self) -> None:
        """Makes the first token already: for a client, that may ask the KDC."""
        self._first = self.step(b"")

    @property
    def initiator(self) -> str:
        """The client's principal."""
        try:
            return str(self._context.initiator_name)
        except GSSError as error:
            raise self._failed(error) from error

    def step(self, token: bytes) -> bytes:
        """Takes the other side's token; ours, empty if there is none."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        try:
            answer = bytes(self._context.step(token or None) or b"")
            # The library may keep an error until it is asked again.
            self.is_complete = bool(self._context.complete)
        except GSSError as error:
            raise self._failed(error) from error
        return answer

    def wrap(self, message: bytes) -> bytes:
        """Signs a message."""
        try:
            return bytes(self._context.wrap(message, False).message)
        except GSSError as error:
            raise self._failed(error) from error

    def unwrap(self, message: bytes) -> bytes:
        """Checks a signed message."""
        try:
            return bytes(self._context.unwrap(message).message)
        except GSSError as error:
            raise self._failed(error) from error

    def _failed(self, error: GSSError) -> Exception:
        reason = f"{self._what}: {_reason(error)}"
        if error.min_code & 0xFFFFFFFF in _UNREACHABLE:
            return NoProofError(reason)
        return GssFailedError(reason)


class Acceptor:
    """A service with its keys. Raises `GssFailedError` if there is no key for its principal."""

    def __init__(self, place: Place) -> None:
        try:
            # Without a mechanism the library would let clients negotiate about others, of which Kafka knows nothing.
            self._credentials: Final = gssapi.Credentials(
                name=_name(place.principal), usage="accept", mechs=_MECHANISMS, store=_store(place, "keytab")
            )
        except GSSError as error:
            raise GssFailedError(_reason(error)) from error

    def context(self) -> "Accepting":
        """The service's side of a new context."""
        return Accepting(
            gssapi.SecurityContext(creds=self._credentials, usage="accept"), "a client's ticket is refused"
        )


class Accepting(Context):
    """The service's side, which says in the log why a client is refused: the client is not told."""

    def _failed(self, error: GSSError) -> Exception:
        failed = super()._failed(error)
        _log.info("%s", failed)
        return GssFailedError(str(failed))


def initiate(place: Place, service: str, host: str) -> Context:
    """A client's side of a new context to a service on a host, with its ticket.

    It may ask the KDC. Raises `GssFailedError`, or `NoProofError` while no KDC can be reached.
    """
    what = f"no Kerberos ticket for {service}/{host}{_shown(place)}"
    try:
        credentials = gssapi.Credentials(
            name=_name(place.principal), usage="initiate", store=_store(place, "client_keytab")
        )
        context = gssapi.SecurityContext(
            name=gssapi.Name(f"{service}@{host}", gssapi.NameType.hostbased_service),
            creds=credentials,
            flags=(gssapi.RequirementFlag.mutual_authentication, gssapi.RequirementFlag.integrity),
            mech=gssapi.MechType.kerberos,
            usage="initiate",
        )
    except GSSError as error:
        if error.min_code & 0xFFFFFFFF in _UNREACHABLE:
            raise NoProofError(f"{what}: {_reason(error)}") from error
        raise GssFailedError(f"{what}: {_reason(error)}") from error
    made = Context(context, what)
    made.begin()
    return made


def default_realm() -> str:
    """The realm of principals that name none; empty if the system has none."""
    try:
        name = gssapi.Name("nobody", gssapi.NameType.kerberos_principal)
        return str(name.canonicalize(gssapi.MechType.kerberos)).partition("@")[2]
    except GSSError:
        return ""


def _name(principal: str | None) -> gssapi.Name | None:
    return None if principal is None else gssapi.Name(principal, gssapi.NameType.kerberos_principal)


def _store(place: Place, keytab_kind: str) -> dict[str, str] | None:
    """The library's credential store. Tickets that it gets by a keytab are kept in memory, for all connections."""
    if place.keytab is not None:
        store = {keytab_kind: place.keytab}
        if keytab_kind == "client_keytab":
            store["ccache"] = f"MEMORY:{place.keytab}:{place.principal}"
        return store
    return None if place.ticket_cache is None else {"ccache": place.ticket_cache}


def _shown(place: Place) -> str:
    """The principal and the file that are searched, for messages: the library's own don't name them."""
    whose = f" as {place.principal}" if place.principal else ""
    where = place.keytab or place.ticket_cache
    return f"{whose} by {where}" if where else whose


def _reason(error: GSSError) -> str:
    """Kerberos' error text, or GSSAPI's where Kerberos has none."""
    code = error.min_code or error.maj_code
    reason = str(error.get_all_statuses(code, not error.min_code)[0])
    return reason if not reason.startswith(_NO_CACHE) else "there is none, and no key or password to get one with"
