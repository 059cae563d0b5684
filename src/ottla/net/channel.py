"""Exchanges and the hot half of connections, by whichever twin is installed; `channel_plain` documents them."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.net.channel_plain import GONE, Channel, Exchange, flush_all
else:
    _twin = load("ottla.net._channel", "ottla.net.channel_plain")
    Channel, Exchange, GONE, flush_all = _twin.Channel, _twin.Exchange, _twin.GONE, _twin.flush_all

__all__ = ["GONE", "Channel", "Exchange", "flush_all"]
