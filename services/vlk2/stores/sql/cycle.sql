-- The 30-second cycle: which timelines are due, under which lease, and what it reads and writes.

-- name: take_lease [sqlite]
INSERT INTO leases (name, owner, until, version) VALUES (:name, :owner, :until, 1)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until, version = leases.version + 1
WHERE leases.until <= :now
RETURNING version

-- PostgreSQL: several machines, one clock, the server's. `now` and `until` are here and below a duration.
-- name: take_lease [postgres]
INSERT INTO leases (name, owner, until, version) VALUES (:name, :owner, vlk2_now() + (:until - :now), 1)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until, version = leases.version + 1
WHERE leases.until <= vlk2_now()
RETURNING version

-- name: drop_lease
UPDATE leases SET until = 0 WHERE name = :name AND owner = :owner AND version = :version

-- name: lease_due [sqlite]
UPDATE timelines SET lease_owner = :owner, lease_until = :until, version = version + 1
WHERE pk IN (SELECT pk FROM timelines WHERE due_at <= :now AND due_at IS NOT NULL AND parked_at IS NULL
             AND (lease_until IS NULL OR lease_until <= :now) ORDER BY due_at LIMIT :most)
RETURNING id, version

-- PostgreSQL: two dispatchers never wait for each other.
-- name: lease_due [postgres]
UPDATE timelines SET lease_owner = :owner, lease_until = vlk2_now() + (:until - :now), version = version + 1
WHERE pk IN (SELECT pk FROM timelines WHERE due_at <= :now AND due_at IS NOT NULL AND parked_at IS NULL
             AND (lease_until IS NULL OR lease_until <= vlk2_now()) ORDER BY due_at LIMIT :most FOR UPDATE SKIP LOCKED)
RETURNING id, version

-- The changed timelines over the budget, between two ticks.
-- name: lease_over [sqlite]
UPDATE timelines SET lease_owner = :owner, lease_until = :until, version = version + 1
WHERE pk IN (SELECT pk FROM timelines WHERE due_at <= :now AND due_at IS NOT NULL AND parked_at IS NULL
             AND (lease_until IS NULL OR lease_until <= :now) AND token_sum > :budget ORDER BY due_at LIMIT :most)
RETURNING id, version

-- PostgreSQL: as for lease_due.
-- name: lease_over [postgres]
UPDATE timelines SET lease_owner = :owner, lease_until = vlk2_now() + (:until - :now), version = version + 1
WHERE pk IN (SELECT pk FROM timelines WHERE due_at <= :now AND due_at IS NOT NULL AND parked_at IS NULL
             AND (lease_until IS NULL OR lease_until <= vlk2_now()) AND token_sum > :budget ORDER BY due_at LIMIT :most
             FOR UPDATE SKIP LOCKED)
RETURNING id, version

-- A success says that the timeline is not the one to blame for what was lost before.
-- name: release_lease
UPDATE timelines SET lease_owner = NULL, lease_until = NULL, failures = 0, parked_at = NULL
WHERE pk = :pk AND version = :version

-- name: give_back_lease
UPDATE timelines SET lease_owner = NULL, lease_until = NULL WHERE pk = :pk AND version = :version

-- name: note_lost
UPDATE timelines SET failures = failures + 1,
       parked_at = CASE WHEN failures + 1 >= :most THEN CAST(:now AS BIGINT) ELSE parked_at END,
       lease_owner = CASE WHEN failures + 1 >= :most THEN NULL ELSE lease_owner END,
       lease_until = CASE WHEN failures + 1 >= :most THEN NULL ELSE lease_until END
WHERE id = :id AND version = :version AND lease_owner IS NOT NULL
RETURNING failures

-- name: free_expired [sqlite]
UPDATE timelines SET lease_owner = NULL, lease_until = NULL WHERE lease_until <= :now

-- name: free_expired [postgres]
UPDATE timelines SET lease_owner = NULL, lease_until = NULL WHERE lease_until <= vlk2_now()

-- name: park_failed
UPDATE timelines SET parked_at = :now WHERE failures >= :most AND failures > 0 AND parked_at IS NULL AND lease_until IS NULL

-- name: lease_until
SELECT until FROM leases WHERE name = :name

-- name: due_now
SELECT COUNT(*), MIN(due_at) FROM timelines WHERE due_at <= :now AND due_at IS NOT NULL AND parked_at IS NULL

-- name: leased_now [sqlite]
SELECT COUNT(*) FROM timelines WHERE lease_until > :now

-- name: leased_now [postgres]
SELECT COUNT(*) FROM timelines WHERE lease_until > vlk2_now()

-- name: parked_now
SELECT COUNT(*) FROM timelines WHERE parked_at IS NOT NULL

-- name: note_failure
UPDATE timelines SET lease_owner = NULL, lease_until = NULL, failures = failures + 1,
       due_at = :retry_at, parked_at = CASE WHEN failures + 1 >= :most THEN CAST(:now AS BIGINT) ELSE NULL END
WHERE id = :id AND version = :version

-- What moved since the last cycle, and what came due.
-- name: to_evaluate
SELECT {entry}
FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.pk IN (SELECT entry FROM (SELECT entry FROM cycle_pending WHERE timeline = :timeline ORDER BY entry LIMIT :most) hit
               UNION SELECT entry FROM (SELECT entry FROM memory_metadata WHERE timeline = :timeline AND review_at <= :now ORDER BY review_at LIMIT :most) hit)

-- name: cycle_pending
SELECT COUNT(*), MAX(entry) FROM (SELECT entry FROM cycle_pending WHERE timeline = :timeline ORDER BY entry LIMIT :most) hit

