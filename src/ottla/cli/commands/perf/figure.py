"""Figures of a measurement: how they are computed and shown. Pure but for the printing."""

from collections.abc import Mapping, Sequence
from typing import Final

from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import bytes_text, counted, duration_text
from ottla.cli.output.style import Style, Tone

PERCENTILES: Final = (50.0, 95.0, 99.0, 99.9)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that so many percent are not above; of sorted values.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 50), percentile([1.0, 2.0, 3.0, 4.0], 99)
    (2.0, 4.0)
    """
    index = max(0, -(-len(ordered) * share // 100) - 1)
    return ordered[min(len(ordered) - 1, int(index))]


def latency_figures(latencies_s: Sequence[float]) -> dict[str, float]:
    """Average, percentiles and maximum, in milliseconds."""
    ordered = sorted(latencies_s)
    if not ordered:
        return {}
    figures = {"average_ms": sum(ordered) / len(ordered) * 1000}
    figures |= {f"p{share:g}_ms": percentile(ordered, share) * 1000 for share in PERCENTILES}
    return {name: round(value, 3) for name, value in {**figures, "max_ms": ordered[-1] * 1000}.items()}


def show_throughput(
    *, records: int, size_bytes: int, seconds: float, latencies_ms: Mapping[str, float], is_json: bool
) -> None:
    """Prints what was moved, how fast, and how long records took if that is known."""
    per_second = records / seconds if seconds else 0.0
    if is_json:
        print_document(
            {
                "records": records,
                "bytes": size_bytes,
                "seconds": round(seconds, 6),
                "records_per_second": round(per_second, 1),
                "bytes_per_second": round(size_bytes / seconds if seconds else 0.0, 1),
                **({"latency": latencies_ms} if latencies_ms else {}),
            }
        )
        return
    style = Style.of()
    rate = f"{style.paint(f'{per_second:,.0f} records/s', Tone.GOOD)}, {bytes_text(size_bytes / seconds)}/s"
    print(f"{rate}  ({counted(records, 'record')}, {bytes_text(size_bytes)} in {duration_text(seconds)})")
    show_latency(latencies_ms)


def show_latency(latencies_ms: Mapping[str, float]) -> None:
    """Prints latencies on a line."""
    if latencies_ms:
        shown = "  ".join(f"{name.removesuffix('_ms')} {value:,.2f} ms" for name, value in latencies_ms.items())
        print(f"latency  {shown}")
