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


def crew(seconds: float) -> tuple[Part, ...]:
    """A few clients for a short run, all of them for a long one."""
    return _SMALL if seconds < 30 else _SMALL + _MORE
