"""The sender of a request, as a broker passes it to the controller inside an Envelope (KIP-590).

On the wire a version (int16) stands before it. It is what Kafka's default principal builder writes: `type` is User,
`name` the authenticated name. `token_authenticated` is set if the client logged in by delegation token, since such a
client may not ask for further tokens. A custom principal builder may write other bytes, so only nodes with the same
one understand each other.
"""

from ottla.protocol.definition import Message
from ottla.protocol.field import boolean, string


class DefaultPrincipalData(Message, versions="0", flexible="0+"):
    type: str = string("0+")
    name: str = string("0+")
    token_authenticated: bool = boolean("0+")
