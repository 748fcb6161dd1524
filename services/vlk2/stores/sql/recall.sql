-- Full-text search over contents, on tokens made in the domain.

-- name: add_pending
INSERT INTO recall_pending (content) VALUES (:content) ON CONFLICT (content) DO NOTHING

-- name: pending [sqlite]
SELECT p.content, c.body FROM recall_pending p JOIN memory_contents c ON c.pk = p.content LIMIT :most

-- PostgreSQL: of two recalls at once one waits, and both find.
-- name: pending [postgres]
SELECT p.content, c.body FROM recall_pending p JOIN memory_contents c ON c.pk = p.content ORDER BY p.content LIMIT :most FOR UPDATE OF p

-- name: drop_pending
DELETE FROM recall_pending WHERE content = :content

-- name: index_content [sqlite]
INSERT INTO recall_index (rowid, tokens) VALUES (:content, :tokens)

-- name: index_content [postgres]
INSERT INTO recall_index (content, words) VALUES (:content, array_to_tsvector(string_to_array(:tokens, ' '))) ON CONFLICT DO NOTHING

-- A contentless index needs the text again to forget it.
-- name: unindex_content [sqlite]
INSERT INTO recall_index (recall_index, rowid, tokens) VALUES ('delete', :content, :tokens)

-- Deleted words stay in the index until its parts are merged.
-- name: merge_index [sqlite]
INSERT INTO recall_index (recall_index) VALUES ('optimize')

-- name: search [sqlite]
SELECT {entry}, hit.score
FROM (SELECT r.rowid AS content, -bm25(recall_index) AS score FROM recall_index r
      WHERE recall_index MATCH :query
        AND EXISTS (SELECT 1 FROM agent_timeline x WHERE x.content = r.rowid AND x.timeline = :timeline AND x.state = 'PAST')
      ORDER BY score DESC LIMIT :most) hit
JOIN agent_timeline e ON e.pk = (SELECT MAX(y.pk) FROM agent_timeline y WHERE y.content = hit.content AND y.timeline = :timeline AND y.state = 'PAST')
LEFT JOIN fingerprints f ON f.pk = e.fingerprint
ORDER BY hit.score DESC, e.seq DESC

-- PostgreSQL: the same words as a TSQUERY. They hold no quotes: the domain makes them of letters and digits.
-- name: search [postgres]
SELECT {entry}, hit.score
FROM vlk2_search(:timeline, CAST(replace(replace(:query, '"', ''''), ' OR ', ' | ') AS TSQUERY), :most) hit
JOIN agent_timeline e ON e.pk = (SELECT MAX(y.pk) FROM agent_timeline y WHERE y.content = hit.content AND y.timeline = :timeline AND y.state = 'PAST')
LEFT JOIN fingerprints f ON f.pk = e.fingerprint
ORDER BY hit.score DESC, e.seq DESC

-- name: scan
SELECT {entry}, c.body
FROM agent_timeline e JOIN memory_contents c ON c.pk = e.content LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.state = 'PAST' ORDER BY e.seq DESC LIMIT :most

-- name: closed_constraints
SELECT {entry}
FROM agent_timeline e LEFT JOIN fingerprints f ON f.pk = e.fingerprint
WHERE e.timeline = :timeline AND e.kind <> 'log' AND e.state = 'PAST' ORDER BY e.pk DESC LIMIT :most
