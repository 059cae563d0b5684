from ottla.client.cluster.recovery import Recovery
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.protocol.errors import NetworkError, RebootstrapRequiredError


def recovery(**settings: object) -> Recovery:
    return Recovery(ClientSettings.of(ADMIN_KEYS, bootstrap_servers="a:1", **settings))


def test_failures_must_last() -> None:
    watch = recovery(metadata_recovery_rebootstrap_trigger_ms=1_000)
    assert not watch.is_due(NetworkError(), 10.0)
    assert not watch.is_due(NetworkError(), 10.9)
    assert watch.is_due(NetworkError(), 11.0)


def test_an_answer_begins_the_count_anew() -> None:
    watch = recovery(metadata_recovery_rebootstrap_trigger_ms=1_000)
    watch.is_due(NetworkError(), 10.0)
    watch.answered()
    assert not watch.is_due(NetworkError(), 11.5)


def test_a_broker_may_ask_for_it() -> None:
    assert recovery().is_due(RebootstrapRequiredError(), 0.0)


def test_a_reason_that_lasts_is_told_once_a_minute() -> None:
    watch = recovery()
    assert watch.is_news(NetworkError("a is down"), 0.0)
    assert not watch.is_news(NetworkError("a is down"), 59.0)
    assert watch.is_news(NetworkError("a and b are down"), 59.5)
    assert watch.is_news(NetworkError("a and b are down"), 120.0)


def test_the_user_may_forbid_it() -> None:
    assert not recovery(metadata_recovery_strategy="none").is_due(RebootstrapRequiredError(), 0.0)
