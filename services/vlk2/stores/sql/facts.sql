-- What a team knows. Every row of these is written under the team's lease.

-- name: facts_by_signature
SELECT {fact}
FROM semantic_facts s JOIN fingerprints f ON f.pk = s.fingerprint
WHERE s.team = :team AND s.valid_to IS NULL AND s.revoked_at IS NULL AND f.signature = :signature AND f.symbols = :symbols

-- name: facts_of_team
SELECT {fact}
FROM semantic_facts s JOIN fingerprints f ON f.pk = s.fingerprint
WHERE s.team = :team AND s.valid_to IS NULL AND s.revoked_at IS NULL ORDER BY s.last_at DESC LIMIT :most

-- name: fact_pk
SELECT pk FROM semantic_facts WHERE team = :team AND fingerprint = :fingerprint AND valid_to IS NULL

-- name: add_fact
INSERT INTO semantic_facts (id, team, fingerprint, valid_from, confidence, loops, repeats, successes, agents, ended, first_at, last_at, updated_at)
VALUES (:id, :team, :fingerprint, :at, :confidence, 0, 0, 0, 0, '', :at, :at, :at) RETURNING pk

-- name: fact_source
SELECT loops, repeats, successes, first_at, last_at FROM fact_sources WHERE fact = :fact AND timeline = :timeline

-- name: save_fact_source
INSERT INTO fact_sources (fact, timeline, loops, repeats, successes, first_at, last_at)
VALUES (:fact, :timeline, :loops, :repeats, :successes, :first_at, :last_at)
ON CONFLICT (fact, timeline) DO UPDATE SET loops = excluded.loops, repeats = excluded.repeats, successes = excluded.successes,
  first_at = excluded.first_at, last_at = excluded.last_at

-- name: fact_sums
SELECT COALESCE(SUM(s.loops), 0), COALESCE(SUM(s.repeats), 0), COALESCE(SUM(s.successes), 0), COUNT(DISTINCT t.agent), MIN(s.first_at), MAX(s.last_at)
FROM fact_sources s JOIN timelines t ON t.pk = s.timeline WHERE s.fact = :fact

-- name: save_fact
UPDATE semantic_facts SET confidence = :confidence, loops = :loops, repeats = :repeats, successes = :successes, agents = :agents,
  first_at = :first_at, last_at = :last_at, updated_at = :at WHERE pk = :fact

-- name: add_contradiction
INSERT INTO fact_contradictions (fact, timeline, seq, at) VALUES (:fact, :timeline, :seq, :at) ON CONFLICT (fact, timeline, seq) DO NOTHING

-- name: resolve_contradictions
UPDATE fact_contradictions SET resolution = :resolution, resolved_at = :at WHERE fact = :fact AND resolved_at IS NULL
