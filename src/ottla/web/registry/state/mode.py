"""The mode of a subject: written, only read, or filled from another registry."""

import enum


class Mode(enum.Enum):
    """A mode, by its name in the API."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"
    FORWARD = "FORWARD"

    @property
    def is_read_only(self) -> bool:
        """Whether nothing may be registered, deleted or configured."""
        return self in (Mode.READONLY, Mode.READONLY_OVERRIDE)

    @property
    def imports(self) -> bool:
        """Whether schemas come with ids of their own, and unchecked."""
        return self in (Mode.IMPORT, Mode.FORWARD)
