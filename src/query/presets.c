/* SPDX-License-Identifier: MIT */
#include "query/presets.h"
#include <stddef.h>

/* As a user would type them: `kymo query --explain` prints them. */
const struct query_preset query_presets[] = {
    {"top", "what happens most, and where time goes",
     "WITH happens AS (SELECT class, count(*) AS events FROM events GROUP BY class),\n"
     "     lasts AS (SELECT name, count(*) AS spans, sum(duration) AS time_ns FROM spans\n"
     "               WHERE state = 'complete' GROUP BY name)\n"
     "SELECT * FROM (\n"
     "  SELECT 'event' AS what, class AS name, events AS count,\n"
     "         round(100.0 * events / sum(events) OVER (), 1) AS percent, NULL AS time_ns\n"
     "  FROM happens ORDER BY events DESC, class LIMIT 20)\n"
     "UNION ALL\n"
     "SELECT * FROM (\n"
     "  SELECT 'span', name, spans, round(100.0 * time_ns / sum(time_ns) OVER (), 1), time_ns\n"
     "  FROM lasts ORDER BY time_ns DESC, name LIMIT 20)"},
    {"latency", "how long spans take, by their names",
     "SELECT name, count(*) AS count, min(duration) AS min_ns, percentile(duration, 50) AS p50_ns,\n"
     "       percentile(duration, 90) AS p90_ns, percentile(duration, 99) AS p99_ns,\n"
     "       max(duration) AS max_ns, sum(duration) AS total_ns\n"
     "FROM spans WHERE state = 'complete' GROUP BY name ORDER BY total_ns DESC, name"},
    {"gaps", "the longest silence of each thread",
     "WITH moments AS (\n"
     "  SELECT trace, thread, tid, stream, ts,\n"
     "         lag(ts) OVER (PARTITION BY trace, coalesce(tid, 'stream ' || stream) ORDER BY ts) AS before\n"
     "  FROM events WHERE ts IS NOT NULL)\n"
     "SELECT trace, thread, tid, max(ts - before) AS silence_ns, before AS \"begin\", ts AS \"end\"\n"
     "FROM moments WHERE before IS NOT NULL GROUP BY trace, coalesce(tid, 'stream ' || stream)\n"
     "ORDER BY silence_ns DESC, \"begin\""},
    {"drops", "what is lost, by streams",
     "SELECT trace, stream, path, what, count(*) AS places, sum(count) AS lost,\n"
     "       min(\"begin\") AS \"begin\", max(\"end\") AS \"end\"\n"
     "FROM losses GROUP BY trace, stream, path, what ORDER BY lost DESC, trace, stream, what"},
    {"slowest", "the longest spans, with the fields of their begins",
     "SELECT name, duration AS duration_ns, \"begin\", thread, tid, depth, fields\n"
     "FROM spans WHERE state = 'complete' ORDER BY duration DESC, \"begin\" LIMIT 20"},
    {"threads", "who records, how much, and when",
     "SELECT trace, process, pid, thread, tid, count(*) AS events, count(DISTINCT class) AS classes,\n"
     "       min(ts) AS \"begin\", max(ts) AS \"end\", max(ts) - min(ts) AS time_ns\n"
     "FROM events GROUP BY trace, process, pid, thread, tid ORDER BY events DESC, trace, tid"},
    {NULL, NULL, NULL},
};
