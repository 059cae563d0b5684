"""Errors between a client and a schema registry."""

from ottla.client.errors import ClientError


class RegistryError(ClientError):
    """The registry refused a request: HTTP's `status`, and the registry's own `error_code` (40401: no such subject)."""

    def __init__(self, status: int, error_code: int, message: str) -> None:
        super().__init__(f"{message} (error {error_code})")
        self.status = status
        self.error_code = error_code
        self.message = message


class RegistryUnavailableError(ClientError):
    """No address of the registry gave a usable answer."""

    retriable = True
