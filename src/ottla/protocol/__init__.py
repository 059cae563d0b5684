"""Kafka's wire protocol and record format: bytes to values and back.

No I/O, no event loop, no clock. Start reading at `ottla.protocol.definition` (how a message is declared), any module
of `ottla.protocol.messages` (a message declared), or `ottla.protocol.records` (the batches inside Produce and Fetch).
"""
