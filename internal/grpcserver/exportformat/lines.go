package exportformat

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Version is the version of the format.
const Version = 1

// line is one line of an export: exactly one field is set.
type line struct {
	Export       int               `json:"palimpsest_export,omitempty"`
	Conversation *conversationLine `json:"conversation,omitempty"`
	State        *stateLine        `json:"state,omitempty"`
	Message      *messageLine      `json:"message,omitempty"`
	Edit         *editLine         `json:"edit,omitempty"`
	Manifest     *manifestLine     `json:"manifest,omitempty"`
	Source       *sourceLine       `json:"source,omitempty"`
	Chunk        *chunkLine        `json:"chunk,omitempty"`
	End          *endLine          `json:"end,omitempty"`
}

type endLine struct {
	Messages  int `json:"messages"`
	Edits     int `json:"edits"`
	Manifests int `json:"manifests"`
	Sources   int `json:"sources,omitempty"`
}

type conversationLine struct {
	ActorID  string     `json:"actorId,omitempty"`
	AgentID  string     `json:"agentId,omitempty"`
	Title    string     `json:"title,omitempty"`
	Metadata string     `json:"metadataJson,omitempty"`
	Policy   policyLine `json:"policy,omitzero"`
	Counter  string     `json:"counter,omitempty"`
	Head     headLine   `json:"head"`
}

type policyLine struct {
	Fit           fitLine              `json:"fit,omitzero"`
	TTL           *time.Duration       `json:"ttlNanos,omitempty"`
	Expiration    expirationPolicyLine `json:"expiration,omitzero"`
	Retention     retentionPolicyLine  `json:"retention,omitzero"`
	Rewrite       rewriteLine          `json:"rewrite,omitzero"`
	MaxWait       *time.Duration       `json:"maxWaitNanos,omitempty"`
	Pruning       pruningLine          `json:"pruning,omitzero"`
	Compaction    compactionLine       `json:"compaction,omitzero"`
	Citations     citationsLine        `json:"citations,omitzero"`
	Deduplication deduplicationLine    `json:"deduplication,omitzero"`
	Memory        memoryLine           `json:"memory,omitzero"`

	TTLWithoutTombstone *bool `json:"ttlWithoutTombstone,omitempty"`
}

type expirationPolicyLine struct {
	Off     *bool          `json:"off,omitempty"`
	Results expirationLine `json:"results,omitzero"`
}

type retentionPolicyLine struct {
	AllInputs *bool `json:"allInputs,omitempty"`
}

type rewriteLine struct {
	Mode             rewriteName    `json:"mode,omitzero"`
	MinGainTokens    *int32         `json:"minGainTokens,omitempty"`
	MaxDeferralTurns *int32         `json:"maxDeferralTurns,omitempty"`
	ColdAfter        *time.Duration `json:"coldAfterNanos,omitempty"`
	ExpectTurns      *int32         `json:"expectTurns,omitempty"`
}

// pruningLine has lists that are absent where they are not set, and [] where they are set to none.
type pruningLine struct {
	Off               *bool          `json:"off,omitempty"`
	ProtectTokens     *int32         `json:"protectTokens,omitempty"`
	MinimumTokens     *int32         `json:"minimumTokens,omitempty"`
	MaxPartTokens     *int32         `json:"maxPartTokens,omitempty"`
	ProtectedTools    *[]string      `json:"protectedTools,omitempty"`
	ProtectedPrefixes *[]string      `json:"protectedToolPrefixes,omitempty"`
	EraseAfter        *time.Duration `json:"eraseAfterNanos,omitempty"`

	Unknown string `json:"-"`
}

type compactionLine struct {
	Strategy           strategyName `json:"strategy,omitzero"`
	ThresholdMessages  *int32       `json:"thresholdMessages,omitempty"`
	PreparePercent     *int32       `json:"preparePercent,omitempty"`
	KeepRecent         *int32       `json:"keepRecent,omitempty"`
	TailPercent        *int32       `json:"tailPercent,omitempty"`
	TargetPercent      *int32       `json:"targetPercent,omitempty"`
	MinShrinkPercent   *int32       `json:"minShrinkPercent,omitempty"`
	FanOut             *int32       `json:"fanOut,omitempty"`
	SummaryTokens      *int32       `json:"summaryTokens,omitempty"`
	PromptID           *string      `json:"promptId,omitempty"`
	CountReasoning     *bool        `json:"countReasoning,omitempty"`
	ListTokens         *int32       `json:"listTokens,omitempty"`
	LivePrefix         *bool        `json:"livePrefix,omitempty"`
	SummaryInputTokens *int32       `json:"summaryInputTokens,omitempty"`
}

