"""What docs/SCHEMAS.md shows is what happens."""

import doctest
from pathlib import Path


def test_the_examples_of_the_page_run() -> None:
    page = Path("docs/SCHEMAS.md").read_text()
    lines = [line for line in page.splitlines() if not line.startswith("```")]
    example = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "SCHEMAS.md", "docs/SCHEMAS.md", 0)
    assert len(example.examples) > 10
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    assert runner.run(example).failed == 0
