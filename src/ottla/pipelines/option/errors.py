"""The error of a wrong option."""

from ottla.base.errors import OttlaError


class OptionError(OttlaError, ValueError):
    """An option that is unknown, missing, malformed or contradicts another one; `option` is its name.

    >>> print(OptionError("minPartitions", "must be a positive number, not 'many'"))
    option 'minPartitions': must be a positive number, not 'many'
    """

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"option {option!r}: {reason}")
        self.option = option
        self.reason = reason

    def __reduce__(self) -> tuple[type["OptionError"], tuple[str, str]]:
        # Spark carries it from one process to another.
        return type(self), (self.option, self.reason)
