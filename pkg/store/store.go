// Package store is the contract between the engine and the back ends that keep conversations: an embedded file, memory, Postgres, Redis. A
// conversation is one partition. Every commit changes one conversation, atomically, if it has not moved since the decision was made. A back
// end need not offer any other transaction.
//
// The comments here are the contract. The suite in storetest checks every back end against it.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// The errors of the contract. A back end wraps them. Any other error, except ErrOutcomeUnknown, means that the back end failed and is not
// known to have written anything.
var (
	// ErrNotFound: the key names no conversation (Read, and Commit with an Expect), or something that a Stage or a Commit builds on is
	// gone: its incarnation, or an upload that it refers to. Nothing was written.
	ErrNotFound = errors.New("store: not found")
	// ErrConflict: the conversation is not at the version that the commit expects. Nothing was written.
	ErrConflict = errors.New("store: the conversation moved")
	// ErrOutcomeUnknown: the back end failed while it made a commit durable. The commit may have been written or not.
	ErrOutcomeUnknown = errors.New("store: the outcome of the commit is unknown")
	// ErrCorrupt: a stored value does not match its checksum or cannot be decoded.
	ErrCorrupt = errors.New("store: a stored value is damaged")
	// ErrFull: the store has reached its maximum size. Nothing was written.
	ErrFull = errors.New("store: full")
	// ErrUnavailable: the back end cannot write now, because its disk or its server failed. Nothing was written. A later call may succeed.
	ErrUnavailable = errors.New("store: unavailable")
	// ErrInvalid: no back end can carry out the call, whatever is stored: a key is too long, a version is not the next one, or indices have
	// a gap. Nothing was written. It is a mistake in the caller's code.
	ErrInvalid = errors.New("store: invalid call")
	// ErrSealed: the store is sealed, because its contents are kept elsewhere from now on. Nothing was written.
	ErrSealed = errors.New("store: sealed")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("store: closed")
)

// Key names a conversation. An empty Conversation names the namespace's own partition, whose slots hold what belongs to no conversation
// (model profiles, prompts and action policies); List never shows it. Both fields are arbitrary bytes, at most MaxName each.
type Key struct {
	Namespace    string
	Conversation string
}

// Store keeps conversations. All methods are safe for concurrent use.
type Store interface {
	// Read answers a query from one consistent snapshot. For a key that names nothing it returns ErrNotFound; a conversation whose head
	// is deleted is found. Things that a query asks for and that do not exist (a slot, a message past the end, an outcome) are left out
	// without an error. The caller owns the snapshot's slices. It must not change the messages and edits in them, which a back end may
	// share.
	Read(ctx context.Context, key Key, q Query) (*Snapshot, error)

	// Commit applies a change to one conversation, atomically and durably in the sense of Durability, if the conversation is at version
	// c.Expect. There are three cases (Change.Against is the rule in code):
	//   - The name leads nowhere: Expect must be 0, or the result is ErrNotFound.
	//   - It leads to c.Head.Incarnation: Expect must be that head's version, or the result is ErrConflict.
	//   - It leads to another incarnation: that one must be deleted and Expect be its version, or the result is ErrConflict. The
	//     name then leads to the new incarnation, and the rest of the old one is due at c.Head.UpdateTime at the latest.
	// c is neither kept nor changed. If ctx is done before the commit starts, nothing is committed. Once it has started, Commit waits for
	// its end.
	Commit(ctx context.Context, key Key, c *Change) error

	// Stage writes pieces of an upload without comparing versions: content chunks, or the records of an import, under an incarnation that
	// need not exist yet. Nothing staged can be read by name until a commit refers to it: by Change.Uploads, or by a new head with the
	// incarnation, which refers to everything staged under it before. What no commit refers to appears in Due an hour (UploadGrace) after
	// the latest u.Time of its pieces. Staging the same piece again overwrites it. A content that a commit refers to, and the records of an
	// incarnation that has a head, can no longer be staged: ErrConflict. A piece is durable when the commit that refers to it is.
	Stage(ctx context.Context, key Key, u *Upload) error

	// Due lists work whose time has come (not after until), oldest first, at most limit entries: conversations by Head.NextDue, and uploads
	// that no commit refers to. Delivery is at least once: an entry appears again until a commit moves NextDue or Delete removes what is
	// due.
	Due(ctx context.Context, until time.Time, limit int) ([]Task, error)

	// List returns the conversation ids of a namespace that are greater than after, in byte order, at most limit, with their heads. Deleted
	// ones are included: the caller checks the state.
	List(ctx context.Context, namespace, after string, limit int) ([]Entry, error)

	// Names returns at most limit keys that lead to something, of all namespaces: those after the key after, or the first ones if it is
	// nil. The order is the back end's own and does not change. The namespaces' own partitions and deleted conversations are included.
	Names(ctx context.Context, after *Key, limit int) ([]Key, error)

	// Delete removes records of a dead incarnation (deleted, replaced, or staged and never committed), or an upload that no commit refers
	// to. It removes about d.Limit of them at most, and reports whether all of them are gone. It never touches a live incarnation:
	// ErrConflict. Once it has begun on something staged, no commit can refer to that any more. It is idempotent.
	Delete(ctx context.Context, key Key, d Deletion) (done bool, err error)

	// Wait returns when the conversation is known to be past the version, or when ctx is done (with its error). It may return early; the
	// caller reads again. Waking across processes is best effort, so callers give ctx a deadline and poll.
	Wait(ctx context.Context, key Key, version uint64) error

	// Seal ends all writing, or allows it again. Once it has returned, Commit, Stage and Delete return ErrSealed in every process, and none
	// of them is in progress. The seal outlives a restart. Reads go on.
	Seal(ctx context.Context, sealed bool) error

	// Durability says which failures an acknowledged commit survives.
	Durability() Durability

	// Close waits for commits in progress and releases everything. Later calls return ErrClosed; a second Close does nothing.
	Close() error
}

