"""Classes as operators write them: who clients are, and what they log in with."""

import threading
from collections.abc import Mapping

from ottla.net.security import Recognised

hang = threading.Event()
"""Ends what hangs, when the tests are over."""


class Users:
    """Alice's password is in the node's settings; others make trouble."""

    def configure(self, settings: Mapping[str, str]) -> None:
        self._password = settings["own.password"]

    def password(self, name: str) -> str | None:
        if name == "raises":
            raise RuntimeError("the directory is broken")
        if name == "hangs":
            hang.wait(60)
        return self._password if name == "alice" else None


class Checker:
    def check_password(self, name: str, password: str) -> bool:
        return (name, password) == ("alice", "secret")


class Tokens:
    def read_token(self, token: str) -> str:
        known = {"letters": "alice"}
        return known[token]


class Namer:
    """Names users after the listener and the mechanism."""

    def principal(self, found: Recognised) -> str:
        if found.principal.endswith("raises"):
            raise RuntimeError("nobody like that")
        seen = "with" if found.certificate else "without"
        return f"User:{found.principal.partition(':')[2]}-{found.listener}-{found.mechanism}-{seen}"


def login() -> tuple[str, str]:
    """For clients."""
    return "alice", "secret"
