package exportformat

import (
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// memoryLine has lists that are absent where they are not set, and [] where they are set to none.
type memoryLine struct {
	On            *bool          `json:"enabled,omitempty"`
	Sync          syncName       `json:"sync,omitzero"`
	BatchMessages *int32         `json:"batchMessages,omitempty"`
	BatchTokens   *int32         `json:"batchTokens,omitempty"`
	BatchMaxAge   *time.Duration `json:"batchMaxAgeNanos,omitempty"`
	SyncDelay     *time.Duration `json:"syncDelayNanos,omitempty"`
	SessionIdle   *time.Duration `json:"sessionIdleNanos,omitempty"`
	SyncRoles     *[]roleName    `json:"syncRoles,omitempty"`
	Extract       extractName    `json:"extract,omitzero"`
	SyncScope     scopeName      `json:"syncScope,omitzero"`
	Infer         *bool          `json:"infer,omitempty"`
	Recall        recallLine     `json:"recall,omitzero"`
	OnDelete      onDeleteName   `json:"onDelete,omitzero"`
}

type recallLine struct {
	Off            *bool          `json:"off,omitempty"`
	Scopes         *[]scopeName   `json:"scopes,omitempty"`
	MaxMemories    *int32         `json:"maxMemories,omitempty"`
	MaxEachTokens  *int32         `json:"maxEachTokens,omitempty"`
	MaxTokens      *int32         `json:"maxTokens,omitempty"`
	Deadline       *time.Duration `json:"deadlineNanos,omitempty"`
	Floor          *float64       `json:"floor,omitempty"`
	MaxViewPercent *int32         `json:"maxViewPercent,omitempty"`
}

func fromMemory(p *conversation.MemoryPolicy) memoryLine {
	r := &p.Recall
	return memoryLine{
		On: p.On, Sync: syncName(p.Sync), BatchMessages: p.BatchMessages, BatchTokens: p.BatchTokens, BatchMaxAge: p.BatchMaxAge,
		SyncDelay: p.SyncDelay, SessionIdle: p.SessionIdle, SyncRoles: fromNames(numbers[roleName](p.SyncRoles)),
		Extract: extractName(p.Extract), SyncScope: scopeName(p.SyncScope), Infer: p.Infer, OnDelete: onDeleteName(p.OnDelete),
		Recall: recallLine{
			Off: r.Off, Scopes: fromNames(numbers[scopeName](r.Scopes)), MaxMemories: r.MaxMemories, MaxEachTokens: r.MaxEachTokens,
			MaxTokens: r.MaxTokens, Deadline: r.Deadline, Floor: r.Floor, MaxViewPercent: r.MaxViewPercent,
		},
	}
}

func (l *memoryLine) record() conversation.MemoryPolicy {
	r := &l.Recall
	return conversation.MemoryPolicy{
		On: l.On, Sync: conversation.SyncStrategy(l.Sync), BatchMessages: l.BatchMessages, BatchTokens: l.BatchTokens, BatchMaxAge: l.BatchMaxAge,
		SyncDelay: l.SyncDelay, SessionIdle: l.SessionIdle, SyncRoles: numbers[conversation.Role](l.SyncRoles),
		Extract: conversation.MemoryExtraction(l.Extract), SyncScope: conversation.MemoryScope(l.SyncScope), Infer: l.Infer,
		OnDelete: conversation.MemoryOnDelete(l.OnDelete),
		Recall: conversation.RecallPolicy{
			Off: r.Off, Scopes: numbers[conversation.MemoryScope](r.Scopes), MaxMemories: r.MaxMemories, MaxEachTokens: r.MaxEachTokens,
			MaxTokens: r.MaxTokens, Deadline: r.Deadline, Floor: r.Floor, MaxViewPercent: r.MaxViewPercent,
		},
	}
}

// numbers are the values of an enum as those of its twin.
func numbers[To, From ~int8 | ~int32](list *[]From) *[]To {
	if list == nil {
		return nil
	}
	var out []To
	for _, v := range *list {
		out = append(out, To(v))
	}
	return &out
}

type (
	syncName     conversation.SyncStrategy
	extractName  conversation.MemoryExtraction
	scopeName    conversation.MemoryScope
	onDeleteName conversation.MemoryOnDelete
)

// MarshalText writes the API's name.
func (n syncName) MarshalText() ([]byte, error) { return name(int32(n), pb.MemorySyncStrategy_name) }

// UnmarshalText reads the API's name.
func (n *syncName) UnmarshalText(b []byte) error { return number(n, b, pb.MemorySyncStrategy_value) }

// MarshalText writes the API's name.
func (n extractName) MarshalText() ([]byte, error) { return name(int32(n), pb.MemoryExtraction_name) }

// UnmarshalText reads the API's name.
func (n *extractName) UnmarshalText(b []byte) error { return number(n, b, pb.MemoryExtraction_value) }

// MarshalText writes the API's name.
func (n scopeName) MarshalText() ([]byte, error) { return name(int32(n), pb.MemoryScope_name) }

// UnmarshalText reads the API's name.
func (n *scopeName) UnmarshalText(b []byte) error { return number(n, b, pb.MemoryScope_value) }

// MarshalText writes the API's name.
func (n onDeleteName) MarshalText() ([]byte, error) { return name(int32(n), pb.MemoryOnDelete_name) }

// UnmarshalText reads the API's name.
func (n *onDeleteName) UnmarshalText(b []byte) error { return number(n, b, pb.MemoryOnDelete_value) }
