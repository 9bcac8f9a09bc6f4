// Package postgres keeps conversations in a Postgres database, for any number of processes. Every rule that holds between two callers in
// one process also holds between callers in different processes.
//
// # Layout
//
// All tables are in one schema, whose name is part of every statement. So nothing depends on the state of a session, and a pooler in
// transaction mode may be used. A conversation is a row of conversations; its records, keyed by its incarnation, are rows of messages,
// edits, manifests, outcomes, slots, infos, contents and chunks. Incarnations that no name leads to are rows of unnamed. A record is
// stored as the same envelope as in every other back end. Next to it are the columns that keys, guards and readers need.
//
// # Round trips
//
// A commit is one statement. It updates the row of the conversation if that is at the expected version, and inserts records only if the
// update found the row. If it also requires something of slots or contents, the row is locked in the same round trip. A change that begins
// an incarnation, or that was refused, is decided by the rules of package store, in a transaction that holds the name: two round trips. A
// read is a read-only transaction in one round trip.
//
// # Locks
//
// A transaction that does more than append holds an advisory lock of the name, and the row that the name leads to. Commits to one
// conversation queue in the process before they take a connection, so that a busy conversation cannot take all connections. Every writer
// touches conversations first. Sealing is a trigger on that table: it costs nothing while it does not exist, and creating it waits for all
// earlier writers.
//
// # Waiting
//
// One poller per process asks for all conversations that somebody waits for. With Options.Notify, a separate connection listens for
// notifications that other processes send after their commits. They are never sent inside a commit: NOTIFY holds one lock of the whole
// server until its transaction is durable.
package postgres
