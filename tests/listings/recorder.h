/* SPDX-License-Identifier: MIT */
/* A recorder that keeps one event, so that tests see the bytes that the macros store. */
#ifndef RECORDER_H
#define RECORDER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the fields of the last event, or NULL if there is none since the last call; *size is their
 * number. */
const unsigned char *last_event(size_t *size);
extern int sites, abandoned; /* call sites that were registered; events that were given up */
extern char *grow;           /* a text that gets one character longer when it has been measured once */

#ifdef __cplusplus
}
#endif
#endif
