"""Delegation tokens by the HMAC that clients show, so that a request costs no HMAC for every token there is (KIP-48).

Derived from the image and the cluster's secret: built when the controller becomes active, then kept up with each delta.
"""

from immutables import Map

from ottla.metadata.image.delegation_token import DelegationToken, DelegationTokensDelta, token_hmac


class TokenIndex:
    """The ids of all tokens by HMAC; empty where tokens are switched off."""

    def __init__(self, secret: bytes | None, tokens: Map[str, DelegationToken]) -> None:
        self._secret = secret
        self._ids = {} if secret is None else {token_hmac(secret, token_id): token_id for token_id in tokens}

    def id_of(self, wanted: bytes) -> str | None:
        """The token whose password that is. A look-up by hash does not show how much of a guess was right."""
        return self._ids.get(wanted)

    def update(self, delta: DelegationTokensDelta) -> None:
        """Takes in what a delta changed."""
        if self._secret is None:
            return
        for token_id, token in delta.changes.items():
            password = token_hmac(self._secret, token_id)
            if token is None:
                self._ids.pop(password, None)
            else:
                self._ids[password] = token_id
