/* SPDX-License-Identifier: MIT */
/* The same function with and without a tracepoint of two integers: the difference is the code that a call
 * site adds to a program. Compiled only; bench/run reads the sizes of the symbols. */
#include <kymo/trace.h>

int bench_size_without(int a, int b);
int bench_size_with(int a, int b);

int bench_size_without(int a, int b) { return a ^ b; }

int bench_size_with(int a, int b) {
  KYMO(bench, size, a, b);
  return a ^ b;
}
