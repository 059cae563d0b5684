"""How all tests run: Hypothesis explores anew on a developer's machine and repeats itself in CI, and never times."""

import os

from hypothesis import settings

settings.register_profile("explore", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.load_profile("repeat" if os.environ.get("CI") else "explore")
