-- What hooks need to remember between two events: calls in flight, prompts, stamps of failures, what was said.

-- The newest call of the run that is still in flight and that no result has overtaken: a call that starts
-- beside it came with the same assistant message.
-- name: call_beside
SELECT batch FROM calls
WHERE run = :run AND use <> :use AND started_at >= :since
  AND started_at >= COALESCE((SELECT quiet_at FROM runs WHERE pk = :run), 0)
ORDER BY started_at DESC LIMIT 1

-- name: start_call
INSERT INTO calls (run, use, batch, started_at) VALUES (:run, :use, :batch, :at)
ON CONFLICT (run, use) DO NOTHING

-- name: call_batch
SELECT batch FROM calls WHERE run = :run AND use = :use

-- name: end_call
DELETE FROM calls WHERE run = :run AND (use = :use OR started_at < :stale)

-- A result or a prompt: what starts after it is no longer beside what started before.
-- name: set_quiet
UPDATE runs SET quiet_at = :at WHERE pk = :run

-- name: set_prompted
UPDATE runs SET prompted_at = :at, quiet_at = :at WHERE pk = :run

-- name: prompted
SELECT prompted_at FROM runs WHERE pk = :run

-- name: add_stamp
INSERT INTO failure_stamps (timeline, seq, stamp) VALUES (:timeline, :seq, :stamp)
ON CONFLICT (timeline, seq) DO NOTHING

-- name: stamp_of
SELECT stamp FROM failure_stamps WHERE timeline = :timeline AND seq = :seq

-- name: add_saying
INSERT INTO sayings (timeline, run, at, kind, anchor, count, call, said)
VALUES (:timeline, :run, :at, :kind, :anchor, :count, :call, :said)

-- name: sayings_of_run
SELECT anchor, kind, MAX(count) FROM sayings WHERE run = :run AND said >= :said GROUP BY anchor, kind

-- What is due to be said to the run and could not be: the event had no room for it.
-- name: owed
SELECT anchor, MAX(pk) FROM sayings WHERE run = :run AND said = -1 GROUP BY anchor ORDER BY 2

-- name: set_said
UPDATE sayings SET said = 1, at = :at WHERE run = :run AND anchor = :anchor AND said = -1

-- name: refusals_of_call
SELECT kind, count FROM sayings
WHERE anchor = :anchor AND call = :call AND kind IN ('refusal', 'override') AND said >= :said ORDER BY pk

-- name: sayings
SELECT s.at, s.kind, e.id, s.count, s.call, s.said, s.run FROM sayings s JOIN agent_timeline e ON e.pk = s.anchor
WHERE s.timeline = :timeline AND s.at >= :since ORDER BY s.pk

-- name: add_override
UPDATE anchors SET overrides = overrides + 1 WHERE entry = :entry
