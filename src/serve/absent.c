/* SPDX-License-Identifier: MIT */
/* Replaces the server where libmicrohttpd is not available. */
#include "serve/serve.h"
#include "base/fail.h"

int serve(const struct serve_options *options, struct kymo_error *error) {
  (void)options;
  return kymo_fail(
      error, KYMO_E_UNKNOWN,
      "built without libmicrohttpd: install libmicrohttpd-dev and build again, or write a file with "
      "--html OUT.html");
}
