/* SPDX-License-Identifier: Apache-2.0
 *
 * sink PORT [FILE]
 *
 * Reads requests and answers each with the same few zero bytes, and does nothing else: what the load programs reach with
 * it is what they and the machine allow, and no server can be measured beyond it. With FILE it writes there what it read,
 * unchecked: the least that any broker has to do. Serves until it is killed.
 */
#include "connection.h"
#include <fcntl.h>
#include <sys/epoll.h>

enum { ANSWER_BYTES = 60 };

struct connection {
    int descriptor;
    unsigned char size[4];
    size_t size_received, body_left;
};

static unsigned char answer[4 + ANSWER_BYTES] = {0, 0, 0, ANSWER_BYTES}, buffer[1 << 20];
static int file = -1;

static int listen_on(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 128)) fail("listen");
    return listener;
}

static void take_in(int epoll, struct connection *connection) {
    ssize_t count = recv(connection->descriptor, buffer, sizeof buffer, 0);
    if (count <= 0) {
        epoll_ctl(epoll, EPOLL_CTL_DEL, connection->descriptor, NULL);
        close(connection->descriptor);
        free(connection);
        return;
    }
    if (file >= 0 && write(file, buffer, (size_t)count) != count) fail("write");
    for (size_t position = 0; position < (size_t)count;) {
        if (connection->size_received < 4) {
            connection->size[connection->size_received++] = buffer[position++];
            if (connection->size_received == 4) connection->body_left = (size_t)int32_at(connection->size);
        } else {
            size_t left = (size_t)count - position;
            size_t take = connection->body_left < left ? connection->body_left : left;
            connection->body_left -= take;
            position += take;
        }
        if (connection->size_received == 4 && !connection->body_left) {
            send_all(connection->descriptor, answer, sizeof answer);
            connection->size_received = 0;
        }
    }
}

int main(int count, char **arguments) {
    if (count < 2 || count > 3) return fprintf(stderr, "sink PORT [FILE]\n"), 2;
    if (count == 3 && (file = open(arguments[2], O_CREAT | O_WRONLY | O_TRUNC, 0600)) < 0) fail(arguments[2]);
    int listener = listen_on(atoi(arguments[1])), epoll = epoll_create1(0), one = 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, ready[64];
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int events = epoll_wait(epoll, ready, 64, -1);
        for (int index = 0; index < events; index++) {
            if (ready[index].data.ptr) {
                take_in(epoll, ready[index].data.ptr);
                continue;
            }
            struct connection *connection = calloc(1, sizeof *connection);
            connection->descriptor = accept(listener, NULL, NULL);
            setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            event.data.ptr = connection;
            epoll_ctl(epoll, EPOLL_CTL_ADD, connection->descriptor, &event);
        }
    }
}
