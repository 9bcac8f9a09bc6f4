package exportformat

import (
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Version is the version of the format.
const Version = 1

// line is one line of an export: exactly one field is set. The types here say how records are spelled; copier fills them.
type line struct {
	Export       int               `json:"palimpsest_export,omitempty" of:"-"`
	Conversation *conversationLine `json:"conversation,omitempty"`
	State        *stateLine        `json:"state,omitempty"`
	Message      *messageLine      `json:"message,omitempty"`
	Edit         *editLine         `json:"edit,omitempty"`
	Manifest     *manifestLine     `json:"manifest,omitempty"`
	Source       *sourceLine       `json:"source,omitempty"`
	Chunk        *chunkLine        `json:"chunk,omitempty"`
	End          *endLine          `json:"end,omitempty" of:"-"`
}

type endLine struct {
	Messages  int `json:"messages"`
	Edits     int `json:"edits"`
	Manifests int `json:"manifests"`
	Sources   int `json:"sources,omitempty"`
}

type conversationLine struct {
	ActorID   string     `json:"actorId,omitempty" of:"Info.ActorID"`
	AgentID   string     `json:"agentId,omitempty" of:"Info.AgentID"`
	Title     string     `json:"title,omitempty" of:"Info.Title"`
	Metadata  string     `json:"metadataJson,omitempty" of:"Info.Metadata"`
	Policy    policyLine `json:"policy,omitzero" of:"Info.Policy"`
	Counter   string     `json:"counter,omitempty" of:"Info.Counter"`
	Continues string     `json:"continues,omitempty" of:"Info.Continues"`
	Head      headLine   `json:"head"`
}

// headLine leaves out what an import makes anew (the incarnation, when the sweep looks next, whether its id can be reused, which calls' ids
// there were), and
// what a live conversation has not (the time its tombstone ends) or remembers of callers (until when it does).
type headLine struct {
	Version       uint64      `json:"version"`
	Revision      int64       `json:"revision"`
	Messages      int32       `json:"messageCount"`
	Tokens        int64       `json:"tokenCount"`
	EditSeq       int64       `json:"editSeq"`
	ManifestSeq   int64       `json:"manifestSeq"`
	Turn          int32       `json:"turn"`
	Seen          int32       `json:"seen"`
	SeenBefore    int32       `json:"seenBefore,omitempty"`
	Start         int32       `json:"windowStartIndex"`
	LastManifest  []int64     `json:"lastManifest"`
	UnitStart     int32       `json:"unitStart"`
	CallsEnd      int32       `json:"callsEnd,omitempty"`
	LeadingSystem int32       `json:"leadingSystem"`
	Request       int32       `json:"request"`
	Opening       *int32      `json:"opening,omitempty"`
	Place         placeLine   `json:"place,omitzero"`
	CallOrdinal   int32       `json:"callOrdinal"`
	Unanswered    []openCall  `json:"unanswered,omitempty"`
	Pins          []rangeLine `json:"pins,omitempty"`
	CreateTime    time.Time   `json:"createTime,omitzero"`
	UpdateTime    time.Time   `json:"updateTime,omitzero"`
	ExpireTime    time.Time   `json:"expireTime,omitzero"`
}

type openCall struct {
	CallID  string `json:"callId"`
	Name    string `json:"name,omitempty"`
	Ordinal int32  `json:"ordinal"`
	Message int32  `json:"message"`
	Closed  bool   `json:"closed,omitempty"`
}

type placeLine struct {
	Carrying int32 `json:"carrying,omitempty"`
	Inputs   int32 `json:"inputs,omitempty"`
}

type rangeLine struct {
	First int32 `json:"start"`
	End   int32 `json:"end"`
}

type stateLine struct {
	Slots   map[string][]byte `json:"slots,omitempty"`
	Rewinds []rangeLine       `json:"rewinds,omitempty"`
	Runs    []runLine         `json:"runs,omitempty"`
}

type messageLine struct {
	ID          string               `json:"id,omitempty"`
	Index       int32                `json:"index"`
	Role        enum[pb.Role]        `json:"role"`
	Name        string               `json:"name,omitempty"`
	Parts       []partLine           `json:"parts"`
	Type        enum[pb.MessageType] `json:"messageType,omitzero"`
	Actions     []actionLine         `json:"actions,omitempty"`
	Expiration  *expirationLine      `json:"expiration,omitempty"`
	Importance  enum[pb.Importance]  `json:"importance,omitzero"`
	Pinned      bool                 `json:"pinned,omitempty"`
	Model       string               `json:"model,omitempty"`
	RunID       string               `json:"runId,omitempty"`
	StepID      string               `json:"stepId,omitempty"`
	Tags        []string             `json:"tags,omitempty"`
	Metadata    string               `json:"metadataJson,omitempty"`
	CreateTime  time.Time            `json:"createTime,omitzero"`
	TurnAdded   int32                `json:"turnAdded"`
	Tokens      int32                `json:"tokenCount"`
	Estimated   bool                 `json:"estimated,omitempty"`
	RequestID   string               `json:"requestId,omitempty"`
	Place       placeLine            `json:"place,omitzero"`
	RequestBack int32                `json:"requestBack,omitempty"`
	Commit      uint64               `json:"commit"`
	Unit        *int32               `json:"unitStart,omitempty" of:"-"` // absent where the record does not say
}

type actionLine struct {
	ActionID      string `json:"actionId,omitempty"`
	AgentActionID string `json:"agentActionId,omitempty"`
}

type editLine struct {
	Seq     int64                   `json:"seq"`
	Kind    editName                `json:"kind"`
	Range   rangeLine               `json:"range"`
	Parts   []shownLine             `json:"parts,omitempty"`
	Mask    []int32                 `json:"mask,omitempty"`
	Summary *summaryLine            `json:"summary,omitempty"`
	Reason  enum[pb.DecisionReason] `json:"reason,omitzero"`
	Turn    int32                   `json:"turn"`
	Time    time.Time               `json:"time,omitzero"`
	Before  int64                   `json:"tokensBefore"`
	After   int64                   `json:"tokensAfter"`
	Erases  bool                    `json:"erases,omitempty"`
	Content string                  `json:"contentId,omitempty"`
	Said    string                  `json:"said,omitempty"`
	Brought []int32                 `json:"brought,omitempty"`
	Commit  uint64                  `json:"commit"`
}

type shownLine struct {
	Part  int32     `json:"part"`
	Level levelName `json:"level"`
	Shown partLine  `json:"shown"`

	Copies []copyLine `json:"copies,omitempty"`
}

// summaryLine has, of its text and of its facts, either the content or what is left of it.
type summaryLine struct {
	ID             int64       `json:"id"`
	Level          int32       `json:"level"`
	Children       []int64     `json:"children,omitempty"`
	Text           string      `json:"text" of:"Text.Inline"`
	Erased         *erasedLine `json:"erased,omitempty" of:"Text.Erased"`
	Tokens         int32       `json:"tokens"`
	Except         []rangeLine `json:"except,omitempty"`
	Verbatim       []rangeLine `json:"verbatim,omitempty"`
	Facts          string      `json:"factsJson,omitempty" of:"Facts.Inline"`
	FactsErased    *erasedLine `json:"factsErased,omitempty" of:"Facts.Erased"`
	Model          string      `json:"model,omitempty"`
	Recorded       int64       `json:"tokensRecorded,omitempty"`
	OriginalErased bool        `json:"originalErased,omitempty" of:"Erased"`
}

// cutLine is what a window shows of a message's words, or of a summary's text.
type cutLine struct {
	Message int32 `json:"messageIndex,omitempty"`
	Summary int64 `json:"summary,omitempty"`
	Head    int32 `json:"head,omitempty"`
	From    int32 `json:"from,omitempty"`
	Tail    int32 `json:"tail,omitempty"`
}

type manifestLine struct {
	Seq             int64                  `json:"seq"`
	Turn            int32                  `json:"turn"`
	Format          enum[pb.ContextFormat] `json:"format"`
	Model           string                 `json:"model,omitempty"`
	MessageCount    int32                  `json:"messageCount"`
	EditSeq         int64                  `json:"editSeq"`
	WindowStart     int32                  `json:"windowStartIndex" of:"Window.Start"`
	WindowRequest   int32                  `json:"windowRequestIndex" of:"Window.Request"`
	WindowOpening   *int32                 `json:"windowOpeningIndex,omitempty" of:"Window.Opening"`
	WindowRestored  int64                  `json:"windowRestoredEdit,omitempty" of:"Window.Restored"`
	WindowAfresh    int64                  `json:"windowAfreshEdit,omitempty" of:"Window.Afresh"`
	WindowCuts      []cutLine              `json:"windowCuts,omitempty" of:"Window.Cuts"`
	LeadingSystem   int32                  `json:"leadingSystem"`
	Pins            []rangeLine            `json:"pins,omitempty"`
	Budget          int64                  `json:"budgetTokens"`
	Tokens          int64                  `json:"tokens"`
	FixedTokens     int64                  `json:"fixedTokens"`
	FixedHash       digest                 `json:"fixedSha256"`
	Counter         string                 `json:"counter,omitempty"`
	Factor          float64                `json:"factor"`
	PolicyHash      string                 `json:"policyHash,omitempty"`
	RendererVersion int32                  `json:"rendererVersion"`
	SHA256          digest                 `json:"contentSha256"`
	Time            time.Time              `json:"createTime,omitzero"`
	Revision        int64                  `json:"revision"`
	Blocks          int32                  `json:"blocks"`
	UsageReported   bool                   `json:"usageReported,omitempty"`
	EarlierEnd      int32                  `json:"earlierEnd,omitempty"`
}

// sourceLine says where a content came from. Chunk lines follow it if the content can be had and is no message's own.
type sourceLine struct {
	ContentID   string              `json:"contentId" of:"Source.ContentID"`
	Type        enum[pb.SourceType] `json:"sourceType,omitzero" of:"Source.Type"`
	URL         string              `json:"sourceUrl,omitempty" of:"Source.URL"`
	Title       string              `json:"sourceTitle,omitempty" of:"Source.Title"`
	ContentType string              `json:"contentType,omitempty" of:"Source.ContentType"`
	Bytes       int64               `json:"totalBytes" of:"Source.Bytes"`
	Chars       int64               `json:"totalChars" of:"Source.Chars"`
	SHA256      *digest             `json:"sha256,omitempty" of:"Source.SHA256"`
	Accessed    time.Time           `json:"accessTime,omitzero" of:"Source.Accessed"`
	CitedBy     []int32             `json:"citedBy,omitempty" of:"Source.CitedBy"`
	Expired     bool                `json:"expired,omitempty" of:"Source.Expired"`
	RunID       string              `json:"runId,omitempty" of:"Source.RunID"`
	Metadata    string              `json:"metadataJson,omitempty" of:"Source.Metadata"`
	Expires     time.Time           `json:"expireTime,omitzero" of:"Source.Expires"`
	At          *placeOfText        `json:"citedAtAppend,omitempty" of:"-"`
}

// placeOfText is where the record has a content that is a message's own.
type placeOfText struct {
	Message int32 `json:"messageIndex"`
	Part    int32 `json:"part"`
}

type chunkLine struct {
	ContentID string `json:"contentId"`
	Offset    int64  `json:"offsetBytes"`
	Data      []byte `json:"data"`
}

type runLine struct {
	ID   string    `json:"runId"`
	Used time.Time `json:"lastUseTime,omitzero"`
	End  time.Time `json:"endTime,omitzero"`
	Gone bool      `json:"gone,omitempty"`
}

// copyLine says where lines of a result stand, both counted from 0.
type copyLine struct {
	First   int32 `json:"firstLine"`
	End     int32 `json:"endLine"`
	Message int32 `json:"messageIndex"`
	Part    int32 `json:"part"`
	At      int32 `json:"atLine"`
}
