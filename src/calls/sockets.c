/* SPDX-License-Identifier: MIT */
/* Sockets, and waiting for them. */
#include "calls/address.h"
#include "calls/calls.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

/* of -D_FORTIFY_SOURCE; `room`: size of the buffer */
EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
EXPORT ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
                              __SOCKADDR_ARG address, socklen_t *length);
EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t room);
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                       const sigset_t *signals, size_t room);

/* ---- connecting ---- */

#define SOCKET_TYPE_MASK 0xf /* the rest are flags */

/* The fields of an address, which is read once, and only if the event is recorded: by the first of them. */
#define ADDRESS_FIELDS(known, pointer, size, code)                                          \
  KYMO_ENUM(family, libc_family, (known = kymo_calls_address(pointer, size, code)).family), \
      KYMO_AS(address, known.text), KYMO_AS(port, known.port)
/* … of the peer of the socket that was accepted */
#define PEER_FIELDS(known, accepted)                                                                        \
  KYMO_ENUM(family, libc_family, (known = kymo_calls_peer(accepted)).family), KYMO_AS(address, known.text), \
      KYMO_AS(port, known.port)
/* In glibc's headers, addresses are unions of pointers. */
#define ADDRESS_OF(pointer) ((const struct sockaddr *)(pointer).__sockaddr__)

EXPORT int socket(int domain, int type, int protocol) {
  TRACED(int, REAL(socket)(domain, type, protocol), socket, KYMO_ENUM(domain, libc_family, domain),
         KYMO_ENUM(type, libc_socket, type & SOCKET_TYPE_MASK),
         KYMO_FLAGS(flags, libc_socket_flags, type & ~SOCKET_TYPE_MASK), protocol);
}

EXPORT int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t length) {
  struct calls_address known;
  TRACED(int, REAL(bind)(fd, address, length), bind, fd,
         ADDRESS_FIELDS(known, ADDRESS_OF(address), length, error));
}

EXPORT int listen(int fd, int backlog) { TRACED(int, REAL(listen)(fd, backlog), listen, fd, backlog); }

EXPORT int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t length) {
  struct calls_address known;
  TRACED(int, REAL(connect)(fd, address, length), connect, fd,
         ADDRESS_FIELDS(known, ADDRESS_OF(address), length, error));
}

EXPORT int accept(int fd, __SOCKADDR_ARG address, socklen_t *length) {
  struct calls_address known;
  TRACED(int, REAL(accept)(fd, address, length), accept, fd, PEER_FIELDS(known, result));
}

EXPORT int accept4(int fd, __SOCKADDR_ARG address, socklen_t *length, int flags) {
  struct calls_address known;
  TRACED(int, REAL(accept4)(fd, address, length, flags), accept4, fd,
         KYMO_FLAGS(flags, libc_socket_flags, flags), PEER_FIELDS(known, result));
}

EXPORT int shutdown(int fd, int how) {
  TRACED(int, REAL(shutdown)(fd, how), shutdown, fd, KYMO_ENUM(how, libc_how, how));
}

/* ---- receiving and sending ---- */

EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags) {
  TRACED(ssize_t, REAL(recv)(fd, buffer, size, flags), recv, fd, size,
         KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags) {
  TRACED(ssize_t, REAL(__recv_chk)(fd, buffer, size, room, flags), recv, fd, size,
         KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, __SOCKADDR_ARG address,
                        socklen_t *length) {
  TRACED(ssize_t, REAL(recvfrom)(fd, buffer, size, flags, address, length), recvfrom, fd, size,
         KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
                              __SOCKADDR_ARG address, socklen_t *length) {
  TRACED(ssize_t, REAL(__recvfrom_chk)(fd, buffer, size, room, flags, address, length), recvfrom, fd, size,
         KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  TRACED(ssize_t, REAL(recvmsg)(fd, message, flags), recvmsg, fd, KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
  TRACED(int, REAL(recvmmsg)(fd, messages, count, flags, timeout), recvmmsg, fd, count,
         KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags) {
  TRACED(ssize_t, REAL(send)(fd, buffer, size, flags), send, fd, size,
         KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG address,
                      socklen_t length) {
  TRACED(ssize_t, REAL(sendto)(fd, buffer, size, flags, address, length), sendto, fd, size,
         KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  TRACED(ssize_t, REAL(sendmsg)(fd, message, flags), sendmsg, fd, KYMO_FLAGS(flags, libc_message, flags));
}

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags) {
  TRACED(int, REAL(sendmmsg)(fd, messages, count, flags), sendmmsg, fd, count,
         KYMO_FLAGS(flags, libc_message, flags));
}

/* ---- waiting ---- */

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
  TRACED(int, REAL(poll)(fds, count, timeout_ms), poll, count, timeout_ms);
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t room) {
  TRACED(int, REAL(__poll_chk)(fds, count, timeout_ms, room), poll, count, timeout_ms);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *signals) {
  TRACED(int, REAL(ppoll)(fds, count, timeout, signals), ppoll, count);
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                       const sigset_t *signals, size_t room) {
  TRACED(int, REAL(__ppoll_chk)(fds, count, timeout, signals, room), ppoll, count);
}

EXPORT int select(int count, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout) {
  TRACED(int, REAL(select)(count, in, out, except, timeout), select, count);
}

EXPORT int pselect(int count, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout,
                   const sigset_t *signals) {
  TRACED(int, REAL(pselect)(count, in, out, except, timeout, signals), pselect, count);
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms) {
  TRACED(int, REAL(epoll_wait)(fd, events, count, timeout_ms), epoll_wait, fd, count, timeout_ms);
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout_ms,
                       const sigset_t *signals) {
  TRACED(int, REAL(epoll_pwait)(fd, events, count, timeout_ms, signals), epoll_pwait, fd, count, timeout_ms);
}
