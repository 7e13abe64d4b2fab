/* SPDX-License-Identifier: MIT */
/* Activities: a span from one event to another becomes an additional event. */
#ifndef KYMO_FILTER_ACTIVITY_H
#define KYMO_FILTER_ACTIVITY_H

#include "filter/machine.h"
#include "filter/names.h"

/* Adds a part with a class for each activity of the filter to the trace. */
int kymo_filter_activities_begin(struct filter_machine *machine, struct kymo_error *error);
void kymo_filter_activities_free(struct filter_activities *activities);
/* Whether a part consists of activities. */
bool kymo_filter_is_added(const struct kymo_part *part);
/* Passes an event to all activities; those that it ends wait for kymo_filter_activities_next. */
void kymo_filter_activities_see(struct filter_machine *machine, const struct kymo_filter_class *class_,
                                struct filter_look *look);
/* The next event that was added, borrowed until the next call; false: none. */
bool kymo_filter_activities_next(struct filter_machine *machine, const struct kymo_event **event);
/* Drops the activities that wait; and also those that have begun. NULL is allowed. */
void kymo_filter_activities_drop(struct filter_activities *activities);
void kymo_filter_activities_forget(struct filter_activities *activities);

#endif
