/* SPDX-License-Identifier: MIT */
#ifndef KYMO_TRACE_AHEAD_H
#define KYMO_TRACE_AHEAD_H

#include "trace/step.h"

/* Fills the stream's buffer with the next events of its packet. KYMO_STEP_EVENT if there is at least one;
 * else KYMO_STEP_END, or KYMO_STEP_ERROR with stream->run. */
enum kymo_step kymo_look_ahead(struct stream_state *stream);

#endif
