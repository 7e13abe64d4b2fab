/* SPDX-License-Identifier: MIT */
#ifndef KYMO_DECODE_AHEAD_H
#define KYMO_DECODE_AHEAD_H

#include "decode/step.h"

/* Fills the buffer with the next events of its packet. KYMO_STEP_EVENT if there is at least one;
 * else KYMO_STEP_END, or KYMO_STEP_ERROR with decoder->run. */
enum kymo_step kymo_look_ahead(struct kymo_decoder *decoder);

#endif
