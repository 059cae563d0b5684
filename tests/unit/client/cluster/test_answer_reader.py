"""Large answers: whole, each its own for as long as somebody looks, in memory that is used again afterwards."""

from ottla.client.cluster.answer_reader import AnswerReader

SIZE = 300_000


def receive(reader: AnswerReader, data: bytes) -> list[memoryview]:
    """The frames in `data`, received as a socket would give it."""
    frames: list[memoryview] = []
    position = 0
    while position < len(data):
        room = reader.buffer()
        piece = data[position : position + min(len(room), 50_000)]
        room[: len(piece)] = piece
        del room
        frames += reader.received(len(piece))
        position += len(piece)
    return frames


def frame(fill: int, size: int = SIZE) -> bytes:
    """A frame as it is sent."""
    return size.to_bytes(4, "big") + bytes([fill]) * size


def test_answers_that_are_looked_into_stay_as_they_are() -> None:
    reader = AnswerReader(1 << 20)
    kept = [receive(reader, frame(fill))[0] for fill in range(10)]
    assert [set(answer) for answer in kept] == [{fill} for fill in range(10)]
    assert {len(answer) for answer in kept} == {SIZE}


def test_part_of_an_answer_keeps_all_of_it() -> None:
    reader = AnswerReader(1 << 20)
    part = receive(reader, frame(1))[0][1000:1010]
    for fill in range(2, 10):
        receive(reader, frame(fill))
    assert bytes(part) == bytes([1]) * 10


def test_memory_that_nobody_looks_into_is_used_again() -> None:
    reader = AnswerReader(1 << 20)
    first = receive(reader, frame(1))[0]
    place = first.obj
    del first
    again = receive(reader, frame(2, SIZE - 1000))[0]
    assert again.obj is place
    assert bytes(again) == bytes([2]) * (SIZE - 1000)


def test_small_and_large_answers_in_turn() -> None:
    reader = AnswerReader(1 << 20)
    data = b"".join(frame(number % 256, size) for number, size in enumerate([5, SIZE, 7, 20_000, SIZE * 2, 1] * 3))
    sizes = [len(answer) for answer in receive(reader, data)]
    assert sizes == [5, SIZE, 7, 20_000, SIZE * 2, 1] * 3
