"""Whether a node is back where it was: a table of what it holds, and the list of what grew."""

from collections.abc import Iterable, Iterator, Mapping

from tests.soak.sample import GARBAGE, RSS, Sample

GROWTH_MAX = 0.05
_SHOWN_TYPES = 12
_SPARE = {"files": 4, "objects": 300, "blocks": 2_000, "threads": 8, "descriptors": 4, "memory": 8, "RSS": 2_048}
"""More than these it must be as well: of 3 files one more is no growth of a third, and a pool of threads, which has a
bound, starts the next one whenever all are at work."""
_OF_ELECTIONS = {"objects ottla.storage.leader_epoch.checkpoint.EpochEntry"}
"""A log keeps an entry for each election since its beginning, and the beginning of a compacted log never moves: Apache
Kafka keeps them as well."""


def grown(before: Sample, after: Sample) -> list[str]:
    """What is more than 5 % above where it was, a line each."""
    return [
        f"node {after.node_id}: {name} grew from {old:,} to {new:,}"
        for name, (old, new) in sorted(_pairs(before, after).items())
        if new > old * (1 + GROWTH_MAX) and new - old > _spare(name) and name not in _OF_ELECTIONS
    ]


def _spare(name: str) -> int:
    return _SPARE[name.partition(" ")[0]]


def _pairs(before: Sample, after: Sample) -> dict[str, tuple[int, int]]:
    old, new = before.counts, after.counts
    return {name: (old.get(name, 0), new.get(name, 0)) for name in old.keys() | new.keys()}


def table(columns: Mapping[str, Sample]) -> str:
    """What a node held at some moments: the process, its files, and the types there are most of."""
    samples = list(columns.values())
    lines = [["", *columns], ["garbage found", *(f"{sample.process[GARBAGE]:,}" for sample in samples)]]
    for name in _rows(samples):
        lines.append([name, *(f"{sample.counts.get(name, 0):,}" for sample in samples)])
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns) + 1)]
    return "\n".join("  ".join(_cells(line, widths)) for line in lines)


def _cells(line: list[str], widths: list[int]) -> Iterator[str]:
    yield line[0].ljust(widths[0])
    for cell, width in zip(line[1:], widths[1:], strict=True):
        yield cell.rjust(width)


def _rows(samples: Iterable[Sample]) -> list[str]:
    kinds = [list(sample.counts) for sample in samples]
    names = dict.fromkeys(name for names in kinds for name in names)
    first = [name for name in names if not name.startswith("objects ")]
    types = [name for name in names if name.startswith("objects ")]
    last = list(samples)[-1].counts
    return first + sorted(types, key=lambda name: -last.get(name, 0))[:_SHOWN_TYPES]


def line(sample: Sample) -> str:
    """A sample in a line, for the terminal."""
    shown = {name: sample.process[name] for name in (RSS, "threads", "descriptors", "memory maps", "blocks", GARBAGE)}
    shown["files"] = sum(sample.files.values())
    return f"{sample.at_seconds:7.0f} s  node {sample.node_id}  " + ", ".join(
        f"{name} {count:,}" for name, count in shown.items()
    )
