/* SPDX-License-Identifier: MIT */
/* The forms that values have in rows (classes.h). */
#ifndef KYMO_PLAN_FORM_H
#define KYMO_PLAN_FORM_H

#include "plan/plan.h"

/* The form of a value in a row. */
enum kymo_plan_form_kind {
  KYMO_FORM_UNSIGNED,
  KYMO_FORM_SIGNED,
  KYMO_FORM_FLOAT,
  KYMO_FORM_TEXT,
  KYMO_FORM_BLOB,
  KYMO_FORM_BLOB_FIXED
};
struct kymo_plan_form {
  enum kymo_plan_form_kind kind;
  uint32_t bytes;                    /* numbers, floats, BLOB_FIXED */
  enum kymo_plan_show show;          /* the view that turns numbers and bytes into texts */
  const struct kymo_plan_view *view; /* or NULL */
  const char *unit;                  /* of a definition at run time, instead of the view's; or NULL */
  bool has_scale;
  double scale, divisor,
      offset; /* SCALE 0.001 divides by 1000, which is exact where multiplying is not; 0: multiplies */
};
static inline double kymo_plan_scaled(double number, double scale, double divisor, double offset) {
  return (divisor != 0 ? number / divisor : number * scale) + offset;
}
struct kymo_plan_form kymo_plan_form(const struct kymo_plan *plan, uint32_t shape, uint32_t bits,
                                     uint32_t view);

#endif
