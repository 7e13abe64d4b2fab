/* SPDX-License-Identifier: MIT */
/*
 * sqlite-io: the requests of SQLite to the file system, and the statements that cause them.
 *
 *   threads ──► SQLite ──► the VFS "traced" ──► the VFS of this system ──► files
 *                 │              │
 *                 ▼              ▼
 *           sql:begin/end   vfs:open, read, write, sync, lock, …
 *
 * The workload is a small bank. It keeps two databases, one with a write-ahead log and one with a rollback
 * journal. Writers move money between accounts, one transaction a transfer; readers check meanwhile that no
 * money came or went. At the end the transfers are counted, so the program fails when SQLite does.
 *
 * Three things are traced:
 *   - The VFS shim is between SQLite and the real VFS. Each call is passed on, timed, counted and traced
 *     with its file, offset, size, result and duration. Events are recorded when the call returns.
 *   - sqlite3_trace_v2 reports when a statement begins and ends. Each gets a number, which is kept per
 *   thread,
 *     and which every file event carries: so a sync is traced back to the statement that waited for it.
 *   - The bank's own steps: bank:transfer and bank:audit.
 *
 * The counters that it prints are kept beside the tracepoints, so a trace can be checked against them.
 * Compiled with -DKYMO_DISABLE it is the same program without tracing.
 *
 *   cc -pthread examples/sqlite-io.c $(pkg-config --cflags --libs kymo-trace sqlite3) -o sqlite-io
 *   kymo record -o trace -- ./sqlite-io
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <kymo/trace.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VFS_NAME "traced"

enum { ACCOUNTS = 64, THREADS_MAX = 64, TRANSACTIONS_MAX = 1000000, BUSY_TIMEOUT_MS = 60000 };

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- counters ---- */

enum event {
  VFS_OPEN,
  VFS_CLOSE,
  VFS_DELETE,
  VFS_READ,
  VFS_WRITE,
  VFS_TRUNCATE,
  VFS_SYNC,
  VFS_LOCK,
  VFS_UNLOCK,
  VFS_SHM_MAP,
  VFS_SHM_LOCK,
  VFS_SLEEP,
  SQL_BEGIN,
  SQL_END,
  BANK_TRANSFER,
  BANK_AUDIT,
  EVENT_COUNT
};

static const char *const event_names[EVENT_COUNT] = {
    "vfs:open",  "vfs:close", "vfs:delete",    "vfs:read",    "vfs:write",    "vfs:truncate",
    "vfs:sync",  "vfs:lock",  "vfs:unlock",    "vfs:shm_map", "vfs:shm_lock", "vfs:sleep",
    "sql:begin", "sql:end",   "bank:transfer", "bank:audit",
};

/* Relaxed: only totals, read when the threads have been joined. */
static struct counter {
  atomic_uint_least64_t count;
  atomic_int_least64_t total_ns;
} counters[EVENT_COUNT];

static void count_event(enum event event, int64_t duration_ns) {
  atomic_fetch_add_explicit(&counters[event].count, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counters[event].total_ns, duration_ns, memory_order_relaxed);
}

static void print_counters(void) {
  printf("%-14s %10s %12s\n", "event", "count", "total ms");
  for (int i = 0; i < EVENT_COUNT; i++)
    printf("%-14s %10" PRIuLEAST64 " %12.3f\n", event_names[i], atomic_load(&counters[i].count),
           (double)atomic_load(&counters[i].total_ns) / 1e6);
}

/* ---- statements ---- */

/*
 * The statement that the calling thread runs; id 0: none. It stays until run() has left SQLite, not
 * only until the profile event, because a checkpoint of the log happens in between, within the same call.
 */
static _Thread_local struct {
  uint64_t id;
  sqlite3_stmt *prepared; /* NULL: its end has been reported */
  int64_t start_ns;
} running;

/*
 * SQLITE_TRACE_STMT also reports triggers and SQLite's own queries within a statement: those belong to the
 * statement that runs already. The duration is measured here, since the one that SQLite passes is in whole
 * milliseconds.
 */
