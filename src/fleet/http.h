/* SPDX-License-Identifier: MIT */
/*
 * HTTP to a server of ClickHouse, over libcurl, which no other file sees.
 *
 *   fleet_server ──► fleet_ask: one statement, its answer as text
 *   fleet_posts  ──► up to N uploads at a time, each of which ends in the caller's function
 *
 * User and password are in the URL or in the environment (KYMO_CLICKHOUSE_USER,
 * KYMO_CLICKHOUSE_PASSWORD), and in no message.
 */
#ifndef KYMO_FLEET_HTTP_H
#define KYMO_FLEET_HTTP_H

#include "base/strbuf.h"
#include <kymo/error.h>

struct fleet_server {
  char *base;  /* http://HOST:PORT/ */
  char *shown; /* http://HOST:PORT/DATABASE, for messages */
  char *scheme, *host, *port, *database;
  char *user, *password; /* or NULL */
  void *easy;            /* of fleet_ask */
};

/* Takes http://[USER[:PASSWORD]@]HOST:PORT/DATABASE apart; connects nowhere. KYMO_E_USAGE, KYMO_E_MEMORY. */
int fleet_server_new(struct fleet_server **server, const char *url, struct kymo_error *error);
/* The same database, user and port on another host. */
int fleet_server_beside(struct fleet_server **server, const struct fleet_server *known, const char *host,
                        struct kymo_error *error);
/* NULL is fine. */
void fleet_server_free(struct fleet_server *server);

/* What a server refused: ClickHouse's number of the error, 0: it is not one of ClickHouse. */
enum fleet_refusal {
  FLEET_NO_TABLE = 60,
  FLEET_TABLE_EXISTS = 57, /* also: another sender makes it right now */
  FLEET_IS_RUNNING = 216,  /* a statement of the same id */
  FLEET_TOO_MANY_PARTS = 252,
  FLEET_TOO_MANY_QUERIES = 202,
};

/* Runs a statement, whose answer replaces *answer (may be NULL). KYMO_OK, or KYMO_E_SYSTEM with the reason;
 * *refusal (may be NULL) is the number. */
int fleet_ask(struct fleet_server *server, const char *sql, struct kymo_strbuf *answer, unsigned *refusal,
              struct kymo_error *error);

/* ---- uploads ---- */

/* Owned by the poster until it is done. */
struct fleet_upload {
  struct fleet_server *server;
  const char *table;        /* for messages; borrowed */
  struct kymo_strbuf query; /* the statement */
  struct kymo_strbuf id;    /* query_id: a statement of the same id does not run at the same time */
  struct kymo_strbuf body;  /* multipart/form-data of FLEET_BOUNDARY */
};
#define FLEET_BOUNDARY "kymo-batch-kAsk3u1Q9mXw2"
/* The longest statement in a URL that all servers take. */
#define FLEET_URL_MAX 16000

struct fleet_posts;
/* NULL: out of memory. */
struct fleet_posts *fleet_posts_new(unsigned count);
/* An empty body, which may have the space of one that was sent. The caller owns it. */
struct kymo_strbuf fleet_posts_body(struct fleet_posts *posts);
/* Waits for a free place, then begins to send; takes what *upload owns. Reports the failure of any earlier
 * upload. */
int fleet_post(struct fleet_posts *posts, struct fleet_upload *upload, struct kymo_error *error);
/* Waits until all are done. */
int fleet_posts_wait(struct fleet_posts *posts, struct kymo_error *error);
/* Cancels what goes on. NULL is fine. */
void fleet_posts_free(struct fleet_posts *posts);

#endif
