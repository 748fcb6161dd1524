-- The whole memory. Times are microseconds UTC, enums and lists are TEXT (lists as JSON).
-- Integer keys join inside one store; every `id` that leaves the store is TEXT and minted once.

CREATE TABLE store_meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- identity ------------------------------------------------------------------------------------------

CREATE TABLE teams (
  pk         INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
);

CREATE TABLE agents (
  pk         INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  team       INTEGER NOT NULL REFERENCES teams (pk),
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (team, name)
);

CREATE TABLE agent_tokens (
  pk           INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  agent        INTEGER NOT NULL REFERENCES agents (pk),
  hash         TEXT NOT NULL UNIQUE,
  scope        TEXT NOT NULL CHECK (scope IN ('agent', 'admin')),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER
);
CREATE INDEX agent_tokens_agent ON agent_tokens (agent);

-- Append-only: every administrative act and every refusal, in names and never in keys, so that it outlives both.
CREATE TABLE audit (
  pk      INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  actor   TEXT NOT NULL,
  team    TEXT NOT NULL,
  act     TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail  TEXT NOT NULL
);
CREATE INDEX audit_team ON audit (team, pk);

-- One row per (team, agent, project): the row that a writing transaction locks, and the unit of the cycle.
CREATE TABLE timelines (
  pk          INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  team        INTEGER NOT NULL REFERENCES teams (pk),
  agent       INTEGER NOT NULL REFERENCES agents (pk),
  project     TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  next_seq    INTEGER NOT NULL DEFAULT 1,
  token_sum   INTEGER NOT NULL DEFAULT 0,
  due_at      INTEGER,
  lease_owner TEXT,
  lease_until INTEGER,
  version     INTEGER NOT NULL DEFAULT 0,
  failures    INTEGER NOT NULL DEFAULT 0,
  parked_at   INTEGER,
  UNIQUE (team, agent, project)
);
CREATE INDEX timelines_due ON timelines (due_at) WHERE due_at IS NOT NULL AND parked_at IS NULL;
CREATE INDEX timelines_leased ON timelines (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX timelines_failed ON timelines (failures) WHERE failures > 0;
CREATE INDEX timelines_parked ON timelines (parked_at) WHERE parked_at IS NOT NULL;

CREATE TABLE runs (
  pk         INTEGER PRIMARY KEY,
  timeline   INTEGER NOT NULL REFERENCES timelines (pk),
  client     TEXT NOT NULL,
  session    TEXT NOT NULL,
  subagent   TEXT NOT NULL,
  worktree   TEXT NOT NULL,
  follows    INTEGER REFERENCES runs (pk),
  started_at INTEGER NOT NULL,
  last_at    INTEGER NOT NULL,
  ended_at   INTEGER,
  prompted_at INTEGER,
  quiet_at   INTEGER,
  UNIQUE (timeline, client, session, subagent, worktree)
);
CREATE INDEX runs_worktree ON runs (timeline, worktree, last_at);

-- what was met --------------------------------------------------------------------------------------

CREATE TABLE memory_contents (
  pk     INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  body   TEXT NOT NULL
);

-- A fingerprint is written once, however often it comes.
CREATE TABLE fingerprints (
  pk        INTEGER PRIMARY KEY,
  signature TEXT NOT NULL,
  symbols   TEXT NOT NULL,
  language  TEXT NOT NULL,
  type      TEXT NOT NULL,
  specific  INTEGER NOT NULL,
  transient INTEGER NOT NULL,
  UNIQUE (signature, symbols)
);

-- A failing set likewise: it depends on the output alone.
CREATE TABLE failing_sets (
  pk      INTEGER PRIMARY KEY,
  digest  TEXT NOT NULL UNIQUE,
  members TEXT NOT NULL
);

-- No foreign key on `fingerprint` here and in observations: dropping one would look through every row. What was
-- met is counted in failure_counts, whose key holds it.
CREATE TABLE agent_timeline (
  pk          INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  timeline    INTEGER NOT NULL REFERENCES timelines (pk),
  seq         INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  run         INTEGER NOT NULL REFERENCES runs (pk),
  kind        TEXT NOT NULL CHECK (kind IN ('log', 'loop', 'lesson')),
  state       TEXT NOT NULL CHECK (state IN ('PRESENT', 'PAST', 'FUTURE', 'PURGED')),
  content     INTEGER REFERENCES memory_contents (pk),
  fingerprint INTEGER,
  outcome     TEXT NOT NULL,
  headline    TEXT NOT NULL,
  file        TEXT NOT NULL,
  command     TEXT NOT NULL,
  tokens      INTEGER NOT NULL,
  counted     INTEGER NOT NULL,
  pinned      INTEGER NOT NULL DEFAULT 0,
  lesson      TEXT,
  CHECK ((kind = 'log') OR (content IS NULL))
);
-- The live part of a timeline, and nothing else, is what a context costs.
CREATE INDEX agent_timeline_live ON agent_timeline (timeline, state, seq) WHERE state IN ('PRESENT', 'FUTURE');
-- Listing what was archived.
CREATE INDEX agent_timeline_seq ON agent_timeline (timeline, seq);
-- What is purged and still holds its text: an entry without words costs nothing.
CREATE INDEX agent_timeline_purged ON agent_timeline (timeline) WHERE state = 'PURGED' AND tokens > 0;
CREATE UNIQUE INDEX agent_timeline_one_future ON agent_timeline (timeline, fingerprint) WHERE state = 'FUTURE';
CREATE INDEX agent_timeline_content ON agent_timeline (content, timeline) WHERE content IS NOT NULL;
CREATE INDEX agent_timeline_constraints ON agent_timeline (timeline, fingerprint) WHERE kind <> 'log';
CREATE INDEX agent_timeline_shared ON agent_timeline (fingerprint) WHERE kind <> 'log';

-- What a constraint knows beside its entry. `shown` is the count at which it was last shown; `closed_seq` is
-- the newest observation when it left FUTURE: evidence for its failure counts anew after that. `ended` is what
-- contradicted it, `before` how an earlier constraint of the same failure had ended.
CREATE TABLE anchors (
  entry      INTEGER PRIMARY KEY REFERENCES agent_timeline (pk),
  count      INTEGER NOT NULL,
  shown      INTEGER NOT NULL,
  threshold  INTEGER NOT NULL,
  first_at   INTEGER NOT NULL,
  last_at    INTEGER NOT NULL,
  marks      TEXT NOT NULL,
  expires_at INTEGER,
  stamps     TEXT NOT NULL,
  overrides  INTEGER NOT NULL DEFAULT 0,
  ended      TEXT,
  before     TEXT,
  closed_seq INTEGER,
  closed_by  TEXT
);
CREATE TABLE evidence (
  anchor INTEGER NOT NULL REFERENCES agent_timeline (pk),
  entry  INTEGER NOT NULL REFERENCES agent_timeline (pk),
  PRIMARY KEY (anchor, entry)
) WITHOUT ROWID;
CREATE INDEX evidence_entry ON evidence (entry);

-- How often a failure was met in a timeline.
CREATE TABLE failure_counts (
  timeline    INTEGER NOT NULL REFERENCES timelines (pk),
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (pk),
  count       INTEGER NOT NULL,
  first_at    INTEGER NOT NULL,
  last_at     INTEGER NOT NULL,
  PRIMARY KEY (timeline, fingerprint)
) WITHOUT ROWID;

CREATE INDEX failure_counts_fingerprint ON failure_counts (fingerprint);

-- The files that a failing command (`mark`) was about, as they were before anything was tried: masked, few,
-- gone when the command succeeds. `fixes` is what had changed when a loop ended. Neither is ever shared.
CREATE TABLE snapshots (
  timeline INTEGER NOT NULL REFERENCES timelines (pk),
  mark     TEXT NOT NULL,
  path     TEXT NOT NULL,
  at       INTEGER NOT NULL,
  body     TEXT NOT NULL,
  PRIMARY KEY (timeline, mark, path)
);
CREATE TABLE fixes (
  anchor INTEGER PRIMARY KEY REFERENCES agent_timeline (pk),
  at     INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  diff   TEXT NOT NULL
);

CREATE TABLE observations (
  timeline    INTEGER NOT NULL REFERENCES timelines (pk),
  seq         INTEGER NOT NULL,
  entry       INTEGER REFERENCES agent_timeline (pk),
  run         INTEGER NOT NULL REFERENCES runs (pk),
  at          INTEGER NOT NULL,
  source      TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  act         TEXT NOT NULL,
  flags       INTEGER NOT NULL,
  pause       INTEGER NOT NULL DEFAULT 0,
  tool        TEXT NOT NULL,
  batch       TEXT NOT NULL,
  call        TEXT NOT NULL,
  command     TEXT NOT NULL,
  result      TEXT NOT NULL,
  place       TEXT NOT NULL,
  fingerprint INTEGER,
  failing     INTEGER REFERENCES failing_sets (pk),
  event       TEXT,
  PRIMARY KEY (timeline, seq)
) WITHOUT ROWID;
CREATE INDEX observations_run ON observations (run, seq);
CREATE INDEX observations_failing ON observations (failing) WHERE failing IS NOT NULL;
CREATE UNIQUE INDEX observations_event ON observations (timeline, event) WHERE event IS NOT NULL;

-- what hooks remember between two events -------------------------------------------------------------

-- Calls that have begun and not ended. `runs.quiet_at` is when the run last had a result or a prompt.
CREATE TABLE calls (
  run        INTEGER NOT NULL REFERENCES runs (pk),
  use        TEXT NOT NULL,
  batch      TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (run, use)
) WITHOUT ROWID;

-- A digest of the files that a failure names, HEAD, index and lockfiles, as they were when it was met.
CREATE TABLE failure_stamps (
  timeline INTEGER NOT NULL REFERENCES timelines (pk),
  seq      INTEGER NOT NULL,
  stamp    TEXT NOT NULL,
  PRIMARY KEY (timeline, seq)
) WITHOUT ROWID;

-- What was put in front of an agent, or (`said` 0: it only observes) would have been.
CREATE TABLE sayings (
  pk       INTEGER PRIMARY KEY,
  timeline INTEGER NOT NULL REFERENCES timelines (pk),
  run      INTEGER NOT NULL REFERENCES runs (pk),
  at       INTEGER NOT NULL,
  kind     TEXT NOT NULL CHECK (kind IN ('context', 'advice', 'refusal', 'start', 'override')),
  anchor   INTEGER NOT NULL REFERENCES agent_timeline (pk),
  count    INTEGER NOT NULL,
  call     TEXT NOT NULL,
  said     INTEGER NOT NULL
);
CREATE INDEX sayings_run ON sayings (run);
CREATE INDEX sayings_anchor ON sayings (anchor);
CREATE INDEX sayings_timeline ON sayings (timeline, at);

-- how it lives --------------------------------------------------------------------------------------

-- Importance and its parts in ten-thousandths: an integer of two bytes each.
CREATE TABLE memory_metadata (
  entry        INTEGER PRIMARY KEY REFERENCES agent_timeline (pk),
  timeline     INTEGER NOT NULL,
  recency      INTEGER NOT NULL,
  frequency    INTEGER NOT NULL,
  connectivity INTEGER NOT NULL,
  use          INTEGER NOT NULL,
  outcome      INTEGER NOT NULL,
  importance   INTEGER NOT NULL,
  uses         INTEGER NOT NULL DEFAULT 0,
  shows        INTEGER NOT NULL DEFAULT 0,
  used_at      INTEGER,
  scored_at    INTEGER NOT NULL,
  review_at    INTEGER
);
CREATE INDEX memory_metadata_review ON memory_metadata (timeline, review_at) WHERE review_at IS NOT NULL;

-- Append-only.
CREATE TABLE transitions (
  pk         INTEGER PRIMARY KEY,
  timeline   INTEGER NOT NULL,
  entry      INTEGER NOT NULL REFERENCES agent_timeline (pk),
  from_state TEXT NOT NULL,
  to_state   TEXT NOT NULL,
  reason     TEXT NOT NULL,
  detail     TEXT NOT NULL DEFAULT '',
  actor      TEXT NOT NULL,
  at         INTEGER NOT NULL
);
CREATE INDEX transitions_entry ON transitions (entry);

-- What moved since the last cycle of its timeline.
CREATE TABLE cycle_pending (
  timeline INTEGER NOT NULL REFERENCES timelines (pk),
  entry    INTEGER NOT NULL REFERENCES agent_timeline (pk),
  PRIMARY KEY (timeline, entry)
) WITHOUT ROWID;

CREATE TABLE tombstones (
  pk        INTEGER PRIMARY KEY,
  entry     TEXT NOT NULL,
  timeline  INTEGER NOT NULL,
  digest    TEXT NOT NULL,
  signature TEXT NOT NULL,
  reason    TEXT NOT NULL,
  at        INTEGER NOT NULL
);
CREATE INDEX tombstones_entry ON tombstones (entry);
CREATE INDEX tombstones_timeline ON tombstones (timeline, at);

CREATE TABLE cycles (
  pk         INTEGER PRIMARY KEY,
  timeline   INTEGER NOT NULL REFERENCES timelines (pk),
  owner      TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  scanned    INTEGER NOT NULL,
  evaluated  INTEGER NOT NULL,
  archived   INTEGER NOT NULL,
  forgotten  INTEGER NOT NULL,
  tokens     INTEGER NOT NULL,
  moved      TEXT NOT NULL
);
CREATE INDEX cycles_timeline ON cycles (timeline, pk);

CREATE TABLE leases (
  name    TEXT PRIMARY KEY,
  owner   TEXT NOT NULL,
  until   INTEGER NOT NULL,
  version INTEGER NOT NULL
) WITHOUT ROWID;

-- what a team knows ---------------------------------------------------------------------------------

CREATE TABLE semantic_facts (
  pk          INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  team        INTEGER NOT NULL REFERENCES teams (pk),
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (pk),
  valid_from  INTEGER NOT NULL,
  valid_to    INTEGER,
  successor   TEXT,
  confidence  REAL NOT NULL,
  loops       INTEGER NOT NULL,
  repeats     INTEGER NOT NULL,
  successes   INTEGER NOT NULL,
  agents      INTEGER NOT NULL,
  ended       TEXT NOT NULL,
  first_at    INTEGER NOT NULL,
  last_at     INTEGER NOT NULL,
  pinned      INTEGER NOT NULL DEFAULT 0,
  revoked_at  INTEGER,
  updated_at  INTEGER NOT NULL
);
CREATE INDEX semantic_facts_fingerprint ON semantic_facts (fingerprint);
CREATE UNIQUE INDEX semantic_facts_current ON semantic_facts (team, fingerprint) WHERE valid_to IS NULL;
CREATE INDEX semantic_facts_recent ON semantic_facts (team, last_at) WHERE valid_to IS NULL AND revoked_at IS NULL;

-- Which timelines stand behind a fact: its evidence, counted once each.
CREATE TABLE fact_sources (
  fact      INTEGER NOT NULL REFERENCES semantic_facts (pk),
  timeline  INTEGER NOT NULL REFERENCES timelines (pk),
  loops     INTEGER NOT NULL,
  successes INTEGER NOT NULL,
  ended     TEXT NOT NULL,
  first_at  INTEGER NOT NULL,
  last_at   INTEGER NOT NULL,
  PRIMARY KEY (fact, timeline)
) WITHOUT ROWID;

-- What timelines have learned for and against a failure that no fact holds yet: written by recording, taken in
-- (and deleted) by the cycle, or by the recall that is about to show the fact.
CREATE TABLE fact_pending (
  pk          INTEGER PRIMARY KEY,
  team        INTEGER NOT NULL REFERENCES teams (pk),
  timeline    INTEGER NOT NULL REFERENCES timelines (pk),
  fingerprint INTEGER NOT NULL REFERENCES fingerprints (pk),
  anchor      INTEGER NOT NULL REFERENCES agent_timeline (pk),
  reason      TEXT NOT NULL CHECK (reason IN ('loop', 'retired', 'revoked')),
  ended       TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  at          INTEGER NOT NULL
);
CREATE INDEX fact_pending_failure ON fact_pending (fingerprint, team);
CREATE INDEX fact_pending_timeline ON fact_pending (timeline);

CREATE TABLE fact_contradictions (
  pk          INTEGER PRIMARY KEY,
  fact        INTEGER NOT NULL REFERENCES semantic_facts (pk),
  timeline    INTEGER NOT NULL REFERENCES timelines (pk),
  seq         INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  resolution  TEXT,
  resolved_at INTEGER,
  UNIQUE (fact, timeline, seq)
);

-- search --------------------------------------------------------------------------------------------

-- Contents that the search index has not taken in yet: recording never waits for it.
CREATE TABLE recall_pending (
  content INTEGER PRIMARY KEY
);
