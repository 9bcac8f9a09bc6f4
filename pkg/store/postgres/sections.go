package postgres

// Sections of statements that write. All sections except those that begin with u depend on the row that u returns: without that row, none
// of them writes.
const (
	// follow moves a conversation from one version to the next.
	followSQL = `u AS (UPDATE {s}.conversations SET version = ?::bigint, state = ?::smallint, messages = ?::int, tokens = ?::bigint, edits = ?::bigint,
  bytes = ?::bigint, next_due = ?::bigint, update_time = ?::timestamptz, head = ?::bytea
 WHERE namespace = ?::bytea AND conversation = ?::bytea AND incarnation = ?::bytea AND version = ?::bigint AND messages = ?::int AND edits = ?::bigint`
	// aside finds a live conversation and does not change it.
	asideSQL = `u AS (SELECT incarnation FROM {s}.conversations
 WHERE namespace = ?::bytea AND conversation = ?::bytea AND incarnation = ?::bytea AND state = 0`
	// What follow and aside may require besides the version, once the row is locked.
	slotsPresentSQL = ` AND (SELECT count(*) FROM {s}.slots o JOIN unnest(?::bytea[], ?::bytea[]) AS x(name, payload)
  ON o.name = x.name AND o.payload = x.payload WHERE o.incarnation = ?::bytea) = ?::bigint`
	slotsAbsentSQL = ` AND NOT EXISTS (SELECT FROM {s}.slots o WHERE o.incarnation = ?::bytea AND o.name = ANY(?::bytea[]))`
	uploadsSQL     = ` AND (SELECT count(*) FROM {s}.contents c WHERE c.incarnation = ?::bytea AND c.content = ANY(?::bytea[]) AND NOT c.dying) = ?::bigint`
	epochSQL       = ` AND pg_postmaster_start_time() = ANY(?::timestamptz[])`
	followEndSQL   = ` RETURNING incarnation)`
	asideEndSQL    = ` )`

	// begin makes a name lead to an incarnation.
	beginSQL = `u AS (INSERT INTO {s}.conversations AS c
  (namespace, conversation, incarnation, version, state, messages, tokens, edits, bytes, next_due, update_time, head)
 VALUES (?::bytea, ?::bytea, ?::bytea, ?::bigint, ?::smallint, ?::int, ?::bigint, ?::bigint, ?::bigint, ?::bigint, ?::timestamptz, ?::bytea)
 ON CONFLICT (namespace, conversation) DO UPDATE SET incarnation = EXCLUDED.incarnation, version = EXCLUDED.version, state = EXCLUDED.state,
  messages = EXCLUDED.messages, tokens = EXCLUDED.tokens, edits = EXCLUDED.edits, bytes = EXCLUDED.bytes, next_due = EXCLUDED.next_due,
  update_time = EXCLUDED.update_time, head = EXCLUDED.head RETURNING c.incarnation)`
	namedSQL    = `named AS (DELETE FROM {s}.unnamed USING u WHERE unnamed.incarnation = u.incarnation)`
	replacedSQL = `replaced AS (INSERT INTO {s}.unnamed (incarnation, namespace, conversation, staged, dying, due)
 SELECT ?::bytea, ?::bytea, ?::bytea, false, false, ?::bigint FROM u)`

	// Records. They overwrite existing rows, because staged rows that were never read may lie past the committed end. A lone new message,
	// the usual case, is first tried without overwriting. These sections end the statement, which is cheapest for the server.
	messageSQL = `INSERT INTO {s}.messages (incarnation, index, id, role, tokens, commit, create_time, tool_call_id, tool_calls, content, payload)
 SELECT u.incarnation, ?::int, ?::text, ?::smallint, ?::int, ?::bigint, ?::timestamptz, ?::text, ?::text::jsonb, ?::text, ?::bytea FROM u`
	messagesSQL = `INSERT INTO {s}.messages (incarnation, index, id, role, tokens, commit, create_time, tool_call_id, tool_calls, content, payload)
 SELECT u.incarnation, r.index, r.id, r.role, r.tokens, r.commit, r.create_time, r.tool_call_id, r.tool_calls::jsonb, r.content, r.payload
 FROM u, unnest(?::int[], ?::text[], ?::smallint[], ?::int[], ?::bigint[], ?::timestamptz[], ?::text[], ?::text[], ?::text[], ?::bytea[])
  AS r(index, id, role, tokens, commit, create_time, tool_call_id, tool_calls, content, payload)
 ON CONFLICT (incarnation, index) DO UPDATE SET id = EXCLUDED.id, role = EXCLUDED.role, tokens = EXCLUDED.tokens, commit = EXCLUDED.commit,
  create_time = EXCLUDED.create_time, tool_call_id = EXCLUDED.tool_call_id, tool_calls = EXCLUDED.tool_calls, content = EXCLUDED.content,
  payload = EXCLUDED.payload`
	editsSQL = `e AS (INSERT INTO {s}.edits (incarnation, seq, kind, first, last, wide, covers, commit, payload)
 SELECT u.incarnation, r.seq, r.kind, r.first, r.last, r.wide, r.covers::int4multirange, r.commit, r.payload
 FROM u, unnest(?::bigint[], ?::smallint[], ?::int[], ?::int[], ?::boolean[], ?::text[], ?::bigint[], ?::bytea[])
  AS r(seq, kind, first, last, wide, covers, commit, payload)
 ON CONFLICT (incarnation, seq) DO UPDATE SET kind = EXCLUDED.kind, first = EXCLUDED.first, last = EXCLUDED.last, wide = EXCLUDED.wide,
  covers = EXCLUDED.covers,  commit = EXCLUDED.commit, payload = EXCLUDED.payload)`
	manifestsSQL = `f AS (INSERT INTO {s}.manifests (incarnation, seq, payload)
 SELECT u.incarnation, r.* FROM u, unnest(?::bigint[], ?::bytea[]) AS r(seq, payload)
 ON CONFLICT (incarnation, seq) DO UPDATE SET payload = EXCLUDED.payload)`
	outcomesSQL = `o AS (INSERT INTO {s}.outcomes (incarnation, rpc, id, made, payload)
 SELECT u.incarnation, r.* FROM u, unnest(?::bytea[], ?::bytea[], ?::bigint[], ?::bytea[]) AS r(rpc, id, made, payload)
 ON CONFLICT (incarnation, rpc, id) DO UPDATE SET made = EXCLUDED.made, payload = EXCLUDED.payload)`
	slotsSQL = `s AS (INSERT INTO {s}.slots (incarnation, name, payload)
 SELECT u.incarnation, r.* FROM u, unnest(?::bytea[], ?::bytea[]) AS r(name, payload)
 ON CONFLICT (incarnation, name) DO UPDATE SET payload = EXCLUDED.payload)`
	infoSQL = `i AS (INSERT INTO {s}.infos (incarnation, payload) SELECT u.incarnation, ?::bytea FROM u
 ON CONFLICT (incarnation) DO UPDATE SET payload = EXCLUDED.payload)`

	dropSlotsSQL     = `ds AS (DELETE FROM {s}.slots USING u WHERE slots.incarnation = u.incarnation AND slots.name = ANY(?::bytea[]))`
	dropManifestsSQL = `df AS (DELETE FROM {s}.manifests USING u
 WHERE manifests.incarnation = u.incarnation AND manifests.seq < ?::bigint AND manifests.seq <> ALL(?::bigint[]))`
	dropOutcomesSQL = `dx AS (DELETE FROM {s}.outcomes USING u
 WHERE outcomes.incarnation = u.incarnation AND outcomes.made < ?::bigint AND (outcomes.rpc, outcomes.id) <> (?::bytea, ?::bytea))`

	// The contents that a commit refers to, and those that it releases.
	referSQL = `cu AS (UPDATE {s}.contents SET due = NULL FROM u
 WHERE contents.incarnation = u.incarnation AND contents.content = ANY(?::bytea[]) AND contents.due IS NOT NULL)`
	releaseSQL = `cr AS (INSERT INTO {s}.contents (incarnation, content, namespace, conversation, dying, due)
 SELECT u.incarnation, r.content, ?::bytea, ?::bytea, true, ?::bigint FROM u, unnest(?::bytea[]) AS r(content)
 ON CONFLICT (incarnation, content) DO UPDATE SET dying = true, due = EXCLUDED.due)`

	// Staging.
	stagedSQL = `u AS (INSERT INTO {s}.unnamed AS n (incarnation, namespace, conversation, staged, dying, due)
 VALUES (?::bytea, ?::bytea, ?::bytea, true, false, ?::bigint)
 ON CONFLICT (incarnation) DO UPDATE SET due = GREATEST(n.due, EXCLUDED.due) RETURNING n.incarnation)`
	knownSQL   = `u AS (SELECT ?::bytea AS incarnation)`
	contentSQL = `c AS (INSERT INTO {s}.contents AS c (incarnation, content, namespace, conversation, dying, due)
 SELECT u.incarnation, ?::bytea, ?::bytea, ?::bytea, false, ?::bigint FROM u
 ON CONFLICT (incarnation, content) DO UPDATE SET due = GREATEST(c.due, EXCLUDED.due))`
	chunkSQL = `k AS (INSERT INTO {s}.chunks (incarnation, content, chunk, payload)
 SELECT u.incarnation, ?::bytea, ?::int, ?::bytea FROM u
 ON CONFLICT (incarnation, content, chunk) DO UPDATE SET payload = EXCLUDED.payload)`
)
