-- Contents, fingerprints and failing sets: written once, however often they come.

-- name: content_pk
SELECT pk FROM memory_contents WHERE digest = :digest

-- name: add_content
INSERT INTO memory_contents (digest, body) VALUES (:digest, :body) ON CONFLICT (digest) DO NOTHING RETURNING pk

-- name: body
SELECT body FROM memory_contents WHERE pk = :pk

-- name: excerpt
SELECT substr(body, 1, :head), CASE WHEN length(body) > :head + :tail THEN substr(body, length(body) - :tail + 1) ELSE substr(body, :head + 1) END, length(body)
FROM memory_contents WHERE pk = :pk

-- name: content_digest
SELECT digest FROM memory_contents WHERE pk = :pk

-- name: delete_content
DELETE FROM memory_contents WHERE pk = :pk

-- name: fingerprint_pk
SELECT pk FROM fingerprints WHERE signature = :signature AND symbols = :symbols

-- name: add_fingerprint
INSERT INTO fingerprints (signature, symbols, language, type, specific, transient)
VALUES (:signature, :symbols, :language, :type, :specific, :transient)
ON CONFLICT (signature, symbols) DO NOTHING RETURNING pk

-- name: failing_pk
SELECT pk FROM failing_sets WHERE digest = :digest

-- name: add_failing
INSERT INTO failing_sets (digest, members) VALUES (:digest, :members) ON CONFLICT (digest) DO NOTHING RETURNING pk
