"""Frames and headers: what is closed without an answer, and what is tolerated."""

import struct

from ottla.protocol.api_key import CONTROLLER_ONLY_APIS, ApiKey
from ottla.protocol.catalog import request_type
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.parity.talk import Talk, framed

# Shares and streams are served elsewhere.
CALLS = (*range(4), *range(8, 18), *range(19, 52), 55, 57, 60, 61, *range(64, 67), 68, 69, 71, 72, 74, 75, 80, 81)


def run(talk: Talk) -> None:
    """Everything about bytes before a request is understood."""
    _sizes(talk)
    _keys_and_versions(talk)
    _headers(talk)
    _bodies(talk)


def _sizes(talk: Talk) -> None:
    for name, start in (("0", 0), ("-1", -1), ("-2147483648", -(2**31)), ("100 MiB + 1", (100 << 20) + 1)):
        talk.raw(f"a size of {name}", struct.pack(">i", start) + bytes(20), ApiKey.METADATA, 9)
    talk.raw("a size of 3", struct.pack(">i", 3) + bytes(3), ApiKey.METADATA, 9)
    talk.raw("HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", ApiKey.METADATA, 9)
    talk.raw("TLS", bytes.fromhex("1603010200010001fc0303") + bytes(100), ApiKey.METADATA, 9)
    talk.raw("SSH", b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", ApiKey.METADATA, 9)


def _keys_and_versions(talk: Talk) -> None:
    for key in (-1, 4, 5, 6, 7, 93, 1000, 32767):
        talk.raw(f"the unknown key {key}", framed(key, 0, bytes(20)), ApiKey.METADATA, 9)
    for api in sorted(CONTROLLER_ONLY_APIS):
        version = request_type(api).valid_versions.highest
        request = request_type(api)()
        frame = encode_request(request, version, correlation_id=7, client_id="c")
        talk.raw(f"the controller's {api.name}", frame, api, version)
    for key in CALLS:
        served = request_type(ApiKey(key)).valid_versions
        for version in (served.lowest - 1, served.highest + 1):
            talk.raw(f"{ApiKey(key).name} v{version}", framed(key, version, bytes(40)), ApiKey(key), served.highest)
    for version in (-1, 5, 6, 32767):
        talk.raw(f"API_VERSIONS v{version}", framed(18, version, bytes(6)), ApiKey.API_VERSIONS, 0)


def _headers(talk: Talk) -> None:
    plain = MetadataRequest(topics=[]).encode(1)
    talk.raw("no client id", framed(3, 1, plain, client_id=None), ApiKey.METADATA, 1)
    start = struct.pack(">hhi", 3, 1, 7)

    def sized(content: bytes) -> bytes:
        return struct.pack(">i", len(content)) + content

    talk.raw("a client id of length -2", sized(start + struct.pack(">h", -2) + plain), ApiKey.METADATA, 1)
    talk.raw("a client id that is not UTF-8", sized(start + b"\x00\x02\xff\xfe" + plain), ApiKey.METADATA, 1)
    talk.raw("a client id beyond the frame", sized(start + b"\x7f\xff" + plain), ApiKey.METADATA, 1)
    talk.raw("a header cut short", sized(start[:6]), ApiKey.METADATA, 1)
    flexible = struct.pack(">hhi", 3, 9, 7) + b"\x00\x01c"
    body = MetadataRequest(topics=[]).encode(9)
    talk.raw("an unknown tag in the header", sized(flexible + b"\x01\x63\x02hi" + body), ApiKey.METADATA, 9)
    talk.raw("falling tags in the header", sized(flexible + b"\x02\x63\x01a\x62\x01b" + body), ApiKey.METADATA, 9)
    talk.raw("a tag beyond the frame", sized(flexible + b"\x01\x63\x7fhi" + body), ApiKey.METADATA, 9)


def _bodies(talk: Talk) -> None:
    request = MetadataRequest(topics=[])
    talk.body("bytes behind a request", ApiKey.METADATA, 9, request.encode(9) + b"more")
    talk.body("a body cut short", ApiKey.METADATA, 9, request.encode(9)[:-2])
    talk.body("no body", ApiKey.METADATA, 9, b"")
    talk.body("a boolean of 2", ApiKey.METADATA, 4, struct.pack(">ib", 0, 2))
    talk.body("an unknown tag", ApiKey.METADATA, 9, b"\x01\x01\x00\x00\x01\x63\x02hi")
    talk.body("a repeated tag", ApiKey.METADATA, 9, b"\x01\x01\x00\x00\x02\x63\x01a\x63\x01b")
    talk.body("an array of length -2", ApiKey.METADATA, 4, struct.pack(">ib", -2, 1))
    talk.body("an array of length -1 that may not be null", ApiKey.DELETE_TOPICS, 1, struct.pack(">ii", -1, 1000))
    talk.body("an array longer than the bytes", ApiKey.METADATA, 4, struct.pack(">ib", 1_000_000, 1))
    talk.body("an array of 2 billion", ApiKey.METADATA, 4, struct.pack(">ib", 0x7FFFFFFF, 1))
    talk.body("a compact array longer than the bytes", ApiKey.METADATA, 9, b"\xff\xff\xff\xff\x07\x00\x00\x00")
    talk.body("a null for a name", ApiKey.METADATA, 4, struct.pack(">ihb", 1, -1, 1))
    talk.body("a name that is not UTF-8", ApiKey.METADATA, 4, struct.pack(">ih2sb", 1, 2, b"\xff\xfe", 0))
    talk.body("an unending varint", ApiKey.METADATA, 9, b"\xff\xff\xff\xff\xff\xff")
    with talk.one_connection():
        for number in range(3):
            topics = [MetadataRequestTopic(name=f"no-such-topic-{number}")]
            talk.ask(f"pipelined {number}", MetadataRequest(topics=topics, allow_auto_topic_creation=False), 9)
        talk.body("closes a connection with answers behind it", ApiKey.METADATA, 9, b"")
    _api_versions(talk)


def _api_versions(talk: Talk) -> None:
    good = ApiVersionsRequest(client_software_name="ottla-test", client_software_version="1.0")
    talk.ask_all_versions("good", good)
    for name, software, version in (
        ("blank in the name", "a b", "1.0"),
        ("no name", "", "1.0"),
        ("no version", "name", ""),
        ("dash at the start", "-name", "1.0"),
        ("odd version", "name", "1.0!"),
        ("all allowed characters", "a.b-c.D9", "1-a.B"),
    ):
        talk.ask(name, ApiVersionsRequest(client_software_name=software, client_software_version=version), 4)
    with talk.one_connection():
        talk.ask("twice on a connection", good, 3)
        talk.ask("twice on a connection, again", good, 3)