// Durability says which failures an acknowledged commit survives.
type Durability string

// The kinds of durability.
const (
	// DurabilityNone: nothing outlives the process.
	DurabilityNone Durability = "none"
	// DurabilityFsync: a commit is on stable storage before it is acknowledged.
	DurabilityFsync Durability = "fsync"
	// DurabilityServer: it depends on the server's own mode.
	DurabilityServer Durability = "server"
)

// UploadGrace is how long a staged upload may wait for the commit that refers to it.
const UploadGrace = time.Hour

// The limits of names and of small values.
const (
	MaxName = 256      // bytes of a namespace and of a conversation's id
	MaxSlot = 64 << 10 // bytes of a slot

	MaxSlots = 10_000 // slots that one Query.SlotsOf returns
)

// Query says what Read returns. The head is always returned.
type Query struct {
	// Incarnation, if not zero, requires that the key leads to it: otherwise the result is ErrNotFound. With it, an incarnation that is
	// staged but not committed can be read too.
	Incarnation conversation.ID
	// IfNewer, if not 0, asks for the head only if the conversation is still at this version.
	IfNewer uint64
	Info    bool           // the conversation's attributes
	Ranges  []MessageRange // messages, returned one range after the other in Snapshot.Messages
	// Edits asks for edits with After < seq <= Upto that touch one of the ranges Of, and for all edits about ranges (summarize, hide,
	// restore), whether they touch one or not. Without Of, it asks for all edits. They come in order of sequence.
	Edits *EditRange
	// Since asks for messages and edits by commit, for events. They come after those of Ranges and Edits.
	Since    *Since
	Request  *RequestKey
	Manifest *ManifestRange
	Slots    []string // by name
	SlotsOf  string   // by prefix of the name: the first MaxSlots in byte order
	AllSlots bool     // as SlotsOf with a prefix of all names
	Contents []ContentRange
	Outcomes *OutcomeRange
	Stored   *StoredRange
}

// MessageRange asks for the messages of a half-open range: all of them, or the first Limit from its start (from its end with Reverse).
// MaxTokens, if not 0, ends the answer after the message with which the sum of tokens reaches it. Messages are returned in the order in
// which they were taken: descending with Reverse.
type MessageRange struct {
	conversation.Range
	Reverse   bool
	Limit     int
	MaxTokens int64
}

// EditRange asks for edits.
type EditRange struct {
	After, Upto int64 // Upto 0: no upper bound
	Of          []conversation.Range
}

// Since asks for the messages and edits of commits after Version (by their Commit, which never falls from one message or edit to the next),
// oldest commit first, at most Limit of both together. The records of one commit are never split: the first commit is returned whole even
// if it has more than Limit, so that the next query can continue after the last Commit.
type Since struct {
	Version uint64
	Limit   int
}

