/* SPDX-License-Identifier: MIT */
/*
 * What statements have met in the traces so far, for programs that read them by the extension with damage
 * that is skipped: they can say themselves what is missing in an answer.
 *
 * {"damage":[{"path":…,"offset":…,"bytes_lost":…,"message":…}],"lost":{"events":12,"packets":0,"unknown":0}}
 */
#include "print/json_writer.h"
#include "query/database.h"

struct met {
  struct kymo_strbuf text;
  size_t places;
};

static void add_number(struct kymo_strbuf *text, const char *key, uint64_t value) {
  kymo_strbuf_printf(text, "%s%llu", key, (unsigned long long)value);
}

static void add_place(void *user, const struct kymo_damage *damage) {
  struct met *met = user;
  kymo_strbuf_puts(&met->text, met->places++ ? ",{\"path\":" : "{\"path\":");
  if (damage->path)
    kymo_json_add_text(&met->text, damage->path);
  else
    kymo_strbuf_puts(&met->text, "null");
  if (damage->offset != KYMO_ERROR_NO_OFFSET)
    add_number(&met->text, ",\"offset\":", damage->offset);
  else
    kymo_strbuf_puts(&met->text, ",\"offset\":null");
  add_number(&met->text, ",\"bytes_lost\":", damage->bytes_lost);
  kymo_strbuf_puts(&met->text, ",\"message\":");
  kymo_json_add_text(&met->text, damage->message ? damage->message : "");
  kymo_strbuf_puts(&met->text, "}");
}

static void add_losses(struct kymo_strbuf *text, const struct kymo_losses *losses) {
  add_number(text, "],\"lost\":{\"events\":", losses->events);
  add_number(text, ",\"packets\":", losses->packets);
  add_number(text, ",\"unknown\":", losses->unknown);
  kymo_strbuf_puts(text, "}}");
}

void query_met(sqlite3_context *context, int count, sqlite3_value **values) {
  const struct query_database *database = sqlite3_user_data(context);
  const struct query_source *source;
  struct kymo_losses losses = {0};
  struct met met = {.places = 0};
  (void)count;
  (void)values;
  kymo_strbuf_puts(&met.text, "{\"damage\":[");
  for (size_t i = 0; (source = query_database_source(database, i)); i++) {
    query_source_damage(source, add_place, &met);
    losses.events += source->losses.events;
    losses.packets += source->losses.packets;
    losses.unknown += source->losses.unknown;
  }
  add_losses(&met.text, &losses);
  if (met.text.failed)
    sqlite3_result_error_nomem(context);
  else
    sqlite3_result_text64(context, met.text.text, met.text.length, SQLITE_TRANSIENT, SQLITE_UTF8);
  kymo_strbuf_free(&met.text);
}
