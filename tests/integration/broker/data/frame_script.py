"""Bytes that are no requests, requests of tomorrow, and ApiVersions."""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.integration.broker.data.produce_script import Ids, Scene
from tests.integration.broker.data.wire import Talk, framed, header, shown


def api_versions(wire: Talk, ids: Ids) -> Scene:
    for version in (-1, 5, 99):
        yield f"v{version}", shown(wire.ask_raw(framed(header(ApiKey.API_VERSIONS, version))))
        yield f"v{version} with tags", shown(wire.ask_raw(framed(header(ApiKey.API_VERSIONS, version) + b"\0\1\1")))
    for name, software in (
        ("apache-kafka-java", "4.3.1"),
        ("", "1"),
        ("a", ""),
        ("-a", "1"),
        ("a b", "1"),
        ("a.", "1"),
    ):
        request = ApiVersionsRequest(client_software_name=name, client_software_version=software)
        for version in (3, 4):
            heard = wire.ask(request, version)
            refused = not isinstance(heard, ApiVersionsResponse) or heard.error_code
            yield f"{name!r} {software!r} v{version}", shown(heard) if refused else "served"


def versions(wire: Talk, ids: Ids) -> Scene:
    for version in range(5):
        request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
        heard = wire.expect(request, version, ApiVersionsResponse)
        for key in heard.api_keys:
            yield f"v{version} {ApiKey(key.api_key).name}", f"{key.min_version}-{key.max_version}"
        for supported in heard.supported_features:
            yield f"v{version} {supported.name}", f"{supported.min_version}-{supported.max_version}"
        for finalized in heard.finalized_features:
            levels = f"{finalized.min_version_level}-{finalized.max_version_level}"
            yield f"v{version} {finalized.name} finalized", levels
        yield f"v{version} epoch", "none" if heard.finalized_features_epoch < 0 else "some"
        yield f"v{version} ready for migration", str(heard.zk_migration_ready)


def frames(wire: Talk, ids: Ids) -> Scene:
    def heard(frame: bytes) -> str:
        found = shown(wire.ask_raw(frame))
        wire.close()
        return found

    yield "length 0", heard(bytes(4))
    yield "length -1", heard(b"\xff\xff\xff\xff")
    yield "length too large", heard((104857601).to_bytes(4, "big"))
    yield "http", heard(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    yield "one byte", heard(framed(b"x"))
    yield "nine bytes", heard(framed(bytes(9)))
    for key in (4, 7, 93, 999, -1):
        yield f"key {key}", heard(framed(_head(key, 0)))
    for key in (52, 56, 58, 62, 63, 67, 82):
        yield f"controller key {key}", heard(framed(_head(key, 0) + bytes(40)))
    for key, version in ((1, 3), (1, 19), (2, 0), (3, 14), (3, -1), (22, 7), (19, 1)):
        yield f"key {key} v{version}", heard(framed(_head(key, version) + bytes(40)))
    metadata = header(ApiKey.METADATA, 4, client_id=None) + bytes.fromhex("00000000 00")
    yield "null client id", heard(framed(metadata))[:26]
    yield "client id of length -2", heard(framed(metadata[:8] + b"\xff\xfe" + metadata[10:]))[:26]
    yield "client id that is no utf-8", heard(framed(metadata[:8] + b"\x00\x02\xff\xfe" + metadata[10:]))[:26]
    yield "client id past the end", heard(framed(metadata[:8] + b"\x7f\xff" + metadata[10:]))
    yield "trailing bytes", heard(framed(metadata + b"extra"))[:26]
    yield "cut short", heard(framed(metadata[:-2]))
    yield "null for a list that cannot be", heard(framed(header(ApiKey.OFFSET_FOR_LEADER_EPOCH, 2) + b"\xff" * 4))
    yield "count past the end", heard(framed(header(ApiKey.OFFSET_FOR_LEADER_EPOCH, 2) + b"\x7f\xff\xff\xff"))
    flexible = header(ApiKey.DESCRIBE_CLUSTER, 0)
    yield "no tags", heard(framed(flexible + b"\x00\x00\x00"))[:20]
    yield "tags in the header", heard(framed(flexible + b"\x01\x05\x02ab" + b"\x00\x00"))[:20]
    yield "no byte for tags", heard(framed(flexible))


def _head(key: int, version: int) -> bytes:
    ids = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    return ids + (1).to_bytes(4, "big") + b"\x00\x01c"


SCENES = (api_versions, versions, frames)
