/* SPDX-License-Identifier: MIT */
#include <kymo/trace.h>

void plugged(int n);
void plugged(int n) { KYMO(patched, plugged, n); }
