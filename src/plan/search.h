/* SPDX-License-Identifier: MIT */
/* Where records may begin in the middle of a file, from the plan alone. */
#ifndef KYMO_PLAN_SEARCH_H
#define KYMO_PLAN_SEARCH_H

#include "plan/plan.h"

/* The size of every record of a region of these kinds, if reading may begin at any of them; else 0. */
uint64_t kymo_plan_region_bytes(const struct kymo_plan *plan, uint32_t dispatch);

#endif
