-- The role as which the transactions of a team run, and what it may do: run after the migrations, and again when
-- the role was made later. A server role that may not make roles leaves the policies without a role to hold: the
-- program then reads and writes as the owner, and `vlk2 db check` says so.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'vlk2_member') THEN
    CREATE ROLE vlk2_member NOLOGIN;
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN RAISE NOTICE 'the role vlk2_member could not be made';
  WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'vlk2_member') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO vlk2_member', current_schema());
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO vlk2_member', current_schema());
    EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO vlk2_member', current_schema());
    REVOKE INSERT, UPDATE, DELETE ON store_meta, agent_tokens FROM vlk2_member;
    REVOKE INSERT, UPDATE, DELETE ON memory_contents FROM vlk2_member;
    REVOKE SELECT, UPDATE, DELETE ON recall_index FROM vlk2_member;
    REVOKE UPDATE, DELETE ON fingerprints, failing_sets FROM vlk2_member;
    -- Append-only, but for the words about what is erased.
    REVOKE UPDATE, DELETE ON transitions, tombstones, audit FROM vlk2_member;
    GRANT UPDATE (detail) ON transitions TO vlk2_member;
    GRANT EXECUTE ON FUNCTION vlk2_content, vlk2_fingerprint, vlk2_failing, vlk2_add_content, vlk2_lock_content, vlk2_held_elsewhere, vlk2_erase_content, vlk2_stands_behind,
  vlk2_drop_fingerprint, vlk2_drop_failing, vlk2_blank_graves, vlk2_search TO vlk2_member;
  END IF;
END $$;

DO $$
BEGIN
  GRANT vlk2_member TO CURRENT_USER;
EXCEPTION
  WHEN insufficient_privilege OR undefined_object THEN NULL;
END $$;
