/* SPDX-License-Identifier: MIT */
/* Creates the plans of a schema: layouts first, then the links between them, then programs. */
#include "decode/plan.h"
#include "base/fail.h"
#include "decode/kernel.h"
#include "decode/load.h"
#include "decode/message.h"
#include "schema/attribute.h"

/* State while a plan is created. */
struct maker {
  struct kymo_arena *arena;
  const struct kymo_schema *schema;
  struct kymo_schema_plan *plan;
  struct kymo_kernel_names *kernel;
  uint64_t *nodes_left;
  struct kymo_error *error; /* never NULL */
};

/* Assigns slots to the fields of an early scope that types anywhere in the schema refer to. Types do not
 * contain their stream class, so this may save a field without need. */
static void save_referenced(const struct maker *maker, struct kymo_node *root, enum kymo_scope scope,
                            struct kymo_counters *counters) {
  for (uint32_t i = 0; root && i < maker->schema->type_count; i++) {
    const struct kymo_type *type = maker->schema->types[i];
    if (!kymo_has_selector(type) || type->selector.scope != scope)
      continue;
    kymo_layout_save(root, &type->selector, counters);
  }
}

static int lay_out(const struct maker *maker, struct kymo_node **root, const struct kymo_type *type,
                   struct kymo_counters *counters) {
  *root = NULL;
  if (!type)
    return KYMO_OK;
  *root = kymo_layout_new(maker->arena, type, counters, maker->error);
  if (!*root)
    return maker->error && maker->error->code ? maker->error->code : KYMO_E_LIMIT;
  return KYMO_OK;
}

static uint64_t max_id(const struct kymo_stream_class *class_) {
  uint64_t max = 0;
  for (uint32_t i = 0; i < class_->event_count; i++)
    max = class_->events[i]->id > max ? class_->events[i]->id : max;
  return max;
}

/* Leads beyond the end of any packet. */
#define NO_LEAD ((struct kymo_lead){.is_plain = true, .offset_bits = 2 * KYMO_MAX_BITS})

/* Whether a counted sequence begins and ends at byte boundaries, and one load reads its count. */
static bool is_plain_sequence(const struct kymo_op *op) {
  return op->code == KYMO_OP_COUNTED && !op->is_big && op->align >= 8 && op->size == op->stride &&
         op->stride % 8 == 0 && op->bits % 8 == 0 && op->count_distance % 8 == 0;
}

static struct kymo_lead lead_of(const struct kymo_event_plan *plan) {
  const struct kymo_op *op = plan->program.ops;
  if (!plan->has_fixed_scopes)
    return NO_LEAD;
  struct kymo_lead lead = {
      .plan = plan, .op = op, .offset_bits = op->offset, .is_plain = op->code == KYMO_OP_END};
  lead.varies = !lead.is_plain;
  if (lead.is_plain || op[1].code != KYMO_OP_END)
    return lead;
  lead.is_plain = op->code == KYMO_OP_STRING || is_plain_sequence(op);
  lead.tail_bits = op[1].offset;
  if (op->code == KYMO_OP_STRING) {
    lead.text_mask = UINT64_MAX;
    lead.tail_bits += 8;
  } else if (lead.is_plain) {
    lead.count_distance = op->count_distance / 8;
    lead.count_mask = UINT64_MAX >> (64 - op->bits);
    lead.stride_bits = op->stride;
  }
  return lead;
}

struct kymo_event_plan *kymo_stream_plan_event(const struct kymo_stream_plan *plan, uint64_t id) {
  const struct kymo_event_class *class_ = kymo_stream_class_event(plan->class_, id);
  return class_ ? &plan->events[class_->index] : NULL;
}

