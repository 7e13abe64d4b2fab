/* SPDX-License-Identifier: MIT */
#include "serve/serve.h"
#include "serve/api.h"
#include "serve/http.h"
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t is_stopped;

static void stop(int number) {
  (void)number;
  is_stopped = 1;
}

/* They are blocked except while the server waits: a step of work is never interrupted. */
static void catch_signals(sigset_t *before) {
  const struct sigaction action = {.sa_handler = stop};
  sigset_t caught;
  sigemptyset(&caught);
  is_stopped = 0;
  for (const int *number = (const int[]){SIGINT, SIGTERM, SIGHUP, 0}; *number; number++) {
    sigaddset(&caught, *number);
    sigaction(*number, &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &caught, before);
  for (const int *number = (const int[]){SIGINT, SIGTERM, SIGHUP, 0}; *number; number++)
    sigdelset(before, *number);
}

/* How long the server may wait for requests. */
static int wait_ms(const struct api *api, bool is_busy) {
  enum { MOST_MS = 500 };
  int64_t rest_us = is_busy ? 0 : api_rest_us(api);
  return rest_us < 0 || rest_us > MOST_MS * 1000 ? MOST_MS : (int)((rest_us + 999) / 1000);
}

static void run(struct api *api, struct http *http, const sigset_t *mask) {
  enum { ANSWERS = 50 };
  int64_t idle_ns = api->options->idle_ns;
  while (!is_stopped && !api->is_ended && (!idle_ns || http_idle_ms(http) < idle_ns / 1000000))
    http_run(http, wait_ms(api, api_work(api)), mask);
  for (int i = 0; i < ANSWERS && api->is_ended && !is_stopped && http_is_answering(http); i++)
    http_run(http, 1000 / ANSWERS, mask); /* the page learns that it has ended */
}

int serve(const struct serve_options *options, struct kymo_error *error) {
  struct http *http = NULL;
  struct api api;
  sigset_t mask;
  char address[128];
  int status = api_begin(&api, options, error);
  if (status == KYMO_OK)
    status = http_open(
        &http,
        &(struct http_options){.port = options->port, .handler = api_answer, .step = api_go_on, .user = &api},
        error);
  if (status == KYMO_OK) {
    snprintf(address, sizeof address, "http://127.0.0.1:%u/#token=%s", http_port(http), http_token(http));
    catch_signals(&mask);
    status = options->ready(options->user, address, http_port(http));
  }
  signal(SIGPIPE, SIG_IGN); /* clients go away at any time */
  if (status == KYMO_OK)
    run(&api, http, &mask);
  http_close(http); /* gives up requests that were begun */
  api_end(&api);
  return status;
}
