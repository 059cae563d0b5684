"""The hot part of `send`, by whichever twin is installed; `append_plain` documents it, `_append` is compiled."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load
from ottla.client.producer.append_plain import FULL, UNUSUAL
from ottla.client.producer.send_future import OnDelivery

if TYPE_CHECKING:
    from ottla.client.producer.append_plain import Appender, RecordBuffer, SendFuture, TopicLane
else:
    _twin = load("ottla.client.producer._append", "ottla.client.producer.append_plain")
    Appender = _twin.Appender
    RecordBuffer = _twin.RecordBuffer
    SendFuture = _twin.SendFuture
    TopicLane = _twin.TopicLane

__all__ = ["FULL", "UNUSUAL", "Appender", "OnDelivery", "RecordBuffer", "SendFuture", "TopicLane"]
