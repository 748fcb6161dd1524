-- Entries, their states and their audit trail.

-- name: add_entry
INSERT INTO agent_timeline (id, timeline, seq, at, run, kind, state, content, fingerprint, outcome, headline, file, command, tokens, counted, lesson)
VALUES (:id, :timeline, :seq, :at, :run, :kind, :state, :content, :fingerprint, :outcome, :headline, :file, :command, :tokens, :counted, :lesson)
RETURNING pk

-- name: entry
SELECT {entry}
FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.id = :id AND e.timeline = :timeline

-- name: entry_of_seq
SELECT {entry}
FROM observations o JOIN agent_timeline e ON e.pk = o.entry LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE o.timeline = :timeline AND o.seq = :seq

-- name: entries_live
SELECT {entry}
FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.state = :state AND e.state IN ('PRESENT', 'FUTURE') AND e.seq < :before
ORDER BY e.seq DESC LIMIT :most

-- name: entries_archived
SELECT {entry}
FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.state = :state AND e.seq < :before
ORDER BY e.seq DESC LIMIT :most

-- name: entries_of_content
SELECT {entry}
FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.content = :content AND e.timeline = :timeline

-- name: set_state
UPDATE agent_timeline SET state = :state WHERE pk = :pk

-- name: set_pinned
UPDATE agent_timeline SET pinned = :pinned WHERE pk = :pk

-- name: set_tokens
UPDATE agent_timeline SET tokens = :tokens, counted = :counted WHERE pk = :pk

-- name: pinned_tokens
SELECT tokens FROM agent_timeline
WHERE timeline = :timeline AND state IN ('PRESENT', 'FUTURE') AND pinned = 1

-- name: uncounted
SELECT {entry}
FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.state IN ('PRESENT', 'FUTURE') AND e.counted = 0

-- name: count_states
SELECT state, COUNT(*) FROM agent_timeline WHERE timeline = :timeline GROUP BY state

-- name: count_live
SELECT COUNT(*) FROM agent_timeline
WHERE timeline = :timeline AND state = :state AND state IN ('PRESENT', 'FUTURE')

-- name: live_tokens
SELECT COALESCE(SUM(tokens), 0) FROM agent_timeline WHERE timeline = :timeline AND state IN ('PRESENT', 'FUTURE')

-- name: add_transition
INSERT INTO transitions (timeline, entry, from_state, to_state, reason, detail, actor, at)
VALUES (:timeline, :entry, :from_state, :to_state, :reason, :detail, :actor, :at)

-- name: moves
SELECT from_state, to_state, reason, detail, actor, at FROM transitions WHERE entry = :entry ORDER BY pk

-- PostgreSQL: likewise, and a writer that has just found the text ends before the answer.
-- name: held_elsewhere [postgres]
SELECT 1 WHERE vlk2_held_elsewhere(:content, :timeline)

-- name: held_elsewhere [sqlite]
SELECT 1 FROM agent_timeline WHERE content = :content AND timeline <> :timeline LIMIT 1

-- name: still_held
SELECT 1 FROM agent_timeline WHERE content = :content LIMIT 1

-- name: drop_text
UPDATE agent_timeline SET content = NULL WHERE pk = :pk

-- name: names_of
SELECT e.fingerprint, o.failing FROM agent_timeline e
LEFT JOIN observations o ON o.timeline = e.timeline AND o.seq = e.seq AND o.entry = e.pk WHERE e.pk = :entry

-- name: entries_with_words
SELECT {entry} FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND (e.tokens > 0 OR e.state <> 'PURGED')

-- A text is in another where taking it out makes a difference: the same in every dialect, and no wildcard counts.
-- name: entries_that_hold
SELECT {entry} FROM agent_timeline e
LEFT JOIN fingerprints f ON f.pk = e.fingerprint
LEFT JOIN memory_contents c ON c.pk = e.content
LEFT JOIN observations o ON o.timeline = e.timeline AND o.seq = e.seq AND o.entry = e.pk
LEFT JOIN failing_sets s ON s.pk = o.failing
LEFT JOIN anchors a ON a.entry = e.pk
LEFT JOIN fixes x ON x.anchor = e.pk
WHERE e.timeline = :timeline AND (
  replace(c.body, :needle, '') <> c.body OR replace(e.headline, :needle, '') <> e.headline
  OR replace(e.file, :needle, '') <> e.file OR replace(e.command, :needle, '') <> e.command
  OR replace(e.lesson, :needle, '') <> e.lesson OR replace(f.symbols, :escaped, '') <> f.symbols
  OR replace(f.signature, :needle, '') <> f.signature OR replace(s.members, :escaped, '') <> s.members
  OR replace(o.tool, :needle, '') <> o.tool OR replace(o.place, :needle, '') <> o.place
  OR replace(a.ended, :escaped, '') <> a.ended OR replace(a.before, :escaped, '') <> a.before
  OR replace(a.stamps, :escaped, '') <> a.stamps OR replace(x.diff, :needle, '') <> x.diff)

-- name: evidence_entries
SELECT {entry} FROM evidence v JOIN agent_timeline e ON e.pk = v.entry LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE v.anchor = :anchor ORDER BY e.seq

-- name: tombstones
SELECT signature, reason, at FROM tombstones WHERE entry = :entry AND timeline = :timeline ORDER BY pk

-- name: resting_on
SELECT {entry} FROM evidence v JOIN agent_timeline e ON e.pk = v.anchor LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE v.entry = :entry

-- name: blank_places
UPDATE observations SET tool = '', place = '' WHERE timeline = :timeline

-- name: blank_places_that_hold
UPDATE observations SET tool = '', place = '' WHERE timeline = :timeline
  AND (replace(tool, :needle, '') <> tool OR replace(place, :needle, '') <> place)

-- name: blank_details_that_hold
UPDATE transitions SET detail = '' WHERE timeline = :timeline AND replace(detail, :needle, '') <> detail

-- name: drop_all_snapshots
DELETE FROM snapshots WHERE timeline = :timeline

-- name: drop_snapshots_that_hold
DELETE FROM snapshots WHERE timeline = :timeline AND (replace(body, :needle, '') <> body OR replace(path, :needle, '') <> path)

-- name: blank_graves_that_hold [sqlite]
UPDATE tombstones SET reason = '', signature = '' WHERE timeline = :timeline
  AND (replace(reason, :needle, '') <> reason OR replace(signature, :needle, '') <> signature)

-- PostgreSQL: tombstones are append-only for a team, but for the words that are erased.
-- name: blank_graves_that_hold [postgres]
SELECT vlk2_blank_graves(:timeline, :needle)

-- name: blank_entry
UPDATE agent_timeline SET content = NULL, headline = '', file = '', command = '', lesson = NULL, fingerprint = NULL, pinned = 0, tokens = 0 WHERE pk = :pk

-- name: blank_observation
UPDATE observations SET tool = '', place = '', fingerprint = NULL, failing = NULL WHERE timeline = :timeline AND seq = :seq

-- What an agent wrote about the entry, and about archived constraints on it; why it was forgotten stays.
-- name: blank_details
UPDATE transitions SET detail = '' WHERE detail <> '' AND to_state <> 'PURGED'
  AND entry IN (SELECT pk FROM agent_timeline WHERE pk = :entry
                UNION SELECT v.anchor FROM evidence v JOIN agent_timeline c ON c.pk = v.anchor WHERE v.entry = :entry AND c.state = 'PAST')

-- name: add_tombstone
INSERT INTO tombstones (entry, timeline, digest, signature, reason, at) VALUES (:entry, :timeline, :digest, :signature, :reason, :at)
