"""Metrics of clients (KIP-714) where nothing receives them: who may ask and push when, and what a push must contain."""

from typing import Any

from ottla.base.ids import Uuid
from ottla.protocol.compression import CompressionType, compress
from ottla.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.push_telemetry import PushTelemetryRequest
from tests.clients.patience import until
from tests.parity.talk import Talk

_TELEMETRY_MAX_BYTES = 1_048_576
_CLIENT_METRICS = 16
_RESERVED = (Uuid(bytes(16)), Uuid(bytes(15) + b"\x01"), Uuid(bytes(15) + b"\x02"))


def run(talk: Talk) -> None:
    """All about it."""
    for number, reserved in enumerate(_RESERVED):
        talk.ask(f"a reserved id: {number}", GetTelemetrySubscriptionsRequest(client_instance_id=reserved), 0)
        talk.ask(f"a reserved id: {number}", PushTelemetryRequest(client_instance_id=reserved), 0)
    talk.ask("a client that never asked", PushTelemetryRequest(client_instance_id=_client(1), subscription_id=5), 0)
    _contents(talk)
    _times(talk)
    _ends(talk)
    _subscriptions(talk)


def _client(number: int) -> Uuid:
    return Uuid(number.to_bytes(2, "big") * 8)


def _contents(talk: Talk) -> None:
    good = {kind: compress(kind, b"metrics") for kind in CompressionType}
    cases = [(f"{kind.name.lower()}", int(kind), data) for kind, data in good.items()]
    cases += [(f"no bytes in {kind.name.lower()}", int(kind), b"") for kind in CompressionType]
    cases += [(f"junk in {kind.name.lower()}", int(kind), b"junk and more junk") for kind in CompressionType]
    cases += [(f"one byte in {kind.name.lower()}", int(kind), b"x") for kind in CompressionType]
    cases += [(f"half of {kind.name.lower()}", int(kind), data[: len(data) // 2]) for kind, data in good.items()]
    cases += [(f"more behind {kind.name.lower()}", int(kind), data + b"junk") for kind, data in good.items()]
    cases += [
        ("an unknown codec", 9, b"metrics"),
        ("a negative codec", -1, b"metrics"),
        ("an unknown codec and no bytes", 9, b""),
        ("another codec than it says", int(CompressionType.GZIP), good[CompressionType.ZSTD]),
    ]
    for kind in CompressionType:
        for size in (_TELEMETRY_MAX_BYTES, _TELEMETRY_MAX_BYTES + 1):
            cases.append(
                (f"{size} bytes once it is decompressed of {kind.name.lower()}", int(kind), compress(kind, bytes(size)))
            )
    for number, (name, kind, data) in enumerate(cases, 100):
        with talk.one_connection() as wire:
            answer: Any = wire.ask(GetTelemetrySubscriptionsRequest(client_instance_id=_client(number)), 0)
            push = PushTelemetryRequest(
                client_instance_id=_client(number),
                subscription_id=answer.subscription_id,
                compression_type=kind,
                metrics=data,
            )
            talk.ask(f"contents: {name}", push, 0)
            talk.ask(
                f"contents: {name}: asked again",
                GetTelemetrySubscriptionsRequest(client_instance_id=_client(number)),
                0,
            )


def _times(talk: Talk) -> None:
    client = _client(50)
    asked = GetTelemetrySubscriptionsRequest(client_instance_id=client)
    with talk.one_connection() as wire:
        answer: Any = talk.ask("the first time", asked, 0)
        push = PushTelemetryRequest(client_instance_id=client, subscription_id=answer.subscription_id)
        talk.ask("too soon", asked, 0)
        talk.ask("the first time", push, 0)
        talk.ask("too soon", push, 0)
        talk.ask("too soon after a push", asked, 0)
        push.subscription_id += 1
        talk.ask("too soon, with another subscription", push, 0)
        talk.ask("too soon, and told so", asked, 0)
        assert wire
    with talk.one_connection():
        talk.ask("on another connection", asked, 0)
    with talk.one_connection() as wire:
        client = _client(51)
        answer = wire.ask(GetTelemetrySubscriptionsRequest(client_instance_id=client), 0)
        push = PushTelemetryRequest(client_instance_id=client, subscription_id=answer.subscription_id + 1)
        talk.ask("another subscription", push, 0)
        talk.ask("after another subscription", GetTelemetrySubscriptionsRequest(client_instance_id=client), 0)
        talk.ask("another subscription, again", push, 0)
        push.subscription_id -= 1
        talk.ask("the right one at last", push, 0)


def _ends(talk: Talk) -> None:
    for number, name in enumerate(("pushed before", "at once", "with junk", "with another subscription"), 60):
        client = _client(number)
        with talk.one_connection() as wire:
            answer: Any = wire.ask(GetTelemetrySubscriptionsRequest(client_instance_id=client), 0)
            push = PushTelemetryRequest(client_instance_id=client, subscription_id=answer.subscription_id)
            if name == "pushed before":
                wire.ask(push, 0)
            if name == "with junk":
                push.compression_type, push.metrics = int(CompressionType.GZIP), b"junk"
            if name == "with another subscription":
                push.subscription_id += 1
            push.terminating = True
            talk.ask(f"terminating, {name}", push, 0)
            talk.ask(f"terminating again, {name}", push, 0)
            push.terminating = False
            talk.ask(f"after the end, {name}", push, 0)
            talk.ask(f"after that, {name}", push, 0)
            talk.ask(f"after the end, {name}", GetTelemetrySubscriptionsRequest(client_instance_id=client), 0)


def _subscriptions(talk: Talk) -> None:
    """Who matches what is subscribed to."""
    configs = [
        AlterableConfig(name="metrics", value="b.,a.,b.c"),
        AlterableConfig(name="interval.ms", value="1000"),
        AlterableConfig(name="match", value="client_id=ottla-.*"),
    ]
    resource = AlterConfigsResource(resource_type=_CLIENT_METRICS, resource_name="parity-metrics", configs=configs)
    talk.quietly(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    number = 80

    def is_seen() -> bool:
        nonlocal number
        number += 1
        answer: Any = talk.quietly(GetTelemetrySubscriptionsRequest(client_instance_id=_client(number)), 0)
        return bool(answer.requested_metrics)

    until(True, is_seen)
    talk.ask("one subscription", GetTelemetrySubscriptionsRequest(client_instance_id=_client(70)), 0)
    others = [AlterableConfig(name="metrics", value="z."), AlterableConfig(name="interval.ms", value="2000")]
    resource = AlterConfigsResource(resource_type=_CLIENT_METRICS, resource_name="parity-others", configs=others)
    talk.quietly(IncrementalAlterConfigsRequest(resources=[resource]), 1)

    def are_both_seen() -> bool:
        nonlocal number
        number += 1
        answer: Any = talk.quietly(GetTelemetrySubscriptionsRequest(client_instance_id=_client(number)), 0)
        return len(answer.requested_metrics) > 2

    until(True, are_both_seen)
    talk.ask("two subscriptions", GetTelemetrySubscriptionsRequest(client_instance_id=_client(71)), 0)
