-- Who may come in: teams, agents, tokens; and the audit of what was done and refused.

-- name: teams
SELECT t.id, t.name, t.created_at, COUNT(a.pk) FROM teams t LEFT JOIN agents a ON a.team = t.pk
GROUP BY t.id, t.name, t.created_at ORDER BY t.name

-- name: agents
SELECT a.id, teams.name, a.name, a.created_at,
       (SELECT COUNT(*) FROM agent_tokens k
        WHERE k.agent = a.pk AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > :now))
FROM agents a JOIN teams ON teams.pk = a.team WHERE teams.name = :team ORDER BY a.name

-- name: new_team
INSERT INTO teams (id, name, created_at) VALUES (:id, :name, :at) ON CONFLICT (name) DO NOTHING RETURNING pk

-- name: new_agent
INSERT INTO agents (id, team, name, created_at) VALUES (:id, :team, :name, :at)
ON CONFLICT (team, name) DO NOTHING RETURNING pk

-- name: new_token
INSERT INTO agent_tokens (id, agent, hash, scope, created_at, expires_at)
VALUES (:id, :agent, :hash, :scope, :at, :expires_at)

-- name: token_by_hash
SELECT k.hash, {token}
FROM agent_tokens k JOIN agents a ON a.pk = k.agent JOIN teams ON teams.pk = a.team WHERE k.hash = :hash

-- name: tokens
SELECT {token}
FROM agent_tokens k JOIN agents a ON a.pk = k.agent JOIN teams ON teams.pk = a.team
WHERE teams.name = :team ORDER BY a.name, k.created_at, k.id

-- name: revoke_token
UPDATE agent_tokens SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL

-- name: end_token
UPDATE agent_tokens SET expires_at = :at WHERE id = :id AND (expires_at IS NULL OR expires_at > :at)

-- name: touch_token
UPDATE agent_tokens SET last_used_at = :at WHERE id = :id

-- name: add_audit
INSERT INTO audit (at, actor, team, act, subject, detail) VALUES (:at, :actor, :team, :act, :subject, :detail)

-- name: audit_of_team
SELECT at, actor, team, act, subject, detail FROM audit WHERE team = :team ORDER BY pk DESC LIMIT :most

-- name: audit_of_all
SELECT at, actor, team, act, subject, detail FROM audit ORDER BY pk DESC LIMIT :most

-- The current facts of a team, revoked ones too.
-- name: patterns
SELECT {fact}, s.revoked_at FROM semantic_facts s JOIN fingerprints f ON f.pk = s.fingerprint JOIN teams ON teams.pk = s.team
WHERE teams.name = :team AND s.valid_to IS NULL ORDER BY s.last_at DESC, s.pk DESC LIMIT :most

-- The current fact of the failure that any fact of the team, closed or not, was about.
-- name: pattern
SELECT {fact}, s.revoked_at FROM semantic_facts s JOIN fingerprints f ON f.pk = s.fingerprint JOIN teams ON teams.pk = s.team
WHERE teams.name = :team AND s.valid_to IS NULL
  AND s.fingerprint = (SELECT n.fingerprint FROM semantic_facts n WHERE n.id = :id AND n.team = teams.pk)

-- name: pattern_sources
SELECT a.name, t.project, c.loops, c.successes, c.ended, c.first_at, c.last_at
FROM fact_sources c JOIN semantic_facts s ON s.pk = c.fact JOIN timelines t ON t.pk = c.timeline JOIN agents a ON a.pk = t.agent
JOIN teams ON teams.pk = s.team WHERE teams.name = :team AND s.id = :id ORDER BY c.first_at, t.pk

-- name: revoke_pattern
UPDATE semantic_facts SET revoked_at = :at, updated_at = :now
WHERE id = :id AND team = (SELECT pk FROM teams WHERE name = :team)

-- name: pin_pattern
UPDATE semantic_facts SET pinned = :pinned, updated_at = :now
WHERE id = :id AND team = (SELECT pk FROM teams WHERE name = :team)

-- name: unlearned
SELECT f.signature, f.symbols, f.language, f.type, f.specific, f.transient FROM fingerprints f
WHERE f.pk IN (SELECT p.fingerprint FROM teams JOIN timelines t ON t.team = teams.pk JOIN fact_pending p ON p.timeline = t.pk
               WHERE teams.name = :team LIMIT :most)
