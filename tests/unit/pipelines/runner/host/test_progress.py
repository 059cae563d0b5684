"""What is told of a micro-batch."""

from ottla.pipelines.runner.host.progress import progress_of


def test_numbers_of_a_batch() -> None:
    last = {
        "batchId": 4, "numInputRows": 30, "processedRowsPerSecond": 12.34, "batchDuration": 55, "timestamp": "t",
        "sources": [
            {"endOffset": {"a": {"0": 5, "1": 7}}, "latestOffset": '{"a": {"0": 6, "1": 7}, "b": {"0": 2}}'},
            {"endOffset": "3", "latestOffset": "9"},
        ],
        "stateOperators": [{"numRowsTotal": 2, "memoryUsedBytes": 100}],
    }  # fmt: skip
    assert progress_of(last) == {
        "batch_id": 4, "timestamp": "t", "rows": 30, "rows_per_s": 12.3, "batch_ms": 55, "lag": 3, "state_rows": 2,
        "state_bytes": 100,
    }  # fmt: skip


def test_what_spark_leaves_out_is_nothing() -> None:
    found = progress_of({"batchId": 0, "processedRowsPerSecond": float("nan"), "sources": [{"endOffset": None}]})
    assert (found["rows"], found["rows_per_s"], found["lag"], found["batch_ms"]) == (0, 0.0, 0, 0)
