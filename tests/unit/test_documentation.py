"""The documentation speaks of files that are there."""

import re
from typing import Final

from tests.unit.test_tidy import ROOT

PACKAGE: Final = ROOT / "src/ottla"
PAGES: Final = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
_PATH: Final = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.pyx?)`")


def test_files_that_are_named_are_there() -> None:
    """A path counts from the repository, from the package, or from one of its folders on that folder's page."""
    absent = []
    for page in PAGES:
        places = (
            ROOT,
            ROOT / "src/ottla",
            ROOT / "src/ottla" / page.stem.lower(),
            ROOT / "src/ottla/testing/simulation",
        )
        for path in _PATH.findall(page.read_text()):
            if not any((place / path).is_file() for place in places):
                absent.append(f"{page.relative_to(ROOT)}: {path}")
    assert not absent
    assert sum(len(_PATH.findall(page.read_text())) for page in PAGES) > 60
