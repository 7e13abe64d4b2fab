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
     "  FROM lasts ORDER BY time_ns DESC, name LIMIT 20)",
     "SELECT what, name, count, percent, time_ns FROM (\n"
     "  SELECT * FROM (\n"
     "    SELECT 'event' AS what, class AS name, toInt64(count()) AS count,\n"
     "           round(100 * count / (SELECT count() FROM events), 1) AS percent,\n"
     "           CAST(NULL AS Nullable(Int64)) AS time_ns, count AS weight\n"
     "    FROM events GROUP BY class ORDER BY weight DESC, name LIMIT 20)\n"
     "  UNION ALL\n"
     "  SELECT * FROM (\n"
     "    SELECT 'span' AS what, name, toInt64(count()) AS count,\n"
     "           round(100 * weight / (SELECT sum(assumeNotNull(duration)) FROM spans\n"
     "                                 WHERE state = 'complete'), 1) AS percent,\n"
     "           CAST(weight AS Nullable(Int64)) AS time_ns, sum(assumeNotNull(duration)) AS weight\n"
     "    FROM spans WHERE state = 'complete' GROUP BY name ORDER BY weight DESC, name LIMIT 20))\n"
     "ORDER BY what, weight DESC, name"},
    {"latency", "how long spans take, by their names",
     "SELECT name, count(*) AS count, min(duration) AS min_ns, percentile(duration, 50) AS p50_ns,\n"
     "       percentile(duration, 90) AS p90_ns, percentile(duration, 99) AS p99_ns,\n"
     "       max(duration) AS max_ns, sum(duration) AS total_ns\n"
     "FROM spans WHERE state = 'complete' GROUP BY name ORDER BY total_ns DESC, name",
     "SELECT name, count, min_ns, p[1] AS p50_ns, p[2] AS p90_ns, p[3] AS p99_ns, max_ns, total_ns\n"
     "FROM (\n"
     "  SELECT name, length(d) AS count, d[1] AS min_ns, d[-1] AS max_ns, arraySum(d) AS total_ns,\n"
     "         arrayMap(place -> d[toUInt32(floor(place)) + 1] +\n"
     "                  (d[toUInt32(ceil(place)) + 1] - d[toUInt32(floor(place)) + 1]) *\n"
     "                  (place - floor(place)),\n"
     "                  arrayMap(percent -> percent / 100 * (count - 1), [50, 90, 99])) AS p\n"
     "  FROM (\n"
     "    SELECT name, arraySort(groupArray(assumeNotNull(duration))) AS d\n"
     "    FROM spans WHERE state = 'complete' GROUP BY name))\n"
     "ORDER BY total_ns DESC, name"},
    {"gaps", "the longest silence of each thread",
     "WITH moments AS (\n"
     "  SELECT trace, thread, tid, stream, ts,\n"
     "         lag(ts) OVER (PARTITION BY trace, coalesce(tid, 'stream ' || stream) ORDER BY ts) AS before\n"
     "  FROM events WHERE ts IS NOT NULL)\n"
     "SELECT trace, thread, tid, max(ts - before) AS silence_ns, before AS \"begin\", ts AS \"end\"\n"
     "FROM moments WHERE before IS NOT NULL GROUP BY trace, coalesce(tid, 'stream ' || stream)\n"
     "ORDER BY silence_ns DESC, \"begin\"",
     "SELECT host, trace, name AS thread, number AS tid, silence_ns, t[place] AS \"begin\",\n"
     "       t[place + 1] AS \"end\"\n"
     "FROM (\n"
     "  SELECT host, trace, name, number, t,\n"
     "         arrayMap((after, before) -> after - before, arraySlice(t, 2),\n"
     "                  arraySlice(t, 1, length(t) - 1)) AS d,\n"
     "         arrayReduce('max', d) AS silence_ns, indexOf(d, silence_ns) AS place\n"
     "  FROM (\n"
     "    SELECT host, trace, any(thread) AS name, any(tid) AS number,\n"
     "           arraySort(groupArray(ts)) AS t\n"
     "    FROM events WHERE ts > toInt64('-9223372036854775808')\n"
     "    GROUP BY host, trace,\n"
     "             if(isNull(tid), concat('stream ', toString(stream)), toString(assumeNotNull(tid)))\n"
     "    HAVING length(t) > 1))\n"
     "ORDER BY silence_ns DESC, \"begin\""},
    {"drops", "what is lost, by streams",
     "SELECT trace, stream, path, what, count(*) AS places, sum(count) AS lost,\n"
     "       min(\"begin\") AS \"begin\", max(\"end\") AS \"end\"\n"
     "FROM losses GROUP BY trace, stream, path, what ORDER BY lost DESC, trace, stream, what",
     "SELECT host, trace, stream, path, what, count() AS places, sum(count) AS lost,\n"
     "       min(\"begin\") AS \"begin\", max(\"end\") AS \"end\"\n"
     "FROM losses GROUP BY host, trace, stream, path, what ORDER BY lost DESC, trace, stream, what"},
    {"slowest", "the longest spans, with the fields of their begins",
     "SELECT name, duration AS duration_ns, \"begin\", thread, tid, depth, fields\n"
     "FROM spans WHERE state = 'complete' ORDER BY duration DESC, \"begin\" LIMIT 20",
     "SELECT name, duration AS duration_ns, \"begin\", host, trace, thread, tid, depth, fields\n"
     "FROM spans WHERE state = 'complete' ORDER BY duration DESC, \"begin\" LIMIT 20"},
    {"threads", "who records, how much, and when",
     "SELECT trace, process, pid, thread, tid, count(*) AS events, count(DISTINCT class) AS classes,\n"
     "       min(ts) AS \"begin\", max(ts) AS \"end\", max(ts) - min(ts) AS time_ns\n"
     "FROM events GROUP BY trace, process, pid, thread, tid ORDER BY events DESC, trace, tid",
     "SELECT host, trace, process, pid, thread, tid, count() AS events, uniqExact(class) AS classes,\n"
     "       minIf(ts, ts > toInt64('-9223372036854775808')) AS \"begin\",\n"
     "       maxIf(ts, ts > toInt64('-9223372036854775808')) AS \"end\", \"end\" - \"begin\" AS time_ns\n"
     "FROM events GROUP BY host, trace, process, pid, thread, tid ORDER BY events DESC, trace, tid"},
    {NULL, NULL, NULL, NULL},
};
