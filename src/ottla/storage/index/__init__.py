"""The files beside a segment that say where things are: by offset, by time, and which transactions were aborted."""