static int on_statement(unsigned what, void *context, void *statement, void *detail) {
  static atomic_uint_least64_t last_id;
  (void)context;
  if (what == SQLITE_TRACE_STMT && !running.prepared) {
    running.id = 1 + atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed);
    running.prepared = statement;
    running.start_ns = now_ns();
    count_event(SQL_BEGIN, 0);
    KYMO(sql, begin, KYMO_AS(statement, running.id), KYMO_AS(text, (const char *)detail));
  } else if (what == SQLITE_TRACE_PROFILE && running.prepared == statement) {
    int64_t duration_ns = now_ns() - running.start_ns;
    running.prepared = NULL;
    count_event(SQL_END, duration_ns);
    KYMO(sql, end, KYMO_AS(statement, running.id), duration_ns);
  }
  return 0;
}

/* ---- VFS: files ---- */

/* SQLite sees `base`; the file of the real VFS is directly after this struct. */
struct file {
  sqlite3_file base;
  sqlite3_io_methods methods; /* file_methods, without those that the real file lacks */
  sqlite3_file *real;
  const char *name; /* without folders; lives as long as the file is open */
};

static struct file *file_of(sqlite3_file *base) { return (struct file *)base; }
static sqlite3_file *real_of(sqlite3_file *base) { return file_of(base)->real; }

static const char *base_name(const char *path) {
  if (!path)
    return "temporary";
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *lock_name(int level) {
  static const char *const names[] = {"none", "shared", "reserved", "pending", "exclusive"};
  return level >= 0 && level < (int)(sizeof names / sizeof *names) ? names[level] : "unknown";
}

/* Makes a call to the real VFS; declares its `result` and `duration_ns`. */
#define TIMED(event, call)                   \
  int64_t start_ns = now_ns();               \
  int result = (call);                       \
  int64_t duration_ns = now_ns() - start_ns; \
  count_event(event, duration_ns)

static int file_close(sqlite3_file *base) {
  struct file *file = file_of(base);
  TIMED(VFS_CLOSE, file->real->pMethods->xClose(file->real));
  KYMO(vfs, close, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), result, duration_ns);
  return result;
}

static int file_read(sqlite3_file *base, void *data, int size, sqlite3_int64 offset) {
  struct file *file = file_of(base);
  TIMED(VFS_READ, file->real->pMethods->xRead(file->real, data, size, offset));
  KYMO(vfs, read, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), offset, size, result,
       duration_ns);
  return result;
}

static int file_write(sqlite3_file *base, const void *data, int size, sqlite3_int64 offset) {
  struct file *file = file_of(base);
  TIMED(VFS_WRITE, file->real->pMethods->xWrite(file->real, data, size, offset));
  KYMO(vfs, write, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), offset, size, result,
       duration_ns);
  return result;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  struct file *file = file_of(base);
  TIMED(VFS_TRUNCATE, file->real->pMethods->xTruncate(file->real, size));
  KYMO(vfs, truncate, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), size, result, duration_ns);
  return result;
}

static int file_sync(sqlite3_file *base, int flags) {
  struct file *file = file_of(base);
  TIMED(VFS_SYNC, file->real->pMethods->xSync(file->real, flags));
  KYMO(vfs, sync, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), KYMO_HEX(flags, flags), result,
       duration_ns);
  return result;
}

static int file_lock(sqlite3_file *base, int level) {
  struct file *file = file_of(base);
  TIMED(VFS_LOCK, file->real->pMethods->xLock(file->real, level));
  KYMO(vfs, lock, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), KYMO_AS(level, lock_name(level)),
       result, duration_ns);
  return result;
}

static int file_unlock(sqlite3_file *base, int level) {
  struct file *file = file_of(base);
  TIMED(VFS_UNLOCK, file->real->pMethods->xUnlock(file->real, level));
  KYMO(vfs, unlock, KYMO_AS(statement, running.id), KYMO_AS(file, file->name),
       KYMO_AS(level, lock_name(level)), result, duration_ns);
  return result;
}

/* The index of a write-ahead log is in shared memory, which SQLite opens by its first mapping. */
static int file_shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **memory) {
  struct file *file = file_of(base);
  TIMED(VFS_SHM_MAP, file->real->pMethods->xShmMap(file->real, region, size, extend, memory));
  KYMO(vfs, shm_map, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), region, size, extend, result,
       duration_ns);
  return result;
}

