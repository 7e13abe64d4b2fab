/* SPDX-License-Identifier: MIT */
#include "fleet/http.h"
#include "base/fail.h"
#include "trace/library.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONNECT_SECONDS 10L
#define SILENT_SECONDS 600L /* a server may be busy for long */
#define SENT_AT_ONCE (1L << 20)
/* Reasons to wait and ask again: another sender has this batch in hand, or the server has to merge first. */
#define WAIT_MS 100L
#define WAITS_MAX 6000

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- libcurl ---- */

/* clang-format off */
#define CURL_FUNCTIONS(X) \
  X(easy_cleanup) X(easy_getinfo) X(easy_init) X(easy_perform) X(easy_setopt) \
  X(easy_strerror) X(free) X(global_init) X(multi_add_handle) X(multi_cleanup) \
  X(multi_info_read) X(multi_init) X(multi_perform) X(multi_poll) X(multi_remove_handle) \
  X(slist_append) X(slist_free_all) X(url) X(url_cleanup) X(url_get) \
  X(url_set)
/* clang-format on */

#define POINTER(name) __typeof__(curl_##name) *name;
static struct { CURL_FUNCTIONS(POINTER) } curl;

/* Before the first use of libcurl. */
static int load_curl(struct kymo_error *error) {
#define FUNCTION(name) {"curl_" #name, &curl.name},
  static const struct kymo_library_function functions[] = {CURL_FUNCTIONS(FUNCTION)};
  static bool is_ready;
  if (is_ready)
    return KYMO_OK;
  int status = kymo_library_load("libcurl.so.4", functions, sizeof functions / sizeof *functions, error);
  if (status == KYMO_OK && curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    status = no_memory(error);
  is_ready = status == KYMO_OK;
  return status;
}

/* ---- addresses ---- */

static char *part_of(CURLU *parsed, CURLUPart part, unsigned flags) {
  char *text = NULL, *copy = NULL;
  if (curl.url_get(parsed, part, &text, flags) == CURLUE_OK)
    copy = strdup(text);
  curl.free(text);
  return copy;
}

static char *from_environment(const char *name) {
  const char *value = getenv(name);
  return value ? strdup(value) : NULL;
}

/* Text of the host as it is in URLs. */
static bool name_server(struct fleet_server *server) {
  return server->scheme && server->host && server->port && server->database &&
         asprintf(&server->base, "%s://%s:%s/", server->scheme, server->host, server->port) >= 0 &&
         asprintf(&server->shown, "%s%s", server->base, server->database) >= 0;
}

/* The address without the user and the password before it. */
static const char *without_secret(const char *url) {
  const char *at = strrchr(url, '@');
  return at ? at + 1 : url;
}

static int read_url(struct fleet_server *server, const char *url, struct kymo_error *error) {
  CURLU *parsed = curl.url();
  if (!parsed)
    return no_memory(error);
  bool ok = curl.url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK;
  server->scheme = part_of(parsed, CURLUPART_SCHEME, 0);
  server->host = part_of(parsed, CURLUPART_HOST, 0);
  server->port = part_of(parsed, CURLUPART_PORT, 0);
  server->user = part_of(parsed, CURLUPART_USER, CURLU_URLDECODE);
  server->password = part_of(parsed, CURLUPART_PASSWORD, CURLU_URLDECODE);
  char *path = part_of(parsed, CURLUPART_PATH, CURLU_URLDECODE), *query = part_of(parsed, CURLUPART_QUERY, 0);
  ok = ok && server->scheme && (strcmp(server->scheme, "http") == 0 || strcmp(server->scheme, "https") == 0);
  ok = ok && path && path[0] == '/' && path[1] && !strchr(path + 1, '/') && !query && server->host;
  server->database = ok ? strdup(path + 1) : NULL;
  if (!server->port && server->scheme)
    server->port = strdup(strcmp(server->scheme, "https") == 0 ? "8443" : "8123");
  free(path);
  free(query);
  curl.url_cleanup(parsed);
  const char *shown = without_secret(url);
  if (!ok)
    return kymo_fail(error, KYMO_E_USAGE, "expected http://HOST:PORT/DATABASE, found \"%.*s\"",
                     (int)strcspn(shown, "?"), shown);
  if (!server->user)
    server->user = from_environment("KYMO_CLICKHOUSE_USER");
  if (!server->password)
    server->password = from_environment("KYMO_CLICKHOUSE_PASSWORD");
  return name_server(server) ? KYMO_OK : no_memory(error);
}

int fleet_server_new(struct fleet_server **out, const char *url, struct kymo_error *error) {
  *out = NULL;
  if (load_curl(error) != KYMO_OK)
    return error->code;
  struct fleet_server *server = calloc(1, sizeof *server);
  int status = server ? read_url(server, url, error) : no_memory(error);
  if (status != KYMO_OK) {
    fleet_server_free(server);
    return status;
  }
  *out = server;
  return KYMO_OK;
}

static char *copy_of(const char *text) { return text ? strdup(text) : NULL; }

int fleet_server_beside(struct fleet_server **out, const struct fleet_server *known, const char *host,
                        struct kymo_error *error) {
  struct fleet_server *server = *out = calloc(1, sizeof *server);
  if (!server)
    return no_memory(error);
  *server = (struct fleet_server){.scheme = copy_of(known->scheme),
                                  .port = copy_of(known->port),
                                  .database = copy_of(known->database),
                                  .user = copy_of(known->user),
                                  .password = copy_of(known->password)};
  bool is_ipv6 = strchr(host, ':') && host[0] != '[';
  if (asprintf(&server->host, is_ipv6 ? "[%s]" : "%s", host) >= 0 && name_server(server))
    return KYMO_OK;
  fleet_server_free(server);
  *out = NULL;
  return no_memory(error);
}

void fleet_server_free(struct fleet_server *server) {
  if (!server)
    return;
  if (server->easy)
    curl.easy_cleanup(server->easy);
  free(server->base);
  free(server->shown);
  free(server->scheme);
  free(server->host);
  free(server->port);
  free(server->database);
  free(server->user);
  free(server->password);
  free(server);
}

/* ---- requests ---- */

static size_t take_answer(char *bytes, size_t size, size_t count, void *user) {
  struct kymo_strbuf *answer = user;
  kymo_strbuf_add(answer, bytes, size * count);
  return answer->failed ? 0 : size * count;
}

static void add_encoded(struct kymo_strbuf *out, const char *text, size_t length) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~,()*:;=/!$'@`";
  for (size_t i = 0; i < length; i++)
    if (text[i] && strchr(plain, text[i]))
      kymo_strbuf_add(out, text + i, 1);
    else
      kymo_strbuf_printf(out, "%%%02X", (unsigned char)text[i]);
}

