"""Runs the fuzz targets, each in a process of its own: `python -m tests.fuzz [--seconds N] [target …]`.

atheris steers by the coverage of the plain Python twins; every target holds the compiled twins to the same answers.
A finding is written to `build/fuzz/<target>/` with the command that replays it.
"""

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

TARGETS = ("messages", "records", "arrow", "columns", "protobuf_columns", "json_columns")


def main() -> int:
    """Runs each target for the given time; fails if one of them found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600, help="how long each target runs (default: 600)")
    parser.add_argument("--replay", type=Path, help="run one target on one file, to see a finding again")
    parser.add_argument("targets", nargs="*", help=f"which targets; all by default: {', '.join(TARGETS)}")
    arguments = parser.parse_args()
    failed = []
    for target in arguments.targets or TARGETS:
        home = Path("build/fuzz") / target
        _plant_seeds(target, home / "corpus")
        what = [f"-max_total_time={arguments.seconds}", f"{home}/corpus"]
        if arguments.replay:
            what = [str(arguments.replay)]
        flags = [f"-artifact_prefix={home}/", "-max_len=4096", "-rss_limit_mb=4096", "-timeout=20", "-verbosity=0"]
        print(f"fuzzing {target} …", flush=True)
        if subprocess.run([sys.executable, "-m", "tests.fuzz.engine", target, *flags, *what], check=False).returncode:
            failed.append(target)
            print(f"{target}: a finding; see it again with python -m tests.fuzz {target} --replay {home}/crash-…")
    print(f"findings in: {', '.join(failed)}" if failed else "nothing found")
    return 1 if failed else 0


def _plant_seeds(target: str, corpus: Path) -> None:
    """Gives a new corpus the target's own examples to start from."""
    if corpus.exists():
        return
    corpus.mkdir(parents=True)
    module = importlib.import_module(f"tests.fuzz.{target}")
    for number, seed in enumerate(module.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)


if __name__ == "__main__":
    sys.exit(main())
