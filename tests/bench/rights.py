"""Rights among 100,000 access control entries"""

import time
from collections.abc import Iterator

from ottla.base.ids import Uuid
from ottla.broker.security.admission import Admission, Caller
from ottla.broker.security.authorizer import Authorizer
from ottla.metadata.acl.decision import AclSettings
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, Provenance
from ottla.protocol.acl import AclOperation, AclPermissionType, AclResourceType, PatternType
from ottla.protocol.api_key import ApiKey
from ottla.protocol.metadata_log.security import AccessControlEntryRecord
from tests.bench.measure import Figure, rates

_ENTRIES = 100_000
_ASKED = 1_000
_TOPIC, _READ = AclResourceType.TOPIC, AclOperation.READ


def _entry(number: int) -> AccessControlEntryRecord:
    """Every tenth is about a prefix."""
    is_prefix = not number % 10
    return AccessControlEntryRecord(
        id=Uuid(number.to_bytes(16, "big")),
        resource_type=_TOPIC,
        resource_name=f"team-{number}-" if is_prefix else f"topic-{number}",
        pattern_type=PatternType.PREFIXED if is_prefix else PatternType.LITERAL,
        principal=f"User:user-{number % 5_000}",
        host="*",
        operation=_READ,
        permission_type=AclPermissionType.ALLOW,
    )


def figures(*, seconds: float) -> Iterator[Figure]:
    """Microseconds for a check, and for taking a change over."""
    authorizer = Authorizer(AclSettings())
    admission = Admission(authorizer)
    image, delta = apply_records(EMPTY_IMAGE, [_entry(n) for n in range(1, _ENTRIES + 1)], Provenance(1, 1, 1))
    began = time.perf_counter()
    authorizer.metadata_changed(delta, image)
    yield Figure("arrange all entries", "s", time.perf_counter() - began, per="")
    asked = [(_READ, _TOPIC, f"topic-{number}") for number in range(1, _ASKED + 1)]
    anything = (AclOperation.WRITE, _TOPIC, None)

    def known() -> None:
        for one in asked:
            admission.allows(caller, ApiKey.FETCH, one)

    def unknown() -> None:
        caller.known.clear()
        for one in asked:
            admission.allows(caller, ApiKey.FETCH, one)

    def any_topic() -> None:
        for _ in asked:
            caller.known.clear()
            admission.allows(caller, ApiKey.INIT_PRODUCER_ID, anything)

    caller = Caller("User:user-7", "10.0.0.7")
    for name, ask, target in (
        ("a check that the connection remembers", known, "< 2 µs"),
        ("a check that is new to it", unknown, ""),
        ("a check of any topic that is new to it", any_topic, ""),
    ):
        rate = rates({"ours": ask}, _ASKED, seconds=seconds)["ours"]
        yield Figure(name, "µs", 1e6 / rate, target=target, per="")
    after, change = apply_records(image, [_entry(_ENTRIES + 1)], Provenance(2, 1, 2))
    began = time.perf_counter()
    authorizer.metadata_changed(change, after)
    yield Figure("take one more entry over", "µs", (time.perf_counter() - began) * 1e6, per="")
