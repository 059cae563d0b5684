"""The settings of a node: read, checked, described, changed at run time."""
