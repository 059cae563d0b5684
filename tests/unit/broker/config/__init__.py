"""Tests of a node's settings: declarations, rules, files, dynamic changes, descriptions."""
