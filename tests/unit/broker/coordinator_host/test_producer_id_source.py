"""Producer ids: never twice, in blocks, with the next block at hand before the last id is given."""

from collections.abc import Callable

from ottla.broker.coordinator_host.producer_id_source import WAITING_MAX, ProducerIdSource
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, ErrorCode, RequestTimedOutError
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse

Done = Callable[[Response | ApiError], None]


class Controller:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self._waiting: list[Done] = []
        self._next = 0

    def send(self, request: Request, done: Done, *, timeout_ms: int) -> None:
        self.asked.append(request)
        self._waiting.append(done)

    def give(self, count: int = 1000) -> None:
        """A block for the oldest question."""
        start, self._next = self._next, self._next + count
        self._waiting.pop(0)(AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=count))

    def refuse(self, answer: Response | ApiError) -> None:
        self._waiting.pop(0)(answer)


def source_of(controller: Controller) -> ProducerIdSource:
    return ProducerIdSource(controller, node_id=3, broker_epoch=lambda: 77)  # type: ignore[arg-type]


def take(source: ProducerIdSource, count: int) -> list[int | ApiError]:
    given: list[int | ApiError] = []
    for _ in range(count):
        source.next(given.append)
    return given


def test_the_first_producers_wait_for_the_controller() -> None:
    controller = Controller()
    given = take(source_of(controller), 3)
    assert given == []
    assert controller.asked == [AllocateProducerIdsRequest(broker_id=3, broker_epoch=77)]
    controller.give()
    assert given == [0, 1, 2]


def test_the_next_block_is_asked_for_before_the_last_id_is_given() -> None:
    controller = Controller()
    source = source_of(controller)
    given = take(source, 1)
    controller.give()
    given += take(source, 898)
    assert len(controller.asked) == 1
    given += take(source, 1)
    assert len(controller.asked) == 2
    given += take(source, 50)
    controller.give()
    given += take(source, 1049)
    assert given == list(range(1999))


def test_no_id_is_given_twice_across_many_blocks() -> None:
    controller = Controller()
    source = source_of(controller)
    given: list[int | ApiError] = []
    for _ in range(50):
        for _ in range(13):
            source.next(given.append)
        controller.give(10)
    while len(given) < 650:
        controller.give(10)
    assert len(set(given)) == 650


def test_more_than_a_block_may_wait() -> None:
    controller = Controller()
    given = take(source_of(controller), 25)
    for _ in range(3):
        controller.give(10)
    assert given == list(range(25))


def test_while_the_controller_refuses_producers_are_told_to_come_again() -> None:
    controller = Controller()
    source = source_of(controller)
    given = take(source, 2)
    controller.refuse(RequestTimedOutError())
    assert [error.code for error in given if isinstance(error, ApiError)] == [14, 14]
    given = take(source, 1)
    controller.refuse(AllocateProducerIdsResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    assert isinstance(given[0], ApiError)
    assert "Broker epoch" in given[0].message
    given = take(source, 1)
    controller.give()
    assert given == [0]


def test_a_refused_prefetch_is_made_again() -> None:
    controller = Controller()
    source = source_of(controller)
    given = take(source, 1)
    controller.give(10)
    given += take(source, 8)
    controller.refuse(RequestTimedOutError())
    given += take(source, 1)
    controller.give(10)
    assert take(source, 3) == [10, 11, 12]
    assert given == list(range(10))


def test_the_queue_is_bounded() -> None:
    given = take(source_of(Controller()), WAITING_MAX + 1)
    [refused] = given
    assert isinstance(refused, ApiError)
    assert refused.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
