import os
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.broker.authentication.user_file import UserFile, parse_users


def test_a_user_in_a_line() -> None:
    text = '# them\nalice: her secret\n\n  bob:"  blanks  "\ncarol: a:b # no comment\n'
    assert parse_users(text) == {"alice": "her secret", "bob": "  blanks  ", "carol": "a:b # no comment"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("alice", "line 1 is not of the form"),
        ("\n: x", "line 2 is not of the form"),
        ("alice:", "line 1 is not of the form"),
        ("alice: x\nalice: y", "line 2: alice is there twice"),
    ],
)
def test_a_line_that_is_none(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_users(text)


def test_a_file_is_read_again_when_it_changes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "users"
    path.write_text("alice: a\n")
    path.chmod(0o600)
    users = UserFile(path)
    assert (users.password("alice"), users.password("bob")) == ("a", None)
    path.write_text("bob: b\n")
    os.utime(path, ns=(1, 1))
    assert (users.password("alice"), users.password("bob")) == (None, "b")
    path.write_text("nonsense")
    os.utime(path, ns=(2, 2))
    assert users.password("bob") == "b"
    assert "the users of before count on" in caplog.text
    assert "nonsense" not in caplog.text


def test_a_file_that_can_not_be_used_keeps_the_node_from_starting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        UserFile(tmp_path / "nowhere")
    (tmp_path / "bad").write_text("alice")
    with pytest.raises(ConfigError, match="line 1"):
        UserFile(tmp_path / "bad")


def test_everybodys_file_is_complained_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "users"
    path.write_text("alice: a\n")
    path.chmod(0o644)
    UserFile(path)
    assert "can be read by all users" in caplog.text