static int file_shm_lock(sqlite3_file *base, int first, int count, int flags) {
  struct file *file = file_of(base);
  TIMED(VFS_SHM_LOCK, file->real->pMethods->xShmLock(file->real, first, count, flags));
  KYMO(vfs, shm_lock, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), first, count,
       KYMO_AS(action, flags & SQLITE_SHM_LOCK ? "lock" : "unlock"),
       KYMO_AS(level, flags & SQLITE_SHM_SHARED ? "shared" : "exclusive"), result, duration_ns);
  return result;
}

/* Calls that do not touch the disk are passed on unchanged. */
static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  return real_of(base)->pMethods->xFileSize(real_of(base), size);
}
static int file_check_reserved_lock(sqlite3_file *base, int *is_reserved) {
  return real_of(base)->pMethods->xCheckReservedLock(real_of(base), is_reserved);
}
static int file_control(sqlite3_file *base, int operation, void *argument) {
  return real_of(base)->pMethods->xFileControl(real_of(base), operation, argument);
}
static int file_sector_size(sqlite3_file *base) {
  return real_of(base)->pMethods->xSectorSize(real_of(base));
}
static int file_device_characteristics(sqlite3_file *base) {
  return real_of(base)->pMethods->xDeviceCharacteristics(real_of(base));
}
static void file_shm_barrier(sqlite3_file *base) { real_of(base)->pMethods->xShmBarrier(real_of(base)); }
static int file_shm_unmap(sqlite3_file *base, int deletes) {
  return real_of(base)->pMethods->xShmUnmap(real_of(base), deletes);
}

/* Version 3 would let SQLite map files into memory (xFetch) and read them unseen. */
static const sqlite3_io_methods file_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- VFS: the rest ---- */

static sqlite3_vfs *real_vfs;

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *flags_out) {
  (void)vfs;
  struct file *file = file_of(base);
  *file = (struct file){.real = (sqlite3_file *)(file + 1), .name = base_name(path)};
  file->real->pMethods = NULL;
  TIMED(VFS_OPEN, real_vfs->xOpen(real_vfs, path, file->real, flags, flags_out));
  if (file->real->pMethods) { /* to be closed, then, even if opening failed */
    file->methods = file_methods;
    if (file->real->pMethods->iVersion < file_methods.iVersion)
      file->methods.iVersion = file->real->pMethods->iVersion;
    file->base.pMethods = &file->methods;
  }
  KYMO(vfs, open, KYMO_AS(statement, running.id), KYMO_AS(file, file->name), KYMO_HEX(flags, flags), result,
       duration_ns);
  return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
  (void)vfs;
  TIMED(VFS_DELETE, real_vfs->xDelete(real_vfs, path, syncs_folder));
  KYMO(vfs, delete, KYMO_AS(statement, running.id), KYMO_AS(file, base_name(path)), syncs_folder, result,
       duration_ns);
  return result;
}

/* How SQLite waits for a lock that another connection holds. */
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  TIMED(VFS_SLEEP, real_vfs->xSleep(real_vfs, microseconds));
  KYMO(vfs, sleep, KYMO_AS(statement, running.id), microseconds, duration_ns);
  return result; /* how long it slept, it says */
}

