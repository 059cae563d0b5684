"""All settings of a producer."""

from typing import Final

from ottla.base.config import REQUIRED, ConfigKeys
from ottla.base.config.check import NonEmpty, OneOf, Range, RangeOr
from ottla.base.config.declaration import BOOLEAN, CLASS, INT, LIST, LONG, MINUTE_MS, STRING, Items
from ottla.client.config.client_key import key
from ottla.client.config.network import NETWORK_KEYS, RETRIES
from ottla.client.config.security import SECURITY_KEYS

_CONNECTION_KEYS: Final = (
    key("bootstrap.servers", LIST, REQUIRED, Items(1),
        "Brokers to ask for all the others: `host:port`, separated by commas; two or three are enough."),
    key("connections.max.idle.ms", LONG, 9 * MINUTE_MS, None, "Time after which an unused connection is closed."),
    key("receive.buffer.bytes", INT, 32_768, Range(-1),
        "Size of the socket's receive buffer; the system's own growing buffer at -1, and unless this is given."),
    key("enable.metrics.push", BOOLEAN, True, None,
        "Whether brokers may collect the client's metrics (KIP-714); accepted, none are sent."),
    key("metadata.max.idle.ms", LONG, 5 * MINUTE_MS, Range(5_000),
        "Time after which a topic that nothing is sent to is forgotten."),
)  # fmt: skip

_BATCH_KEYS: Final = (
    key("batch.size", INT, 16_384, Range(0),
        "Bytes of records of one partition that are sent together, if they come within `linger.ms`."),
    key("linger.ms", LONG, 5, Range(0), "How long a batch that is not full waits for more records."),
    key("buffer.memory", LONG, 32 << 20, Range(0),
        "Bytes of records that wait to be sent; when they are used up, `send` waits for `max.block.ms`."),
    key("max.block.ms", LONG, MINUTE_MS, Range(0),
        "How long `send` waits for metadata and for memory, and how long transactional calls take at most."),
    key("max.request.size", INT, 1 << 20, Range(0), "Largest request, and largest record, in bytes."),
    key("compression.type", STRING, "none", OneOf("none", "gzip", "snappy", "lz4", "zstd"),
        "How batches are compressed."),
    key("compression.gzip.level", INT, -1, RangeOr(1, 9, -1), "The level of gzip; -1 is zlib's default."),
    key("compression.lz4.level", INT, 9, Range(1, 17), "The level of lz4."),
    key("compression.zstd.level", INT, 3, Range(-131_072, 22), "The level of zstd."),
)  # fmt: skip

_DELIVERY_KEYS: Final = (
    key("acks", STRING, "all", OneOf("all", "-1", "0", "1"),
        "The replicas that must have a record before it counts as sent: `all` in sync, the leader (`1`), none (`0`)."),
    RETRIES,
    key("delivery.timeout.ms", INT, 2 * MINUTE_MS, Range(0),
        "Time from `send` to success or failure at most: waiting, sending and all repetitions."),
    key("max.in.flight.requests.per.connection", INT, 5, Range(1),
        "Requests to one broker that may be unanswered; with idempotence at most 5."),
    key("enable.idempotence", BOOLEAN, True, None,
        "Whether each record is written once and in order, however often requests are repeated."),
    key("transactional.id", STRING, None, NonEmpty("non-empty string"),
        "A name that outlives the process: the next producer with it ends what its predecessor began (KIP-98)."),
    key("transaction.timeout.ms", INT, MINUTE_MS, None, "Time after which the broker aborts a transaction."),
    key("transaction.two.phase.commit.enable", BOOLEAN, False, None,
        "Whether an outside coordinator decides on transactions, which then never time out (KIP-939)."),
)  # fmt: skip

_PLUGIN_KEYS: Final = (
    key("key.serializer", CLASS, None, None,
        "Makes bytes of keys: an object, a class, a callable or `module:Class`; without one, bytes and text pass."),
    key("value.serializer", CLASS, None, None, "Makes bytes of values, as `key.serializer` does of keys."),
    key("interceptor.classes", LIST, (), Items(), "Objects or classes that see each record before it is sent."),
    key("partitioner.class", CLASS, None, None,
        "Chooses partitions; without one, by the key's hash, and for records without key a batch at a time (KIP-794)."),
    key("partitioner.ignore.keys", BOOLEAN, False, None, "Whether records with a key are spread like those without."),
    key("partitioner.adaptive.partitioning.enable", BOOLEAN, True, None,
        "Whether partitions of brokers that keep up get more of the records without a key."),
    key("partitioner.availability.timeout.ms", LONG, 0, Range(0),
        "Time after which a broker that takes nothing is left out by that; 0: never."),
)  # fmt: skip

PRODUCER_KEYS: Final = (
    ConfigKeys((*_CONNECTION_KEYS, *_BATCH_KEYS, *_DELIVERY_KEYS, *_PLUGIN_KEYS)) | NETWORK_KEYS | SECURITY_KEYS
)