/* Ids usually count up from 0: then a table finds the plan; else the schema's hash does. */
static int index_events(const struct maker *maker, struct kymo_stream_plan *plan) {
  const struct kymo_stream_class *class_ = plan->class_;
  uint64_t max = max_id(class_);
  plan->only_lead = NO_LEAD;
  plan->only = class_->event_count == 1 ? &plan->events[0] : kymo_stream_plan_event(plan, 0);
  if (plan->only)
    plan->only_lead = lead_of(plan->only);
  if (class_->event_count == 0 || max / 4 > class_->event_count + UINT64_C(256))
    return KYMO_OK;
  plan->by_id = kymo_arena_array(maker->arena, (size_t)max + 1, sizeof *plan->by_id);
  if (!plan->by_id)
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  plan->id_count = max + 1;
  for (uint64_t id = 0; id <= max; id++)
    plan->by_id[id] = NO_LEAD;
  for (uint32_t i = 0; i < class_->event_count; i++)
    plan->by_id[class_->events[i]->id] = lead_of(&plan->events[i]);
  return KYMO_OK;
}

/* Whether lengths or tags in the tree of `scope` are in other scopes of the event. */
static bool is_dependent(const struct kymo_node *tree, enum kymo_scope scope) {
  for (const struct kymo_node *node = tree; tree && node < tree + tree->span; node++)
    if (kymo_has_selector(node->type) && node->type->selector.scope != scope &&
        node->type->selector.scope >= KYMO_SCOPE_EVENT_HEADER)
      return true;
  return false;
}

/* Streams without event classes have headers too. */
static void make_room(struct kymo_schema_plan *plan, const struct kymo_counters *counters) {
  if (counters->slots > plan->slot_count)
    plan->slot_count = counters->slots;
  if (counters->segments > plan->segment_count)
    plan->segment_count = counters->segments;
}

static void show(struct kymo_kernel_names *names, const struct kymo_event_class *class_,
                 struct kymo_node *payload) {
  for (struct kymo_node *node = payload; names->is_kernel && payload && node < payload + payload->span;
       node++)
    if (node->member)
      node->shown = kymo_kernel_shown(names, class_, node->member->name, node->type);
}

static int plan_event(const struct maker *maker, const struct kymo_stream_plan *stream,
                      struct kymo_event_plan *plan, struct kymo_counters counters, struct kymo_residue at) {
  const struct kymo_event_class *class_ = plan->class_;
  int status = lay_out(maker, &plan->specific_context, class_->specific_context, &counters);
  if (status == KYMO_OK)
    status = lay_out(maker, &plan->payload, class_->payload, &counters);
  if (status != KYMO_OK)
    return status;
  struct kymo_node *roots[KYMO_SCOPE_COUNT] = {maker->plan->packet_header, stream->packet_context,
                                               stream->event_header,       stream->common_context,
                                               plan->specific_context,     plan->payload};
  struct kymo_node *const trees[] = {stream->common_context, plan->specific_context, plan->payload};
  save_referenced(maker, plan->specific_context, KYMO_SCOPE_SPECIFIC_CONTEXT, &counters);
  for (size_t i = 1; i < 3 && status == KYMO_OK; i++)
    if (trees[i])
      status = kymo_layout_link(trees[i], roots, &counters, maker->error);
  if (status == KYMO_OK)
    status = kymo_program_new(&plan->program, maker->arena, trees, 3, &counters, &at, false, maker->error);
  if (status != KYMO_OK)
    return status;
  plan->is_aligned = at.modulus >= stream->header_align && at.residue % stream->header_align == 0;
  plan->has_fixed_scopes = true;
  for (size_t i = 0; i < 3; i++) {
    plan->is_dependent[i] = is_dependent(trees[i], (enum kymo_scope)(KYMO_SCOPE_COMMON_CONTEXT + i));
    plan->scopes[i] = trees[i] ? (struct kymo_place){trees[i]->segment, trees[i]->offset_bits}
                               : (struct kymo_place){plan->program.first_segment, 0};
    plan->scope_offsets[i] = plan->scopes[i].offset_bits;
    if (plan->scopes[i].segment != plan->program.first_segment)
      plan->has_fixed_scopes = false;
  }
  plan->message = kymo_message_new(maker->arena, class_);
  show(maker->kernel, class_, plan->payload);
  if (maker->arena->failed)
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  plan->is_constant = plan->program.op_count == 1;
  plan->size_bits = plan->program.ops[0].offset;
  make_room(maker->plan, &counters);
  return KYMO_OK;
}

