import pytest

from ottla.storage.cleaner.segment_group import SegmentSize, group_by_size
from ottla.storage.cleaner.throttle import Throttle
from ottla.storage.cleaner.work_order import (
    CleanedGroup,
    Failed,
    Finished,
    Report,
    WorkOrder,
    report_from_json,
    report_to_json,
)
from ottla.storage.index.transaction_index import AbortedTransaction


def bases(groups: list[list[SegmentSize]]) -> list[list[int]]:
    return [[segment.base_offset for segment in group] for group in groups]


def test_segments_join_while_log_and_index_fit() -> None:
    sizes = [SegmentSize(base, base + 10, 40, 8) for base in (0, 10, 20)]
    assert bases(group_by_size(sizes, 80, 100)) == [[0, 10], [20]]
    assert bases(group_by_size(sizes, 1000, 16)) == [[0, 10], [20]]
    assert bases(group_by_size(sizes, 10, 1)) == [[0], [10], [20]]
    assert group_by_size([], 10, 10) == []


def test_a_group_spans_no_more_offsets_than_an_index_can_hold() -> None:
    far = 2**31
    sizes = [SegmentSize(0, 10, 1, 8), SegmentSize(10, far, 1, 8), SegmentSize(far, far + 2, 1, 8)]
    assert bases(group_by_size(sizes, 1000, 1000)) == [[0, 10], [far]]
    assert bases(group_by_size([*sizes[:2], SegmentSize(far, far + 2, 0, 0)], 1000, 1000)) == [[0, 10, far]]


def test_a_rate_is_held_over_windows() -> None:
    throttle = Throttle(1000, now_ms=0)
    assert throttle.delay_ms(10_000, now_ms=299) == 0
    assert throttle.delay_ms(0, now_ms=300) == 9700
    assert throttle.delay_ms(300, now_ms=10_300) == 0
    assert Throttle(1.7976931348623157e308, now_ms=0).delay_ms(1 << 40, now_ms=1000) == 0


@pytest.mark.parametrize(
    "report",
    [
        CleanedGroup((0, 10), 99),
        Failed("why", "/path", is_corrupt=True),
        Finished(clean_offset=1, bytes_read=2, bytes_written=3, records_read=4, records_kept=5, keys=6, elapsed_ms=7),
    ],
)
def test_reports_and_orders_survive_the_pipe(report: Report) -> None:
    assert report_from_json(report_to_json(report)) == report


def test_an_order_survives_the_pipe() -> None:
    order = WorkOrder(
        directory="/data/ü-0",
        segments=(0, 10),
        first_dirty_offset=10,
        end_offset=20,
        now_ms=5,
        keys_max=100,
        io_buffer_bytes=4096,
        io_max_bytes_per_second=1.7976931348623157e308,
        segment_bytes=1,
        segment_index_bytes=2,
        index_interval_bytes=3,
        delete_retention_ms=4,
        aborted=(AbortedTransaction(1, 2, 3, 4),),
        producers=((7, None, 1), (8, 12, 0)),
    )
    assert WorkOrder.from_json(order.to_json()) == order
    assert "\n" not in order.to_json()
