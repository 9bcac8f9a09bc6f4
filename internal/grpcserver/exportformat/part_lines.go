package exportformat

import (
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// partLine holds exactly one of its kinds; none where an edit shows nothing of a part.
type partLine struct {
	Text       *string              `json:"text,omitempty" of:"-"`
	Media      *mediaLine           `json:"media,omitempty"`
	ToolCall   *callLine            `json:"toolCall,omitempty" of:"Call"`
	ToolResult *resultLine          `json:"toolResult,omitempty" of:"Result"`
	Reasoning  *reasoningLine       `json:"reasoning,omitempty"`
	Opaque     *opaqueLine          `json:"opaque,omitempty"`
	Tokens     int32                `json:"tokens"`
	Estimated  bool                 `json:"estimated,omitempty"`
	Retention  retentionLine        `json:"retention,omitzero"`
	Plugin     string               `json:"plugin,omitempty"`
	Variant    enum[pb.PartVariant] `json:"variant,omitzero"`
	Erased     []erasedLine         `json:"erased,omitempty" of:"-"`
	Citation   *citationLine        `json:"citation,omitempty"`
	Recalled   []recalledMemoryLine `json:"recalled,omitempty" of:"Recalled.Memories"`
	Residue    *residueLine         `json:"residue,omitempty"`
}

type residueLine struct {
	Provider string `json:"provider"`
	JSON     string `json:"json"`
}

// retentionLine holds at most one of its fields.
type retentionLine struct {
	Permanent bool   `json:"permanent,omitempty" of:"-"`
	KeepLast  *int32 `json:"keepLast,omitempty" of:"-"`
}

// erasedLine is what is left of one run of content of a part, which is empty otherwise. Content counts the part's runs as the
// domain lists them.
type erasedLine struct {
	Content int32  `json:"content" of:"-"`
	Bytes   int64  `json:"originalLengthBytes"`
	Chars   int64  `json:"originalLengthChars"`
	Hash    digest `json:"keyedHash"`
}

type mediaLine struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data,omitempty" of:"Data.Inline"`
	URI      string `json:"uri,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

type callLine struct {
	CallID    string `json:"callId"`
	Name      string `json:"name"`
	Arguments string `json:"argumentsJson,omitempty" of:"Arguments.Inline"`
	Ordinal   int32  `json:"ordinal"`
}

// resultLine holds at most one of text, json and parts.
type resultLine struct {
	CallID     string                   `json:"callId"`
	Name       string                   `json:"name,omitempty"`
	State      enum[pb.ToolResultState] `json:"state,omitzero"`
	Text       *string                  `json:"text,omitempty" of:"-"`
	JSON       *string                  `json:"json,omitempty" of:"-"`
	Parts      []pieceLine              `json:"parts,omitempty"`
	Actions    []actionLine             `json:"actions,omitempty"`
	Expiration *expirationLine          `json:"expiration,omitempty"`
	Importance enum[pb.Importance]      `json:"importance,omitzero"`
	Ordinal    int32                    `json:"ordinal"`
	Joins      bool                     `json:"joins,omitempty"`
	Recalled   *recalledLine            `json:"recalledFrom,omitempty"`
	Source     *originLine              `json:"source,omitempty"`
}

type pieceLine struct {
	Text  *string    `json:"text,omitempty" of:"-"`
	Media *mediaLine `json:"media,omitempty"`
}

type reasoningLine struct {
	Text      string `json:"text,omitempty" of:"Text.Inline"`
	Signature string `json:"signature,omitempty" of:"Signature.Inline"`
	Provider  string `json:"provider"`
	Model     string `json:"model,omitempty"`
}

type opaqueLine struct {
	Provider string `json:"provider"`
	JSON     string `json:"json" of:"JSON.Inline"`
}

// citationLine says what the part that an edit shows stands for.
type citationLine struct {
	ContentID   string              `json:"contentId"`
	Type        enum[pb.SourceType] `json:"sourceType,omitzero" of:"SourceType"`
	URL         string              `json:"sourceUrl,omitempty" of:"SourceURL"`
	Title       string              `json:"sourceTitle,omitempty" of:"SourceTitle"`
	ContentType string              `json:"contentType,omitempty"`
	Bytes       int64               `json:"totalBytes" of:"TotalBytes"`
	Chars       int64               `json:"totalChars" of:"TotalChars"`
	Location    string              `json:"location,omitempty"`
	ExcerptFrom int32               `json:"excerptStart"`
	ExcerptEnd  int32               `json:"excerptEnd"`
	HowFrom     int32               `json:"howToRetrieveStart"`
}

// originLine is what a caller says that a result came from.
type originLine struct {
	Type  enum[pb.SourceType] `json:"type,omitzero"`
	URL   string              `json:"url,omitempty"`
	Title string              `json:"title,omitempty"`
}

// recalledLine holds exactly one of its fields.
type recalledLine struct {
	ContentID string `json:"contentId,omitempty"`
	Index     *int32 `json:"messageIndex,omitempty" of:"-"`
	Memories  bool   `json:"memories,omitempty"`
}

// recalledMemoryLine is a memory in a block before a message's words.
type recalledMemoryLine struct {
	ID      string                     `json:"id"`
	Kind    int8                       `json:"kind"`
	Scope   int8                       `json:"scope"`
	Text    string                     `json:"text"`
	SaidBy  string                     `json:"saidBy,omitempty"`
	Sources []recalledMemorySourceLine `json:"sources,omitempty"`
	Time    time.Time                  `json:"time,omitzero"`
	Score   float64                    `json:"score,omitempty"`
}

type recalledMemorySourceLine struct {
	Conversation string    `json:"conversationId"`
	First        int32     `json:"first"`
	Last         int32     `json:"last"`
	Time         time.Time `json:"time,omitzero"`
}
