"""Tests of the commands of `ottla`, as far as they need no cluster."""