static void add_address(struct kymo_strbuf *out, const struct fleet_server *server) {
  kymo_strbuf_printf(out, "%s?wait_end_of_query=1&database=", server->base);
  add_encoded(out, server->database, strlen(server->database));
}

/* What all requests have. */
static void set_up(CURL *easy, const struct fleet_server *server, const char *address,
                   struct kymo_strbuf *answer) {
  curl.easy_setopt(easy, CURLOPT_URL, address);
  curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(easy, CURLOPT_POST, 1L);
  curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
  curl.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl.easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS);
  curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl.easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, SENT_AT_ONCE);
  curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
  curl.easy_setopt(easy, CURLOPT_WRITEDATA, answer);
  if (server->user || server->password) {
    curl.easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl.easy_setopt(easy, CURLOPT_USERNAME, server->user ? server->user : "default");
    curl.easy_setopt(easy, CURLOPT_PASSWORD, server->password ? server->password : "");
  }
}

/* ---- answers ---- */

/* Where the text after a mark begins, or NULL. */
static char *after(char *text, const char *mark) {
  char *found = text ? strstr(text, mark) : NULL;
  return found ? found + strlen(mark) : NULL;
}

/*
 * Only what says why: of "Code: 60, e.displayText() = DB::Exception: WHY, e.what() = …", of newer servers
 * "Code: 60. DB::Exception: WHY. (NAME) (version …)". What is no such text is the answer of something
 * else.
 */
static unsigned find_reason(struct kymo_strbuf *answer, const char **why) {
  static const char *const marks[] = {
      "DB::Exception: ", "DB::ErrnoException: ", "DB::NetException: ", "e.displayText() = "};
  char *text = answer->failed ? NULL : answer->text;
  char *code = after(text, "Code: "), *found = NULL;
  for (size_t i = 0; i < sizeof marks / sizeof *marks && !found; i++)
    found = after(text, marks[i]);
  *why = found;
  if (!code || !found)
    return 0;
  char *end = strstr(found, ", e.what() = ");
  end = end ? end : strstr(found, " (version ");
  if (end)
    *end = '\0';
  for (char *at = found; *at; at++)
    if ((unsigned char)*at < ' ')
      *at = ' ';
  return (unsigned)strtoul(code, NULL, 10);
}

