"""The types of `ottla.streams` in a user's program: mypy in strict mode finds what is wrong, and nothing else."""

import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "streams"
GOOD = """
from ottla.streams import *

TEXT, LONG = Serdes.string(), Serdes.long()
builder = StreamsBuilder()
words: KStream[str, str] = builder.stream("words", Consumed.with_(TEXT, TEXT))
names: KTable[str, int] = builder.table("names", Consumed.with_(TEXT, LONG))
everywhere: GlobalKTable[int, str] = builder.global_table("everywhere", Consumed.with_(LONG, TEXT))
reveal_type(words.map_values(lambda word: len(word)))
reveal_type(words.map(lambda key, word: (len(word), word)))
reveal_type(words.join(names, lambda word, number: len(word) + number))
reveal_type(words.left_join(names, lambda key, word, number: key if number is None else word * number))
reveal_type(words.join(everywhere, lambda key, word: len(word), lambda word, other: (word, other)))
reveal_type(words.outer_join(words, lambda one, other: (one, other), JoinWindows.of_time_difference_with_no_grace(5)))
counts = words.group_by(lambda key, word: len(word)).windowed_by(TimeWindows.of_size_with_no_grace(5)).count()
reveal_type(counts.to_stream(lambda window, count: (window.key, window.window.start)))
reveal_type(names.join(names, lambda one, other: one / other))
reveal_type(names.join(names, lambda one, other: one / other, foreign_key=lambda number: str(number)))
reveal_type(names.to_stream(lambda key, number: number))
reveal_type(words.split().branch(lambda key, word: word == "x").default_branch())
"""
REVEALED = [
    "KStream[str, int]",
    "KStream[int, str]",
    "KStream[str, int]",
    "KStream[str, str]",
    "KStream[str, tuple[str, str]]",
    "KStream[str, tuple[str | None, str | None]]",
    "KStream[tuple[int, int], int]",
    "KTable[str, float]",
    "KTable[str, float]",
    "KStream[int, int]",
    "dict[str, KStream[str, str]]",
]
"""What becomes of the types of `GOOD`, line by line."""
WRONG = """
from ottla.streams import *

TEXT, LONG = Serdes.string(), Serdes.long()
builder = StreamsBuilder()
words = builder.stream("words", Consumed.with_(TEXT, TEXT))
names = builder.table("names", Consumed.with_(TEXT, LONG))
words.map_values(lambda word: word + 1)
words.left_join(names, lambda word, number: number + 1)
words.to("out", Produced.with_(TEXT, LONG))
words.group_by_key().count().filter(lambda word, count: count.upper())
words.windowed_by(TimeWindows.of_size_with_no_grace(5))
"""


def mypy(directory: Path, *names: str) -> list[str]:
    """What mypy has to say of a user's programs, by a cache of their own."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-color-output", *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=directory, timeout=600, check=False)
    assert not done.stderr
    return done.stdout.splitlines()


def test_the_examples_and_a_program_of_a_user(tmp_path: Path) -> None:
    names = [Path(shutil.copy(path, tmp_path)).name for path in EXAMPLES.glob("*.py")]
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "wrong.py").write_text(WRONG)
    *said, summary = mypy(tmp_path, *names, "good.py", "wrong.py")
    revealed = [line.partition('Revealed type is "')[2].rstrip('"') for line in said if "Revealed" in line]
    assert [short(text) for text in revealed] == REVEALED
    errors = [line for line in said if ": error: " in line]
    assert [line.partition(": ")[0] for line in errors] == [f"wrong.py:{number}" for number in (8, 9, 10, 11, 12)], said
    assert summary.startswith("Found 5 errors in 1 file")


def short(text: str) -> str:
    """A type without the modules of its parts."""
    for prefix in ("builtins.", "ottla.streams.dsl.kstream.", "ottla.streams.dsl.ktable.", "ottla.streams.record."):
        text = text.replace(prefix, "")
    return text