-- name: add_cycle_pending
INSERT INTO cycle_pending (timeline, entry) VALUES (:timeline, :entry) ON CONFLICT (timeline, entry) DO NOTHING

-- name: drop_cycle_pending
DELETE FROM cycle_pending WHERE timeline = :timeline AND entry <= :upto

-- name: cycle_pending_left
SELECT 1 FROM cycle_pending WHERE timeline = :timeline LIMIT 1

-- name: repeats
SELECT count, first_at, last_at FROM failure_counts WHERE timeline = :timeline AND fingerprint = :fingerprint

-- name: count_failure
INSERT INTO failure_counts (timeline, fingerprint, count, first_at, last_at) VALUES (:timeline, :fingerprint, 1, :at, :at)
ON CONFLICT (timeline, fingerprint) DO UPDATE SET count = failure_counts.count + 1,
  first_at = CASE WHEN excluded.first_at < failure_counts.first_at THEN excluded.first_at ELSE failure_counts.first_at END,
  last_at = CASE WHEN excluded.last_at > failure_counts.last_at THEN excluded.last_at ELSE failure_counts.last_at END

-- name: uncount_failure
UPDATE failure_counts SET count = count - 1 WHERE timeline = :timeline AND fingerprint = :fingerprint

-- name: drop_uncounted
DELETE FROM failure_counts WHERE timeline = :timeline AND fingerprint = :fingerprint AND count <= 0

-- Live entries that share the failure, the file or the run: bounded by the budget, counted no further than matters.
-- What is known of the lives of many entries (`entries` is a JSON list of keys): one question for a whole cycle.
-- name: lives [sqlite]
SELECT {life}
FROM json_each(:entries) r JOIN agent_timeline e ON e.pk = r.value
LEFT JOIN failure_counts n ON n.timeline = :timeline AND n.fingerprint = e.fingerprint
LEFT JOIN memory_metadata m ON m.entry = e.pk

-- PostgreSQL: it has another function for the list.
-- name: lives [postgres]
SELECT {life}
FROM json_array_elements_text(CAST(:entries AS json)) r JOIN agent_timeline e ON e.pk = CAST(r.value AS BIGINT)
LEFT JOIN failure_counts n ON n.timeline = :timeline AND n.fingerprint = e.fingerprint
LEFT JOIN memory_metadata m ON m.entry = e.pk

-- name: metadata
SELECT uses, shows, used_at, recency, frequency, connectivity, "use", outcome, importance, review_at FROM memory_metadata WHERE entry = :entry

-- name: set_importance
INSERT INTO memory_metadata (entry, timeline, recency, frequency, connectivity, "use", outcome, importance, scored_at, review_at)
VALUES (:entry, :timeline, :recency, :frequency, :connectivity, :used, :outcome, :importance, :now, :review_at)
ON CONFLICT (entry) DO UPDATE SET recency = excluded.recency, frequency = excluded.frequency, connectivity = excluded.connectivity,
  "use" = excluded."use", outcome = excluded.outcome, importance = excluded.importance, scored_at = excluded.scored_at, review_at = excluded.review_at

-- name: note_use
INSERT INTO memory_metadata (entry, timeline, recency, frequency, connectivity, "use", outcome, importance, uses, shows, used_at, scored_at, review_at)
SELECT pk, timeline, 10000, 0, 0, 0, 0, 10000, :uses, :shows, :at, :at, :at FROM agent_timeline WHERE id = :id AND timeline = :timeline AND state <> 'PURGED'
ON CONFLICT (entry) DO UPDATE SET uses = memory_metadata.uses + excluded.uses, shows = memory_metadata.shows + excluded.shows,
  used_at = excluded.used_at, review_at = excluded.review_at

-- name: review_now
UPDATE memory_metadata SET review_at = :now WHERE entry = :entry

-- name: next_review
SELECT MIN(review_at) FROM memory_metadata WHERE timeline = :timeline AND review_at IS NOT NULL

-- name: costed
SELECT e.pk, e.seq, e.tokens, e.kind, e.pinned, COALESCE(m.importance, 10000)
FROM agent_timeline e LEFT JOIN memory_metadata m ON m.entry = e.pk
WHERE e.timeline = :timeline AND e.state IN ('PRESENT', 'FUTURE')

-- name: drop_metadata
DELETE FROM memory_metadata WHERE entry = :entry

-- name: add_cycle
INSERT INTO cycles (timeline, owner, started_at, ended_at, scanned, evaluated, archived, forgotten, tokens, moved)
VALUES (:timeline, :owner, :started_at, :ended_at, :scanned, :evaluated, :archived, :forgotten, :tokens, :moved)

-- name: drop_old_cycles
DELETE FROM cycles WHERE timeline = :timeline
  AND pk <= COALESCE((SELECT pk FROM cycles WHERE timeline = :timeline ORDER BY pk DESC LIMIT 1 OFFSET :keep), -1)

-- name: last_cycle
SELECT owner, started_at, ended_at, scanned, evaluated, archived, forgotten, tokens, moved FROM cycles
WHERE timeline = :timeline ORDER BY pk DESC LIMIT 1

-- Purged entries that still hold their text and whose grace is over.
-- name: collectable
SELECT {entry} FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.state = 'PURGED' AND e.tokens > 0
  AND NOT EXISTS (SELECT 1 FROM transitions t WHERE t.entry = e.pk AND t.to_state = 'PURGED' AND t.at > :before)
LIMIT :most

-- name: oldest_purge
SELECT MIN(t.at) FROM agent_timeline e JOIN transitions t ON t.entry = e.pk AND t.to_state = 'PURGED'
WHERE e.timeline = :timeline AND e.state = 'PURGED' AND e.tokens > 0
