// Package postgres keeps conversations in a database of Postgres, for any number of processes: every rule that holds between two
// callers of one process holds between two of different ones.
//
// # Layout
//
// All tables lie in one schema, whose name is written into every statement, so that nothing rests on the state of a session and a
// pooler in transaction mode may stand between. A conversation is a row of conversations, and what hangs under its incarnation: rows of
// messages, edits, manifests, outcomes, slots, infos, contents and chunks. Incarnations that no name leads to are rows of unnamed. What
// is stored of a record is the same envelope as in every other back end; beside it lie the columns that keys, guards and readers need.
//
// # Round trips
//
// A commit is one statement, which updates the row of the conversation if it is at the expected version and inserts the records of what
// that update returns. If it also demands something of slots or contents, the row is locked in the same round trip. What begins an
// incarnation, and what was refused, is decided by the rules in package store, in a transaction that holds the name: two round trips.
// A read is a read-only transaction in one round trip.
//
// # Locks
//
// A transaction that does more than append holds an advisory lock of the name and the row that the name leads to. Commits of one
// conversation queue in the process before they take a connection, so that a busy one cannot take all. Every writer touches
// conversations first: sealing is a trigger on that table, which costs nothing while there is none, and which is made once all writers
// before it have ended.
//
// # Waiting
//
// One poller of the process asks for all conversations that somebody waits for. With Options.Notify a connection of its own listens for
// what other processes tell after their commits, never inside: NOTIFY holds one lock of the whole server until its transaction is durable.
package postgres
