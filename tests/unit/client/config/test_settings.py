import enum
import ssl
from pathlib import Path
from typing import ClassVar

import pytest

from ottla.base.config import ConfigError, ConfigKey, ConfigKeys
from ottla.base.config_type import ConfigType
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.kind import ClientKind, client_kind
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings, UnknownSettingError


class Colour(enum.Enum):
    LZ4 = "lz4"


class Partitioner:
    config_keys = ConfigKeys((ConfigKey("shard.count", ConfigType.INT, 4),))

    def __init__(self) -> None:
        self.shard_count = 0

    def configure(self, settings: ClientSettings) -> None:
        self.shard_count = settings.integer("shard.count")


class Listing:
    """Declares its settings in a plain list."""

    config_keys: ClassVar = [ConfigKey("hot.stocks", ConfigType.LIST, []), ConfigKey("client.id", ConfigType.STRING)]

    def __init__(self) -> None:
        self.hot: tuple[str, ...] = ()

    def configure(self, settings: ClientSettings) -> None:
        self.hot = settings.list("hot.stocks")


class Confused:
    config_keys = ("hot.stocks",)


class Plain:
    pass


class Needy:
    def __init__(self, something: str) -> None:
        pass


def producer(**settings: object) -> ClientSettings:
    return ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:9092", **settings)


def test_a_dictionary_and_keywords_say_the_same() -> None:
    dotted = ClientSettings.of(PRODUCER_KEYS, {"bootstrap.servers": "a:1,b:2", "linger.ms": "20"})
    keywords = ClientSettings.of(PRODUCER_KEYS, bootstrap_servers=["a:1", "b:2"], linger_ms=20)
    for settings in (dotted, keywords):
        assert settings.list("bootstrap.servers") == ("a:1", "b:2")
        assert settings.integer("linger.ms") == 20


