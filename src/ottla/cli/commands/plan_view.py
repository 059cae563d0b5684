"""`ottla plan`: what was asked for, what is measured, and the figures on a screen or as JSON."""

import argparse

from ottla.cli.commands.plan_figure import Plan, Wish, plan_of
from ottla.cli.commands.plan_quantity import rate_of, seconds_of, size_of
from ottla.cli.connection import explained
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import bytes_text, counted, duration_text
from ottla.cli.output.style import Style, Text, Tone, Toned

_DEFAULT_FILES = 1024
_DEFAULT_MAPS = 65_530


def show(options: argparse.Namespace) -> int:
    """Prints the plan; the exit code."""
    wish = _wish(options)
    plan = plan_of(wish)
    if options.json:
        print_document({"wish": wish._asdict(), "plan": _document(plan)})
    else:
        style = Style.of()
        width = max(len(name) for name, _ in _lines(wish, plan))
        for name, text in _lines(wish, plan):
            print(f"{style.paint(name.ljust(width), Tone.STRONG)}  {style.paint(text)}")
    return 0


def _wish(options: argparse.Namespace) -> Wish:
    brokers = options.replicas if options.brokers is None else options.brokers
    for name, value in (("--replicas", options.replicas), ("--brokers", brokers)):
        if value < 1:
            raise CommandError(f"{name} {value}: there has to be one at least")
    if brokers < options.replicas:
        raise CommandError(f"{options.replicas} replicas need as many brokers; --brokers says {brokers}")
    if options.readers < 0 or options.connections < 0:
        raise CommandError("--readers and --connections can't be negative")
    if not 0 <= options.headroom < 100:
        raise CommandError(f"--headroom {options.headroom:g}: it is a percentage from 0 to 99")
    target = rate_of(options.target, "--target")
    retention_s, segment = seconds_of(options.retention, "--retention"), int(size_of(options.segment, "--segment"))
    if segment < 1:
        raise CommandError(f"--segment {options.segment}: it must be more than nothing")
    session_s, election_s = seconds_of(options.session, "--session"), seconds_of(options.election, "--election")
    produce, consume = _partition_rates(options)
    return Wish(
        target=target,
        produce=produce,
        consume=consume,
        retention_s=retention_s,
        replicas=options.replicas,
        brokers=brokers,
        readers=options.readers,
        headroom=options.headroom / 100,
        segment_bytes=segment,
        connections=options.connections,
        session_s=session_s,
        election_s=election_s,
    )


def _partition_rates(options: argparse.Namespace) -> tuple[float, float]:
    produce = None if options.produce is None else rate_of(options.produce, "--produce")
    consume = None if options.consume is None else rate_of(options.consume, "--consume")
    if produce is not None and consume is not None:
        return produce, consume
    if not options.measure:
        missing = [name for name, rate in (("--produce", produce), ("--consume", consume)) if rate is None]
        raise CommandError(
            f"how much one partition takes is not known: give {' and '.join(missing)}, such as 20MB/s, or --measure it "
            "on a cluster (-b HOST:PORT)"
        )
    from ottla.cli.commands.plan_measure import measure

    with explained(options):
        measured = measure(options)
    return produce or measured.produce, consume or measured.consume


def _lines(wish: Wish, plan: Plan) -> list[tuple[str, Text]]:
    needed = f"max({bytes_text(wish.target)} / {bytes_text(wish.produce)}, … / {bytes_text(wish.consume)})"
    even = "" if plan.partitions_even == plan.partitions else f"; {plan.partitions_even} spread evenly"
    retention = duration_text(wish.retention_s)
    return [
        ("one partition", f"takes {bytes_text(wish.produce)}/s, a consumer does {bytes_text(wish.consume)}/s of it"),
        ("partitions", Toned(f"{plan.partitions:,} = {needed}{even}", Tone.GOOD)),
        (
            "each broker",
            f"leads {plan.leaders_per_broker:,} and holds {counted(plan.replicas_per_broker, 'replica')} "
            f"({counted(wish.brokers, 'broker')})",
        ),
        (
            "disk",
            Toned(
                f"{bytes_text(plan.disk_per_broker)} a broker, {bytes_text(plan.disk_total)} in all: {retention}, "
                f"{counted(wish.replicas, 'copy', 'copies')}, {wish.headroom:.0%} kept free",
                Tone.GOOD,
            ),
        ),
        ("network", f"{_network(plan)}; {_network(plan, one_down=True)} with one broker down"),
        ("open files", _files(plan)),
        ("memory maps", _maps(plan)),
        (
            "fail-over",
            f"{duration_text(plan.failover_s)} after kill -9: the session of {duration_text(wish.session_s)}, then "
            f"{counted(plan.leaders_per_broker, 'leadership')}; {duration_text(plan.stop_s)} when stopped cleanly",
        ),
    ]


def _network(plan: Plan, *, one_down: bool = False) -> str:
    found = plan.network_one_down if one_down else plan.network
    return f"{bytes_text(found.received)}/s in, {bytes_text(found.sent)}/s out"


def _files(plan: Plan) -> Text:
    text = f"{plan.open_files:,} a broker"
    return f"{text}: raise its limit (ulimit -n, LimitNOFILE)" if plan.open_files > _DEFAULT_FILES else text


def _maps(plan: Plan) -> Text:
    text = f"{plan.memory_maps:,} a broker"
    if plan.memory_maps <= _DEFAULT_MAPS:
        return text
    return Toned(f"{text}: more than vm.max_map_count has by default ({_DEFAULT_MAPS:,})", Tone.WARN)


def _document(plan: Plan) -> dict[str, object]:
    return {**plan._asdict(), "network": plan.network._asdict(), "network_one_down": plan.network_one_down._asdict()}