// ManifestRange asks for manifests with seq < Before (0: no bound), newest first, at most Limit.
type ManifestRange struct {
	Before int64
	Limit  int
}

// ContentRange asks for bytes of stored content. Length < 0 means to the end. The range is cut to the content: past the end, the answer is
// empty and not nil.
type ContentRange struct {
	ID             conversation.ID
	Offset, Length int64
}

// OutcomeRange asks for outcomes: at most Limit after After, or the first ones if it is nil. The order is the back end's own and does not
// change.
type OutcomeRange struct {
	After *RequestKey
	Limit int
}

// StoredRange asks for the ids of stored contents that can be read and that are greater than After, in byte order, at most Limit.
type StoredRange struct {
	After conversation.ID
	Limit int
}

// RequestKey names a request id of an RPC.
type RequestKey struct {
	RPC string
	ID  string
}

// Snapshot is the answer to a Query.
type Snapshot struct {
	Head      Head
	Info      *Info
	Messages  []conversation.Message
	Edits     []conversation.Edit
	Outcome   *Outcome
	Manifests []conversation.Manifest
	Slots     map[string][]byte
	Contents  [][]byte // one per ContentRange; nil if the content does not exist
	Outcomes  []Outcome
	Stored    []conversation.ID
}

// State says whether a conversation is live or deleted.
type State int8

// The states of a conversation.
const (
	Live State = iota
	Deleted
)

// Head is the part of a conversation that changes with every commit. It is kept small, because every append writes it.
type Head struct {
	Incarnation conversation.ID
	Version     uint64 // incremented by every commit
	Revision    int64  // the public revision
	State       State
	Messages    int32 // number on record
	Tokens      int64 // of all messages
	EditSeq     int64 // of the last edit
	ManifestSeq int64 // of the last manifest
	Turn        int32
	Seen        int32 // number of messages at the last committed build
	SeenBefore  int32 // number of messages at the last committed build of a turn before the current one
	Start       int32 // window start of the last committed build
	// LastManifest is the seq of the last manifest of each format; 0 for none.
	LastManifest [6]int64
	// NewerManifests continues LastManifest for formats that a newer version knows. It is kept unchanged.
	NewerManifests []int64

	UnitStart     int32                // first message of the newest unit; Messages if nothing can join it
	CallsEnd      int32                // an assistant message with this index joins the open calls of the newest unit
	LeadingSystem int32                // messages [0, n) are system messages
	Request       int32                // newest message with a user's own words; -1 for none
	Opening       int32                // first message with a user's own words; -1 for none
	Place         conversation.Place   // of the last message that has one: numbers for retention
	CallOrdinal   int32                // of the last call
	CallIDs       string               // fingerprints of the last calls' ids, 4 bytes each, oldest first; zero for ids that are free again
	CallNumber    int64                // the greatest number at the end of an id without random characters
	Unanswered    []Call               // calls without a result, oldest first
	Pins          []conversation.Range // units with a pinned message

	CreateTime time.Time
	UpdateTime time.Time
	ExpireTime time.Time // zero if there is no ttl
	DeleteTime time.Time // for a deleted conversation: until when the tombstone stays
	NextDue    time.Time // when Due must list it; zero for never

	ActorID string // the actor, as in Info: it is here because a tombstone keeps it and every read returns it

	Reusable bool      // after its deletion, or after its ttl, an append may begin a new incarnation
	Former   time.Time // until when slots remember requests of an earlier incarnation; zero for none

	// Bytes is the size of what callers gave and is on record: contents and metadata of messages, the words of corrections, stored contents
	// and their metadata. Chunks shared by several contents count once. What was erased or released does not count. What was recorded
	// before heads had this field is not included. It is 0 for a deleted conversation.
	Bytes int64

	// Unknown holds fields that a newer version wrote.
	Unknown string

	// Epoch is not stored: Read sets it. It changes when acknowledged commits may have been lost, for example after a failover. It is empty
	// on a back end where that cannot happen. If a change's head has an epoch, the change is only committed in that epoch: otherwise the
	// result is ErrConflict. Two heads with the same version are the same head only if their epochs are equal.
	Epoch string
}

