-- What was met, and the window that the loop rule looks at.

-- name: add_observation
INSERT INTO observations (timeline, seq, entry, run, at, source, outcome, act, flags, pause, tool, batch, call, command, result, place, fingerprint, failing, event)
VALUES (:timeline, :seq, :entry, :run, :at, :source, :outcome, :act, :flags, :pause, :tool, :batch, :call, :command, :result, :place, :fingerprint, :failing, :event)

-- name: window
SELECT {seen}
FROM observations o
LEFT JOIN fingerprints f ON f.pk = o.fingerprint
LEFT JOIN failing_sets s ON s.pk = o.failing
WHERE o.run = :run AND o.seq <= :upto
ORDER BY o.seq DESC LIMIT :most

-- name: event_seen
SELECT o.seq, e.id FROM observations o LEFT JOIN agent_timeline e ON e.pk = o.entry
WHERE o.timeline = :timeline AND o.event = :event

-- What a hook recorded and nobody was told of yet, newest first.
-- name: untold
SELECT o.seq, o.run, e.id, f.signature, f.symbols
FROM observations o
JOIN fingerprints f ON f.pk = o.fingerprint
LEFT JOIN agent_timeline e ON e.pk = o.entry
WHERE o.timeline = :timeline AND o.seq > :after AND o.source = 'hook' AND o.at >= :since AND (o.flags & 16) = 0
ORDER BY o.seq DESC

-- name: mark_told
UPDATE observations SET flags = flags | 16 WHERE timeline = :timeline AND seq = :seq

-- name: observations_of
SELECT COUNT(*) FROM observations WHERE timeline = :timeline
