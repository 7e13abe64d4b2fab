/* SPDX-License-Identifier: MIT */
/*
 * Sockets with addresses of all sorts, for kymo record --calls. It prints the port of its server. With
 * src/calls/address.c linked, -DCOMPARE: whether addresses of IPv6 are written as inet_ntop does.
 */
#ifdef COMPARE
#include "calls/address.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(4711)};
  char wanted[INET6_ADDRSTRLEN];
  srand(7);
  for (int round = 0; round < 100000; round++) {
    for (int i = 0; i < 8; i++) { /* zeros often, so that there are runs of them */
      unsigned group = rand() % 3 ? 0 : (unsigned)rand() % (rand() % 2 ? 16 : 65536);
      six.sin6_addr.s6_addr[2 * i] = (unsigned char)(group >> 8);
      six.sin6_addr.s6_addr[2 * i + 1] = (unsigned char)group;
    }
    if (round % 100 == 0)
      inet_pton(AF_INET6, "::ffff:10.1.2.3", &six.sin6_addr);
    inet_ntop(AF_INET6, &six.sin6_addr, wanted, sizeof wanted);
    struct calls_address known = kymo_calls_address((struct sockaddr *)&six, sizeof six, 0);
    if (strchr(wanted, '.') && strncmp(wanted, "::ffff:", 7) != 0)
      continue; /* the old form of IPv4 */
    if (strcmp(known.text, wanted) != 0 || known.port != 4711 || known.family != AF_INET6) {
      printf("%s instead of %s\n", known.text, wanted);
      return 1;
    }
  }
  return 0;
}
#else
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(void) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, peer;
  struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "\0name"};
  struct sockaddr *address = (struct sockaddr *)&in, *wild = (struct sockaddr *)1;
  socklen_t length = sizeof in;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(fd, address, sizeof in) || listen(fd, 1) || getsockname(fd, address, &length) ||
      connect(client, address, sizeof in))
    return 1;
  printf("%d\n", ntohs(in.sin_port));
  length = sizeof peer;
  if (accept4(fd, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK) < 0)
    return 1;
  int other = socket(AF_UNIX, SOCK_STREAM, 0);
  connect(other, (struct sockaddr *)&local, offsetof(struct sockaddr_un, sun_path) + 5);
  memset(local.sun_path, 'x', sizeof local.sun_path); /* without a zero at its end */
  connect(other, (struct sockaddr *)&local, sizeof local);
  /* the answers of the kernel, not crashes */
  connect(other, wild, 16);
  connect(-1, wild, 16);
  bind(other, NULL, 0);
  accept(-1, wild, (socklen_t *)wild);
  /* the peer is known however little of it the program wants */
  for (int i = 0; i < 2; i++) {
    length = 4;
    if (connect(socket(AF_INET, SOCK_STREAM, 0), address, sizeof in) ||
        accept(fd, i ? NULL : (struct sockaddr *)&peer, &length) < 0)
      return 1;
  }
  return 0;
}
#endif