// Call is an unanswered call.
type Call struct {
	CallID  string
	Name    string
	Ordinal int32
	Message int32 // index of the message that made it
	Closed  bool  // the message was cut off: no result is shown next to the call

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// Info holds the attributes of a conversation that appends do not change.
type Info struct {
	ActorID  string
	AgentID  string
	Title    string
	Metadata string
	Policy   conversation.Policy
	Counter  string
	// Continues is the conversation that this one continues because a whole list had another first message; empty for none. It may be gone.
	Continues string

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// Outcome is the result of a request with a request id.
type Outcome struct {
	Key        RequestKey
	Hash       [32]byte // keyed hash of the request's content
	Time       time.Time
	FirstIndex int32
	Count      int32
	Manifest   int64
	Revision   int64
	// Matched, Rewound and Removed describe a whole list: the number of elements that were already on record, the range taken back, and the
	// ranges that the list no longer held.
	Matched int32
	Rewound conversation.Range
	Removed []conversation.Range
}

// Change is one commit. All fields except Expect and Head may be empty.
type Change struct {
	// Aside makes a change of Slots alone that does not compete with appends. Expect is not compared, the head is not written, and the
	// version stays. Head.Incarnation must be the live one (ErrNotFound, ErrConflict). It is for leases and their renewal, with
	// ExpectSlots.
	Aside  bool
	Expect uint64
	Head   Head // Version must be Expect + 1; for a new incarnation, any version above the old head's
	Info   *Info
	// Messages are new; their indices are consecutive and end below Head.Messages. The same holds for edits and manifests.
	Messages []conversation.Message
	Edits    []conversation.Edit
	Manifest *conversation.Manifest
	// ReplaceManifests rewrites existing manifests (after a usage report was counted for them).
	ReplaceManifests []conversation.Manifest
	// ReplaceMessages and ReplaceEdits rewrite existing records, for erasure: index, seq, range, kind and commit stay. A back end with
	// files of its own leaves no copy in them of what ReplaceMessages, ReplaceEdits, Release and Delete remove, within a time that it
	// documents.
	ReplaceMessages []conversation.Message
	ReplaceEdits    []conversation.Edit
	// DropManifests removes manifests with a lower seq before those of this change are written. DropOutcomes does the same for outcomes.
	DropManifests int64
	Outcome       *Outcome
	// DropOutcomes removes request ids remembered before this time; zero removes none. It may have to look at all request ids of the
	// conversation, so it is for the sweeper and not for every append.
	DropOutcomes time.Time
	// Slots sets small named values (at most MaxSlot bytes each). A nil value removes the slot; an empty one does not.
	Slots map[string][]byte
	// Erases is set if the earlier values of its slots must be erased as ReplaceMessages erases messages. It must not be set for an aside.
	Erases bool
	// ExpectSlots must hold for the commit to be made, or the result is ErrConflict: each slot must have these bytes, or must not exist if
	// they are nil.
	ExpectSlots map[string][]byte
	// Uploads are the staged contents that messages and edits of this change refer to. The result is ErrNotFound if one is gone.
	Uploads []conversation.ID
	// Release are contents that nothing refers to any more. From then on they cannot be read, and they are due at Head.UpdateTime.
	Release []conversation.ID
}

// Upload is a piece of an upload.
type Upload struct {
	Incarnation conversation.ID
	Time        time.Time
	// A chunk of content: the content's ID, the chunk's number from 0, and its bytes. All chunks but the last have ChunkBytes.
	ID    conversation.ID
	Chunk int32
	Data  []byte
	// Or the records of an import.
	Messages  []conversation.Message
	Edits     []conversation.Edit
	Manifests []conversation.Manifest
	Outcomes  []Outcome
	Slots     map[string][]byte // no value is nil
}

// ChunkBytes is the size of every content chunk but the last.
const ChunkBytes = 256 << 10

// Task is work that is due.
type Task struct {
	Key         Key
	Incarnation conversation.ID // differs from where the key leads if the incarnation was replaced
	Upload      conversation.ID // zero for the conversation or, if Staged, for a whole staged incarnation
	Staged      bool
	Time        time.Time
}

// Entry is one conversation of a listing.
type Entry struct {
	ID   string
	Head Head
	Info Info
}

// Deletion says what Delete removes.
type Deletion struct {
	Incarnation conversation.ID
	Upload      conversation.ID // if not zero, only this upload is removed
	KeepHead    bool            // keep the tombstone: the head, the name, and the outcomes
	Limit       int             // 0: as many as the back end considers good for one step
}
