// SPDX-License-Identifier: MIT
// An exception leaves two scopes.
#include <kymo/trace.h>

static void fail() {
  KYMO_SPAN(thrown, inner);
  throw 1;
}

int main() {
  try {
    KYMO_SPAN(thrown, outer);
    fail();
  } catch (int) {
  }
  return 0;
}
