"""The end of a log, where it is appended to, in the twin that is installed; `end_plain` documents it."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.storage.log.end_plain import LogEnd
else:
    LogEnd = load("ottla.storage.log._end", "ottla.storage.log.end_plain").LogEnd

__all__ = ["LogEnd"]
