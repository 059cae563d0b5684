"""A client's log-in by Kerberos: gets the ticket in a thread, for the KDC may be slow, and begins the exchange."""

import asyncio

from ottla.net.errors import LoginFailedError
from ottla.net.kerberos.credential import initiate
from ottla.net.kerberos.place import KerberosLogin
from ottla.net.sasl.client_login import ClientExchange
from ottla.net.sasl.gssapi import GssFailedError, gssapi_exchange


async def begin_kerberos(login: KerberosLogin, host: str) -> ClientExchange:
    """Begins a log-in to a host. Raises `LoginFailedError`, or `NoProofError` while no KDC can be reached."""
    try:
        context = await asyncio.to_thread(initiate, login.place, login.service, host)
    except GssFailedError as error:
        raise LoginFailedError(str(error)) from error
    # No authorization id: the ticket names the user.
    return gssapi_exchange(context, "")
