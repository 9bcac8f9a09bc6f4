// Package memory is the contract between the engine and what remembers across conversations: an index in the store, Mem0, Bedrock AgentCore.
// The record of what was said stays in the store; a target gets copies, or an index over it. No append and no build fails because a target
// does.
//
// The comments here are the contract; the suite in memorytest holds every target to it, as far as its Limits say.
package memory

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// ScopeKind says whose memories a scope holds.
type ScopeKind int8

// The kinds of scopes. The numbers are those of the API.
const (
	ScopeUnspecified ScopeKind = iota
	ScopeUser                  // an actor's, over all their conversations
	ScopeSession               // a conversation's
	ScopeAgent                 // an agent's, for all actors; filled by operators alone
	ScopeOrg                   // a namespace's; filled by operators alone
)

// Name is the kind in a word.
func (k ScopeKind) Name() string {
	switch k {
	case ScopeSession:
		return "session"
	case ScopeAgent:
		return "agent"
	case ScopeOrg:
		return "org"
	default:
		return "user"
	}
}

// Scope is what memories belong to. Targets keep scopes apart: what is in one is never found, listed or deleted by another.
type Scope struct {
	Namespace string
	Kind      ScopeKind
	ID        string // the actor, the conversation or the agent; empty for ScopeOrg
}

// Kind says where a memory comes from.
type Kind int8

// The kinds of memories. The numbers are those of the API.
const (
	KindUnspecified Kind = iota
	Said                 // a message
	Fact                 // drawn from messages
	Added                // put in as it is
)

// Memory is one thing that is remembered.
type Memory struct {
	ID           string
	Kind         Kind
	Text         string
	SaidBy       string // user, assistant, or a speaker's name; empty where it is not known
	Sources      []Source
	Time         time.Time // when it was said or added
	Scope        Scope
	Score        float64   // 0 to 1, of a search; comparable within one answer
	ExpireTime   time.Time // zero for never
	SupersededBy string    // the id of the memory that contradicts it; empty for one in force
	Metadata     string    // the caller's JSON object; empty for none
}

// Expired says whether a memory is not to be shown any more.
func (m *Memory) Expired(now time.Time) bool {
	return !m.ExpireTime.IsZero() && !m.ExpireTime.After(now)
}

// Source is where a memory was said: messages [First, Last] of a conversation.
type Source struct {
	Conversation string
	Incarnation  conversation.ID // which conversation of that name; zero where the target does not know
	First, Last  int32
	Time         time.Time
}

// Message is one message on its way to a target: the text of what a user or an assistant said.
type Message struct {
	Index int32
	Role  conversation.Role
	Name  string // who of several in the role speaks; empty for most
	Text  string
	Time  time.Time
}

// Speaker is who said it, as Memory.SaidBy has it.
func (m *Message) Speaker() string {
	switch {
	case m.Name != "":
		return m.Name
	case m.Role == conversation.RoleUser:
		return "user"
	case m.Role == conversation.RoleAssistant:
		return "assistant"
	default:
		return ""
	}
}

// Batch is a run of messages of one conversation, in order.
type Batch struct {
	Scope        Scope
	Conversation string
	Incarnation  conversation.ID
	// Key names the batch: a batch that is sent again has the same key and the same messages. Letters, digits and hyphens, at most 64 bytes.
	Key      string
	Session  string // which stretch of the conversation it is; letters, digits, hyphens and underscores, at most 100 bytes
	Messages []Message
	Infer    bool // whether the target draws facts from it; otherwise it keeps it as it is
	// Extract says how, for a target that draws facts itself.
	Extract conversation.MemoryExtraction
}

// Receipt says what became of a batch.
type Receipt struct {
	// IDs are the memories that the batch led to, as far as the target tells (Limits.ReturnsIDs).
	IDs []string
	// Pending: the target has taken it and works on it; Settle tells more.
	Pending bool
}

// Note is a memory that is put in as it is.
type Note struct {
	// Key names the note, as Batch.Key does: putting it again gives the memory that is there.
	Key        string
	Text       string
	Metadata   string // a JSON object; empty for none
	Time       time.Time
	ExpireTime time.Time // zero for never
}

// Query is what to look for.
type Query struct {
	Text  string
	Limit int // of memories, at least 1
	// Floor is the least score of what is found: 0 for anything.
	Floor float64
	// Except leaves out what only this conversation said; empty leaves out nothing.
	Except string
	Now    time.Time // what has expired by then is not found
}