type fitLine struct {
	MaxContextTokens     *int32 `json:"maxContextTokens,omitempty"`
	ContextWindowTokens  *int32 `json:"contextWindowTokens,omitempty"`
	ReservedOutputTokens *int32 `json:"reservedOutputTokens,omitempty"`
	TargetPercent        *int32 `json:"targetPercent,omitempty"`
	MaxResultPercent     *int32 `json:"maxResultPercent,omitempty"`
	KeepOpening          *bool  `json:"keepOpening,omitempty"`
}

// headLine leaves out what an import makes anew (the incarnation, when the sweep looks next, whether its id can be reused), and
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

	Unknown string `json:"-"`
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
	ID          string          `json:"id,omitempty"`
	Index       int32           `json:"index"`
	Role        roleName        `json:"role"`
	Name        string          `json:"name,omitempty"`
	Parts       []partLine      `json:"parts"`
	Type        typeName        `json:"messageType,omitzero"`
	Actions     []actionLine    `json:"actions,omitempty"`
	Expiration  *expirationLine `json:"expiration,omitempty"`
	Importance  importanceName  `json:"importance,omitzero"`
	Pinned      bool            `json:"pinned,omitempty"`
	Model       string          `json:"model,omitempty"`
	RunID       string          `json:"runId,omitempty"`
	StepID      string          `json:"stepId,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	Metadata    string          `json:"metadataJson,omitempty"`
	CreateTime  time.Time       `json:"createTime,omitzero"`
	TurnAdded   int32           `json:"turnAdded"`
	Tokens      int32           `json:"tokenCount"`
	Estimated   bool            `json:"estimated,omitempty"`
	RequestID   string          `json:"requestId,omitempty"`
	Place       placeLine       `json:"place,omitzero"`
	RequestBack int32           `json:"requestBack,omitempty"`
	Commit      uint64          `json:"commit"`
	Unit        *int32          `json:"unitStart,omitempty"` // absent where the record does not say
}

type actionLine struct {
	ActionID      string `json:"actionId,omitempty"`
	AgentActionID string `json:"agentActionId,omitempty"`
}

type expirationLine struct {
	Turns            *int32      `json:"turns,omitempty"`
	Mode             modeName    `json:"mode,omitzero"`
	CompactMode      compactName `json:"compactMode,omitzero"`
	CompactLength    *int32      `json:"compactLength,omitempty"`
	CompactPromptID  string      `json:"compactPromptId,omitempty"`
	PreserveOriginal *bool       `json:"preserveOriginalContent,omitempty"`
	Source           sourceName  `json:"source,omitzero"`
}

// partLine holds exactly one of its kinds; none where an edit shows nothing of a part.
type partLine struct {
	Text       *string              `json:"text,omitempty"`
	Media      *mediaLine           `json:"media,omitempty"`
	ToolCall   *callLine            `json:"toolCall,omitempty"`
	ToolResult *resultLine          `json:"toolResult,omitempty"`
	Reasoning  *reasoningLine       `json:"reasoning,omitempty"`
	Opaque     *opaqueLine          `json:"opaque,omitempty"`
	Tokens     int32                `json:"tokens"`
	Estimated  bool                 `json:"estimated,omitempty"`
	Retention  retentionLine        `json:"retention,omitzero"`
	Plugin     string               `json:"plugin,omitempty"`
	Variant    variantName          `json:"variant,omitzero"`
	Erased     []erasedLine         `json:"erased,omitempty"`
	Citation   *citationLine        `json:"citation,omitempty"`
	Recalled   []recalledMemoryLine `json:"recalled,omitempty"`
	Residue    *residueLine         `json:"residue,omitempty"`
}

type residueLine struct {
	Provider string `json:"provider"`
	JSON     string `json:"json"`
}

// retentionLine holds at most one of its fields.
type retentionLine struct {
	Permanent bool   `json:"permanent,omitempty"`
	KeepLast  *int32 `json:"keepLast,omitempty"`
}

// erasedLine is what is left of one run of content of a part, which is empty otherwise. Content counts the part's runs as the
// domain lists them.
type erasedLine struct {
	Content int32  `json:"content"`
	Bytes   int64  `json:"originalLengthBytes"`
	Chars   int64  `json:"originalLengthChars"`
	Hash    digest `json:"keyedHash"`
}

type mediaLine struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data,omitempty"`
	URI      string `json:"uri,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

type callLine struct {
	CallID    string `json:"callId"`
	Name      string `json:"name"`
	Arguments string `json:"argumentsJson,omitempty"`
	Ordinal   int32  `json:"ordinal"`
}

// resultLine holds at most one of text, json and parts.
type resultLine struct {
	CallID     string          `json:"callId"`
	Name       string          `json:"name,omitempty"`
	State      stateName       `json:"state,omitzero"`
	Text       *string         `json:"text,omitempty"`
	JSON       *string         `json:"json,omitempty"`
	Parts      []pieceLine     `json:"parts,omitempty"`
	Actions    []actionLine    `json:"actions,omitempty"`
	Expiration *expirationLine `json:"expiration,omitempty"`
	Importance importanceName  `json:"importance,omitzero"`
	Ordinal    int32           `json:"ordinal"`
	Recalled   *recalledLine   `json:"recalledFrom,omitempty"`
	Source     *originLine     `json:"source,omitempty"`
}

type pieceLine struct {
	Text  *string    `json:"text,omitempty"`
	Media *mediaLine `json:"media,omitempty"`
}

type reasoningLine struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Provider  string `json:"provider"`
	Model     string `json:"model,omitempty"`
}

type opaqueLine struct {
	Provider string `json:"provider"`
	JSON     string `json:"json"`
}

type editLine struct {
	Seq     int64        `json:"seq"`
	Kind    editName     `json:"kind"`
	Range   rangeLine    `json:"range"`
	Parts   []shownLine  `json:"parts,omitempty"`
	Mask    []int32      `json:"mask,omitempty"`
	Summary *summaryLine `json:"summary,omitempty"`
	Reason  reasonName   `json:"reason,omitzero"`
	Turn    int32        `json:"turn"`
	Time    time.Time    `json:"time,omitzero"`
	Before  int64        `json:"tokensBefore"`
	After   int64        `json:"tokensAfter"`
	Erases  bool         `json:"erases,omitempty"`
	Content string       `json:"contentId,omitempty"`
	Said    string       `json:"said,omitempty"`
	Brought []int32      `json:"brought,omitempty"`
	Commit  uint64       `json:"commit"`
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
	Text           string      `json:"text"`
	Erased         *erasedLine `json:"erased,omitempty"`
	Tokens         int32       `json:"tokens"`
	Except         []rangeLine `json:"except,omitempty"`
	Verbatim       []rangeLine `json:"verbatim,omitempty"`
	Facts          string      `json:"factsJson,omitempty"`
	FactsErased    *erasedLine `json:"factsErased,omitempty"`
	Model          string      `json:"model,omitempty"`
	Recorded       int64       `json:"tokensRecorded,omitempty"`
	OriginalErased bool        `json:"originalErased,omitempty"`
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
	Seq             int64       `json:"seq"`
	Turn            int32       `json:"turn"`
	Format          formatName  `json:"format"`
	Model           string      `json:"model,omitempty"`
	MessageCount    int32       `json:"messageCount"`
	EditSeq         int64       `json:"editSeq"`
	WindowStart     int32       `json:"windowStartIndex"`
	WindowRequest   int32       `json:"windowRequestIndex"`
	WindowOpening   *int32      `json:"windowOpeningIndex,omitempty"`
	WindowRestored  int64       `json:"windowRestoredEdit,omitempty"`
	WindowAfresh    int64       `json:"windowAfreshEdit,omitempty"`
	WindowCuts      []cutLine   `json:"windowCuts,omitempty"`
	LeadingSystem   int32       `json:"leadingSystem"`
	Pins            []rangeLine `json:"pins,omitempty"`
	Budget          int64       `json:"budgetTokens"`
	Tokens          int64       `json:"tokens"`
	FixedTokens     int64       `json:"fixedTokens"`
	FixedHash       digest      `json:"fixedSha256"`
	Counter         string      `json:"counter,omitempty"`
	Factor          float64     `json:"factor"`
	PolicyHash      string      `json:"policyHash,omitempty"`
	RendererVersion int32       `json:"rendererVersion"`
	SHA256          digest      `json:"contentSha256"`
	Time            time.Time   `json:"createTime,omitzero"`
	Revision        int64       `json:"revision"`
	Blocks          int32       `json:"blocks"`
	UsageReported   bool        `json:"usageReported,omitempty"`
}

type (
	roleName    conversation.Role
	typeName    conversation.MessageType
	stateName   conversation.ResultState
	editName    conversation.EditKind
	reasonName  conversation.Reason
	levelName   conversation.Level
	formatName  conversation.Format
	modeName    conversation.ExpirationMode
	compactName conversation.CompactMode
	sourceName  conversation.ExpirationSource
	rewriteName conversation.RewriteMode
	variantName conversation.Variant

	importanceName conversation.Importance

	strategyName conversation.Strategy

	sourceTypeName conversation.SourceType

	digest [32]byte
)
