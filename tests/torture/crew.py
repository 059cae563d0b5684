"""Who takes part in a run: producers, transactional producers, groups and transformers, of several client libraries."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """One client; when it is killed another process takes its part."""

    name: str
    role: str
    library: str
    group: str = ""
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def writes_sources(self) -> bool:
        """Whether groups depend on what it writes."""
        return self.role in ("producer", "transactional")

    @property
    def has_transactions(self) -> bool:
        """Whether its name is a transactional id."""
        return self.role in ("transactional", "transformer")


_COOPERATIVE = {"partition.assignment.strategy": "cooperative-sticky"}
_MODERN = {"group.protocol": "consumer"}
_SMALL = (
    Part("producer-confluent", "producer", "confluent"),
    Part("producer-aiokafka", "producer", "aiokafka"),
    Part("transactional-confluent", "transactional", "confluent"),
    Part("transactional-kafka-python", "transactional", "kafka_python"),
    Part("classic-confluent", "consumer", "confluent", "classic"),
    Part("classic-kafka-python", "consumer", "kafka_python", "classic"),
    Part("modern-one", "consumer", "confluent", "modern", _MODERN),
    Part("modern-two", "consumer", "confluent", "modern", _MODERN),
    Part("transformer-one", "transformer", "confluent", "transformers", _MODERN),
)
_MORE = (
    Part("producer-kafka-python", "producer", "kafka_python"),
    Part("transactional-aiokafka", "transactional", "aiokafka"),
    Part("transactional-second", "transactional", "confluent"),
    Part("classic-aiokafka", "consumer", "aiokafka", "classic"),
    Part("cooperative-one", "consumer", "confluent", "cooperative", _COOPERATIVE),
    Part("cooperative-two", "consumer", "confluent", "cooperative", _COOPERATIVE),
    Part("transformer-two", "transformer", "confluent", "transformers", _MODERN),
    Part("transformer-classic-one", "transformer", "confluent", "classic-transformers"),
    Part("transformer-classic-two", "transformer", "confluent", "classic-transformers"),
)
_BLOCKING, _ASYNCIO = "ottla", "ottla_async"
_LONE = {"linger.ms": "0"}
_ROUND_ROBIN = {"partition.assignment.strategy": "range,roundrobin"}
_DIRTY = {"isolation.level": "read_uncommitted"}
_MIXED = (
    Part("producer-ottla", "producer", _BLOCKING),
    Part("transactional-ottla", "transactional", _BLOCKING),
    Part("classic-ottla", "consumer", _BLOCKING, "classic", _ROUND_ROBIN),
    Part("cooperative-ottla", "consumer", _ASYNCIO, "cooperative", _COOPERATIVE),
    Part("modern-ottla", "consumer", _BLOCKING, "modern", _MODERN),
    Part("transformer-ottla", "transformer", _BLOCKING, "transformers", _MODERN),
)
_OWN_SMALL = (
    Part("producer-lone", "producer", _BLOCKING, settings=_LONE),
    Part("producer-asyncio", "producer", _ASYNCIO),
    Part("transactional-blocking", "transactional", _BLOCKING),
    Part("classic-blocking", "consumer", _BLOCKING, "classic"),
    Part("modern-asyncio", "consumer", _ASYNCIO, "modern", _MODERN),
    Part("dirty-blocking", "consumer", _BLOCKING, "dirty", _COOPERATIVE | _DIRTY),
    Part("transformer-asyncio", "transformer", _ASYNCIO, "transformers", _MODERN),
)
_OWN_MORE = (
    Part("producer-blocking", "producer", _BLOCKING),
    Part("transactional-asyncio", "transactional", _ASYNCIO),
    Part("classic-asyncio", "consumer", _ASYNCIO, "classic"),
    Part("modern-blocking", "consumer", _BLOCKING, "modern", _MODERN),
    Part("dirty-asyncio", "consumer", _ASYNCIO, "dirty", _COOPERATIVE | _DIRTY),
    Part("transformer-blocking", "transformer", _BLOCKING, "transformers", _MODERN),
    Part("transformer-classic", "transformer", _BLOCKING, "classic-transformers"),
)


def crew(seconds: float, *, is_own: bool = False) -> tuple[Part, ...]:
    """A few clients for a short run, those of all libraries for a long one; or those of `ottla.client` alone."""
    is_short = seconds < 30
    if is_own:
        return _OWN_SMALL if is_short else _OWN_SMALL + _OWN_MORE
    return _SMALL if is_short else _SMALL + _MORE + _MIXED
