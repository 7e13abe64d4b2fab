/* SPDX-License-Identifier: MIT */
/* Addresses of sockets as text. */
#ifndef KYMO_CALLS_ADDRESS_H
#define KYMO_CALLS_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

/* The text of an address in an event: at most the path of a local socket. */
struct calls_address {
  int family;     /* AF_UNSPEC: not known */
  uint16_t port;  /* 0: there is none */
  char text[112]; /* "127.0.0.1", "::1", a path, "@name" in the abstract name space; "" */
};

/* For an address of `length` bytes, all of which a call that ended with `error` has read or written. If the
 * call may have failed before it read the address, which may then be invalid, nothing is read. Calls nothing,
 * allocates nothing. */
struct calls_address kymo_calls_address(const struct sockaddr *address, socklen_t length, int error);
/* For the peer of a socket; AF_UNSPEC if it has none, or is not a socket. The caller's buffer cannot be used:
 * its original size is unknown by now, and the address may be longer. Does not change errno. */
struct calls_address kymo_calls_peer(int fd);

#endif