// Page asks for memories in an order of the target's own, which stays while nothing changes.
type Page struct {
	Token string // of the answer before; empty for the first
	Limit int    // at least 1
	Kinds []Kind // empty for all
	Now   time.Time
}

// Wants says whether memories of a kind are asked for.
func (p *Page) Wants(k Kind) bool { return len(p.Kinds) == 0 || slices.Contains(p.Kinds, k) }

// Shows says whether a memory is one that the page asks for, and has not expired.
func (p *Page) Shows(m *Memory) bool { return p.Wants(m.Kind) && !m.Expired(p.Now) }

// Listing is a page of memories. Next is empty on the last one.
type Listing struct {
	Memories []Memory
	Next     string
}

// Forgetting says how far a target has forgotten a scope.
type Forgetting struct {
	More    bool // call again
	Deleted int64
	// Residue names what the target keeps all the same, in words for people; empty for nothing.
	Residue []string
}

// Limits say what a target takes and promises.
type Limits struct {
	MaxMessages int           // of a batch; at least 1
	MaxChars    int           // code points of one message; what is longer is cut
	MaxNote     int           // code points of a note
	Interval    time.Duration // between batches of one conversation; 0 for none
	Concurrency int           // calls at a time; at least 1
	Idempotent  bool          // a batch sent again changes nothing; otherwise Settle must be asked before it is
	Async       bool          // what was added is found later, and what was forgotten may be made anew by work under way
	// ReturnsIDs: the target knows which messages its memories come from. Receipts name them, messages can be taken back one by one, and a
	// query leaves out what one conversation said. Otherwise it does what it can, and says what it cannot in Forgetting.Residue.
	ReturnsIDs  bool
	RetractsOne bool // Retract takes back exactly the messages it names: what went in their batches stays
	ForgetsOne  bool // Delete of single memories is possible
}

// Target is a back end that remembers. All methods are safe for concurrent use, and end within their context. They return the errors of this
// package, which never hold texts, ids or secrets.
type Target interface {
	// Name is the target's kind, such as "embedded": a label of metrics and a part of slots' names.
	Name() string
	Limits() Limits

	// Add gives a target a batch, of at most Limits.MaxMessages messages. ErrOutcomeUnknown: it may or may not have been taken.
	Add(ctx context.Context, b *Batch) (Receipt, error)

	// Settle says what became of a batch that was sent before: its memories, or that it is pending; ErrNotFound if the target has nothing of
	// it. It is asked after ErrOutcomeUnknown where the target is not idempotent, and where a receipt was pending.
	Settle(ctx context.Context, b *Batch) (Receipt, error)

	// Put keeps a note as it is and returns the memory's id.
	Put(ctx context.Context, s Scope, n *Note) (id string, err error)

	// Search finds the memories that answer a query, best first, without superseded and expired ones.
	Search(ctx context.Context, s Scope, q *Query) ([]Memory, error)

	// List returns memories page by page, superseded ones too.
	List(ctx context.Context, s Scope, p *Page) (Listing, error)

	// Delete takes memories away; ids that are not in the scope change nothing. It returns the ids of all that went: a target may take others
	// along that say the same, such as the facts that only a deleted message stated.
	Delete(ctx context.Context, s Scope, ids []string) (gone []string, err error)

	// Retract takes back what a conversation's messages from an index on led to, of one incarnation; from 0 on, all of it. It is repeated
	// while Forgetting.More. A target that cannot tell which memories those are names them in Residue.
	Retract(ctx context.Context, s Scope, r *Retraction) (Forgetting, error)

	// Forget takes away everything of a scope that came by a time. What came later may go too, where the target cannot tell. It is repeated
	// while Forgetting.More.
	Forget(ctx context.Context, s Scope, until time.Time) (Forgetting, error)
}

// Indexed is a target that keeps indexes ready in this process.
type Indexed interface {
	// Cold says whether nothing of a scope is ready: the next search loads it first.
	Cold(s Scope) bool
}

// Retraction names messages of a conversation that are to be forgotten.
type Retraction struct {
	Conversation string
	Incarnation  conversation.ID
	Range        conversation.Range
	// IDs are the memories that the messages led to, as receipts told; empty where they did not.
	IDs []string
	// KeepFacts leaves facts alone: only what was said goes.
	KeepFacts bool
}
