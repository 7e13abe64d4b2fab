/* SPDX-License-Identifier: MIT */
/* Each part of the program records an event; compiled as program, second file (-DSECOND) and library
 * (-DLIBRARY). */
#include "declared.h"

#if defined(SECOND)

void from_second_file(void) { kymo_shared_event("second", 2); }

#elif defined(LIBRARY)

template <class T> static void tell(T number) { kymo_shared_event("library", static_cast<int>(number)); }

void from_library(void) {
  tell(3);
  tell(4L);
  kymo_shared_nothing();
}

#else

int main(void) {
  for (int i = 0; i < 2; i++) {
    kymo_shared_event("program", 1);
    from_second_file();
  }
  kymo_shared_event("again", 1);
  from_library();
  kymo_shared_fast(5);
  KYMO(shared, event, KYMO_AS(who, "another class"), KYMO_HEX(number, 6)); /* it has no level */
  return 0;
}

#endif
