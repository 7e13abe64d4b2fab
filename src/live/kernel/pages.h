/* SPDX-License-Identifier: MIT */
/*
 * The raw pages of a CPU, as this machine's kernel makes them (format/ftrace/stream.c draws them): the
 * records in them, each with its time, and how many events before a page were lost.
 */
#ifndef KYMO_LIVE_KERNEL_PAGES_H
#define KYMO_LIVE_KERNEL_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called for each event: its bytes from the common fields on, and its time by the trace's clock. */
typedef void kymo_kernel_record(void *user, const uint8_t *record, size_t size, uint64_t time);

struct kymo_kernel_pages {
  uint32_t page_size;
  kymo_kernel_record *each; /* or NULL */
  void *user;
  uint64_t events; /* counted so far */
  uint64_t lost;   /* before the pages, as far as these have the number … */
  uint64_t gaps;   /* … and how many pages follow a loss without a number */
};

/* Walks a page, of which `size` bytes are there. */
void kymo_kernel_page_walk(struct kymo_kernel_pages *pages, const uint8_t *page, size_t size);
/* Walks a file of pages. False with errno if it cannot be read. */
bool kymo_kernel_pages_walk(struct kymo_kernel_pages *pages, int file);

#endif
