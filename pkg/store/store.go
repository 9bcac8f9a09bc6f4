// Package store is the contract between the engine and what keeps conversations: an embedded file, memory, Postgres, Redis. One conversation is one partition: every commit changes one conversation,
// atomically, if it has not moved since the decision was made. That is all the transaction a back end has to offer.
//
// The comments here are the contract; the suite in storetest holds every back end to it.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// The errors of the contract. A back end wraps them; every other error means that the back end failed and nothing is known
// to have been written, unless it is ErrOutcomeUnknown.
var (
	// ErrNotFound: the key names no conversation (Read, and Commit with an Expect), or what a Stage or a Commit builds on is gone:
	// its incarnation, an upload that it refers to. Nothing was written.
	ErrNotFound = errors.New("store: not found")
	// ErrConflict: the conversation is not at the version that the commit expects. Nothing was written.
	ErrConflict = errors.New("store: the conversation moved")
	// ErrOutcomeUnknown: the back end failed while it made a commit durable. It may or may not stand.
	ErrOutcomeUnknown = errors.New("store: the outcome of the commit is unknown")
	// ErrCorrupt: a stored value does not match its checksum or cannot be decoded.
	ErrCorrupt = errors.New("store: a stored value is damaged")
	// ErrFull: the store has the size it was given. Nothing was written.
	ErrFull = errors.New("store: full")
	// ErrUnavailable: the back end cannot write now, because its disk or its server failed. Nothing was written; a later call may
	// succeed.
	ErrUnavailable = errors.New("store: unavailable")
	// ErrInvalid: a call that no back end can carry out, whatever is stored: a key that is too long, a version that is not the
	// next one, indices with a gap. Nothing was written. It is a fault of the caller's code.
	ErrInvalid = errors.New("store: invalid call")
	// ErrSealed: the store is sealed, because what it holds is kept elsewhere from now on. Nothing was written.
	ErrSealed = errors.New("store: sealed")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("store: closed")
)

// Key names a conversation. An empty Conversation names the namespace's own partition, which holds what belongs to no
// conversation (model profiles, later prompts and action policies) in slots; List never shows it. Both are arbitrary bytes,
// at most MaxName each.
type Key struct {
	Namespace    string
	Conversation string
}

