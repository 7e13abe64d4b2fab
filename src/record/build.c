/* SPDX-License-Identifier: MIT */
/*
 * Events built in pieces. The caller's buffer holds the bytes of the fields as they will be in the ring; the
 * codes in the tracepoint's descriptor give the type of the next field.
 */
#include "record/session.h"
#include <string.h>

/* Stores of short texts may run past their end. */
enum { SLACK = 15 };

static const uint64_t *codes_of(const struct kymo_build *build) {
  return (const uint64_t *)(build->point + 1) + 1;
}

static uint32_t kind_of(uint64_t code) { return code >> 8 & 255; }

static bool is_counted(uint64_t code) {
  return kind_of(code) == KYMO_KIND_BLOB_ || kind_of(code) == KYMO_KIND_ARRAY_;
}

/* Steps over fields that are already put and over codes that are not fields. False: there is no further
 * field. */
static bool find_field(struct kymo_build *build) {
  while (build->field < build->point->count && !(codes_of(build)[build->field] & KYMO_CODE_LATER_))
    build->field++;
  return build->field < build->point->count;
}

static bool is_in_work(const struct kymo_build *build) { return build->point && !build->has_failed; }

static void *append(struct kymo_build *build, size_t size) {
  if (size > (size_t)(build->end - build->at)) {
    build->has_failed = true;
    return NULL;
  }
  unsigned char *at = build->at;
  build->at += size;
  return at;
}

/* Makes the next field the current one. */
static bool open_field(struct kymo_build *build) {
  if (!is_in_work(build) || build->is_open)
    return is_in_work(build);
  if (!find_field(build)) {
    build->has_failed = true;
    return false;
  }
  if (is_counted(codes_of(build)[build->field]) && !append(build, sizeof(uint32_t)))
    return false;
  build->start = build->at;
  build->is_open = true;
  return true;
}

static void close_text(struct kymo_build *build) {
  bool is_whole = !memchr(build->start, 0, (size_t)(build->at - build->start));
  unsigned char *end = is_whole ? append(build, 1) : NULL;
  if (end)
    *end = 0;
  build->has_failed |= !end;
}

static void close_field(struct kymo_build *build) {
  uint64_t code = codes_of(build)[build->field];
  uint32_t count = (uint32_t)((size_t)(build->at - build->start) / (code & 15 ? code & 15 : 1));
  if (is_counted(code))
    memcpy(build->start - sizeof count, &count, sizeof count);
  else if (kind_of(code) == KYMO_KIND_STRN_)
    close_text(build);
  build->is_open = false;
  build->field++;
}

void kymo_build_begin_(struct kymo_build *build, const struct kymo_tracepoint *point, void *room,
                       size_t size) {
  build->point = point;
  build->begin = build->at = room;
  build->end = build->begin + (size > SLACK ? size - SLACK : 0);
  build->field = 0;
  build->is_open = false;
  build->has_failed = true; /* until the fields are there */
}

unsigned char *kymo_build_reserve_(struct kymo_build *build, size_t bytes) {
  return bytes <= (size_t)(build->end - build->begin) ? build->begin : NULL;
}

void kymo_build_go_on_(struct kymo_build *build, unsigned char *at) {
  build->at = at;
  build->has_failed = false;
}

void *kymo_build_space(struct kymo_build *build, size_t size) {
  if (!open_field(build))
    return NULL;
  uint64_t code = codes_of(build)[build->field];
  bool is_number = kind_of(code) == KYMO_KIND_VALUE_;
  bool fits = is_number ? size == (code & 15) : kind_of(code) != KYMO_KIND_ARRAY_ || size % (code & 15) == 0;
  void *at = fits ? append(build, size) : NULL;
  build->has_failed |= !at;
  if (at && is_number)
    close_field(build);
  return at;
}

void kymo_build_bytes(struct kymo_build *build, const void *bytes, size_t size) {
  void *at = kymo_build_space(build, size);
  if (at && size)
    memcpy(at, bytes, size);
}

void kymo_build_text(struct kymo_build *build, const char *text) {
  if (!text)
    text = "(null)";
  if (open_field(build) && kind_of(codes_of(build)[build->field]) != KYMO_KIND_STRN_)
    build->has_failed = true;
  kymo_build_bytes(build, text, strlen(text));
}

/* The type of the next number, or 0. */
static uint32_t number_type(struct kymo_build *build) {
  uint64_t code = open_field(build) ? codes_of(build)[build->field] : 0;
  if (is_in_work(build) && kind_of(code) == KYMO_KIND_VALUE_)
    return code & 255;
  build->has_failed = true;
  return 0;
}

/* Each case copies its own variable, which then needs no memory: no canary is set and checked for each
 * field. */
static void store(void *at, int64_t value, uint32_t size) {
  int8_t one = (int8_t)value;
  int16_t two = (int16_t)value;
  int32_t four = (int32_t)value;
  switch (size) {
  case 1: memcpy(at, &one, sizeof one); break;
  case 2: memcpy(at, &two, sizeof two); break;
  case 4: memcpy(at, &four, sizeof four); break;
  default: memcpy(at, &value, sizeof value);
  }
}

void kymo_build_integer(struct kymo_build *build, int64_t value) {
  uint32_t type = number_type(build);
  if ((type & 0xf0) == KYMO_TYPE_FLOAT_)
    kymo_build_float(build, (double)value);
  else if (type) {
    void *at = kymo_build_space(build, type & 15);
    if (at)
      store(at, value, type & 15);
  }
}

void kymo_build_float(struct kymo_build *build, double value) {
  uint32_t type = number_type(build);
  float single = (float)value;
  if ((type & 0xf0) != KYMO_TYPE_FLOAT_) {
    build->has_failed = true;
    return;
  }
  void *at = kymo_build_space(build, type & 15);
  if (at && (type & 15) == sizeof single)
    memcpy(at, &single, sizeof single);
  else if (at)
    memcpy(at, &value, sizeof value);
}

void kymo_build_next(struct kymo_build *build) {
  if (open_field(build) && kind_of(codes_of(build)[build->field]) != KYMO_KIND_VALUE_)
    close_field(build);
  else
    build->has_failed = true;
}

/* A field that was not put is 0 or empty. */
static void complete(struct kymo_build *build) {
  static const uint64_t zero;
  while (is_in_work(build) && (build->is_open || find_field(build))) {
    uint64_t code = codes_of(build)[build->field];
    if (kind_of(code) == KYMO_KIND_VALUE_)
      kymo_build_bytes(build, &zero, code & 15);
    else
      kymo_build_next(build);
  }
}

bool kymo_build_commit(struct kymo_build *build) {
  const struct kymo_tracepoint *point = build->point;
  if (!point)
    return false;
  complete(build);
  build->point = NULL;
  size_t size = build->has_failed ? 0 : (size_t)(build->at - build->begin);
  struct kymo_space_ space = kymo_begin_(8 + size, point->id);
  if (!space.ring)
    return false;
  if (build->has_failed) {
    kymo_abandon_(space.ring);
    return false;
  }
  memcpy(space.kymo_at, build->begin, size);
  kymo_commit_(space.ring, 8 + size);
  return true;
}
