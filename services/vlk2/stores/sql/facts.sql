-- What a team knows. Every row of these is written under the team's lease, but for the evidence that waits to be
-- taken in: that is written with the move of the constraint that it comes from.

-- name: facts_of_team
SELECT {fact}
FROM semantic_facts s JOIN fingerprints f ON f.pk = s.fingerprint
WHERE s.team = :team AND s.valid_to IS NULL AND s.revoked_at IS NULL ORDER BY s.last_at DESC LIMIT :most

-- name: fact_by_id
SELECT {fact}
FROM semantic_facts s JOIN fingerprints f ON f.pk = s.fingerprint WHERE s.team = :team AND s.id = :id

-- The current fact of a failure; a revoked one too.
-- name: fact_of
SELECT pk, id, repeats, pinned, revoked_at FROM semantic_facts
WHERE team = :team AND fingerprint = :fingerprint AND valid_to IS NULL

-- Every belief that a team ever held of a failure, the oldest first.
-- name: beliefs
SELECT id, valid_from, valid_to, successor, confidence, loops, repeats, successes, agents, ended, revoked_at
FROM semantic_facts WHERE team = :team AND fingerprint = :fingerprint ORDER BY pk

-- name: contradictions
SELECT s.id, c.at, c.resolution, c.resolved_at
FROM fact_contradictions c JOIN semantic_facts s ON s.pk = c.fact
WHERE s.team = :team AND s.fingerprint = :fingerprint ORDER BY c.pk

-- name: add_fact
INSERT INTO semantic_facts (id, team, fingerprint, valid_from, confidence, loops, repeats, successes, agents, ended, first_at, last_at, pinned, updated_at)
VALUES (:id, :team, :fingerprint, :at, :confidence, :loops, :repeats, :successes, :agents, :ended, :first_at, :last_at, :pinned, :now) RETURNING pk

-- name: save_fact
UPDATE semantic_facts SET confidence = :confidence, loops = :loops, repeats = :repeats, successes = :successes, agents = :agents,
  ended = :ended, first_at = :first_at, last_at = :last_at, updated_at = :now WHERE pk = :fact

-- An interval is closed and names what followed it; nothing of it is deleted.
-- name: close_fact
UPDATE semantic_facts SET valid_to = CASE WHEN valid_from > :at THEN valid_from ELSE :at END, successor = :successor, updated_at = :now WHERE pk = :fact

-- name: fact_sources
SELECT s.timeline, t.agent, s.loops, s.successes, s.ended, s.first_at, s.last_at, t.project
FROM fact_sources s JOIN timelines t ON t.pk = s.timeline WHERE s.fact = :fact ORDER BY s.timeline

-- name: save_fact_source
INSERT INTO fact_sources (fact, timeline, loops, successes, ended, first_at, last_at)
VALUES (:fact, :timeline, :loops, :successes, :ended, :first_at, :last_at)
ON CONFLICT (fact, timeline) DO UPDATE SET loops = excluded.loops, successes = excluded.successes, ended = excluded.ended,
  first_at = excluded.first_at, last_at = excluded.last_at

-- name: hand_on_sources
UPDATE fact_sources SET fact = :successor WHERE fact = :fact

-- What an admin has withdrawn stays withdrawn, whatever is learned of it later.
-- name: hand_on_revocation
UPDATE semantic_facts SET revoked_at = (SELECT o.revoked_at FROM semantic_facts o WHERE o.pk = :fact) WHERE pk = :successor

-- How often the timelines behind a fact have met its failure.
-- name: met_by_sources
SELECT COALESCE(SUM(n.count), 0) FROM failure_counts n
WHERE n.fingerprint = :fingerprint AND n.timeline IN (SELECT timeline FROM fact_sources WHERE fact = :fact)

-- name: add_contradiction
INSERT INTO fact_contradictions (fact, timeline, seq, at, resolution, resolved_at)
VALUES (:fact, :timeline, :seq, :at, :resolution, :now) ON CONFLICT (fact, timeline, seq) DO NOTHING

-- name: add_fact_evidence
INSERT INTO fact_pending (team, timeline, fingerprint, anchor, reason, ended, seq, at)
VALUES (:team, :timeline, :fingerprint, :anchor, :reason, :ended, :seq, :at)

-- name: evidence_of_timeline
SELECT {pending} FROM fact_pending p JOIN timelines t ON t.pk = p.timeline WHERE p.timeline = :timeline ORDER BY p.pk

-- name: evidence_of_failure
SELECT {pending} FROM fact_pending p JOIN timelines t ON t.pk = p.timeline
WHERE p.team = :team AND p.fingerprint = :fingerprint ORDER BY p.pk

-- Whether anything is left of a failure: an observation somewhere, or a constraint that stands.
-- name: stands_behind [sqlite]
SELECT 1 WHERE EXISTS (SELECT 1 FROM failure_counts WHERE fingerprint = :fingerprint)
  OR EXISTS (SELECT 1 FROM agent_timeline WHERE fingerprint = :fingerprint AND kind <> 'log' AND state = 'FUTURE')

-- PostgreSQL: also in other teams.
-- name: stands_behind [postgres]
SELECT 1 WHERE vlk2_stands_behind(:fingerprint)

-- name: unname_constraints
UPDATE agent_timeline SET fingerprint = NULL WHERE fingerprint = :fingerprint AND kind <> 'log' AND state <> 'FUTURE'

-- name: drop_facts_pending
DELETE FROM fact_pending WHERE fingerprint = :fingerprint

-- name: drop_facts_contradictions
DELETE FROM fact_contradictions WHERE fact IN (SELECT pk FROM semantic_facts WHERE fingerprint = :fingerprint)

-- name: drop_facts_sources
DELETE FROM fact_sources WHERE fact IN (SELECT pk FROM semantic_facts WHERE fingerprint = :fingerprint)

-- name: drop_facts
DELETE FROM semantic_facts WHERE fingerprint = :fingerprint

-- name: fingerprints_that_hold
SELECT f.pk FROM fingerprints f
WHERE f.pk IN (SELECT fingerprint FROM semantic_facts WHERE team = :team)
  AND (replace(f.symbols, :escaped, '') <> f.symbols OR replace(f.signature, :needle, '') <> f.signature)

-- name: drop_evidence
DELETE FROM fact_pending WHERE pk = :pk

-- Agents of a team under a live constraint of one transient failure: an incident where they are three.
-- name: incident
SELECT COUNT(DISTINCT t.agent), MIN(a.first_at), MAX(a.last_at)
FROM agent_timeline e JOIN anchors a ON a.entry = e.pk JOIN timelines t ON t.pk = e.timeline
WHERE e.fingerprint = :fingerprint AND e.kind <> 'log' AND e.kind = 'loop' AND t.team = :team
  AND a.expires_at IS NOT NULL AND a.last_at > :since
