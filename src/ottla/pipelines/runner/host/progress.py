"""The progress of a micro-batch, from Spark's report."""

import json
from collections.abc import Mapping
from typing import Any


def progress_of(last: Mapping[str, Any]) -> dict[str, Any]:
    """Rows a second, the batch's duration, lag and size of the state, as numbers.

    >>> progress_of({"batchId": 3, "numInputRows": 10, "processedRowsPerSecond": 99.6, "durationMs": {},
    ...     "batchDuration": 7, "sources": [{"endOffset": '{"t":{"0":5}}', "latestOffset": {"t": {"0": 8}}}]})["lag"]
    3
    """
    sources = [dict(source) for source in last.get("sources", ())]
    operators = [dict(operator) for operator in last.get("stateOperators", ())]
    return {
        "batch_id": last["batchId"],
        "timestamp": last.get("timestamp"),
        "rows": last.get("numInputRows") or 0,
        "rows_per_s": round(_number(last.get("processedRowsPerSecond")), 1),
        "batch_ms": last.get("batchDuration") or dict(last.get("durationMs") or {}).get("triggerExecution", 0),
        "lag": sum(_lag(source) for source in sources),
        "state_rows": sum(operator.get("numRowsTotal", 0) for operator in operators),
        "state_bytes": sum(operator.get("memoryUsedBytes", 0) for operator in operators),
    }


def _number(found: Any) -> float:
    """Spark writes NaN and infinity for batches of no time."""
    return found if isinstance(found, (int, float)) and -1e300 < found < 1e300 else 0.0


def _lag(source: Mapping[str, Any]) -> int:
    ends, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
    return sum(max(offset - ends.get(place, 0), 0) for place, offset in latest.items())


def _offsets(told: Any) -> dict[tuple[str, str], int]:
    """Offsets as our source has them, `{"topic": {"0": 12}}`; none for another source's."""
    try:
        found = json.loads(told) if isinstance(told, str) else told
        return {(topic, number): int(at) for topic, parts in found.items() for number, at in parts.items()}
    except (AttributeError, TypeError, ValueError):
        return {}
