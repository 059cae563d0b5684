"""Who sent a request, as a broker tells it to the controller inside an Envelope.

On the wire a version (int16) stands before it.
"""

from ottla.protocol.definition import Message
from ottla.protocol.field import boolean, string


class DefaultPrincipalData(Message, versions="0", flexible="0+"):
    type: str = string("0+")
    name: str = string("0+")
    token_authenticated: bool = boolean("0+")
