-- Teams, agents, timelines, runs.

-- name: team_pk
SELECT pk FROM teams WHERE name = :name

-- name: add_team
INSERT INTO teams (id, name, created_at) VALUES (:id, :name, :at) ON CONFLICT (name) DO NOTHING

-- name: agent_pk
SELECT pk FROM agents WHERE team = :team AND name = :name

-- name: add_agent
INSERT INTO agents (id, team, name, created_at) VALUES (:id, :team, :name, :at) ON CONFLICT (team, name) DO NOTHING

-- name: timeline_pk
SELECT t.pk FROM timelines t
JOIN teams ON teams.pk = t.team
JOIN agents ON agents.pk = t.agent
WHERE teams.name = :team AND agents.name = :agent AND t.project = :project

-- name: add_timeline
INSERT INTO timelines (id, team, agent, project, created_at) VALUES (:id, :team, :agent, :project, :at)
ON CONFLICT (team, agent, project) DO NOTHING

-- The row that a writing transaction locks: SQLite has locked the file already (BEGIN IMMEDIATE).
-- name: lock_timeline [sqlite]
SELECT {timeline}
FROM timelines t JOIN teams ON teams.pk = t.team JOIN agents ON agents.pk = t.agent
WHERE t.pk = :pk

-- PostgreSQL locks this row alone, for the length of the transaction.
-- name: lock_timeline [postgres]
SELECT {timeline}
FROM timelines t JOIN teams ON teams.pk = t.team JOIN agents ON agents.pk = t.agent
WHERE t.pk = :pk FOR UPDATE OF t

-- name: read_timeline
SELECT {timeline}
FROM timelines t JOIN teams ON teams.pk = t.team JOIN agents ON agents.pk = t.agent
WHERE t.pk = :pk

-- name: timeline_pk_by_id
SELECT pk FROM timelines WHERE id = :id

-- name: owner_of
SELECT teams.name, agents.name, t.project FROM timelines t
JOIN teams ON teams.pk = t.team JOIN agents ON agents.pk = t.agent WHERE t.id = :id

-- name: save_timeline
UPDATE timelines SET next_seq = :next_seq, token_sum = :token_sum, due_at = :due_at WHERE pk = :pk

-- name: timelines_of_team
SELECT t.id, teams.name, agents.name, t.project, t.token_sum
FROM timelines t JOIN teams ON teams.pk = t.team JOIN agents ON agents.pk = t.agent
WHERE teams.name = :team ORDER BY agents.name, t.project

-- name: run
SELECT pk, last_at, ended_at FROM runs
WHERE timeline = :timeline AND client = :client AND session = :session AND subagent = :subagent AND worktree = :worktree

-- name: add_run
INSERT INTO runs (timeline, client, session, subagent, worktree, follows, started_at, last_at)
VALUES (:timeline, :client, :session, :subagent, :worktree, :follows, :at, :at) RETURNING pk

-- name: touch_run
UPDATE runs SET last_at = :at, ended_at = NULL WHERE pk = :pk

-- name: end_run
UPDATE runs SET ended_at = :at WHERE pk = :pk AND ended_at IS NULL

-- The newest run of the worktree that had ended before this one began.
-- name: run_before
SELECT pk FROM runs
WHERE timeline = :timeline AND worktree = :worktree AND subagent = :subagent AND session <> ''
  AND (ended_at <= :at OR (ended_at IS NULL AND last_at <= :silent_since))
ORDER BY last_at DESC LIMIT 1

-- name: run_follows
SELECT follows FROM runs WHERE pk = :pk
