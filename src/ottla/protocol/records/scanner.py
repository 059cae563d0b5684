"""The scanner of sections that come in pieces, by whichever twin is installed; `scanner_plain` documents it."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.protocol.records import scanner_plain as _twin
else:
    _twin = load("ottla.protocol.records._scanner", "ottla.protocol.records.scanner_plain")

Scanner = _twin.Scanner
