"""The compiled twin of `round_sender_plain`: a thread without the interpreter's lock shares the work.

Both threads take the next job from one counter, so nothing waits for a thread that does not get a processor: `finish`
does what is left by itself, and waits at most for the one job that the other is at. The counter runs down and below
zero; a thread that comes late finds nothing there, or a job of the next round that is as good as any.
"""

import threading

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdlib cimport free, realloc

cdef extern from "<sched.h>" nogil:
    int sched_yield()

cdef extern from "<sys/socket.h>" nogil:
    ssize_t send(int fd, const void *data, size_t size, int flags)

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass
    int pthread_mutex_init(pthread_mutex_t *mutex, void *attributes)
    int pthread_mutex_lock(pthread_mutex_t *mutex)
    int pthread_mutex_unlock(pthread_mutex_t *mutex)
    int pthread_cond_init(pthread_cond_t *condition, void *attributes)
    int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
    int pthread_cond_signal(pthread_cond_t *condition)

cdef extern from *:
    """
    #ifndef MSG_NOSIGNAL
    #define MSG_NOSIGNAL 0
    #endif
    static inline long take_one(long *counter) { return __atomic_fetch_sub(counter, 1, __ATOMIC_ACQ_REL); }
    static inline void put_back(long *counter, long value) { __atomic_store_n(counter, value, __ATOMIC_RELEASE); }
    static inline long look_at(long *counter) { return __atomic_load_n(counter, __ATOMIC_ACQUIRE); }
    """
    int MSG_NOSIGNAL
    long take_one(long *counter) nogil
    void put_back(long *counter, long value) nogil
    long look_at(long *counter) nogil

cdef enum:
    SHARED_FROM = 6  # so many are worth the other thread's waking up
    LOOKS = 2000  # before the processor is offered to others, the other thread among them

cdef struct Job:
    int fd
    int error
    const char *data
    Py_ssize_t size
    Py_ssize_t sent


cdef struct Work:
    Job *jobs
    long count
    long untaken  # jobs that no thread has taken yet
    long undone  # jobs that are not done yet
    long rounds
    bint is_closed
    pthread_mutex_t mutex
    pthread_cond_t begun


cdef void do_jobs(Work *work) noexcept nogil:
    """Takes jobs as long as there are any."""
    cdef Job *job
    cdef long left
    while True:
        left = take_one(&work.untaken)
        if left <= 0:
            return
        job = &work.jobs[work.count - left]
        job.sent = send(job.fd, job.data, <size_t>job.size, MSG_NOSIGNAL)
        if job.sent < 0:
            job.sent = 0
            job.error = 0 if errno == EAGAIN or errno == EINTR else errno
        take_one(&work.undone)


cdef void share(Work *work) noexcept nogil:
    """The other thread's life."""
    cdef long seen = 0
    while True:
        pthread_mutex_lock(&work.mutex)
        while work.rounds == seen and not work.is_closed:
            pthread_cond_wait(&work.begun, &work.mutex)
        seen = work.rounds
        pthread_mutex_unlock(&work.mutex)
        if work.is_closed:
            return
        do_jobs(work)


cdef class RoundSender:
    cdef Work work
    cdef list owners
    cdef list data
    cdef Py_ssize_t room
    cdef object thread
    cdef bint is_shared

    def __cinit__(self):
        self.owners, self.data = [], []
        pthread_mutex_init(&self.work.mutex, NULL)
        pthread_cond_init(&self.work.begun, NULL)

    def __dealloc__(self):
        free(self.work.jobs)

    def add(self, owner, int fd, bytes data):
        cdef Job *jobs
        cdef long count = self.work.count
        if self.is_shared:
            raise RuntimeError("what was started is finished first")
        if count == self.room:
            jobs = <Job *>realloc(self.work.jobs, <size_t>(2 * self.room + 64) * sizeof(Job))
            if jobs == NULL:
                raise MemoryError
            self.work.jobs, self.room = jobs, 2 * self.room + 64
        self.owners.append(owner)
        self.data.append(data)
        self.work.jobs[count] = Job(fd, 0, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), 0)
        self.work.count = count + 1

    def start(self):
        if self.work.count < SHARED_FROM:
            return False
        if self.thread is None:
            self.thread = threading.Thread(target=self.run, name="round-sender", daemon=True)
            self.thread.start()
        self.is_shared = True
        self.put_out()
        pthread_mutex_lock(&self.work.mutex)
        self.work.rounds += 1
        pthread_mutex_unlock(&self.work.mutex)
        pthread_cond_signal(&self.work.begun)  # not before, or it would wake up to wait for the mutex
        return True

    def finish(self):
        cdef long place, looks = 0
        cdef Job *job
        if not self.work.count:
            return []
        if not self.is_shared:
            self.put_out()
        with nogil:
            do_jobs(&self.work)
            while look_at(&self.work.undone) > 0:
                looks += 1
                if looks > LOOKS:
                    sched_yield()
        unsent = []
        for place in range(self.work.count):
            job = &self.work.jobs[place]
            if job.sent != job.size:
                unsent.append((self.owners[place], self.data[place], job.sent, job.error))
        self.work.count = 0
        self.is_shared = False
        self.owners.clear()
        self.data.clear()
        return unsent

    cdef void put_out(self) noexcept:
        """Offers the jobs to the sending thread."""
        put_back(&self.work.undone, self.work.count)
        put_back(&self.work.untaken, self.work.count)

    def run(self):
        with nogil:
            share(&self.work)

    def close(self):
        if self.thread is None:
            return
        pthread_mutex_lock(&self.work.mutex)
        self.work.is_closed = True
        pthread_cond_signal(&self.work.begun)
        pthread_mutex_unlock(&self.work.mutex)
        self.thread.join()
        self.thread = None