/* How a request has ended. `table` may be NULL. */
static int judge(CURL *easy, CURLcode code, const struct fleet_server *server, const char *table,
                 struct kymo_strbuf *answer, unsigned *refusal, struct kymo_error *error) {
  long http = 0;
  const char *why, *head = table ? "table " : "", *gap = table ? ": " : "";
  *refusal = 0;
  curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http);
  if (code == CURLE_OK && http == 200)
    return KYMO_OK;
  if (answer->failed)
    return no_memory(error);
  *refusal = find_reason(answer, &why);
  table = table ? table : "";
  if (*refusal)
    return kymo_fail(error, KYMO_E_SYSTEM, "%s%s%s%s refuses: %.400s", head, table, gap, server->shown, why);
  if (http == 401 || http == 403)
    return kymo_fail(error, KYMO_E_SYSTEM, "%s%s%s%s refuses this user or password", head, table, gap,
                     server->shown);
  if (code != CURLE_OK)
    return kymo_fail(error, KYMO_E_SYSTEM, "%s%s%s%s: %s", head, table, gap, server->shown,
                     curl.easy_strerror(code));
  return kymo_fail(error, KYMO_E_SYSTEM,
                   "%s%s%s%s: expected the answer of a ClickHouse server, found HTTP status %ld", head, table,
                   gap, server->shown, http);
}

int fleet_ask(struct fleet_server *server, const char *sql, struct kymo_strbuf *answer, unsigned *refusal,
              struct kymo_error *error) {
  struct kymo_strbuf address = {0}, own = {0};
  unsigned number = 0;
  int status;
  answer = answer ? answer : &own;
  answer->length = 0;
  if (answer->text)
    answer->text[0] = '\0';
  if (!server->easy)
    server->easy = curl.easy_init();
  add_address(&address, server);
  if (!server->easy || address.failed) {
    status = no_memory(error);
  } else {
    set_up(server->easy, server, address.text, answer);
    curl.easy_setopt(server->easy, CURLOPT_POSTFIELDS, sql);
    status = judge(server->easy, curl.easy_perform(server->easy), server, NULL, answer, &number, error);
  }
  if (refusal)
    *refusal = number;
  kymo_strbuf_free(&address);
  kymo_strbuf_free(&own);
  return status;
}

/* ---- uploads ---- */

struct place {
  CURL *easy;
  struct fleet_upload upload;
  struct kymo_strbuf address, answer;
  bool is_used;
  unsigned waits; /* how often it was sent again */
};

struct fleet_posts {
  CURLM *multi;
  struct kymo_strbuf spare; /* the space of a body that was sent */
  struct curl_slist *headers;
  unsigned count, used;
  struct place *places;
};

/* The space of the body is used again. */
static void end_upload(struct fleet_posts *posts, struct fleet_upload *upload) {
  kymo_strbuf_free(&upload->query);
  kymo_strbuf_free(&upload->id);
  struct kymo_strbuf body = upload->body;
  if (body.capacity > posts->spare.capacity) {
    upload->body = posts->spare;
    posts->spare = body;
  }
  kymo_strbuf_free(&upload->body);
}

struct kymo_strbuf fleet_posts_body(struct fleet_posts *posts) {
  struct kymo_strbuf body = {.text = posts->spare.text, .capacity = posts->spare.capacity};
  posts->spare = (struct kymo_strbuf){0};
  return body;
}

struct fleet_posts *fleet_posts_new(unsigned count) {
  struct fleet_posts *posts = calloc(1, sizeof *posts);
  if (!posts)
    return NULL;
  posts->multi = curl.multi_init();
  posts->places = calloc(count, sizeof *posts->places);
  posts->headers = curl.slist_append(NULL, "Content-Type: multipart/form-data; boundary=" FLEET_BOUNDARY);
  struct curl_slist *more = posts->headers ? curl.slist_append(posts->headers, "Expect:") : NULL;
  posts->count = posts->places ? count : 0;
  if (posts->multi && posts->places && more)
    return posts;
  fleet_posts_free(posts);
  return NULL;
}

static void end_place(struct fleet_posts *posts, struct place *place) {
  if (place->is_used) {
    curl.multi_remove_handle(posts->multi, place->easy);
    posts->used--;
  }
  place->is_used = false;
  end_upload(posts, &place->upload);
  kymo_strbuf_free(&place->address);
  place->answer.length = 0;
}

