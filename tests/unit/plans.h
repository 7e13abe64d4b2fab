/* SPDX-License-Identifier: MIT */
/* Plans built by hand, and files for them. */
#ifndef TESTS_KEY_PLANS_H
#define TESTS_KEY_PLANS_H

#include "plan/plan.h"
#include <kymo/get.h>
#include <kymo/info.h>
#include <kymo/move.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE KYMO_PLAN_NONE

static inline uint32_t word(struct kymo_plan_builder *b, const char *text) {
  return kymo_plan_add_text(b, text, strlen(text));
}

static inline struct kymo_plan_root plain_root(struct kymo_plan_builder *b, const char *name) {
  return (struct kymo_plan_root){
      .name = word(b, name), .version = NONE, .resync = NONE, .merge_pattern = NONE, .source = NONE};
}

/* A kind without prefix, dispatch or anything else. */
static inline struct kymo_plan_kind plain_kind(struct kymo_plan_builder *b, const char *name,
                                               enum kymo_plan_class class_) {
  return (struct kymo_plan_kind){.name = word(b, name),
                                 .class_ = class_,
                                 .prefix = NONE,
                                 .when = NONE,
                                 .align = NONE,
                                 .part = {.block = NONE},
                                 .holds = NONE,
                                 .event_column = NONE,
                                 .from_table = NONE,
                                 .from_key = NONE};
}

/* A step over the kinds [first, first + count) that were added last. */
static inline void add_step(struct kymo_plan_builder *b, uint32_t first, uint32_t count, bool is_repeat) {
  uint32_t refs = kymo_plan_count(b, KYMO_SECTION_KIND_REF);
  for (uint32_t i = 0; i < count; i++)
    kymo_plan_add_kind_ref(b, &(struct kymo_plan_kind_ref){first + i});
  uint32_t dispatch = kymo_plan_add_dispatch(
      b, &(struct kymo_plan_dispatch){.first = refs, .count = count, .slot = NONE, .otherwise = NONE});
  kymo_plan_add_step(b, &(struct kymo_plan_step){.dispatch = dispatch,
                                                 .is_repeat = is_repeat,
                                                 .times = NONE,
                                                 .at = NONE,
                                                 .size = NONE,
                                                 .until = NONE});
}

static inline uint32_t add_column(struct kymo_plan_builder *b, const char *name,
                                  struct kymo_plan_option option) {
  uint32_t first = kymo_plan_add_option(b, &option);
  return kymo_plan_add_column(
      b, &(struct kymo_plan_column){.name = word(b, name), .first_option = first, .option_count = 1});
}

/* The pcap of the language's document: head, then packets with a counted tail. `with_check`: CHECK
 * caplen<=0x4000000. */
