"""The assignment of pipelines to runners: a state machine without I/O, clock or dice."""
