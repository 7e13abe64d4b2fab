/* SPDX-License-Identifier: MIT */
/* Properties of a stream from its packet headers. */
#include "base/sized.h"
#include "decode/load.h"
#include "trace/pass.h"
#include "trace/trace.h"
#include <string.h>

/* The counted value, and its place. */
struct count {
  struct kymo_pass pass;
  struct kymo_stream_info *info;
  struct loss_cause *causes;      /* of the stream */
  uint64_t counters[LOSS_CAUSES]; /* in the last packet */
};

static void widen(struct count *count, uint64_t cycles) {
  struct kymo_stream_info *info = count->info;
  if (!count->pass.ns.clock)
    return;
  int64_t time_ns = kymo_ns_of(&count->pass.ns, cycles);
  if (!info->has_times || time_ns < info->begin_ns)
    info->begin_ns = time_ns;
  if (!info->has_times || time_ns > info->end_ns)
    info->end_ns = time_ns;
  info->has_times = true;
}

/* The counters discarded_CAUSE, which only grow. Their values in the first packet count losses before it, as
 * far as is known, unless nothing at all was lost up to there. */
static void count_causes(struct count *count) {
  const struct kymo_packet_head *head = &count->pass.head;
  const struct kymo_node *root = head->plan->packet_context, *part = root ? kymo_node_first(root) : NULL;
  uint32_t causes = 0;
  for (uint32_t i = 0; root && i < root->type->member_count && causes < LOSS_CAUSES;
       i++, part += part->span) {
    const struct kymo_type *type = part->type;
    const char *name = root->type->members[i].name;
    if (strncmp(name, "discarded_", 10) != 0 || type->kind != KYMO_KIND_INTEGER || type->bits_reversed ||
        part->segment == KYMO_SEGMENT_NONE)
      continue;
    uint64_t at = count->pass.notes.segments[part->segment] + part->offset_bits;
    uint64_t value = kymo_fast_bits(head->packet.data, at, type->size_bits, type->order == KYMO_ORDER_BIG);
    struct loss_cause *cause = &count->causes[causes];
    if (count->pass.has_previous || (head->packet.has_discarded && head->packet.discarded == 0))
      cause->count += (value - count->counters[causes]) & (UINT64_MAX >> (64 - type->size_bits));
    cause->name = name + 10;
    count->counters[causes++] = value;
  }
}

static void count_packet(struct count *count) {
  const struct kymo_pass *pass = &count->pass;
  struct kymo_stream_info *info = count->info;
  struct kymo_loss losses[2];
  unsigned loss_count = kymo_packet_losses(pass->has_previous ? &pass->previous : NULL, &pass->head, losses);
  for (unsigned i = 0; i < loss_count; i++)
    *(losses[i].is_packets ? &info->lost_packets : &info->discarded_events) += losses[i].count;
  count_causes(count);
  info->packets++;
  info->bytes += pass->bytes;
  if (pass->head.packet.has_begin)
    widen(count, pass->head.packet.begin_cycles);
  if (pass->head.packet.has_end)
    widen(count, pass->head.packet.end_cycles);
}

static int describe(struct stream_state *state, struct kymo_stream_info *info, struct kymo_error *error) {
  struct count count = {.info = info, .causes = state->causes};
  memset(state->causes, 0, sizeof state->causes);
  if (!state->operations->next)
    return KYMO_OK; /* not made of packets */
  int status = kymo_pass_begin(&count.pass, &state->decoder.stream, error);
  if (status == KYMO_OK)
    kymo_pass_glance(&count.pass);
  while (status == KYMO_OK && kymo_pass_next(&count.pass))
    count_packet(&count);
  if (status == KYMO_OK)
    kymo_pass_end(&count.pass);
  if (count.pass.status < 0 && error)
    *error = count.pass.error;
  return status < 0 ? status : count.pass.status;
}

int kymo_stream_describe_(struct kymo_trace *trace, const struct kymo_stream *stream,
                          struct kymo_stream_info *info, size_t size, struct kymo_error *error) {
  struct kymo_stream_info own = {0};
  (void)trace;
  int status = describe((struct stream_state *)(uintptr_t)stream, &own, error);
  kymo_sized_out(info, size, &own, sizeof own);
  return status;
}

const char *kymo_stream_loss_cause(const struct kymo_stream *stream, uint32_t index, uint64_t *count) {
  const struct stream_state *state = (const struct stream_state *)stream;
  const struct loss_cause *cause = index < LOSS_CAUSES ? &state->causes[index] : NULL;
  if (!cause || !cause->name)
    return NULL;
  if (count)
    *count = cause->count;
  return cause->name;
}
