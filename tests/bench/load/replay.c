/* SPDX-License-Identifier: Apache-2.0
 *
 * replay FRAMES PORT CONNECTIONS IN_FLIGHT SECONDS ERROR_AT
 *
 * Sends a prepared request again and again over many connections, with so many unanswered on each, for so long. FRAMES
 * holds one or several: each connection has one of them, in turn. Prints requests, seconds and percentiles of the time from a request's first byte to its whole answer. One thread and
 * one epoll: it must not be the bottleneck, and must not take the server's core.
 */
#include "connection.h"
#include <fcntl.h>
#include <sys/epoll.h>

enum { ANSWER_KEPT = 256, LATENCIES_MAX = 8 << 20 };

struct connection {
    int descriptor;
    const unsigned char *frame;
    size_t frame_length;
    size_t frame_sent;      /* bytes of the request that is on its way */
    double *started;        /* a ring of the unanswered requests' start times */
    unsigned first, waiting;
    unsigned char head[4 + ANSWER_KEPT];
    size_t received;        /* bytes of the answer that is arriving, its size included */
    int writable_wanted;
};

static unsigned in_flight;
static int error_at, sending = 1, epoll;
static uint32_t *latencies;
static size_t answers;

static void watch(struct connection *connection, int operation, int writable) {
    struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.ptr = connection};
    if (epoll_ctl(epoll, operation, connection->descriptor, &event)) fail("epoll_ctl");
    connection->writable_wanted = writable;
}

/* Sends until enough is in flight or the socket is full. */
static void push(struct connection *connection) {
    while (connection->frame_sent || (sending && connection->waiting < in_flight)) {
        if (!connection->frame_sent) {
            connection->started[(connection->first + connection->waiting) % in_flight] = now();
            connection->waiting++;
        }
        ssize_t sent = send(connection->descriptor, connection->frame + connection->frame_sent,
                            connection->frame_length - connection->frame_sent, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) fail("send");
        if (sent > 0) connection->frame_sent += (size_t)sent;
        if (connection->frame_sent == connection->frame_length) {
            connection->frame_sent = 0;
        } else if (sent < 0 || connection->frame_sent) {
            if (!connection->writable_wanted) watch(connection, EPOLL_CTL_MOD, 1);
            return;
        }
    }
    if (connection->writable_wanted) watch(connection, EPOLL_CTL_MOD, 0);
}

static void answered(struct connection *connection) {
    check_error(connection->head + 4, error_at);
    double taken = now() - connection->started[connection->first];
    if (answers < LATENCIES_MAX) latencies[answers] = (uint32_t)(taken * 1e9);
    answers++;
    connection->first = (connection->first + 1) % in_flight;
    connection->waiting--;
    connection->received = 0;
}

/* Takes in what has arrived; answers are short, so what is behind the kept part is only counted. */
static void pull(struct connection *connection) {
    unsigned char buffer[65536];
    ssize_t count = recv(connection->descriptor, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) fail("the server closed the connection");
    for (ssize_t position = 0; position < count;) {
        size_t room = connection->received < 4 ? 4 - connection->received
                                               : 4 + (size_t)int32_at(connection->head) - connection->received;
        size_t take = room < (size_t)(count - position) ? room : (size_t)(count - position);
        if (connection->received < sizeof connection->head) {
            size_t kept = sizeof connection->head - connection->received;
            memcpy(connection->head + connection->received, buffer + position, take < kept ? take : kept);
        }
        connection->received += take;
        position += (ssize_t)take;
        if (connection->received >= 4 && connection->received == 4 + (size_t)int32_at(connection->head))
            answered(connection);
    }
    push(connection);
}

int main(int count, char **arguments) {
    if (count != 7) return fprintf(stderr, "replay FRAMES PORT CONNECTIONS IN_FLIGHT SECONDS ERROR_AT\n"), 2;
    size_t length, at = 0;
    unsigned char *frames = read_file(arguments[1], &length);
    int connections = atoi(arguments[3]), open = connections;
    in_flight = (unsigned)atoi(arguments[4]);
    double seconds = atof(arguments[5]);
    error_at = atoi(arguments[6]);
    latencies = malloc(sizeof *latencies * LATENCIES_MAX);
    epoll = epoll_create1(0);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    for (int index = 0; index < connections; index++) {
        all[index].descriptor = dial(atoi(arguments[2]));
        all[index].frame = frames + at;
        all[index].frame_length = 4 + (size_t)int32_at(frames + at);
        at = (at + all[index].frame_length) % length;
        all[index].started = calloc(in_flight, sizeof(double));
        fcntl(all[index].descriptor, F_SETFL, O_NONBLOCK);
        watch(&all[index], EPOLL_CTL_ADD, 0);
    }
    double start = now(), end = start;
    for (int index = 0; index < connections; index++) push(&all[index]);
    while (open) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, 20000);
        if (ready <= 0) fail("no answer for 20 s");
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            if (events[index].events & EPOLLIN) pull(connection);
            if (events[index].events & EPOLLOUT) push(connection);
        }
        end = now();
        if (sending && end - start > seconds) sending = 0;
        if (!sending) {
            open = 0;
            for (int index = 0; index < connections; index++) open += all[index].waiting > 0;
        }
    }
    printf("{\"requests\":%zu,\"seconds\":%.6f", answers, end - start);
    print_percentiles(latencies, answers < LATENCIES_MAX ? answers : LATENCIES_MAX);
    return 0;
}
