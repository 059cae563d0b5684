"""The way of a request to its lane, compiled: most requests of a busy broker never meet the rest of the pipeline.

`Pipeline._received` does the same and all the rest; what no lane takes goes there.
"""

from cpython.memoryview cimport PyMemoryView_Check, PyMemoryView_GET_BUFFER
from libc.stdint cimport int32_t, uint8_t

from ottla.broker.request._request_input cimport CLIENT_ID_AT
from ottla.protocol.records._varint cimport load_int16, load_int32


cdef class Intake:
    """Asks a route's lane first. `routes` are by API key << 16 | version, and may grow."""
    cdef dict routes
    cdef object otherwise
    cdef object failed

    def __init__(self, dict routes not None, otherwise, failed):
        self.routes, self.otherwise, self.failed = routes, otherwise, failed

    def received(self, frame, exchange):
        cdef const uint8_t *data
        if PyMemoryView_Check(frame) and PyMemoryView_GET_BUFFER(frame).len >= CLIENT_ID_AT:
            data = <const uint8_t *>PyMemoryView_GET_BUFFER(frame).buf
            route = self.routes.get(load_int32(data))
            lane = None if route is None else route.lane
            if lane is not None:
                try:
                    if lane.take(frame, load_int32(data + 4), <int32_t>load_int16(data + 8), exchange):
                        return
                except Exception as error:  # see `Pipeline._failed`
                    self.failed(frame, exchange, error)
                    return
        self.otherwise(frame, exchange)