// Store keeps conversations. All methods are safe for concurrent use.
type Store interface {
	// Read answers a query from one consistent snapshot. A key that names nothing gives ErrNotFound; a conversation whose head
	// is deleted is found. What a query asks for and is not there (a slot, a message past the end, an outcome) is left out
	// without an error. The caller owns the snapshot's slices and must not change the messages and edits in them, which a back
	// end may share.
	Read(ctx context.Context, key Key, q Query) (*Snapshot, error)

	// Commit applies a change to one conversation, atomically and durably in the sense of Durability, if the conversation is at
	// version c.Expect. There are three cases (Change.Against is the rule in code):
	//   - the name leads nowhere: Expect is 0, and ErrNotFound otherwise;
	//   - it leads to c.Head.Incarnation: Expect is that head's version, and ErrConflict otherwise;
	//   - it leads to another one: that one is deleted and Expect is its version, and ErrConflict otherwise. The name then leads
	//     to the new incarnation; what is left of the old one is due at c.Head.UpdateTime at the latest.
	// c is not kept and not changed. A commit whose ctx is done before it starts is not made; once it has started, Commit
	// waits for how it ends.
	Commit(ctx context.Context, key Key, c *Change) error

	// Stage writes pieces of an upload outside any compare: content chunks, or the records of an import, under an incarnation
	// that need not exist yet. Nothing staged can be read by name until a commit refers to it: Change.Uploads, or a new head
	// with the incarnation, which refers to all that was staged under it before. What no commit refers to shows up in Due an
	// hour (UploadGrace) after the latest u.Time of its pieces. Staging the same piece again overwrites it; a content that a
	// commit refers to, and the records of an incarnation that has a head, are past staging: ErrConflict. A piece is durable
	// when the commit that refers to it is.
	Stage(ctx context.Context, key Key, u *Upload) error

	// Due lists work whose time has come (not after until), oldest first, at most limit: conversations by Head.NextDue, and
	// uploads that no commit refers to. At least once: an entry comes again until a commit moves NextDue or Delete removes
	// what is due.
	Due(ctx context.Context, until time.Time, limit int) ([]Task, error)

	// List returns at most limit conversation ids of a namespace that are greater than after, in byte order, with their heads.
	// Deleted ones are included: the caller reads the state.
	List(ctx context.Context, namespace, after string, limit int) ([]Entry, error)

	// Names returns at most limit keys that lead to something, of all namespaces, in an order of the back end's own, which stays: those
	// behind after, or the first ones if it is nil. The namespaces' own partitions and deleted conversations are among them.
	Names(ctx context.Context, after *Key, limit int) ([]Key, error)

	// Delete removes records of a dead incarnation (deleted, replaced, or staged and never committed) or an upload that no
	// commit refers to, at most about d.Limit of them, and says whether all of them are gone. It never touches a live
	// incarnation: ErrConflict. Once it has begun on something staged, no commit can refer to that any more. Idempotent.
	Delete(ctx context.Context, key Key, d Deletion) (done bool, err error)

	// Wait returns when the conversation is known to be past the version, or when ctx is done (with its error). It may return
	// early; the caller reads again. Wakes across processes are best effort, so callers give ctx a deadline and poll.
	Wait(ctx context.Context, key Key, version uint64) error

	// Seal ends all writing, or allows it again: once it has returned, Commit, Stage and Delete of every process give ErrSealed, and
	// none is under way. It outlives a restart. Reads go on.
	Seal(ctx context.Context, sealed bool) error

	// Durability says what an acknowledged commit survives.
	Durability() Durability

	// Close waits for commits in flight and releases everything. Calls after it give ErrClosed, and a second Close nothing.
	Close() error
}

// Durability says what an acknowledged commit survives.
type Durability string

// The kinds of durability.
const (
	// DurabilityNone: nothing outlives the process.
	DurabilityNone Durability = "none"
	// DurabilityFsync: a commit is on stable storage before it is acknowledged.
	DurabilityFsync Durability = "fsync"
	// DurabilityServer: as the server's own mode has it.
	DurabilityServer Durability = "server"
)

// UploadGrace is how long a staged upload may wait for the commit that refers to it.
const UploadGrace = time.Hour

// The limits of names and of small values.
const (
	MaxName = 256      // bytes of a namespace and of a conversation's id
	MaxSlot = 64 << 10 // bytes of a slot

	MaxSlots = 10_000 // slots that one Query.SlotsOf answers
)

// Query says what Read returns. The head always comes.
type Query struct {
	// Incarnation, if not zero, demands that the key leads to it: ErrNotFound otherwise. It also reads an incarnation that is
	// staged but not committed yet.
	Incarnation conversation.ID
	// IfNewer, if not 0, asks for nothing but the head when the conversation is still at this version.
	IfNewer uint64
	Info    bool           // the conversation's attributes
	Ranges  []MessageRange // messages, answered one after the other into Snapshot.Messages
	// Edits: those with After < seq <= Upto that touch one of the ranges Of, and all that are about ranges (summarize, hide,
	// restore) whether they touch one or not. With no Of, all of them. In order of sequence.
	Edits *EditRange
	// Since: messages and edits by commit, for events. They come after those of Ranges and Edits.
	Since    *Since
	Request  *RequestKey
	Manifest *ManifestRange
	Slots    []string // by name
	SlotsOf  string   // by prefix of the name; the first MaxSlots in byte order
	AllSlots bool     // as if SlotsOf were a prefix of all names
	Contents []ContentRange
	Outcomes *OutcomeRange
	Stored   *StoredRange
}

// MessageRange asks for messages of a half-open range: all of them, or the first Limit from its start (from its end, if
// Reverse). MaxTokens, if not 0, ends the answer after the message that brings the sum of tokens to it or above. Messages come
// in the order they were taken: descending if Reverse.
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