/* A copy of the real VFS, with three functions replaced: the others find in the copy all that they need. */
static bool register_vfs(void) {
  static sqlite3_vfs vfs;
  real_vfs = sqlite3_vfs_find(NULL);
  if (!real_vfs)
    return false;
  vfs = *real_vfs;
  vfs.zName = VFS_NAME;
  vfs.szOsFile = (int)sizeof(struct file) + real_vfs->szOsFile;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  vfs.xSleep = vfs_sleep;
  return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

/* ---- a connection ---- */

struct database {
  const char *name, *journal_mode;
  char path[PATH_MAX];
  int64_t transfers;           /* that it has to hold in the end */
  atomic_uint writers_running; /* readers go on until it is 0 */
};

struct connection {
  struct database *database;
  sqlite3 *db;
};

static bool complain(const struct connection *connection, const char *what) {
  const char *name = connection->database->name;
  fprintf(stderr, "sqlite-io: %s.db: %s: %s\n", name, what, sqlite3_errmsg(connection->db));
  return false;
}

/* Runs one statement with numbers for its parameters. `answer`, unless NULL, gets its first number. */
static bool run(struct connection *connection, const char *sql, const int64_t *values, int64_t *answer) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL))
    return complain(connection, sql);
  for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++)
    sqlite3_bind_int64(statement, i + 1, values[i]);
  int result = sqlite3_step(statement);
  if (result == SQLITE_ROW && answer)
    *answer = sqlite3_column_int64(statement, 0);
  while (result == SQLITE_ROW)
    result = sqlite3_step(statement);
  bool is_done = result == SQLITE_DONE || complain(connection, sql);
  sqlite3_finalize(statement);
  running.id = 0;
  return is_done;
}

static bool run_plain(struct connection *connection, const char *sql) {
  return run(connection, sql, NULL, NULL);
}

/* To be closed whatever it returns. */
static bool open_connection(struct connection *connection, struct database *database) {
  *connection = (struct connection){.database = database};
  if (sqlite3_open_v2(database->path, &connection->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, VFS_NAME))
    return complain(connection, "open");
  sqlite3_busy_timeout(connection->db, BUSY_TIMEOUT_MS);
  sqlite3_trace_v2(connection->db, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, on_statement, NULL);
  return run_plain(connection, "PRAGMA synchronous = FULL") &&
         run_plain(connection, "PRAGMA wal_autocheckpoint = 100"); /* pages: often, to be seen */
}

/* ---- the bank ---- */

struct worker {
  pthread_t thread;
  char name[16];
  struct database *database;
  uint32_t seed;
  unsigned transactions; /* 0: it reads */
  bool has_failed;
};

static int64_t random_below(uint32_t *seed, uint32_t limit) {
  *seed = *seed * 1664525 + 1013904223;
  return (int64_t)((uint64_t)*seed * limit >> 32);
}

static bool transfer(struct connection *connection, uint32_t *seed) {
  static const char pay[] = "INSERT INTO account VALUES (?1, ?2)"
                            " ON CONFLICT (id) DO UPDATE SET balance = balance + ?2";
  static const char note[] = "INSERT INTO transfer VALUES (NULL, ?1, ?2, ?3, randomblob(300))";
  int64_t payer = random_below(seed, ACCOUNTS), payee = random_below(seed, ACCOUNTS);
  int64_t amount = 1 + random_below(seed, 1000), start_ns = now_ns();
  bool is_done =
      run_plain(connection, "BEGIN IMMEDIATE") && run(connection, pay, (int64_t[]){payer, -amount}, NULL) &&
      run(connection, pay, (int64_t[]){payee, amount}, NULL) &&
      run(connection, note, (int64_t[]){payer, payee, amount}, NULL) && run_plain(connection, "COMMIT");
  int64_t duration_ns = now_ns() - start_ns;
  count_event(BANK_TRANSFER, duration_ns);
  KYMO(bank, transfer, KYMO_AS(database, connection->database->name), payer, payee, amount, is_done,
       duration_ns);
  return is_done;
}

/* One consistent view of the database: the number of transfers; the sum of money must be unchanged. */
static bool audit(struct connection *connection, int64_t *transfers) {
  int64_t start_ns = now_ns(), money = 0, count = 0;
  bool is_done =
      run_plain(connection, "BEGIN") && run(connection, "SELECT sum(balance) FROM account", NULL, &money) &&
      run(connection, "SELECT count(*) FROM transfer", NULL, &count) && run_plain(connection, "COMMIT");
  int64_t duration_ns = now_ns() - start_ns;
  count_event(BANK_AUDIT, duration_ns);
  KYMO(bank, audit, KYMO_AS(database, connection->database->name), money, count, is_done, duration_ns);
  if (money != 0)
    fprintf(stderr, "sqlite-io: %s.db: the accounts make %" PRId64 "\n", connection->database->name, money);
  *transfers = count;
  return is_done && money == 0;
}

