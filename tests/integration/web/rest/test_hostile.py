"""The proxy and people with bad intentions: odd names, broken bodies, slow senders, hundreds of requests at once."""

import json

import pytest

from tests.integration.web.rest_process import V2, RestProcess, type_of
from tests.integration.web.served import Connection, ask_all, request_bytes

JSON_TYPE = type_of("json")
TRAVERSAL = "%2e%2e%2f%2e%2e%2fetc%2fpasswd"
NAMES = ["..", TRAVERSAL, "%25", "%20", "%F0%9F%9A%9A", "a%2F%2Fb", "%5C", "%00", "%FF", "x" * 300]
BODIES = [
    b"",
    b"null",
    b"[]",
    b"7",
    b"\xff\xfe",
    b'{"records":',
    b"[" * 50_000,
    b'{"records":[{"value":"\\ud800"}]}',
    b'{"records":[{"value":' + b"[" * 5000 + b"]" * 5000 + b"}]}",
    b'{"records":[{"value":1e999999}]}',
    b'{"records":[{"value":1,"partition":99999999999999999999}]}',
    b'{"records":[{"value":1,"partition":-1}],"value_schema_id":-1}',
    b'{"records":[null,1,{}]}',
    b'{"topics":["a\\u0000b"],"topic_pattern":"(((("}',
    b'{"name":"\\ud800","format":"json"}',
    b'{"offsets":[{"topic":"t","partition":2147483648,"offset":-5}]}',
]
PATHS = [
    ("POST", "/topics/hostile"),
    ("POST", "/topics/hostile/partitions/0"),
    ("POST", "/consumers/hostile"),
    ("POST", "/consumers/hostile/instances/h/subscription"),
    ("POST", "/consumers/hostile/instances/h/assignments"),
    ("POST", "/consumers/hostile/instances/h/offsets"),
    ("POST", "/consumers/hostile/instances/h/positions"),
]
V3_PATHS = [
    ("POST", "/topics"),
    ("PATCH", "/topics/hostile"),
    ("POST", "/topics/hostile/configs:alter"),
    ("PUT", "/topics/hostile/configs/retention.ms"),
    ("POST", "/topics/hostile/records"),
    ("POST", "/topics/hostile/records:batch"),
    ("POST", "/acls"),
]


@pytest.mark.parametrize("name", NAMES)
def test_awkward_names_are_refused_as_names(rest: RestProcess, name: str) -> None:
    for method, path in (
        ("GET", f"/topics/{name}"),
        ("GET", f"/topics/{name}/partitions/0/offsets"),
        ("POST", f"/topics/{name}"),
        ("POST", f"/consumers/g/instances/{name}/offsets"),
        ("DELETE", f"/consumers/{name}/instances/{name}"),
    ):
        status, answer = rest.ask(method, path, raw=b'{"records":[{"value":1}]}', Content_Type=JSON_TYPE)
        assert 200 <= status < 500, (method, path, answer)
    for path in (f"/topics/{name}", f"/consumer-groups/{name}", f"/topics/{name}/configs/{name}", f"/brokers/{name}"):
        status, answer = rest.v3("GET", path)
        assert 400 <= status < 500, (path, answer)


def test_no_body_is_answered_with_500(rest: RestProcess) -> None:
    assert rest.produce("hostile", "json", {"value": 1})[0] == 200
    assert rest.ask("POST", "/consumers/hostile", {"name": "h", "format": "json"})[0] == 200
    v3 = f"/v3/clusters/{rest.ask('GET', '/v3/clusters')[1]['data'][0]['cluster_id']}"
    headers = {"Content-Type": "application/json"}
    for body in BODIES:
        for method, path in PATHS:
            kind = JSON_TYPE if path.startswith("/topics") else V2
            status, answer = rest.ask(method, path, raw=body, Content_Type=kind)
            assert status < 500, (path, body[:80], answer)
        for method, path in V3_PATHS:
            # A stream of records is answered in lines, which are no JSON as a whole.
            status = ask_all(rest.port, [request_bytes(method, f"{v3}{path}", body, headers)])[0][0]
            assert status < 500, (path, body[:80])
    rest.ask("DELETE", "/consumers/hostile/instances/h")
    assert rest.produce("hostile", "json", {"value": 2})[1]["offsets"][0].get("error") is None


def test_a_body_that_is_too_large_is_refused(rest: RestProcess) -> None:
    large = json.dumps({"records": [{"value": "x" * (17 << 20)}]}).encode()
    assert rest.ask("POST", "/topics/hostile", raw=large, Content_Type=JSON_TYPE)[0] == 413
    status, answer = rest.produce("hostile", "json", {"value": "x" * 2_000_000}, {"value": 1})
    assert status == 200
    assert "error" in answer["offsets"][0]
    assert answer["offsets"][1]["offset"] >= 0


def test_five_hundred_at_once(rest: RestProcess) -> None:
    rest.produce("crowd", "json", {"value": 0})
    headers = {"Content-Type": JSON_TYPE}
    writes = [request_bytes("POST", "/topics/crowd", b'{"records":[{"value":1}]}', headers)] * 250
    answers = ask_all(rest.port, [*writes, *[request_bytes("GET", "/topics/crowd", None, {})] * 250])
    assert [status for status, _ in answers] == [200] * 500
    assert sorted(answer["offsets"][0]["offset"] for _, answer in answers[:250]) == list(range(1, 251))


def test_a_slow_sender_holds_nobody_up(rest: RestProcess) -> None:
    slow = Connection(rest.port)
    headers = {"Content-Length": "100", "Content-Type": JSON_TYPE}
    slow.send(request_bytes("POST", "/topics/hostile", None, headers) + b'{"rec')
    assert rest.produce("hostile", "json", {"value": 1})[0] == 200
    slow.close()