// Since asks for the messages and edits that commits after Version made (by their Commit, which never falls from one message
// or edit to the next), oldest commit first, at most Limit of both together. The records of one commit are never split: the
// first commit comes whole, even if it alone has more than Limit, so that the last Commit in an answer resumes after it.
type Since struct {
	Version uint64
	Limit   int
}

// ManifestRange asks for manifests with seq < Before (0: no bound), newest first, at most Limit.
type ManifestRange struct {
	Before int64
	Limit  int
}

// ContentRange asks for bytes of stored content; Length < 0 means to the end. The range is cut to what there is: past the
// end, the answer is empty and not nil.
type ContentRange struct {
	ID             conversation.ID
	Offset, Length int64
}

// OutcomeRange asks for outcomes in an order of the back end's own, which stays: at most Limit behind After, or the first ones if it is nil.
type OutcomeRange struct {
	After *RequestKey
	Limit int
}

// StoredRange asks for the ids of stored contents that can be read, in byte order: at most Limit that are greater than After.
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
	Contents  [][]byte // one per ContentRange; nil where the content is not there
	Outcomes  []Outcome
	Stored    []conversation.ID
}

// State says whether a conversation lives.
type State int8

// The states of a conversation.
const (
	Live State = iota
	Deleted
)

// Head is what changes with every commit. It is kept small, because an append writes it beside the message.
type Head struct {
	Incarnation conversation.ID
	Version     uint64 // bumped by every commit
	Revision    int64  // the public one
	State       State
	Messages    int32 // on record
	Tokens      int64 // of all messages
	EditSeq     int64 // the last edit's
	ManifestSeq int64 // the last manifest's
	Turn        int32
	Seen        int32 // messages at the last committed build
	SeenBefore  int32 // messages at the last committed build of an earlier turn than the current one
	Start       int32 // window start of the last committed build
	// LastManifest is the seq of the last manifest by format, 0 for none.
	LastManifest [6]int64
	// NewerManifests goes on where LastManifest ends: formats that a newer version knows. Nobody changes it.
	NewerManifests []int64

	UnitStart     int32                // first message of the newest unit; Messages if nothing joins it
	CallsEnd      int32                // where the open calls of the newest unit end: a message of the assistant's that gets this index joins them
	LeadingSystem int32                // messages [0, n) are the system's
	Request       int32                // newest message in which a user's own words stand; -1 for none
	Opening       int32                // first message in which a user's own words stand; -1 for none
	Place         conversation.Place   // of the last message that has one: how many count for retention
	CallOrdinal   int32                // of the last call
	CallIDs       string               // fingerprints of the last calls' ids, 4 bytes each, the last one's last; zero for those that are free again
	CallNumber    int64                // the greatest number at the end of an id that is not random
	Unanswered    []Call               // calls without a result, oldest first
	Pins          []conversation.Range // units with a pinned message

	CreateTime time.Time
	UpdateTime time.Time
	ExpireTime time.Time // zero without a ttl
	DeleteTime time.Time // for a deleted one: until when the tombstone stands
	NextDue    time.Time // when Due must show it; zero for never

	ActorID string // whose it is, as Info has it: a tombstone keeps it, and every read knows it

	Reusable bool      // once it is deleted, an append may begin a new incarnation; for a live one: once its ttl is over
	Former   time.Time // until when slots remember requests of an incarnation before this one; zero for none

	// Bytes is what callers gave and is on record: contents and metadata of messages, the words of corrections, stored contents and their
	// metadata. Chunks that several of them share count once; what was erased or let go counts no more. What was recorded before heads had
	// this field is not in it. 0 for a deleted conversation.
	Bytes int64

	// Unknown is what a newer version wrote.
	Unknown string

	// Epoch is not on record: Read fills it in. It changes when commits that were acknowledged may be gone, such as after a failover, and is
	// empty on a back end where that cannot be. A change whose head has one is committed in that epoch alone: ErrConflict otherwise. Two heads
	// of one version are the same head only if their epochs are.
	Epoch string
}

