"""Who runs what, when and where: a state machine without I/O, clock or dice."""
