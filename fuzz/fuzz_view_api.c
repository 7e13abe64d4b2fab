/* SPDX-License-Identifier: MIT */
/*
 * Requests to the server of kymo view, one a line, as they come after the checks of who asks: "/api/" is
 * before each. Every reply is whole: a status that is known, JSON that is UTF-8 without control characters,
 * or a picture whose size fits its header. Where memory may fail, all requests are made twice: what is
 * answered with success both times is the same, so nothing is left out without an error.
 */
#include "base/bytes.h"
#include "base/utf8.h"
#include "reached.h"
#include "serve/api.h"
#include "small_trace.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 32 };

/* ---- replies ---- */

static void must(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s\n", what);
  abort();
}

/* tests/faults replays the corpus while allocations fail. */
static bool memory_may_fail(void) { return getenv("MEMORY_MAY_FAIL") != NULL; }

static void check_json(const uint8_t *at, size_t size) {
  const uint8_t *end = at + size;
  must(size >= 2 && *at == '{' && end[-1] == '}', "an object is expected");
  while (at < end) {
    uint32_t character = kymo_next_utf8(&at, end);
    must(character != KYMO_BAD_CHARACTER && character >= ' ',
         "a text without control characters is expected");
  }
}

static uint32_t word_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The size of a picture of texts without the JSON after it. */
static size_t check_texts(const uint8_t *bytes, size_t size) {
  uint32_t length = word_at(bytes + size - 4), whole = length / 4 * 4 + (length % 4 ? 4 : 0);
  must(whole <= size - 4, "JSON of its size is expected");
  check_json(bytes + size - 4 - whole, length);
  return size - 4 - whole;
}

static void check_picture(const uint8_t *bytes, size_t size) {
  enum { HEADER_WORDS = 6, VALUES = 2, TEXTS = 3 };
  uint32_t words[HEADER_WORDS];
  must(size >= sizeof words, "a header is expected");
  for (unsigned i = 0; i < HEADER_WORDS; i++)
    words[i] = word_at(bytes + (size_t)4 * i);
  if (words[5] == TEXTS)
    size = check_texts(bytes, size);
  bool is_values = words[5] >= VALUES;
  size_t starts = words[2] + 1, cells = words[3], cell = is_values ? 36 : 32;
  must(size == 24 + 4 * (starts + starts % 2) + cells * cell + (is_values ? cells % 2 * 4 + 16 : 0),
       "the size of the header is expected");
}

/* What was answered to each line the first time; NULL bytes: an error. */
static struct {
  void *bytes;
  size_t size;
} answers[LINES_MAX];
static bool has_failed; /* something was said to have failed, so what follows may be other than it was */

static bool says(const struct http_reply *reply, const char *words) {
  return reply->size && memmem(reply->bytes, reply->size, words, strlen(words));
}

/* Takes the generation out: it depends on time. */
static void forget_generation(const struct http_reply *reply) {
  static const char word[] = "\"generation\":";
  char *at = memmem(reply->bytes, reply->size, word, sizeof word - 1);
  if (*reply->type == 'a' && strcmp(reply->type, "application/json") != 0)
    memset((char *)reply->bytes + 4, 0, 4);
  else if (at)
    for (at += sizeof word - 1; *at >= '0' && *at <= '9'; at++)
      *at = '0';
}

/* Takes the reply. */
static void compare(const struct api *api, size_t line, const struct http_reply *reply) {
  has_failed |=
      reply->status == API_FAILED || api->main.error.code < 0 || says(reply, "\"state\":\"failed\"");
  if (!memory_may_fail() || has_failed || reply->status != API_OK) {
    free(reply->bytes);
    return;
  }
  forget_generation(reply);
  bool is_same = !answers[line].bytes || (answers[line].size == reply->size &&
                                          memcmp(answers[line].bytes, reply->bytes, reply->size) == 0);
  if (!is_same)
    fprintf(stderr, "line %zu: %.*s and %.*s: ", line, (int)answers[line].size, (char *)answers[line].bytes,
            (int)reply->size, (char *)reply->bytes);
  must(is_same, "the same answer is expected");
  free(answers[line].bytes);
  answers[line].bytes = reply->bytes;
  answers[line].size = reply->size;
}