static int lay_out_stream(const struct maker *maker, struct kymo_stream_plan *plan,
                          struct kymo_counters *counters) {
  const struct kymo_stream_class *class_ = plan->class_;
  int status = lay_out(maker, &plan->packet_context, class_->packet_context, counters);
  if (status == KYMO_OK)
    status = lay_out(maker, &plan->event_header, class_->event_header, counters);
  if (status == KYMO_OK)
    status = lay_out(maker, &plan->common_context, class_->common_context, counters);
  if (status != KYMO_OK)
    return status;
  save_referenced(maker, plan->packet_context, KYMO_SCOPE_PACKET_CONTEXT, counters);
  save_referenced(maker, plan->event_header, KYMO_SCOPE_EVENT_HEADER, counters);
  save_referenced(maker, plan->common_context, KYMO_SCOPE_COMMON_CONTEXT, counters);
  struct kymo_node *roots[KYMO_SCOPE_COUNT] = {
      maker->plan->packet_header, plan->packet_context, plan->event_header, plan->common_context, NULL, NULL};
  for (int i = KYMO_SCOPE_PACKET_CONTEXT; i <= KYMO_SCOPE_COMMON_CONTEXT && status == KYMO_OK; i++)
    if (roots[i])
      status = kymo_layout_link(roots[i], roots, counters, maker->error);
  return status;
}

static bool tree_depends_on_header(const struct kymo_node *tree) {
  for (const struct kymo_node *node = tree; tree && node < tree + tree->span; node++)
    if (kymo_has_selector(node->type) && node->type->selector.scope == KYMO_SCOPE_EVENT_HEADER)
      return true;
  return false;
}

static bool depends_on_header(const struct kymo_stream_plan *plan) {
  bool depends = tree_depends_on_header(plan->common_context);
  for (uint32_t i = 0; i < plan->class_->event_count && !depends; i++)
    depends = tree_depends_on_header(plan->events[i].specific_context) ||
              tree_depends_on_header(plan->events[i].payload);
  return depends;
}

/* Events of one size are like the elements of an array. */
static uint64_t find_stride(const struct kymo_stream_plan *plan) {
  bool is_word = plan->has_fast_header && plan->header.is_word && !plan->header.has_tag;
  if (!is_word || plan->class_->event_count == 0)
    return 0;
  for (uint32_t i = 0; i < plan->class_->event_count; i++) {
    const struct kymo_event_plan *event = &plan->events[i];
    if (!event->is_constant || !event->has_fixed_scopes || event->size_bits != plan->events[0].size_bits)
      return 0;
  }
  uint64_t size = plan->header.cases[0].size_bits + plan->events[0].size_bits;
  return size < KYMO_MAX_BITS ? kymo_round_up(size, plan->header_align) : 0;
}

static void find_timed(struct kymo_stream_plan *plan) {
  const struct kymo_node *root = plan->event_header;
  const struct kymo_member *member = root ? kymo_type_member(root->type, KYMO_TIMED) : NULL;
  if (!member || member->type->kind != KYMO_KIND_INTEGER || member->type->bits_reversed)
    return;
  const struct kymo_node *part = kymo_node_first(root);
  for (uint32_t i = (uint32_t)(member - root->type->members); i > 0; i--)
    part += part->span;
  plan->has_timed = part->segment == root->segment && plan->class_->clock;
  plan->timed_bits = part->offset_bits - root->offset_bits;
  plan->timed = member->type;
}

