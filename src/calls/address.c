/* SPDX-License-Identifier: MIT */
#include "calls/address.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

/* ---- text ---- */

static char *put_number(char *at, unsigned number, unsigned base) {
  char digits[12];
  unsigned count = 0;
  do
    digits[count++] = "0123456789abcdef"[number % base];
  while ((number /= base) != 0);
  while (count > 0)
    *at++ = digits[--count];
  return at;
}

static char *put_ipv4(char *at, const uint8_t *bytes) {
  for (int i = 0; i < 4; i++) {
    if (i > 0)
      *at++ = '.';
    at = put_number(at, bytes[i], 10);
  }
  return at;
}

/* The longest run of two zeros or more, which is written as "::"; 8: there is none. */
static int find_zeros(const uint16_t groups[8], int *count) {
  int best = 8;
  *count = 1;
  for (int i = 0; i < 8; i++) {
    int end = i;
    while (end < 8 && groups[end] == 0)
      end++;
    if (end - i > *count) {
      *count = end - i;
      best = i;
    }
  }
  return best;
}

static char *put_ipv6(char *at, const uint8_t bytes[16]) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  uint16_t groups[8];
  int count;
  if (memcmp(bytes, mapped, sizeof mapped) == 0)
    return put_ipv4((char *)memcpy(at, "::ffff:", 7) + 7, bytes + 12);
  for (int i = 0; i < 8; i++)
    groups[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  int zeros = find_zeros(groups, &count);
  for (int i = 0; i < 8; i++) {
    if (i == zeros) {
      *at++ = ':';
      *at++ = ':';
      i += count - 1;
      continue;
    }
    if (i > 0 && i != zeros + count)
      *at++ = ':';
    at = put_number(at, groups[i], 16);
  }
  return at;
}

/* A path, or a name in the abstract name space, whose zeros read as "@". */
static char *put_path(char *at, const char *path, size_t length) {
  bool is_abstract = length > 0 && path[0] == '\0';
  for (size_t i = 0; i < length && (is_abstract || path[i]); i++)
    *at++ = path[i] ? path[i] : '@';
  return at;
}

/* ---- addresses ---- */

/* Whether a failed call has read the address that it was given. EBADF, ENOTSOCK and EINVAL may come
 * before. */
static bool was_read(int error) {
  switch (error) {
  case 0:
  case EINPROGRESS:
  case EALREADY:
  case EISCONN:
  case ECONNREFUSED:
  case ECONNRESET:
  case ETIMEDOUT:
  case EHOSTUNREACH:
  case ENETUNREACH:
  case EADDRINUSE:
  case EADDRNOTAVAIL:
  case ENOENT:
  case EACCES:
  case EAGAIN:
  case EAFNOSUPPORT:
  case EPROTOTYPE:
  case EINTR: return true;
  default: return false;
  }
}

struct calls_address kymo_calls_address(const struct sockaddr *address, socklen_t length, int error) {
  struct calls_address known = {.family = AF_UNSPEC};
  struct sockaddr_storage copy = {0};
  if (!address || !was_read(error) || length < sizeof address->sa_family)
    return known;
  memcpy(&copy, address, length < sizeof copy ? length : sizeof copy);
  char *end = known.text;
  known.family = copy.ss_family;
  if (copy.ss_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)&copy;
    known.port = ntohs(in->sin_port);
    end = put_ipv4(end, (const uint8_t *)&in->sin_addr);
  } else if (copy.ss_family == AF_INET6 && length >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
    const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&copy;
    known.port = ntohs(in->sin6_port);
    end = put_ipv6(end, in->sin6_addr.s6_addr);
  } else if (copy.ss_family == AF_UNIX) {
    const struct sockaddr_un *local = (const struct sockaddr_un *)&copy;
    size_t head = offsetof(struct sockaddr_un, sun_path), room = sizeof local->sun_path;
    end = put_path(end, local->sun_path, length - head < room ? length - head : room);
  }
  *end = '\0';
  return known;
}

struct calls_address kymo_calls_peer(int fd) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  int before = errno;
  bool is_known = fd >= 0 && getpeername(fd, (struct sockaddr *)&peer, &length) == 0;
  errno = before;
  return kymo_calls_address(is_known ? (struct sockaddr *)&peer : NULL, length, 0);
}