/* With as many steps as there can be, or in one (step_us 0). */
static void answer(struct api *api, const char *target, int64_t step_us, struct http_reply *reply) {
  void *rest = NULL;
  api->step_us = step_us;
  api_answer(api, target, true, reply, &rest);
  while (rest && !api_go_on(api, rest, reply))
    continue;
}

/* A request that has steps is refused when it takes too long, and can be given up. */
static void limit(struct api *api, const char *target) {
  struct http_reply reply = {0};
  void *rest = NULL;
  int64_t cpu_us = api->cpu_us;
  api_answer(api, target, true, &reply, &rest);
  if (rest)
    must(api_go_on(api, rest, NULL), "an end is expected");
  free(reply.bytes);
  reply = (struct http_reply){0};
  rest = NULL;
  api->cpu_us = -1;
  api_answer(api, target, true, &reply, &rest);
  must(!rest, "no further step is expected");
  api->cpu_us = cpu_us;
  free(reply.bytes);
}

/* In one step a request is answered as in many. */
static void answer_at_once(struct api *api, const char *target, const struct http_reply *wanted) {
  struct http_reply reply = {0};
  answer(api, target, 0, &reply);
  must(reply.status == wanted->status && reply.size == wanted->size &&
           (reply.size == 0 || memcmp(reply.bytes, wanted->bytes, reply.size) == 0),
       "the same answer is expected in one step");
  free(reply.bytes);
}

static void ask(struct api *api, const char *line, size_t length, size_t number) {
  struct http_reply reply = {0};
  char target[HTTP_TARGET_MAX + 1];
  if (length > HTTP_TARGET_MAX - 5)
    return;
  memcpy(target, "/api/", 5);
  memcpy(target + 5, line, length);
  target[5 + length] = 0;
  has_failed |= api->main.error.code < 0;
  answer(api, target, 1, &reply);
  if (reply.status == 0 && memory_may_fail()) {
    has_failed = true;
    return;
  }
  must(reply.status == API_OK || reply.status == API_LATER || reply.status == API_BAD ||
           reply.status == API_ABSENT || reply.status == API_FAILED,
       "a status is expected");
  must(!reply.is_static, "an answer is expected");
  if (*reply.type == 'a' && strcmp(reply.type, "application/json") == 0)
    check_json(reply.bytes, reply.size);
  else
    check_picture(reply.bytes, reply.size);
  fuzz_reached += reply.status == API_OK;
  if (!memory_may_fail() && strncmp(target, "/api/trackby", 12) != 0) {
    limit(api, target);
    answer_at_once(api, target, &reply);
  }
  compare(api, number, &reply);
}

static void ask_all(const uint8_t *data, size_t size) {
  static const char *const paths[] = {"trace"};
  const struct view_options view = {.open = open_trace, .paths = paths, .path_count = 1};
  const struct serve_options options = {
      .traces = {.view = &view, .title = "trace", .command = "kymo cat trace"}};
  struct kymo_error error = {0};
  struct api api;
  struct view_info info;
  if (trace_size == 0)
    make_trace();
  has_failed = false;
  int status = api_begin(&api, &options, &error);
  if (status != KYMO_OK && memory_may_fail()) {
    api_end(&api);
    return;
  }
  must(status == KYMO_OK, error.message);
  while (api_work(&api))
    continue;
  view_info(api.main.view, &info);
  must((info.events == EVENTS && info.tracks == 2 && info.spans == EVENTS / 2) || memory_may_fail(),
       "the whole trace is expected");
  for (size_t at = 0, lines = 0; at < size && lines < LINES_MAX; lines++) {
    const uint8_t *end = memchr(data + at, '\n', size - at);
    size_t length = end ? (size_t)(end - data) - at : size - at;
    while (api_work(&api))
      continue;
    ask(&api, (const char *)data + at, length, lines);
    at += length + 1;
  }
  api_end(&api);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ask_all(data, size);
  if (memory_may_fail())
    ask_all(data, size);
  for (size_t i = 0; i < LINES_MAX; i++) {
    free(answers[i].bytes);
    answers[i].bytes = NULL;
  }
  return 0;
}
