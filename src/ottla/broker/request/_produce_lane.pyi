from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.produce_answer import ProduceAnswers
from ottla.broker.request.route import Route
from ottla.net.channel import Exchange

class ProduceLane:
    def __init__(self, parts: BrokerParts, route: Route, ready: ProduceAnswers) -> None: ...
    def take(self, frame: memoryview, correlation_id: int, client_id_bytes: int, exchange: Exchange) -> bool: ...
