from collections.abc import Callable

from ottla.broker.request.route import Route
from ottla.net.channel import Exchange

class Intake:
    def __init__(
        self,
        routes: dict[int, Route],
        otherwise: Callable[[memoryview, Exchange], None],
        failed: Callable[[memoryview, Exchange, Exception], None],
    ) -> None: ...
    def received(self, frame: memoryview, exchange: Exchange) -> None: ...
