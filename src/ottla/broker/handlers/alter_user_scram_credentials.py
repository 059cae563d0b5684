"""AlterUserScramCredentials (key 51), version 0: forwarded to the active controller.

What a server keeps of a password is stored, for listeners that authenticate. A user may be altered once in a request.
KIP-554.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
