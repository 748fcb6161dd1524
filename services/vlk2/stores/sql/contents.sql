-- Contents, fingerprints and failing sets: written once, however often they come.

-- name: content_pk [sqlite]
SELECT pk FROM memory_contents WHERE digest = :digest

-- PostgreSQL: another team's text is not visible, and still stored once.
-- name: content_pk [postgres]
SELECT vlk2_content(:digest)

-- name: add_content [postgres]
SELECT vlk2_add_content(:digest, :body)

-- name: add_content [sqlite]
INSERT INTO memory_contents (digest, body) VALUES (:digest, :body) ON CONFLICT (digest) DO NOTHING RETURNING pk

-- name: body
SELECT body FROM memory_contents WHERE pk = :pk

-- name: excerpt
SELECT substr(body, 1, CAST(:head AS INTEGER)),
       CASE WHEN length(body) > :head + :tail THEN substr(body, CAST(length(body) - :tail + 1 AS INTEGER)) ELSE substr(body, CAST(:head + 1 AS INTEGER)) END,
       length(body)
FROM memory_contents WHERE pk = :pk

-- name: excerpts [sqlite]
SELECT pk, substr(body, 1, CAST(:head AS INTEGER)),
       CASE WHEN length(body) > :head + :tail THEN substr(body, CAST(length(body) - :tail + 1 AS INTEGER)) ELSE substr(body, CAST(:head + 1 AS INTEGER)) END,
       length(body)
FROM memory_contents WHERE pk IN (SELECT r.value FROM json_each(:contents) r)

-- PostgreSQL: it has another function for the list.
-- name: excerpts [postgres]
SELECT pk, substr(body, 1, CAST(:head AS INTEGER)),
       CASE WHEN length(body) > :head + :tail THEN substr(body, CAST(length(body) - :tail + 1 AS INTEGER)) ELSE substr(body, CAST(:head + 1 AS INTEGER)) END,
       length(body)
FROM memory_contents WHERE pk IN (SELECT CAST(r.value AS BIGINT) FROM json_array_elements_text(CAST(:contents AS json)) r)

-- name: content_digest
SELECT digest FROM memory_contents WHERE pk = :pk

-- name: delete_content [sqlite]
DELETE FROM memory_contents WHERE pk = :pk

-- PostgreSQL: what erases takes the text first and then what names it, in the order of what records.
-- name: lock_content [postgres]
SELECT vlk2_lock_content(:pk)

-- PostgreSQL: the rows that still hold it may be another team's.
-- name: erase_content [postgres]
SELECT vlk2_erase_content(:pk)

-- name: fingerprint_pk
SELECT pk FROM fingerprints WHERE signature = :signature AND symbols = :symbols

-- The key of a failure that is about to be written of.
-- name: fingerprint_key [sqlite]
SELECT pk FROM fingerprints WHERE signature = :signature AND symbols = :symbols

-- PostgreSQL: it stays until this transaction ends.
-- name: fingerprint_key [postgres]
SELECT vlk2_fingerprint(:signature, :symbols)

-- name: fingerprint_by_pk
SELECT signature, symbols, language, type, specific, transient FROM fingerprints WHERE pk = :pk

-- Written once and shared, so dropped only where nothing names them any more.
-- name: drop_fingerprint [sqlite]
DELETE FROM fingerprints WHERE pk = :pk
  AND NOT EXISTS (SELECT 1 FROM failure_counts WHERE fingerprint = :pk)
  AND NOT EXISTS (SELECT 1 FROM agent_timeline WHERE fingerprint = :pk AND kind <> 'log')
  AND NOT EXISTS (SELECT 1 FROM semantic_facts WHERE fingerprint = :pk)
  AND NOT EXISTS (SELECT 1 FROM fact_pending WHERE fingerprint = :pk)
RETURNING pk

-- name: drop_failing [sqlite]
DELETE FROM failing_sets WHERE pk = :pk AND NOT EXISTS (SELECT 1 FROM observations WHERE failing = :pk) RETURNING pk

-- PostgreSQL: what names them may be another team's.
-- name: drop_fingerprint [postgres]
SELECT vlk2_drop_fingerprint(:pk)

-- name: drop_failing [postgres]
SELECT vlk2_drop_failing(:pk)

-- name: add_fingerprint
INSERT INTO fingerprints (signature, symbols, language, type, specific, transient)
VALUES (:signature, :symbols, :language, :type, :specific, :transient)
ON CONFLICT (signature, symbols) DO NOTHING RETURNING pk

-- name: failing_pk [sqlite]
SELECT pk FROM failing_sets WHERE digest = :digest

-- PostgreSQL: as for fingerprint_key.
-- name: failing_pk [postgres]
SELECT vlk2_failing(:digest)

-- name: add_failing
INSERT INTO failing_sets (digest, members) VALUES (:digest, :members) ON CONFLICT (digest) DO NOTHING RETURNING pk
