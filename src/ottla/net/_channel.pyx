"""The compiled twin of `channel_plain`: the same in the same order, with the fields of a connection in C."""

import logging
import os

from cpython.buffer cimport Py_buffer
from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdint cimport int32_t, uint8_t, uint32_t

from ottla.base.errors import OttlaError
from ottla.net import pause
from ottla.net.errors import InvalidFrameError

cdef extern from "Python.h":
    Py_buffer *PyMemoryView_GET_BUFFER(object view)

cdef extern from "<sys/socket.h>" nogil:
    ssize_t recv(int fd, void *data, size_t size, int flags)

cdef extern from "<sys/epoll.h>" nogil:
    int EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP

cdef enum:
    FRAMES_MAX = 128
    PROBE_BYTES = 4096
    BULKY_BYTES = 8192
    SIZE_BYTES = 4

cdef int IN_TURN = pause.IN_TURN
cdef int CROWDED = pause.CROWDED
cdef int SCHEDULED = pause.SCHEDULED
cdef int ENDED = pause.ENDED
cdef int CLOSED = pause.CLOSED
cdef object DEBUG = logging.DEBUG
cdef object WARNING = logging.WARNING

GONE = ()


cdef inline int32_t size_at(const uint8_t *data) noexcept nogil:
    return <int32_t>(<uint32_t>data[0] << 24 | <uint32_t>data[1] << 16 | <uint32_t>data[2] << 8 | data[3])


cdef class Exchange:
    cdef public Channel connection
    cdef public object pieces
    cdef public bint holds_up

    def __init__(self, Channel connection not None):
        self.connection = connection
        self.holds_up = True

    @property
    def is_done(self):
        return self.pieces is not None

    def answer(self, pieces):
        self.connection.answered(self, pieces)

    def no_answer(self):
        self.connection.answered(self, GONE)

    def proceed(self):
        if self.holds_up and self.pieces is None:
            self.connection.proceeded(self)

    def after_others(self, callback):
        self.connection.after_others(callback)

    def close(self, reason):
        self.connection.close(reason)


