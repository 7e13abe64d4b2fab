/* SPDX-License-Identifier: MIT */
/* Addresses of sockets as text. */
#ifndef KYMO_CALLS_ADDRESS_H
#define KYMO_CALLS_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

/* What an event says of an address: at most the path of a local socket. */
struct calls_address {
  int family;     /* AF_UNSPEC: not known */
  uint16_t port;  /* 0: there is none */
  char text[112]; /* "127.0.0.1", "::1", a path, "@name" in the abstract name space; "" */
};

/* Of an address of `length` bytes, of which a call that ended with `error` has read or written all. Where the
 * call may have failed before it looked at the address, which may then be anywhere, nothing is read. Calls
 * nothing, allocates nothing. */
struct calls_address kymo_calls_address(const struct sockaddr *address, socklen_t length, int error);
/* Of the peer of a socket; AF_UNSPEC if it has none, or is none. The caller's buffer would not do: how large
 * it was is not known any more, and the address may be longer. Leaves errno alone. */
struct calls_address kymo_calls_peer(int fd);

#endif
