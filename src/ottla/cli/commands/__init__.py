"""The commands of `ottla`, in rooms.

A command's module has `add_arguments`, which declares its options, and `run`, which does the work and gives the
exit code.
"""