cdef class Channel:
    cdef public object _owner
    cdef public object _poller
    cdef public object _received
    cdef public object _sock
    cdef public object _inbox
    cdef public list _out
    cdef public list _pending
    cdef public Py_ssize_t _request_bytes_max
    cdef public Py_ssize_t _exchanges_max
    cdef public int _fd
    cdef public int _paused
    cdef public int _interest
    cdef public bint _is_serving
    cdef public bint _is_direct
    cdef public long _sending
    cdef public double _note_at
    cdef list answering
    cdef object memory
    cdef object send
    cdef object shared

    def __init__(self, owner, sock, inbox, outbox):
        self._owner, self._poller, self._received = owner, owner.poller, owner.handler.received
        self._sock, self._fd = sock, sock.fileno()
        self._request_bytes_max, self._exchanges_max = owner.limits.request_bytes_max, owner.limits.exchanges_max
        self._inbox, self._out, self._pending = inbox, outbox.pieces, []
        self._interest = EPOLLIN
        self.answering = owner.poller.answering
        self.memory, self.send, self.shared = owner.poller.memory, owner.poller.sender.add, owner.poller.view

    def ready(self, int mask):
        if mask & EPOLLOUT:
            self._write()
            self._catch_up()
        if not mask & ~EPOLLOUT or self._paused & CLOSED:
            return
        if not self._paused:
            large = self._inbox.large
            if large is None:
                self.read()
            else:
                self._read_large(large)
        elif mask & (EPOLLHUP | EPOLLERR):
            self.end("reset by the client", DEBUG)
        elif mask & EPOLLRDHUP:
            self._hear_goodbye()
        elif self._paused != SCHEDULED:
            self._watch(self._interest & ~EPOLLIN | EPOLLRDHUP)

    cdef int read(self) except -1:
        cdef Py_buffer *shared = PyMemoryView_GET_BUFFER(self.shared)
        cdef Py_ssize_t start = 0, room = shared.len, count
        inbox = self._inbox
        held = inbox.held
        if held is not None:
            start = held.nbytes - inbox.held_at
            self.shared[:start] = held[inbox.held_at:]
            room -= start
        elif self.memory.is_full:
            self._wait_for_memory()
            return 0
        elif inbox.expects_large:
            room = PROBE_BYTES
        count = recv(self._fd, <uint8_t *>shared.buf + start, <size_t>room, 0)
        if count < 0:
            # A handler that is interrupted is told of the same bytes again.
            if errno != EAGAIN and errno != EINTR:
                self.end(os.strerror(errno), DEBUG)
            return 0
        if not count:
            self._end_of_stream()
            return 0
        if held is not None:
            inbox.clear()
        if <double>self._poller.now >= self._note_at:
            self._note_at = self._owner.note(self)
        self.serve(self.shared, 0, start + count)
        return 0

    def _serve(self, view, Py_ssize_t position, Py_ssize_t end):
        self.serve(view, position, end)

    cdef int serve(self, object view, Py_ssize_t position, Py_ssize_t end) except -1:
        cdef const uint8_t *data = <const uint8_t *>PyMemoryView_GET_BUFFER(view).buf
        cdef Exchange exchange
        cdef Py_ssize_t size, stop
        cdef int frames = 0
        self._is_serving = True
        try:
            while True:
                if frames == FRAMES_MAX:
                    self._paused = SCHEDULED
                    self._poller.at_next_round(self._catch_up)
                    break
                frames += 1
                if end - position < SIZE_BYTES:
                    break
                size = size_at(data + position)
                if not 0 < size <= self._request_bytes_max:
                    raise InvalidFrameError(size, self._request_bytes_max)
                stop = position + SIZE_BYTES + size
                if stop > end:
                    break
                exchange = Exchange.__new__(Exchange)
                exchange.connection, exchange.holds_up = self, True
                self._pending.append(exchange)
                self._paused = IN_TURN
                self._received(view[position + SIZE_BYTES:stop], exchange)
                position = stop
                if self._paused:
                    break
        except OttlaError as error:
            self.end(f"{type(error).__name__}: {error}", WARNING)
        except Exception as error:  # a bug in a handler costs one connection, not the server
            self._fail(error)
        self._is_serving = False
        if self._out:
            if len(self._out) > 1 and not self._paused & SCHEDULED and not self._interest & EPOLLOUT:
                self._out[:] = (b"".join(self._out),)
            self.answering.append(self)
        inbox = self._inbox
        if position < end:
            self._keep(view, position, end)
        else:
            inbox.expects_large = False
            if inbox.held is not None:
                inbox.clear()
        return 0

    cpdef answered(self, Exchange exchange, pieces):
        cdef list pending = self._pending
        if exchange.pieces is not None or not pending:
            if self._paused & CLOSED:
                return
            raise RuntimeError("a request is answered once")
        if <Exchange>pending[0] is exchange:
            del pending[0]
            exchange.pieces = GONE
            self._out.extend(pieces)
            if pending or self._paused & CROWDED:
                self.release_answers()
        else:
            exchange.pieces = pieces
            if len(pending) >= self._exchanges_max:
                self._paused |= CROWDED
        if exchange.holds_up:
            exchange.holds_up = False
            self._paused &= ~IN_TURN
        if not self._is_serving or (
            pieces and (len(pieces) > 1 or type(pieces[0]) is not bytes or len(pieces[0]) > BULKY_BYTES)
        ):
            self.schedule()

    cdef int release_answers(self) except -1:
        cdef Exchange first
        while self._pending:
            first = <Exchange>self._pending[0]
            if first.pieces is None:
                break
            del self._pending[0]
            self._out.extend(first.pieces)
            first.pieces = GONE
        self.schedule()
        if len(self._pending) < self._exchanges_max:
            self._paused &= ~CROWDED
        return 0

    def _schedule(self):
        self.schedule()

    cdef int schedule(self) except -1:
        if not self._paused & (SCHEDULED | CLOSED):
            self._paused |= SCHEDULED
            self._poller.at_round_end(self._catch_up)
        return 0

    def _catch_up(self):
        self._paused &= ~SCHEDULED
        if self._out and not self._paused & CLOSED:
            self.flush()
        if self._paused & ENDED:
            self._end_if_answered()
        held = self._inbox.held
        if held is not None and not self._paused:
            self.serve(held, self._inbox.held_at, held.nbytes)
        if not self._paused and not self._interest & EPOLLIN:
            self._watch(self._interest | EPOLLIN)

    cdef int flush(self) except -1:
        cdef list out = self._out
        poller = self._poller
        if self._sending == <long>poller.sending:
            poller.finish_sends()
        if not out:
            return 0
        first = out[0]
        if len(out) == 1 and type(first) is bytes and not self._interest & EPOLLOUT and not self._is_direct:
            out.clear()
            self._sending = poller.sending
            self.send(self, self._fd, first)
        else:
            self._flush_directly()
        return 0


def flush_all(list channels):
    cdef Py_ssize_t done = 0
    try:
        for channel in channels[:]:
            done += 1
            (<Channel>channel).flush()
    finally:
        del channels[:done]
