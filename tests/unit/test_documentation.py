"""The documentation speaks of files that are there."""

import re
from pathlib import Path
from typing import Final

from tests.unit.test_tidy import ROOT

PACKAGE: Final = ROOT / "src/ottla"
PAGES: Final = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
_PATH: Final = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.pyx?)`")
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


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


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text()
    assert [page.name for page in PAGES if page.parent.name == "docs" and f"({page.name})" not in index] == [
        "README.md"
    ]


def test_links_lead_somewhere() -> None:
    """To a file of the repository, and to a heading of it."""
    broken = []
    for page in (*PAGES, ROOT / "examples/README.md"):
        for link in _LINK.findall(_CODE.sub("", page.read_text())):
            if "://" in link:
                continue
            path, _, heading = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists() or (heading and heading not in _headings(target)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert not broken


def _headings(page: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
