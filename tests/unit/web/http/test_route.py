"""Where paths lead, percent signs and slashes included."""

import pytest

from ottla.web.http.answer import Answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route, Router


async def _handler(_: Request) -> Answer:
    return Answer()


ROUTER = Router(
    Route(method, template, _handler)
    for method, template in [
        ("GET", "/"),
        ("GET", "/subjects"),
        ("DELETE", "/subjects/{subject}"),
        ("GET", "/subjects/{subject}/versions"),
        ("GET", "/subjects/{subject}/versions/{version}"),
        ("GET", "/schemas/ids/{id}"),
        ("GET", "/schemas/{anything}/else"),
    ]
)


@pytest.mark.parametrize(
    ("path", "template", "parameters"),
    [
        (b"/", "/", {}),
        (b"", "/", {}),
        (b"/subjects", "/subjects", {}),
        (b"/subjects/", "/subjects", {}),
        (b"/subjects/a/versions/", "/subjects/{subject}/versions", {"subject": "a"}),
        (b"/subjects/a%2Fb/versions", "/subjects/{subject}/versions", {"subject": "a/b"}),
        (b"/subjects/%252F/versions", "/subjects/{subject}/versions", {"subject": "%2F"}),
        (b"/subjects/../versions", "/subjects/{subject}/versions", {"subject": ".."}),
        (b"/subjects//versions", "/subjects/{subject}/versions", {"subject": ""}),
        (
            b"/subjects/%C3%A4%20+/versions/1",
            "/subjects/{subject}/versions/{version}",
            {"subject": "ä +", "version": "1"},
        ),
        (b"/schemas/ids/else", "/schemas/ids/{id}", {"id": "else"}),
    ],
)
def test_paths_lead_to_routes(path: bytes, template: str, parameters: dict[str, str]) -> None:
    route, found = ROUTER.find("GET", path)
    assert (route.template, found) == (template, parameters)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", b"/nothing", 404),
        ("GET", b"/subjects/a/versions/1/2", 404),
        ("GET", b"/schemas/ids", 404),
        ("PUT", b"/subjects", 405),
        ("GET", b"/subjects/a", 405),
        ("GET", b"/subjects/%FF/versions", 400),
    ],
)
def test_others_are_refused(method: str, path: bytes, status: int) -> None:
    with pytest.raises(HttpError) as refused:
        ROUTER.find(method, path)
    assert refused.value.status == status


def test_head_is_answered_as_get() -> None:
    assert ROUTER.find("HEAD", b"/subjects")[0].template == "/subjects"


def test_one_place_has_one_name() -> None:
    with pytest.raises(ValueError, match="called subject elsewhere"):
        Router([Route("GET", "/a/{subject}", _handler), Route("GET", "/a/{topic}/b", _handler)])
