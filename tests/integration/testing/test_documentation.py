"""The examples of docs/TESTING.md run: those with tests by pytest and its fixtures, the others as programs."""

import re
import subprocess
import sys
from pathlib import Path

from tests.integration.testing.plugin import run_tests

PAGE = Path(__file__).parents[3] / "docs" / "TESTING.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_examples_with_tests(tmp_path: Path) -> None:
    tests = [example for example in EXAMPLES if "def test_" in example]
    for number, example in enumerate(tests):
        (tmp_path / f"test_example_{number}.py").write_text(example)
    written = sum(example.count("def test_") for example in tests)
    assert f"{written} passed" in run_tests(tmp_path)


def test_other_examples(tmp_path: Path) -> None:
    programs = [example for example in EXAMPLES if "def test_" not in example]
    assert programs
    for program in programs:
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
