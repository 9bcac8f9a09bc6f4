-- Names and ids are bytes, whose order is byte order. Times that work is due at are nanoseconds since 1970. A payload is a record as all
-- back ends store it; what lies beside it is for keys, guards and readers.

CREATE TABLE {s}.schema (
  version int NOT NULL,
  -- The oldest version of the schema that a program may know to read this one, and to write it.
  least_reader int NOT NULL,
  least_writer int NOT NULL,
  made timestamptz NOT NULL DEFAULT now()
);

-- What each name leads to. An append changes no indexed column, so that it is a heap-only update.
CREATE TABLE {s}.conversations (
  namespace bytea NOT NULL,
  conversation bytea NOT NULL,
  incarnation bytea NOT NULL UNIQUE,
  version bigint NOT NULL,
  state smallint NOT NULL,
  messages int NOT NULL,
  tokens bigint NOT NULL,
  edits bigint NOT NULL,
  bytes bigint NOT NULL,
  next_due bigint,
  update_time timestamptz NOT NULL,
  head bytea NOT NULL,
  PRIMARY KEY (namespace, conversation)
) WITH (fillfactor = 70);
CREATE INDEX conversations_due ON {s}.conversations (next_due) WHERE next_due IS NOT NULL;

-- Incarnations that no name leads to: staged for a commit that has not come, or replaced by another.
CREATE TABLE {s}.unnamed (
  incarnation bytea PRIMARY KEY,
  namespace bytea NOT NULL,
  conversation bytea NOT NULL,
  staged boolean NOT NULL,
  dying boolean NOT NULL,
  due bigint NOT NULL
);
CREATE INDEX unnamed_due ON {s}.unnamed (due);

CREATE TABLE {s}.infos (
  incarnation bytea PRIMARY KEY,
  payload bytea NOT NULL
);
ALTER TABLE {s}.infos ALTER payload SET STORAGE EXTERNAL;

CREATE TABLE {s}.messages (
  incarnation bytea NOT NULL,
  index int NOT NULL,
  id text NOT NULL,
  role smallint NOT NULL,
  tokens int NOT NULL,
  commit bigint NOT NULL,
  create_time timestamptz NOT NULL,
  tool_call_id text,
  tool_calls jsonb,
  content text,
  payload bytea NOT NULL,
  PRIMARY KEY (incarnation, index)
);
ALTER TABLE {s}.messages ALTER payload SET STORAGE EXTERNAL;
CREATE INDEX messages_commit ON {s}.messages (incarnation, commit);

CREATE TABLE {s}.edits (
  incarnation bytea NOT NULL,
  seq bigint NOT NULL,
  kind smallint NOT NULL,
  first int NOT NULL,
  last int NOT NULL,
  -- It comes with every answer that its messages may be in, or is about more than one: it is found by its number.
  wide boolean NOT NULL,
  -- The messages that a summary stands for, or that an edit brings back; null for all other kinds.
  covers int4multirange,
  commit bigint NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (incarnation, seq)
);
ALTER TABLE {s}.edits ALTER payload SET STORAGE EXTERNAL;
CREATE INDEX edits_commit ON {s}.edits (incarnation, commit);
CREATE INDEX edits_narrow ON {s}.edits (incarnation, first) WHERE NOT wide;
CREATE INDEX edits_wide ON {s}.edits (incarnation, seq) WHERE wide;

CREATE TABLE {s}.manifests (
  incarnation bytea NOT NULL,
  seq bigint NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (incarnation, seq)
);
ALTER TABLE {s}.manifests ALTER payload SET STORAGE EXTERNAL;

CREATE TABLE {s}.outcomes (
  incarnation bytea NOT NULL,
  rpc bytea NOT NULL,
  id bytea NOT NULL,
  made bigint NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (incarnation, rpc, id)
);

CREATE TABLE {s}.slots (
  incarnation bytea NOT NULL,
  name bytea NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (incarnation, name)
) WITH (fillfactor = 70);
ALTER TABLE {s}.slots ALTER payload SET STORAGE EXTERNAL;

-- Stored contents. One that is due is referred to by no commit; one that is dying is past being referred to.
CREATE TABLE {s}.contents (
  incarnation bytea NOT NULL,
  content bytea NOT NULL,
  namespace bytea NOT NULL,
  conversation bytea NOT NULL,
  dying boolean NOT NULL,
  due bigint,
  PRIMARY KEY (incarnation, content)
);
CREATE INDEX contents_due ON {s}.contents (due) WHERE due IS NOT NULL;

CREATE TABLE {s}.chunks (
  incarnation bytea NOT NULL,
  content bytea NOT NULL,
  chunk int NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (incarnation, content, chunk)
);
ALTER TABLE {s}.chunks ALTER payload SET STORAGE EXTERNAL;

-- What every statement that writes calls while the store is sealed.
CREATE FUNCTION {s}.sealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the store is sealed' USING ERRCODE = 'PL001';
END $$;

-- Bytes as a reader wants them: as text if they are text, else with escapes.
CREATE FUNCTION {s}.readable(name bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN convert_from(name, 'UTF8');
EXCEPTION WHEN others THEN
  RETURN encode(name, 'escape');
END $$;

-- The messages of conversations that live, one a row. compacted says whether a summary stands for the message, and compacted_range for
-- which messages that summary was made. Content is null unless the sidecar runs with --store-text-column.
CREATE VIEW {s}.context_messages AS
SELECT m.id, {s}.readable(c.namespace) AS namespace, {s}.readable(c.conversation) AS context_id, m.index,
  (ARRAY['unspecified', 'system', 'user', 'assistant', 'tool'])[m.role + 1] AS role, m.content, m.tool_call_id, m.tool_calls,
  m.create_time AS timestamp, m.tokens, COALESCE(e.kind = 5, false) AS compacted,
  CASE WHEN e.kind = 5 THEN int4range(e.first, e.last) END AS compacted_range
FROM {s}.conversations c
JOIN {s}.messages m ON m.incarnation = c.incarnation AND m.index < c.messages
LEFT JOIN LATERAL (
  SELECT e.kind, e.first, e.last FROM {s}.edits e
  WHERE e.incarnation = m.incarnation AND e.wide AND e.covers @> m.index ORDER BY e.seq DESC LIMIT 1
) e ON true
WHERE c.state = 0 AND c.conversation <> '';
