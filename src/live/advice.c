/* SPDX-License-Identifier: MIT */
#include "live/advice.h"
#include <stdio.h>

void kymo_advise_on_losses(uint64_t events, uint64_t lost, uint64_t full, const char *larger) {
  enum { MUCH_PERCENT = 1 };
  double percent = full ? (double)full * 100 / ((double)events + (double)lost) : 0;
  if (percent >= MUCH_PERCENT)
    fprintf(
        stderr,
        "kymo record: %.1f %% of the events found their ring full: use larger rings (%s), record less (-e "
        "PATTERN), or keep the "
        "newest events instead of the oldest (--mode overwrite)\n",
        percent, larger);
}
