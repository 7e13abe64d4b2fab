/* SPDX-License-Identifier: MIT */
/* What both files of the C++ program share. */
#ifndef KYMO_TEST_OBJECTS_H
#define KYMO_TEST_OBJECTS_H

#include <kymo/trace.h>

template <class T> void in_a_template(T value) { KYMO(object, template_, value); }
inline void inline_in_both(int from) { KYMO(object, inline_, from); }
void other_file();

#endif