// Call is an unanswered call.
type Call struct {
	CallID  string
	Name    string
	Ordinal int32
	Message int32 // index of the message that made it
	Closed  bool  // that message was cut off: no result stands beside the call

	// Unknown is what a newer version wrote.
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
	// Continues is the conversation that a whole list went on from with another first message; empty for none. It may be gone.
	Continues string

	// Unknown is what a newer version wrote.
	Unknown string
}

// Outcome is what a request id led to.
type Outcome struct {
	Key        RequestKey
	Hash       [32]byte // keyed hash of the request's content
	Time       time.Time
	FirstIndex int32
	Count      int32
	Manifest   int64
	Revision   int64
	// Matched, Rewound and Removed are of a whole list: elements that the record had already, what was taken back for the others, and what the
	// list no longer held.
	Matched int32
	Rewound conversation.Range
	Removed []conversation.Range
}

// Change is one commit. Every field but Expect and Head may be empty.
type Change struct {
	// Aside makes a change of Slots alone, beside the head, that does not compete with appends: Expect is not compared, the
	// head is not written, and the version stays. Head.Incarnation must be the live one (ErrNotFound, ErrConflict). It is for
	// leases and their renewal, with ExpectSlots.
	Aside  bool
	Expect uint64
	Head   Head // Version must be Expect + 1; for a new incarnation, any version above the old head's
	Info   *Info
	// Messages are new: indices follow on each other up to Head.Messages. Edits and manifests likewise.
	Messages []conversation.Message
	Edits    []conversation.Edit
	Manifest *conversation.Manifest
	// ReplaceManifests rewrites manifests that exist (a usage report counted for them).
	ReplaceManifests []conversation.Manifest
	// ReplaceMessages and ReplaceEdits rewrite records that exist, for erasure: index, seq, range, kind and commit stay. A back
	// end that keeps files of its own leaves no copy in them of what they, Release and Delete remove, in a time that it documents.
	ReplaceMessages []conversation.Message
	ReplaceEdits    []conversation.Edit
	// DropManifests removes manifests with a seq below it, before those of this change are written; so does DropOutcomes.
	DropManifests int64
	Outcome       *Outcome
	// DropOutcomes removes request ids remembered before this time; zero removes none. It may cost a look at all request ids
	// of the conversation, so it is for sweeps and not for every append.
	DropOutcomes time.Time
	// Slots sets small named values (at most MaxSlot bytes each); nil removes one, empty does not.
	Slots map[string][]byte
	// Erases: what its slots had before is treated as ReplaceMessages treats messages. It is not for an aside.
	Erases bool
	// ExpectSlots must hold for the commit to be made: the slot has these bytes, or is not there if they are nil. ErrConflict
	// otherwise.
	ExpectSlots map[string][]byte
	// Uploads are staged contents that the messages and edits of this change refer to. ErrNotFound if one is gone.
	Uploads []conversation.ID
	// Release are contents that nothing refers to any more. They cannot be read from then on, and are due at Head.UpdateTime.
	Release []conversation.ID
}

// Upload is a piece of an upload.
type Upload struct {
	Incarnation conversation.ID
	Time        time.Time
	// A chunk of content: ID, the chunk's number from 0, its bytes. All chunks but the last have ChunkBytes.
	ID    conversation.ID
	Chunk int32
	Data  []byte
	// Or records of an import.
	Messages  []conversation.Message
	Edits     []conversation.Edit
	Manifests []conversation.Manifest
	Outcomes  []Outcome
	Slots     map[string][]byte // none of them nil
}

// ChunkBytes is the size of every content chunk but the last.
const ChunkBytes = 256 << 10

// Task is work that is due.
type Task struct {
	Key         Key
	Incarnation conversation.ID // not where the key leads, if that incarnation was replaced
	Upload      conversation.ID // zero: the conversation, or a whole staged incarnation if Staged
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
	Upload      conversation.ID // not zero: this upload alone
	KeepHead    bool            // leave the tombstone: the head, the name, and what request ids led to
	Limit       int             // 0: as many as the back end finds good for one step
}
