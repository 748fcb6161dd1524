-- The whole store as rows. `{table}`, `{columns}`, `{values}`, `{key}` and `{after}` are filled in for each table
-- of the migrations.

-- table: page
SELECT {columns} FROM {table} WHERE ({key}) > ({after}) ORDER BY {key} LIMIT :most

-- table: put
INSERT INTO {table} ({columns}) VALUES ({values})

-- table: count
SELECT COUNT(*) FROM {table}

-- Keys that were given come from elsewhere: the next one of its own comes after them.
-- table: renumber [postgres]
SELECT setval(pg_get_serial_sequence('{table}', 'pk'), (SELECT COALESCE(MAX(pk), 0) + 1 FROM {table}), false)

-- A slow pipe or disk on the other side may keep this transaction waiting.
-- name: be_patient [postgres]
SET LOCAL idle_in_transaction_session_timeout = 0

-- name: take_key
UPDATE store_meta SET value = :key WHERE name = 'key'

-- What has to hold in every store: each of these counts what breaks it.

-- fault: timelines whose stored token sum is not that of their entries
SELECT COUNT(*) FROM timelines t
WHERE t.token_sum <> (SELECT COALESCE(SUM(e.tokens), 0) FROM agent_timeline e WHERE e.timeline = t.pk AND e.state IN ('PRESENT', 'FUTURE'))

-- fault: entries whose state is not where their last transition led
SELECT COUNT(*) FROM agent_timeline e
WHERE e.state <> COALESCE((SELECT x.to_state FROM transitions x WHERE x.entry = e.pk ORDER BY x.pk DESC LIMIT 1), '')

-- fault: constraints without their evidence row
SELECT COUNT(*) FROM agent_timeline e WHERE e.kind <> 'log' AND NOT EXISTS (SELECT 1 FROM anchors a WHERE a.entry = e.pk)

-- fault: observations beyond what their timeline has counted
SELECT COUNT(*) FROM timelines t WHERE t.next_seq <= COALESCE((SELECT MAX(o.seq) FROM observations o WHERE o.timeline = t.pk), 0)

-- fault: texts that no entry holds
SELECT COUNT(*) FROM memory_contents c WHERE NOT EXISTS (SELECT 1 FROM agent_timeline e WHERE e.content = c.pk)

-- fault: texts that the search index neither has nor waits for [postgres]
SELECT COUNT(*) FROM memory_contents c
WHERE NOT EXISTS (SELECT 1 FROM recall_index r WHERE r.content = c.pk) AND NOT EXISTS (SELECT 1 FROM recall_pending p WHERE p.content = c.pk)

-- fault: rows that point to nothing [sqlite]
SELECT COUNT(*) FROM pragma_foreign_key_check

-- fault: damaged pages [sqlite]
SELECT COUNT(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'