static bool write_transfers(struct worker *worker, struct connection *connection) {
  for (unsigned i = 0; i < worker->transactions; i++)
    if (!transfer(connection, &worker->seed))
      return false;
  return true;
}

static bool read_audits(struct worker *worker, struct connection *connection) {
  const struct timespec pause = {.tv_nsec = 2000000};
  int64_t seen = 0, transfers;
  do {
    if (!audit(connection, &transfers))
      return false;
    if (transfers < seen) {
      fprintf(stderr, "sqlite-io: %s.db: transfers vanished\n", worker->database->name);
      return false;
    }
    seen = transfers;
    nanosleep(&pause, NULL);
  } while (atomic_load(&worker->database->writers_running) > 0);
  return true;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  struct connection connection;
  pthread_setname_np(pthread_self(), worker->name);
  worker->has_failed = !open_connection(&connection, worker->database) ||
                       !(worker->transactions ? write_transfers : read_audits)(worker, &connection);
  sqlite3_close(connection.db);
  if (worker->transactions)
    atomic_fetch_sub(&worker->database->writers_running, 1);
  return NULL;
}

/* Makes the tables, unless an earlier run did. */
static bool prepare_database(struct database *database) {
  struct connection connection;
  char set_mode[64], test_mode[96];
  int64_t has_mode = 0;
  snprintf(set_mode, sizeof set_mode, "PRAGMA journal_mode = %s", database->journal_mode);
  snprintf(test_mode, sizeof test_mode, "SELECT journal_mode = '%s' FROM pragma_journal_mode",
           database->journal_mode);
  bool is_done = open_connection(&connection, database) && run_plain(&connection, set_mode) &&
                 run(&connection, test_mode, NULL, &has_mode) &&
                 run_plain(&connection, "CREATE TABLE IF NOT EXISTS account"
                                        " (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)") &&
                 run_plain(&connection, "CREATE TABLE IF NOT EXISTS transfer (id INTEGER PRIMARY KEY,"
                                        " payer INTEGER, payee INTEGER, amount INTEGER, receipt BLOB)") &&
                 audit(&connection, &database->transfers);
  sqlite3_close(connection.db);
  if (is_done && !has_mode)
    fprintf(stderr, "sqlite-io: %s.db: the journal mode %s does not work here\n", database->name,
            database->journal_mode);
  return is_done && has_mode;
}

/* Every transfer must be there, and the file must be valid. */
static bool check_database(struct database *database) {
  struct connection connection;
  int64_t found = 0, faults = 1;
  bool is_done = open_connection(&connection, database) && audit(&connection, &found) &&
                 run_plain(&connection, "PRAGMA wal_checkpoint(TRUNCATE)") &&
                 run(&connection, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
                     NULL, &faults);
  sqlite3_close(connection.db);
  printf("%s.db: %" PRId64 " transfers, expected %" PRId64 "\n", database->name, found, database->transfers);
  return is_done && found == database->transfers && faults == 0;
}

/* ---- the program ---- */

struct options {
  unsigned threads, transactions;
  const char *directory;
};

/* Threads take turns: a writer and a reader of one database, then of the other. */
static bool run_workers(const struct options *options, struct database databases[2]) {
  static struct worker workers[THREADS_MAX];
  unsigned started = 0;
  bool is_done = true;
  for (; started < options->threads && is_done; started++) {
    struct worker *worker = &workers[started];
    bool writes = started % 2 == 0;
    *worker = (struct worker){.database = &databases[started / 2 % 2], .seed = started};
    worker->transactions = writes ? options->transactions : 0;
    worker->database->transfers += worker->transactions;
    snprintf(worker->name, sizeof worker->name, "%s-%s-%u", worker->database->name,
             writes ? "writer" : "reader", started / 4 % 100 + 1);
    atomic_fetch_add(&worker->database->writers_running, writes);
    errno = pthread_create(&worker->thread, NULL, work, worker);
    is_done = errno == 0;
  }
  if (!is_done) {
    perror("sqlite-io: pthread_create");
    started--;
    atomic_fetch_sub(&workers[started].database->writers_running, workers[started].transactions > 0);
  }
  for (unsigned i = 0; i < started; i++) {
    pthread_join(workers[i].thread, NULL);
    is_done = is_done && !workers[i].has_failed;
  }
  return is_done;
}

