"""The engine: topologies as values, operators as state machines over stores of bytes. No I/O, no clock."""
