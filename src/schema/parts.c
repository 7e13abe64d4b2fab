/* SPDX-License-Identifier: MIT */
/* Members and mappings, as programs read and make them. */
#include "schema/parts.h"
#include "schema/build.h"

const struct kymo_member *kymo_type_member_at(const struct kymo_type *type, uint32_t index) {
  return type && index < type->member_count ? &type->members[index] : NULL;
}

const char *kymo_member_name(const struct kymo_member *member) { return member ? member->name : NULL; }

const char *kymo_member_source_name(const struct kymo_member *member) {
  return member ? member->source_name : NULL;
}

const struct kymo_type *kymo_member_type(const struct kymo_member *member) {
  return member ? member->type : NULL;
}

const struct kymo_range *kymo_member_ranges(const struct kymo_member *member, uint32_t *count) {
  *count = member ? member->range_count : 0;
  return member ? member->ranges : NULL;
}

const char *kymo_member_attributes(const struct kymo_member *member) {
  return member ? member->attributes : NULL;
}

const char *kymo_mapping_get(const struct kymo_mapping *list, uint32_t index, uint64_t *low, uint64_t *high) {
  if (low)
    *low = list[index].low;
  if (high)
    *high = list[index].high;
  return list[index].name;
}

struct kymo_member *kymo_builder_members(struct kymo_builder *builder, uint32_t count) {
  return kymo_arena_array(kymo_builder_arena(builder), (size_t)count, sizeof(struct kymo_member));
}

void kymo_member_set(struct kymo_member *list, uint32_t index, const char *name,
                     const struct kymo_type *type) {
  list[index] = (struct kymo_member){.name = name, .source_name = name, .type = type};
}

void kymo_member_set_ranges(struct kymo_member *list, uint32_t index, const struct kymo_range *ranges,
                            uint32_t count) {
  list[index].ranges = ranges;
  list[index].range_count = count;
}

struct kymo_mapping *kymo_builder_mappings(struct kymo_builder *builder, uint32_t count) {
  return kymo_arena_array(kymo_builder_arena(builder), (size_t)count, sizeof(struct kymo_mapping));
}

void kymo_mapping_set(struct kymo_mapping *list, uint32_t index, const char *name, uint64_t low,
                      uint64_t high) {
  list[index] = (struct kymo_mapping){name, low, high};
}

const struct kymo_type *kymo_builder_number(struct kymo_builder *builder, uint32_t bits, uint32_t roles,
                                            const struct kymo_clock *clock) {
  return kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                        .align_bits = 8,
                                                        .size_bits = bits,
                                                        .base = 10,
                                                        .roles = roles,
                                                        .clock = clock});
}

const struct kymo_type *kymo_builder_struct(struct kymo_builder *builder, const struct kymo_member *list,
                                            uint32_t count) {
  struct kymo_member *members = kymo_builder_members(builder, count + 1);
  for (uint32_t i = 0; members && i < count; i++) {
    if (!list[i].name || !list[i].type)
      return NULL;
    members[i] = list[i];
    if (!members[i].source_name)
      members[i].source_name = members[i].name;
  }
  return members ? kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                                                  .align_bits = 8,
                                                                  .members = members,
                                                                  .member_count = count})
                 : NULL;
}
