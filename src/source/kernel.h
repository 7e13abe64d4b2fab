/* SPDX-License-Identifier: MIT */
/* What the addresses in a trace of the Linux kernel mean, as far as its format knows: for messages. */
#ifndef KYMO_SOURCE_KERNEL_H
#define KYMO_SOURCE_KERNEL_H

#include <stdint.h>

struct kymo_kernel {
  void *user;
  /* The name of the function that an address is in, and where it begins; NULL: none. It lives as long as the
   * part. */
  const char *(*function)(void *user, uint64_t address, uint64_t *begin);
  /* The format of trace_printk at an address, with the escapes of its source; NULL: none. */
  const char *(*format)(void *user, uint64_t address);
  uint8_t long_size; /* of the kernel, bytes */
};

#endif
