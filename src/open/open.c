/* SPDX-License-Identifier: MIT */
/* Opening traces (kymo/read.h): the open trace knows no format, and gets the list of all here. */
#include "format/formats.h"
#include "trace/trace.h"

int kymo_trace_open_(struct kymo_trace **out, const char *const *paths, size_t count,
                     const struct kymo_trace_options *options, size_t size, struct kymo_error *error) {
  return kymo_trace_open_with(out, kymo_formats, paths, count, options, size, error);
}

int kymo_trace_open_set_(struct kymo_trace **out, const struct kymo_input *inputs, size_t input_size,
                         size_t count, const struct kymo_trace_options *options, size_t size,
                         struct kymo_error *error) {
  return kymo_trace_open_set_with(out, kymo_formats, inputs, input_size, count, options, size, error);
}