static int plan_stream(const struct maker *maker, struct kymo_stream_plan *plan,
                       struct kymo_counters counters, struct kymo_residue at) {
  int status = lay_out_stream(maker, plan, &counters);
  if (status == KYMO_OK)
    status = kymo_program_new(&plan->packet_program, maker->arena, &plan->packet_context, 1, &counters, &at,
                              true, maker->error);
  at = KYMO_AT_ANY_BIT;
  if (status == KYMO_OK)
    status = kymo_program_new(&plan->header_program, maker->arena, &plan->event_header, 1, &counters, &at,
                              true, maker->error);
  if (status != KYMO_OK)
    return status;
  make_room(maker->plan, &counters);
  plan->header_align = plan->class_->event_header ? plan->class_->event_header->align_bits : 1;
  if (plan->header_align == 0)
    plan->header_align = 1;
  find_timed(plan);
  status = kymo_header_analyse(plan, maker->arena);
  plan->events = kymo_arena_array(maker->arena, plan->class_->event_count + 1u, sizeof *plan->events);
  if (status != KYMO_OK || !plan->events)
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; i < plan->class_->event_count && status == KYMO_OK; i++) {
    plan->events[i].class_ = plan->class_->events[i];
    status = plan_event(maker, plan, &plan->events[i], counters, at);
  }
  if (depends_on_header(plan))
    plan->has_fast_header = false; /* only its program saves values that others refer to */
  plan->events[plan->class_->event_count].is_unwanted = true; /* events that a prefilter held back */
  plan->stride_bits = find_stride(plan);
  plan->is_aligned = plan->is_constant = true;
  for (uint32_t i = 0; i < plan->class_->event_count; i++) {
    plan->is_aligned = plan->is_aligned && plan->events[i].is_aligned;
    plan->is_constant = plan->is_constant && plan->events[i].is_constant;
  }
  plan->find = kymo_choose_finder(plan);
  return status == KYMO_OK ? index_events(maker, plan) : status;
}

static int plan_schema(const struct maker *maker) {
  struct kymo_schema_plan *plan = maker->plan;
  const struct kymo_schema *schema = maker->schema;
  struct kymo_counters counters = {.nodes_left = maker->nodes_left};
  struct kymo_residue at = KYMO_AT_PACKET_START;
  int status = lay_out(maker, &plan->packet_header, schema->packet_header, &counters);
  if (status != KYMO_OK)
    return status;
  save_referenced(maker, plan->packet_header, KYMO_SCOPE_PACKET_HEADER, &counters);
  struct kymo_node *roots[KYMO_SCOPE_COUNT] = {plan->packet_header};
  if (plan->packet_header)
    status = kymo_layout_link(plan->packet_header, roots, &counters, maker->error);
  if (status == KYMO_OK)
    status = kymo_program_new(&plan->header_program, maker->arena, &plan->packet_header, 1, &counters, &at,
                              true, maker->error);
  plan->slot_count = counters.slots;
  plan->segment_count = counters.segments;
  plan->streams = kymo_arena_array(maker->arena, schema->stream_count + 1u, sizeof *plan->streams);
  if (!plan->streams)
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  uint32_t kind = 0;
  for (uint32_t i = 0; i < schema->stream_count && status == KYMO_OK; i++) {
    plan->streams[i].class_ = schema->streams[i];
    status = plan_stream(maker, &plan->streams[i], counters, at);
    for (uint32_t k = 0; k < schema->streams[i]->event_count && status == KYMO_OK; k++)
      plan->streams[i].events[k].kind = kind++;
  }
  return status;
}

int kymo_schema_plan_new(struct kymo_schema_plan **out, struct kymo_arena *arena,
                         const struct kymo_schema *schema, struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK};
  uint64_t nodes_left = KYMO_TRACE_NODES;
  struct kymo_kernel_names kernel = kymo_kernel_names_begin(arena, schema);
  struct maker maker = {.arena = arena,
                        .schema = schema,
                        .kernel = &kernel,
                        .nodes_left = &nodes_left,
                        .error = error ? error : &local};
  maker.plan = kymo_arena_alloc(arena, sizeof *maker.plan);
  if (!maker.plan)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  maker.plan->schema = schema;
  int status = plan_schema(&maker);
  maker.plan->shown_count = kernel.count;
  *out = status == KYMO_OK ? maker.plan : NULL;
  return status;
}
