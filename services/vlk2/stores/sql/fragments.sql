-- Column lists that several queries share; `{name}` in a query stands for one of these.

-- fragment: timeline
t.pk, t.id, t.team, t.agent, teams.name, agents.name, t.project, t.next_seq, t.token_sum, t.due_at, t.lease_owner, t.version

-- fragment: entry
e.pk, e.id, e.seq, e.at, e.run, e.kind, e.state, e.content, f.signature, f.symbols, f.language, f.type, f.specific, f.transient,
       e.outcome, e.headline, e.file, e.command, e.tokens, e.counted, e.pinned, e.lesson

-- fragment: anchor
a.count, a.shown, a.threshold, a.first_at, a.last_at, a.marks, a.expires_at, a.stamps, a.overrides, a.ended, a.before

-- fragment: fact
s.id, f.signature, f.symbols, f.language, f.type, f.specific, f.transient, s.confidence, s.loops, s.repeats, s.successes, s.agents,
       s.ended, s.first_at, s.last_at, s.pinned

-- fragment: pending
p.pk, p.timeline, t.agent, p.fingerprint, p.anchor, p.reason, p.ended, p.seq, p.at, t.project

-- fragment: token
k.id, teams.name, a.name, k.scope, k.created_at, k.expires_at, k.revoked_at, k.last_used_at

-- fragment: seen
o.seq, o.at, o.run, o.outcome, o.act, o.flags, o.pause, o.tool, o.batch, o.call, o.command, o.result, o.place,
       f.signature, f.symbols, f.language, f.type, f.specific, f.transient, s.pk, s.members

-- Live kin (counted no further than matters), a fact and who rests on it are the ties of an entry.
-- fragment: life
e.pk, n.count, n.last_at,
       (SELECT COUNT(*) FROM (
          SELECT 1 FROM agent_timeline o WHERE o.timeline = :timeline AND o.state IN ('PRESENT', 'FUTURE') AND o.pk <> e.pk
            AND (o.fingerprint = e.fingerprint OR (o.file = e.file AND o.file <> '') OR (o.run = e.run AND o.kind = 'log')) LIMIT 12) hit),
       CASE WHEN EXISTS (SELECT 1 FROM semantic_facts s WHERE s.team = :team AND s.fingerprint = e.fingerprint
                           AND s.valid_to IS NULL AND s.revoked_at IS NULL) THEN 1 ELSE 0 END,
       CASE WHEN EXISTS (SELECT 1 FROM evidence v JOIN agent_timeline c ON c.pk = v.anchor
                           WHERE v.entry = e.pk AND c.state <> 'PURGED') THEN 1 ELSE 0 END,
       m.uses + m.shows, m.used_at