void fleet_posts_free(struct fleet_posts *posts) {
  if (!posts)
    return;
  for (unsigned i = 0; i < posts->count; i++) {
    end_place(posts, &posts->places[i]);
    kymo_strbuf_free(&posts->places[i].answer);
    curl.easy_cleanup(posts->places[i].easy);
  }
  kymo_strbuf_free(&posts->spare);
  curl.multi_cleanup(posts->multi);
  curl.slist_free_all(posts->headers);
  free(posts->places);
  free(posts);
}

static bool is_passing(unsigned refusal) {
  return refusal == FLEET_IS_RUNNING || refusal == FLEET_TOO_MANY_PARTS || refusal == FLEET_TOO_MANY_QUERIES;
}

/* Sends the same again after a while. */
static int send_again(struct fleet_posts *posts, struct place *place, struct kymo_error *error) {
  nanosleep(&(struct timespec){.tv_nsec = WAIT_MS * 1000000}, NULL);
  curl.multi_remove_handle(posts->multi, place->easy);
  place->answer.length = 0;
  place->waits++;
  return curl.multi_add_handle(posts->multi, place->easy) == CURLM_OK ? KYMO_OK : no_memory(error);
}

/* Ends what is done. */
static int take_results(struct fleet_posts *posts, struct kymo_error *error) {
  int left, status = KYMO_OK;
  for (CURLMsg *message; status == KYMO_OK && (message = curl.multi_info_read(posts->multi, &left));) {
    struct place *place = NULL;
    unsigned refusal;
    if (message->msg != CURLMSG_DONE)
      continue;
    curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&place);
    status = judge(place->easy, message->data.result, place->upload.server, place->upload.table,
                   &place->answer, &refusal, error);
    if (status != KYMO_OK && is_passing(refusal) && place->waits < WAITS_MAX)
      status = send_again(posts, place, error);
    else
      end_place(posts, place);
  }
  return status;
}

/* Goes on until at most `most` are under way. */
static int go_on(struct fleet_posts *posts, unsigned most, struct kymo_error *error) {
  int running, status = KYMO_OK;
  for (;;) {
    if (curl.multi_perform(posts->multi, &running) != CURLM_OK)
      return no_memory(error);
    status = take_results(posts, error);
    if (status != KYMO_OK || posts->used <= most)
      return status;
    curl.multi_poll(posts->multi, NULL, 0, 1000, NULL);
  }
}

int fleet_posts_wait(struct fleet_posts *posts, struct kymo_error *error) { return go_on(posts, 0, error); }

static int begin(struct fleet_posts *posts, struct place *place, struct kymo_error *error) {
  struct fleet_upload *upload = &place->upload;
  add_address(&place->address, upload->server);
  kymo_strbuf_puts(&place->address, "&query_id=");
  add_encoded(&place->address, upload->id.text, upload->id.length);
  kymo_strbuf_puts(&place->address, "&query=");
  add_encoded(&place->address, upload->query.text, upload->query.length);
  if (!place->easy)
    place->easy = curl.easy_init();
  if (!place->easy || place->address.failed)
    return no_memory(error);
  if (place->address.length > FLEET_URL_MAX)
    return kymo_fail(error, KYMO_E_LIMIT, "table %s: the event class has too many fields for one statement",
                     upload->table);
  set_up(place->easy, upload->server, place->address.text, &place->answer);
  curl.easy_setopt(place->easy, CURLOPT_HTTPHEADER, posts->headers);
  curl.easy_setopt(place->easy, CURLOPT_POSTFIELDS, upload->body.text);
  curl.easy_setopt(place->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)upload->body.length);
  curl.easy_setopt(place->easy, CURLOPT_PRIVATE, place);
  place->waits = 0;
  if (curl.multi_add_handle(posts->multi, place->easy) != CURLM_OK)
    return no_memory(error);
  place->is_used = true;
  posts->used++;
  return go_on(posts, posts->count, error);
}

int fleet_post(struct fleet_posts *posts, struct fleet_upload *upload, struct kymo_error *error) {
  int status = upload->query.failed || upload->id.failed || upload->body.failed
                   ? no_memory(error)
                   : go_on(posts, posts->count - 1, error);
  struct place *place = posts->places;
  while (status == KYMO_OK && place->is_used)
    place++;
  if (status != KYMO_OK) {
    end_upload(posts, upload);
    return status;
  }
  place->upload = *upload;
  status = begin(posts, place, error);
  if (status != KYMO_OK && !place->is_used)
    end_place(posts, place);
  return status;
}
