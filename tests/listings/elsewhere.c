/* SPDX-License-Identifier: MIT */
/* A second source that has the same listings. */
#include "types.h"
#include <kymo/trace.h>

#ifdef __cplusplus
inline void record_inline(const struct point *point) {
  KYMO(listing, shared_inline, KYMO_STRUCT(point, struct point, point));
}
#endif

void record_elsewhere(const struct point *point) {
  KYMO(listing, elsewhere, KYMO_STRUCT(point, struct point, point));
#ifdef __cplusplus
  record_inline(point);
#endif
}
