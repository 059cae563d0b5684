"""Dice for jitter and ids in threads of ours: a program that seeds the module `random` keeps its own numbers."""

import os
from random import Random
from typing import Final

DICE: Final = Random()
# As `random` does for itself: parent and child must not throw the same.
os.register_at_fork(after_in_child=DICE.seed)
