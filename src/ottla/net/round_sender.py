"""The answers of a round on their way out, by whichever twin is installed; `round_sender_plain` documents it."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.net import round_sender_plain as _twin
else:
    _twin = load("ottla.net._round_sender", "ottla.net.round_sender_plain")

RoundSender = _twin.RoundSender