static inline struct kymo_schema *pcap_key(struct kymo_error *error) {
  struct kymo_plan_builder *b = kymo_plan_builder_new();
  struct kymo_plan_root root = plain_root(b, "pcap");
  root.kept_count = 1;
  kymo_plan_add_root(b, &root);
  kymo_plan_add_clock(
      b, &(struct kymo_plan_clock){
             .name = word(b, "wall"), .has_epoch = 1, .resolution_low = 1000, .rate = NONE, .slack = NONE});
  uint32_t bytes =
      kymo_plan_add_type(b, &(struct kymo_plan_type){.encoding = KYMO_TYPE_BYTES, .size = KYMO_SIZE_POPPED});
  /* head */
  struct kymo_plan_kind head = plain_kind(b, "head", KYMO_CLASS_CONTROL);
  head.slot_count = 2;
  head.part.fixed = 24;
  head.part.first_load = kymo_plan_add_load(b, &(struct kymo_plan_load){.offset = 0, .bits = 32, .slot = 0});
  head.part.load_count = 1;
  kymo_plan_block_begin(b);
  kymo_plan_emit(b, KYMO_DO_GET, 0, 0, 0);
  kymo_plan_emit_number(b, 0xd4c3b2a1, true);
  kymo_plan_emit(b, KYMO_DO_EQUAL, 0, 0, 0);
  uint32_t jump = kymo_plan_emit(b, KYMO_DO_JUMP_FALSE, 0, 0, 0);
  kymo_plan_emit(b, KYMO_DO_ORDER_FILE, KYMO_PLAN_BIG, 0, 0);
  kymo_plan_aim(b, jump, kymo_plan_here(b));
  kymo_plan_emit(b, KYMO_DO_GET, 0, 0, 0);
  kymo_plan_emit_number(b, 0xa1b23c4d, true);
  kymo_plan_emit(b, KYMO_DO_EQUAL, 0, 0, 0);
  kymo_plan_emit(b, KYMO_DO_SET, 1, 0, 0);
  head.part.block = kymo_plan_block_end(b);
  head.first_keep = kymo_plan_add_keep(b, &(struct kymo_plan_keep){.slot = 1, .index = 0});
  head.keep_count = 1;
  uint32_t first = kymo_plan_add_kind(b, &head);
  /* packet: seconds, fraction, caplen, wire, data */
  struct kymo_plan_kind packet = plain_kind(b, "packet", KYMO_CLASS_EVENT);
  packet.slot_count = 5;
  packet.part.fixed = 16;
  packet.part.load_count = 4;
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t load = kymo_plan_add_load(
        b, &(struct kymo_plan_load){.offset = 4 * i, .bits = 32, .order = KYMO_PLAN_CURRENT, .slot = i});
    packet.part.first_load = i ? packet.part.first_load : load;
  }
  kymo_plan_block_begin(b);
  kymo_plan_emit(b, KYMO_DO_GET, 0, 0, 0);
  kymo_plan_emit_number(b, 1000000000000, true);
  kymo_plan_emit(b, KYMO_DO_TIME, 0, KYMO_TIME_POINT | KYMO_TIME_UNIT | KYMO_TIME_IS_ACQUISITION, 0);
  kymo_plan_emit(b, KYMO_DO_DROP, 0, 0, 0);
  kymo_plan_emit(b, KYMO_DO_GET, 1, 0, 0);
  kymo_plan_emit(b, KYMO_DO_KEPT, 0, 0, 0);
  jump = kymo_plan_emit(b, KYMO_DO_JUMP_FALSE, 0, 0, 0);
  kymo_plan_emit_number(b, 1000, true);
  uint32_t over = kymo_plan_emit(b, KYMO_DO_JUMP, 0, 0, 0);
  kymo_plan_aim(b, jump, kymo_plan_here(b));
  kymo_plan_emit_number(b, 1000000, true);
  kymo_plan_aim(b, over, kymo_plan_here(b));
  kymo_plan_emit(b, KYMO_DO_TIME, 0, KYMO_TIME_ADD | KYMO_TIME_UNIT, 0);
  kymo_plan_emit(b, KYMO_DO_DROP, 0, 0, 0);
  kymo_plan_emit(b, KYMO_DO_GET, 2, 0, 0);
  kymo_plan_emit_number(b, 0x4000000, true);
  kymo_plan_emit(b, KYMO_DO_LESS_EQUAL, 0, 0, 0);
  kymo_plan_emit(b, KYMO_DO_CHECK, 4, NONE, 0);
  kymo_plan_emit(b, KYMO_DO_GET, 2, 0, 0);
  kymo_plan_emit(b, KYMO_DO_LOAD, bytes, 0, 0);
  kymo_plan_emit(b, KYMO_DO_SET, 4, 0, 0);
  packet.part.block = kymo_plan_block_end(b);
  packet.first_column =
      add_column(b, "caplen", (struct kymo_plan_option){.slot = 2, .bits = 32, .view = NONE});
  uint32_t unit = kymo_plan_add_view(
      b, &(struct kymo_plan_view){.token = NONE, .names = NONE, .flags = NONE, .unit = word(b, "bytes")});
  add_column(b, "wire", (struct kymo_plan_option){.slot = 3, .bits = 32, .view = unit});
  add_column(b, "data", (struct kymo_plan_option){.slot = 4, .shape = KYMO_SHAPE_BLOB, .view = NONE});
  packet.column_count = 3;
  kymo_plan_add_kind(b, &packet);
  add_step(b, first, 1, false);
  add_step(b, first + 1, 1, true);
  return kymo_plan_finish(b, error);
}

/* A number into a file's bytes. */
static inline void put32(uint8_t **at, uint32_t value, bool is_big) {
  for (unsigned i = 0; i < 4; i++)
    *(*at)++ = (uint8_t)(value >> 8 * (is_big ? 3 - i : i));
}

/* A pcap of `count` packets of 60 + i % 40 bytes, one millisecond apart; its size. */
static inline size_t pcap_file(uint8_t *bytes, uint32_t count, bool is_big) {
  uint8_t *at = bytes;
  put32(&at, 0xa1b2c3d4, is_big);
  memset(at, 0, 20);
  at += 20;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t size = 60 + i % 40;
    put32(&at, 1000 + i / 1000, is_big);
    put32(&at, i % 1000 * 1000, is_big);
    put32(&at, size, is_big);
    put32(&at, size + 1, is_big);
    memset(at, (int)(i & 255), size);
    at += size;
  }
  return (size_t)(at - bytes);
}

#endif
