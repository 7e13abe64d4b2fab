/* SPDX-License-Identifier: MIT */
/* The slow step: any event by its programs, and the message of a decode error. */
#include "trace/step.h"

static bool run_header(struct stream_state *stream, struct kymo_meaning *meaning) {
  *meaning = (struct kymo_meaning){.clock = stream->clock};
  stream->run.meaning = meaning;
  bool fits = kymo_program_run(&stream->plan->header_program, &stream->run);
  stream->run.meaning = NULL;
  return fits;
}

static enum kymo_step fail_step(struct stream_state *stream, enum kymo_decode_error what, uint64_t number) {
  stream->run.error = what;
  stream->run.node = NULL;
  stream->run.number = number;
  return KYMO_STEP_ERROR;
}

static void begin_run(struct stream_state *stream, uint64_t at) {
  stream->run = (struct kymo_run){.data = stream->packet.data,
                                  .at = at,
                                  .end = stream->packet.content_bits,
                                  .segments = stream->segments,
                                  .slots = stream->slots,
                                  .budget = stream->budget};
}

enum kymo_step kymo_step_slow(struct stream_state *stream, struct kymo_event *event) {
  const struct kymo_stream_plan *plan = stream->plan;
  struct kymo_run *run = &stream->run;
  struct kymo_meaning meaning;
  if (stream->next_bits >= stream->packet.content_bits)
    return KYMO_STEP_END;
  begin_run(stream, stream->next_bits);
  if (!run_header(stream, &meaning))
    return KYMO_STEP_ERROR;
  uint64_t body_bits = run->at, id = meaning.values[__builtin_ctz(KYMO_ROLE_EVENT_CLASS_ID)];
  const struct kymo_event_plan *body =
      meaning.present & KYMO_ROLE_EVENT_CLASS_ID ? kymo_plan_event(plan, id) : plan->only;
  if (!body)
    return fail_step(stream, KYMO_DECODE_ERROR_ID, id);
  if (!kymo_program_run(&body->program, run))
    return KYMO_STEP_ERROR;
  if (run->at == stream->next_bits)
    return fail_step(stream, KYMO_DECODE_ERROR_NOTHING, 0);
  uint64_t begin = kymo_round_up(stream->next_bits, plan->header_align);
  if (body_bits - begin > UINT32_MAX)
    return fail_step(stream, KYMO_DECODE_ERROR_HEADER, body_bits - begin);
  kymo_event_fill(event, body, begin, body_bits);
  event->cycles = meaning.clock;
  stream->next_bits = run->at;
  stream->budget = run->budget;
  stream->clock = meaning.clock;
  return KYMO_STEP_EVENT;
}

/* It was valid when it was found, so it is now. */
void kymo_stream_locate(struct stream_state *stream, const struct kymo_event *event) {
  const struct kymo_event_plan *plan = event->plan;
  struct kymo_meaning meaning;
  stream->located = event->number;
  stream->segments[plan->program.first_segment] = kymo_body_bits(event);
  if (plan->is_constant && stream->plan->has_fast_header)
    return;
  begin_run(stream, event->offset_bits);
  stream->run.budget = UINT64_MAX; /* it was charged when it was found */
  if (stream->plan->has_fast_header || stream->operations->next_event)
    stream->run.at = kymo_body_bits(event);
  else
    run_header(stream, &meaning);
  kymo_program_run(&plan->program, &stream->run);
}

/* The next event's header may begin where this one ends, or after padding. */
uint64_t kymo_event_end(const struct kymo_event *event) {
  struct stream_state *stream = kymo_stream_of(event);
  const struct kymo_event_plan *plan = event->plan;
  if (plan->is_constant)
    return kymo_body_bits(event) + plan->size_bits;
  if (event + 1 == stream->events + stream->event_count)
    return stream->next_bits;
  if (stream->plan->is_aligned)
    return event[1].offset_bits;
  kymo_stream_locate(stream, event);
  return stream->run.at;
}
