"""How all tests run: Hypothesis explores anew on a developer's machine and repeats itself in CI, and never times.

Programs under test can be interrupted, wherever the tests run.
"""

import os
import signal

from hypothesis import settings

# Before anything of ours is imported, and for the processes that tests start, too: see `ottla.base.thread_owner`.
os.environ["OTTLA_CHECK_THREADS"] = "1"

pytest_plugins = ["tests.harness.rerun", "tests.harness.leftovers", "tests.harness.skips"]

settings.register_profile("explore", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.load_profile("repeat" if os.environ.get("CI") else "explore")

# A shell without job control starts what runs in the background with SIGINT ignored, which programs under test would
# inherit: what a test sends them would never arrive.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
