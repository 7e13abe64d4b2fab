/* SPDX-License-Identifier: MIT */
#include "sink/ctf/kernel.h"
#include "schema/parts.h"
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

bool kymo_ctf_is_kernel(const struct kymo_part *part) { return strcmp(part->format, "kernel") == 0; }

/* How names of a group begin, or are, in LTTng. */
struct rule {
  const char *group, *from, *to; /* `from` ends with *: what follows is kept */
};

static const struct rule rules[] = {
    {"syscalls", "sys_enter_*", "syscall_entry_"},
    {"syscalls", "sys_exit_*", "syscall_exit_"},
    {"timer", "hrtimer_*", "timer_hrtimer_"},
    {"timer", "itimer_*", "timer_itimer_"},
    {"kmem", "kmem_*", "kmem_"},
    {"kmem", "*", "kmem_"},
    {"power", "power_*", "power_"},
    {"power", "*", "power_"},
    {"net", "netif_*", "net_if_"},
    {"skb", "kfree_skb", "skb_kfree"},
    {"skb", "consume_skb", "skb_consume"},
};

static void name_event(const char *name, char out[NAME_BYTES]) {
  const char *colon = strchr(name, ':'), *own = colon ? colon + 1 : name;
  size_t group = colon ? (size_t)(colon - name) : 0;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const struct rule *rule = &rules[i];
    size_t length = strcspn(rule->from, "*");
    bool is_open = rule->from[length] == '*';
    if (strlen(rule->group) != group || strncmp(rule->group, name, group) != 0 ||
        strncmp(own, rule->from, length) != 0 || (!is_open && own[length]))
      continue;
    snprintf(out, NAME_BYTES, "%s%s", rule->to, own + length);
    return;
  }
  snprintf(out, NAME_BYTES, "%s", own);
}

/* "pid" and "next_pid" of the scheduler's events are numbers of threads. */
static const char *name_field(struct kymo_schema_copy *copy, const char *name) {
  char out[NAME_BYTES];
  size_t length = strlen(name);
  bool is_pid =
      length >= 3 && strcmp(name + length - 3, "pid") == 0 && (length == 3 || name[length - 4] == '_');
  if (!is_pid || length >= sizeof out)
    return name;
  snprintf(out, sizeof out, "%.*stid", (int)length - 3, name);
  return kymo_schema_copy_text(copy, out);
}

/* The message is one of the old names of fields, so it goes. */
static void rename_fields(struct kymo_schema_copy *copy, struct kymo_event_class *event) {
  struct kymo_type type = *event->payload;
  struct kymo_member *members =
      kymo_schema_copy_array(copy, type.members, type.member_count, sizeof *members);
  bool is_other = false;
  for (uint32_t i = 0; members && i < type.member_count; i++) {
    const char *name = name_field(copy, members[i].name);
    is_other |= name != members[i].name;
    members[i].source_name = name != members[i].name ? name : members[i].source_name;
    members[i].name = name;
  }
  if (copy->failed || !is_other)
    return;
  type.members = members;
  event->payload = kymo_builder_type(copy->builder, &type);
  copy->failed |= !event->payload;
  event->template_text = NULL;
}

bool kymo_ctf_rename_kernel(struct kymo_schema_copy *copy, struct kymo_event_class *event) {
  char name[NAME_BYTES];
  bool is_of_scheduler = strncmp(event->name, "sched:", 6) == 0;
  name_event(event->name, name);
  event->name = kymo_schema_copy_text(copy, name);
  if (is_of_scheduler && event->payload)
    rename_fields(copy, event);
  return !copy->failed;
}
