"""Extensions that are expected and missing fail `make test`."""

import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.harness.extensions import complaint

COMPILED = {"ottla.a._fast": True, "ottla.b._fast": False}


def test_a_missing_extension_is_named() -> None:
    said = complaint(COMPILED, "/usr/bin/cc", {})
    assert said is not None
    assert said.startswith("1 of 2 extensions are missing, although there is a compiler (/usr/bin/cc): ottla.b._fast;")


@pytest.mark.parametrize(
    ("compiler", "environment"),
    [(None, {}), ("/usr/bin/cc", {"OTTLA_PLAIN": "1"}), ("/usr/bin/cc", {"OTTLA_NO_EXTENSIONS": "1"})],
)
def test_nothing_is_expected_where_nothing_can_be_compiled(
    compiler: str | None, environment: Mapping[str, str]
) -> None:
    assert complaint(COMPILED, compiler, environment) is None


def test_all_that_are_there_are_nothing_to_complain_about() -> None:
    assert complaint({"ottla.a._fast": True}, "/usr/bin/cc", {}) is None


def test_this_installation_is_as_it_should_be() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.extensions"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
