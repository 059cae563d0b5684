"""Buffers for large frames: reused when nobody looks, never when somebody does, and bounded."""

from ottla.net.buffer_pool import KEPT_BYTES_MAX, BufferPool


def filled(pool: BufferPool, size: int, byte: int) -> memoryview:
    view = memoryview(pool.borrow(size))[:size]
    view[:] = bytes([byte]) * size
    return view


def test_a_buffer_is_lent_again_once_its_views_are_gone() -> None:
    pool = BufferPool()
    first = filled(pool, 1_000_000, 1)
    kept = pool.kept_bytes
    del first
    filled(pool, 900_000, 2)
    assert pool.kept_bytes == kept


def test_a_buffer_is_not_lent_while_any_view_lives() -> None:
    pool = BufferPool()
    slice_of_first = filled(pool, 1_000_000, 1)[500_000:500_010]
    for byte in range(2, 10):
        filled(pool, 1_000_000, byte)
    assert slice_of_first == b"\1" * 10


def test_every_size_fits() -> None:
    pool = BufferPool()
    for size in (1, 65_536, 65_537, 1_048_576, 1_048_577, 4_194_304, 4_194_305, 100_000_000):
        assert len(pool.borrow(size)) >= size


def test_what_is_kept_is_bounded() -> None:
    pool = BufferPool()
    views = [filled(pool, 1_000_000, 1) for _ in range(50)]
    assert len(views) == 50
    assert pool.kept_bytes <= KEPT_BYTES_MAX
    views.clear()
    pool.borrow(100_000_000)
    assert pool.kept_bytes <= KEPT_BYTES_MAX