def test_keywords_win() -> None:
    assert ClientSettings.of(ADMIN_KEYS, {"client.id": "a"}, client_id="b").string("client.id") == "b"


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("acks", 1, "1"),
        ("acks", -1, "-1"),
        ("compression.type", Colour.LZ4, "lz4"),
        ("ssl.truststore.location", Path("/etc/ca.pem"), "/etc/ca.pem"),
        ("enable.idempotence", "false", False),
        ("sasl.login.refresh.window.factor", "0.9", 0.9),
        ("transactional.id", None, None),
    ],
)
def test_values_as_python_writes_them(name: str, given: object, meant: object) -> None:
    assert producer(**{name.replace(".", "_"): given}).get(name) == meant


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"bootstrap.server": "a:1"}, "unknown setting bootstrap.server: did you mean bootstrap.servers?"),
        ({"bootstrap.servers": "a:1", "zzzz": 1}, "unknown setting zzzz: no setting has a name like it"),
        ({"bootstrap.servers": "a:1", "acks": "two"}, "acks: String must be one of: all, -1, 0, 1"),
        ({"bootstrap.servers": "a:1", "linger.ms": -1}, "linger.ms: Value must be at least 0"),
        ({"bootstrap.servers": "a:1", "linger.ms": None}, "linger.ms: entry must be non null"),
        ({}, "bootstrap.servers: Missing required configuration"),
        ({"bootstrap.servers": "a:1", "config.providers": "file"}, "config.providers: not supported: a program reads"),
    ],
)
def test_what_cannot_be_used_is_refused(settings: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ClientSettings.of(PRODUCER_KEYS, settings)
    assert text in str(caught.value)


def test_an_unknown_keyword_is_named_as_it_was_written() -> None:
    with pytest.raises(UnknownSettingError, match="unknown setting linger_mz: did you mean linger_ms"):
        producer(linger_mz=1)


def test_a_password_is_not_shown() -> None:
    settings = producer(sasl_password="hunter2")
    assert "hunter2" not in repr(settings.get("sasl.password"))
    assert settings.secret("sasl.password") == "hunter2"


def test_a_plugin_may_be_an_object_a_class_or_a_name() -> None:
    made = Plain()
    name = f"{__name__}:Plain"
    for given in (made, Plain, name, "short", "org.example.Partitioner"):
        settings = producer(partitioner_class=given)
        found = settings.plugin("partitioner.class", {"short": Plain, "org.example.Partitioner": name})
        assert isinstance(found, Plain)
    assert producer().plugin("partitioner.class") is None


def test_a_plugin_brings_settings_of_its_own() -> None:
    for given in (Partitioner, Partitioner(), f"{__name__}:Partitioner"):
        found = producer(partitioner_class=given, shard_count="7").plugin("partitioner.class")
        assert isinstance(found, Partitioner)
        assert found.shard_count == 7
    with pytest.raises(UnknownSettingError, match="did you mean shard_count"):
        producer(partitioner_class=Partitioner, shard_cound=7)


def test_lists_of_plugins_keep_their_order() -> None:
    made = Partitioner()
    settings = ClientSettings.of(
        CONSUMER_KEYS, bootstrap_servers="a:1", partition_assignment_strategy=[made, "range", Partitioner]
    )
    found = settings.plugins("partition.assignment.strategy", {"range": made})
    assert found[:2] == (made, made)
    assert isinstance(found[2], Partitioner)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("org.example.Missing", "a Java class that has no counterpart here"),
        ("murmur", "one of short, or `module:Class`"),
        ("no_such_module:Thing", "there is no Thing to import from no_such_module"),
        (f"{__name__}:Missing", "there is no Missing to import"),
        (Needy, "can't be made without arguments"),
    ],
)
def test_a_plugin_that_cannot_be_found_is_refused(given: object, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        producer(partitioner_class=given).plugin("partitioner.class", {"short": Partitioner})
    assert text in str(caught.value)


def test_a_number_is_no_plugin() -> None:
    with pytest.raises(ConfigError, match="Expected an object, a class, a callable"):
        producer(partitioner_class=7)


def test_objects_pass_as_they_are() -> None:
    context = ssl.create_default_context()
    assert producer(ssl_engine_factory_class=context).plugin("ssl.engine.factory.class") is context


def test_a_changed_copy() -> None:
    settings = producer(linger_ms=1)
    assert settings.but(linger_ms=2).integer("linger.ms") == 2
    assert settings.integer("linger.ms") == 1


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        (PRODUCER_KEYS, ClientKind.PRODUCER),
        (CONSUMER_KEYS, ClientKind.CONSUMER),
        (ADMIN_KEYS, ClientKind.ADMIN),
    ],
)
def test_settings_tell_whose_they_are(keys: ConfigKeys, kind: ClientKind) -> None:
    assert client_kind(ClientSettings.of(keys, bootstrap_servers="a:1")) is kind


@pytest.mark.parametrize("setting", ["partitioner.class", "key.serializer", "value.serializer", "interceptor.classes"])
@pytest.mark.parametrize("given", [Listing, Listing(), f"{__name__}:Listing"], ids=["class", "object", "name"])
def test_a_plug_in_brings_its_settings_in_a_plain_list(setting: str, given: object) -> None:
    settings = ClientSettings.of(PRODUCER_KEYS, {"bootstrap.servers": "a:1", setting: given, "hot.stocks": "Ara,Bolt"})
    [found] = settings.plugins(setting) if setting == "interceptor.classes" else [settings.plugin(setting)]
    assert isinstance(found, Listing)
    assert found.hot == ("Ara", "Bolt")


def test_a_plug_in_among_others_in_one_text() -> None:
    text = f"{__name__}:Plain, {__name__}:Listing"
    settings = ClientSettings.of(CONSUMER_KEYS, bootstrap_servers="a:1", interceptor_classes=text, hot_stocks="Ara")
    _, found = settings.plugins("interceptor.classes")
    assert isinstance(found, Listing)
    assert found.hot == ("Ara",)


def test_settings_that_a_plug_in_brings_have_defaults_and_are_checked_by_name() -> None:
    settings = ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", partitioner_class=Listing)
    assert (settings.list("hot.stocks"), settings.string("client.id")) == ((), "")
    with pytest.raises(UnknownSettingError, match=r"did you mean hot\.stocks\?"):
        ClientSettings.of(PRODUCER_KEYS, {"bootstrap.servers": "a:1", "partitioner.class": Listing, "hot.stock": ""})
    with pytest.raises(TypeError, match="has to list objects of ConfigKey, not 'hot"):
        ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", partitioner_class=Confused)
