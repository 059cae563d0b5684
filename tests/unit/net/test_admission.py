"""Who may connect."""

from ottla.net.admission import Admission
from ottla.net.limits import ServerLimits


def test_full_at_the_limit_and_those_who_wait_are_called_when_one_leaves() -> None:
    admission, calls = Admission(ServerLimits(connections_max=2)), []
    admission.enter("10.0.0.1")
    assert not admission.is_full
    admission.enter("10.0.0.2")
    assert admission.is_full
    admission.wait(lambda: calls.append("woken"))
    admission.leave("10.0.0.1")
    admission.leave("10.0.0.2")
    assert calls == ["woken"]
    assert admission.count == 0


def test_addresses_are_counted_one_by_one() -> None:
    admission = Admission(ServerLimits(connections_per_ip_max=2, connections_per_ip_overrides={"10.0.0.9": 0}))
    assert admission.address_limit("10.0.0.1") is None
    for _ in range(2):
        admission.enter("10.0.0.1")
    assert admission.address_limit("10.0.0.1") == 2
    assert admission.address_limit("10.0.0.2") is None
    assert admission.address_limit("10.0.0.9") == 0
    admission.leave("10.0.0.1")
    assert admission.address_limit("10.0.0.1") is None


def test_the_longest_idle_of_all_listeners_is_displaced() -> None:
    admission, closed = Admission(ServerLimits()), []
    admission.displace()
    admission.offer("quiet", lambda: None)
    admission.offer("first", lambda: (20.0, lambda: closed.append("first")))
    admission.offer("second", lambda: (10.0, lambda: closed.append("second")))
    admission.displace()
    admission.withdraw("second")
    admission.withdraw("second")
    admission.displace()
    assert closed == ["second", "first"]
