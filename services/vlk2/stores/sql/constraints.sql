-- Constraints, their evidence, and what a key has been through.

-- name: add_anchor
INSERT INTO anchors (entry, count, shown, threshold, first_at, last_at, marks, expires_at, stamps)
VALUES (:entry, :count, :shown, :threshold, :first_at, :last_at, :marks, :expires_at, :stamps)

-- name: add_evidence
INSERT INTO evidence (anchor, entry) VALUES (:anchor, :entry) ON CONFLICT (anchor, entry) DO NOTHING

-- The second condition on the state is that of the index on the live part: without it the order is taken from the
-- whole timeline.
-- name: constraints
SELECT {entry},
       {anchor}
FROM agent_timeline e JOIN anchors a ON a.entry = e.pk LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.state = 'FUTURE' AND e.state IN ('PRESENT', 'FUTURE')
ORDER BY e.seq DESC

-- name: constraint
SELECT {entry},
       {anchor}
FROM agent_timeline e JOIN anchors a ON a.entry = e.pk LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.pk = :pk

-- The newest constraint of a fingerprint that is no longer live, and what closed it.
-- name: closed_constraint
SELECT {entry},
       {anchor}, a.closed_by
FROM agent_timeline e JOIN anchors a ON a.entry = e.pk LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.fingerprint = :fingerprint AND e.kind <> 'log' AND e.state = 'PAST'
ORDER BY e.pk DESC LIMIT 1

-- name: attempts
SELECT e.at, e.command, e.file FROM evidence v JOIN agent_timeline e ON e.pk = v.entry
WHERE v.anchor = :anchor ORDER BY v.entry DESC LIMIT :most

-- name: evidence
SELECT {seen}
FROM evidence v JOIN agent_timeline e ON e.pk = v.entry
JOIN observations o ON o.timeline = e.timeline AND o.seq = e.seq
LEFT JOIN fingerprints f ON f.pk = o.fingerprint LEFT JOIN failing_sets s ON s.pk = o.failing
WHERE v.anchor = :anchor ORDER BY v.entry DESC LIMIT :most

-- name: raise_count
UPDATE anchors SET count = :count, shown = :shown, last_at = :last_at, marks = :marks, expires_at = :expires_at WHERE entry = :entry

-- name: set_shown
UPDATE anchors SET shown = :shown WHERE entry = :entry

-- name: set_ended
UPDATE anchors SET ended = :ended WHERE entry = :entry

-- name: set_before
UPDATE anchors SET before = :before WHERE entry = :entry

-- How the newest constraint of a failure that a success ended had ended.
-- name: last_ending
SELECT a.ended FROM agent_timeline e JOIN anchors a ON a.entry = e.pk
WHERE e.timeline = :timeline AND e.fingerprint = :fingerprint AND e.kind <> 'log' AND a.closed_by = 'retired' AND a.ended IS NOT NULL
ORDER BY e.pk DESC LIMIT 1

-- name: close_anchor
UPDATE anchors SET closed_seq = :seq, closed_by = :reason WHERE entry = :entry

-- How often the constraints of a fingerprint were revoked, and when one last left FUTURE.
-- name: history
SELECT COALESCE(SUM(CASE WHEN a.closed_by = 'revoked' THEN 1 ELSE 0 END), 0), COALESCE(MAX(a.closed_seq), -1)
FROM agent_timeline e JOIN anchors a ON a.entry = e.pk
WHERE e.timeline = :timeline AND e.fingerprint = :fingerprint AND e.kind <> 'log' AND e.kind = 'loop' AND a.closed_seq IS NOT NULL

-- Constraints that still stand on an entry: it may not be forgotten before they are revoked.
-- name: cited_by
SELECT c.id FROM evidence v JOIN agent_timeline c ON c.pk = v.anchor WHERE v.entry = :entry AND c.state = 'FUTURE'

-- name: cited
SELECT 1 FROM evidence v JOIN agent_timeline c ON c.pk = v.anchor WHERE v.entry = :entry AND c.state <> 'PURGED' LIMIT 1

-- name: blank_citations
UPDATE agent_timeline SET headline = '', file = '', command = '', lesson = NULL WHERE state = 'PAST' AND pk IN (SELECT anchor FROM evidence WHERE entry = :entry)

-- name: add_snapshot
INSERT INTO snapshots (timeline, mark, path, at, body) VALUES (:timeline, :mark, :path, :at, :body)
ON CONFLICT (timeline, mark, path) DO NOTHING

-- name: drop_old_snapshots
DELETE FROM snapshots WHERE timeline = :timeline
  AND at < (SELECT MIN(newest.at) FROM (SELECT at FROM snapshots WHERE timeline = :timeline ORDER BY at DESC LIMIT :keep) newest)

-- name: snapshots
SELECT path, at, body FROM snapshots WHERE timeline = :timeline AND mark = :mark

-- name: drop_snapshots
DELETE FROM snapshots WHERE timeline = :timeline AND mark = :mark

-- name: add_fix
INSERT INTO fixes (anchor, at, kind, diff) VALUES (:anchor, :at, :kind, :diff)
ON CONFLICT (anchor) DO UPDATE SET at = excluded.at, kind = excluded.kind, diff = excluded.diff

-- name: fix
SELECT at, kind, diff FROM fixes WHERE anchor = :anchor

-- name: blank_fixes
DELETE FROM fixes WHERE anchor IN (SELECT pk FROM agent_timeline WHERE pk = :entry UNION SELECT anchor FROM evidence WHERE entry = :entry)

-- name: blank_anchor
UPDATE anchors SET ended = NULL, before = NULL, stamps = '{}' WHERE entry = :entry

-- name: blank_endings
UPDATE anchors SET ended = NULL, before = NULL WHERE entry IN (SELECT anchor FROM evidence WHERE entry = :entry)
