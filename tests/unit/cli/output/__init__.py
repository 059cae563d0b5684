"""Tests of what `ottla` prints."""
