/* SPDX-License-Identifier: MIT */
/*
 * A trace of the kernel's in a directory of its own beside those of programs (kernel/, samples/):
 *
 *   DIRECTORY/NAME/clock           "counter …": the origin of its times (ring/clock.h)
 *                  lost            how many events are missing after the last ones, if any
 *                  .kymo/clocks    what the machine's clocks showed (ring/clocks.h)
 *
 * format/beside.h reads them. A thread of the recorder's drains what the kernel records.
 */
#ifndef KYMO_LIVE_BESIDE_H
#define KYMO_LIVE_BESIDE_H

#include "ring/clock.h"
#include "ring/places.h"
#include <kymo/error.h>
#include <pthread.h>

#define KYMO_KERNEL_DIRECTORY "kernel"
#define KYMO_SAMPLES_DIRECTORY "samples"

/* Whether a trace of this name in a recording's directory is one of them. */
bool kymo_beside_is(const char *name);

/* Makes DIRECTORY/NAME with its `clock`; `path` is "" until the directory is there. */
int kymo_beside_make(char path[KYMO_PATH_MAX], const char *directory, const char *name,
                     const struct kymo_session_clock *clock, struct kymo_error *error);
/* Begins `.kymo/clocks`; *file is a descriptor to be closed. */
int kymo_beside_begin_clocks(const char *path, const struct kymo_session_clock *clock, int *file,
                             struct kymo_error *error);
/* Adds what the clocks show. False with errno. */
bool kymo_beside_note_clocks(int file, const struct kymo_session_clock *clock);
/* Losses that nothing in the trace shows, since nothing could be written after them. */
int kymo_beside_note_lost(const char *path, uint64_t count, struct kymo_error *error);
/* Removes these files, and the directory if nothing else is in it. */
void kymo_beside_remove(const char *path);

/* ---- the thread ---- */

/* The thread that drains, while it runs. */
struct kymo_beside_thread {
  pthread_t thread;
  int end; /* an eventfd, readable when the thread is to end; -1: none */
  bool is_running;
};

/* Makes `end`; the thread does not run yet. It is to be freed in any case. */
int kymo_beside_thread_new(struct kymo_beside_thread *thread, struct kymo_error *error);
/* Starts it, with all signals blocked. */
int kymo_beside_thread_begin(struct kymo_beside_thread *thread, void *(*work)(void *), void *argument,
                             struct kymo_error *error);
/* In the thread: waits for so long. True: it is to end. */
bool kymo_beside_thread_wait(const struct kymo_beside_thread *thread, int milliseconds);
/* Ends it and waits for that, if it runs. */
void kymo_beside_thread_end(struct kymo_beside_thread *thread);
/* Also ends it. */
void kymo_beside_thread_free(struct kymo_beside_thread *thread);

#endif