static bool run_bank(const struct options *options) {
  static struct database databases[2] = {{.name = "wal", .journal_mode = "wal"},
                                         {.name = "undo", .journal_mode = "delete"}};
  for (int i = 0; i < 2; i++) {
    struct database *database = &databases[i];
    size_t room = sizeof database->path;
    if (snprintf(database->path, room, "%s/%s.db", options->directory, database->name) >= (int)room) {
      fprintf(stderr, "sqlite-io: %s: %s\n", options->directory, strerror(ENAMETOOLONG));
      return false;
    }
    if (!prepare_database(database))
      return false;
  }
  return run_workers(options, databases) && check_database(&databases[0]) && check_database(&databases[1]);
}

static void remove_directory(const char *directory) {
  static const char *const names[] = {"wal.db", "wal.db-wal", "wal.db-shm", "undo.db", "undo.db-journal"};
  int fd = open(directory, O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    unlinkat(fd, names[i], 0);
  close(fd);
  rmdir(directory);
}

static const char usage[] =
    "usage: sqlite-io [OPTION]…\n"
    "Runs a bank on SQLite, with its files and statements traced by kymo, and prints how often it did what.\n"
    "  -t, --threads=N       half of them write, half read (default 8, 1 to 64)\n"
    "  -n, --transactions=N  transfers of each writer (default 100)\n"
    "  -d, --directory=DIR   where the databases go, made if need be; they stay, and grow with each run\n"
    "                        (default: a temporary directory that is removed)\n"
    "  -h, --help            this text\n"
    "Exit code: 0; 1 if SQLite or a check failed; 2 if the options make no sense.\n";

static bool parse_number(const char *text, unsigned limit, unsigned *number) {
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (errno || end == text || *end || text[0] == '-' || value < 1 || value > limit) {
    fprintf(stderr, "sqlite-io: expected a number from 1 to %u, found %s\n", limit, text);
    return false;
  }
  *number = (unsigned)value;
  return true;
}

/* Returns the exit code, or -1 to go on. */
static int parse_options(int argc, char **argv, struct options *options) {
  static const struct option names[] = {{"threads", required_argument, NULL, 't'},
                                        {"transactions", required_argument, NULL, 'n'},
                                        {"directory", required_argument, NULL, 'd'},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};
  for (int letter; (letter = getopt_long(argc, argv, "t:n:d:h", names, NULL)) != -1;) {
    bool is_good = true;
    switch (letter) {
    case 't': is_good = parse_number(optarg, THREADS_MAX, &options->threads); break;
    case 'n': is_good = parse_number(optarg, TRANSACTIONS_MAX, &options->transactions); break;
    case 'd': options->directory = optarg; break;
    case 'h': fputs(usage, stdout); return 0;
    default: is_good = false;
    }
    if (!is_good)
      return 2;
  }
  if (optind == argc)
    return -1;
  fprintf(stderr, "sqlite-io: unexpected argument %s\n", argv[optind]);
  return 2;
}

int main(int argc, char **argv) {
  struct options options = {.threads = 8, .transactions = 100};
  char temporary[PATH_MAX] = "";
  int code = parse_options(argc, argv, &options);
  if (code >= 0)
    return code;
  if (!options.directory) {
    const char *parent = getenv("TMPDIR");
    snprintf(temporary, sizeof temporary, "%s/sqlite-io-XXXXXX", parent && *parent ? parent : "/tmp");
    options.directory = mkdtemp(temporary);
  } else if (mkdir(options.directory, 0777) && errno != EEXIST) {
    options.directory = NULL;
  }
  if (!options.directory) {
    perror("sqlite-io: cannot make the directory");
    return 1;
  }
  bool is_done = register_vfs() && run_bank(&options);
  print_counters();
  if (temporary[0])
    remove_directory(temporary);
  return is_done && fflush(stdout) == 0 ? 0 : 1;
}
