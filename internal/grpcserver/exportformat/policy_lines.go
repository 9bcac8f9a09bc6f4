package exportformat

import (
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

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

type fitLine struct {
	MaxContextTokens     *int32 `json:"maxContextTokens,omitempty"`
	ContextWindowTokens  *int32 `json:"contextWindowTokens,omitempty"`
	ReservedOutputTokens *int32 `json:"reservedOutputTokens,omitempty"`
	TargetPercent        *int32 `json:"targetPercent,omitempty"`
	MaxResultPercent     *int32 `json:"maxResultPercent,omitempty"`
	KeepOpening          *bool  `json:"keepOpening,omitempty"`
}

type expirationPolicyLine struct {
	Off     *bool          `json:"off,omitempty"`
	Results expirationLine `json:"results,omitzero"`
}

type expirationLine struct {
	Turns            *int32                    `json:"turns,omitempty"`
	Mode             enum[pb.ExpirationMode]   `json:"mode,omitzero"`
	CompactMode      enum[pb.CompactMode]      `json:"compactMode,omitzero"`
	CompactLength    *int32                    `json:"compactLength,omitempty"`
	CompactPromptID  string                    `json:"compactPromptId,omitempty"`
	PreserveOriginal *bool                     `json:"preserveOriginalContent,omitempty"`
	Source           enum[pb.ExpirationSource] `json:"source,omitzero"`
}

type retentionPolicyLine struct {
	AllInputs *bool `json:"allInputs,omitempty"`
}

type rewriteLine struct {
	Mode             enum[pb.RewriteMode] `json:"mode,omitzero"`
	MinGainTokens    *int32               `json:"minGainTokens,omitempty"`
	MaxDeferralTurns *int32               `json:"maxDeferralTurns,omitempty"`
	ColdAfter        *time.Duration       `json:"coldAfterNanos,omitempty"`
	ExpectTurns      *int32               `json:"expectTurns,omitempty"`
	ColdCutPercent   *int32               `json:"coldCutPercent,omitempty"`
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
}

type compactionLine struct {
	Strategy           enum[pb.CompactionStrategy] `json:"strategy,omitzero"`
	ThresholdMessages  *int32                      `json:"thresholdMessages,omitempty"`
	PreparePercent     *int32                      `json:"preparePercent,omitempty"`
	KeepRecent         *int32                      `json:"keepRecent,omitempty"`
	TailPercent        *int32                      `json:"tailPercent,omitempty"`
	TargetPercent      *int32                      `json:"targetPercent,omitempty"`
	MinShrinkPercent   *int32                      `json:"minShrinkPercent,omitempty"`
	FanOut             *int32                      `json:"fanOut,omitempty"`
	SummaryTokens      *int32                      `json:"summaryTokens,omitempty"`
	PromptID           *string                     `json:"promptId,omitempty"`
	CountReasoning     *bool                       `json:"countReasoning,omitempty"`
	ListTokens         *int32                      `json:"listTokens,omitempty"`
	LivePrefix         *bool                       `json:"livePrefix,omitempty"`
	SummaryInputTokens *int32                      `json:"summaryInputTokens,omitempty"`
}

type citationsLine struct {
	On              *bool     `json:"enabled,omitempty"`
	ThresholdChars  *int32    `json:"thresholdChars,omitempty"`
	ReleaseOnEndRun *bool     `json:"releaseOnEndRun,omitempty"`
	RecallTools     *[]string `json:"recallTools,omitempty"`
}

type deduplicationLine struct {
	On            *bool     `json:"enabled,omitempty"`
	ExcludedTools *[]string `json:"excludedTools,omitempty"`
	MinLines      *int32    `json:"minLines,omitempty"`
}

// memoryLine has lists that are absent where they are not set, and [] where they are set to none.
type memoryLine struct {
	On            *bool                       `json:"enabled,omitempty"`
	Sync          enum[pb.MemorySyncStrategy] `json:"sync,omitzero"`
	BatchMessages *int32                      `json:"batchMessages,omitempty"`
	BatchTokens   *int32                      `json:"batchTokens,omitempty"`
	BatchMaxAge   *time.Duration              `json:"batchMaxAgeNanos,omitempty"`
	SyncDelay     *time.Duration              `json:"syncDelayNanos,omitempty"`
	SessionIdle   *time.Duration              `json:"sessionIdleNanos,omitempty"`
	SyncRoles     *[]enum[pb.Role]            `json:"syncRoles,omitempty"`
	Extract       enum[pb.MemoryExtraction]   `json:"extract,omitzero"`
	SyncScope     enum[pb.MemoryScope]        `json:"syncScope,omitzero"`
	Infer         *bool                       `json:"infer,omitempty"`
	Recall        recallLine                  `json:"recall,omitzero"`
	OnDelete      enum[pb.MemoryOnDelete]     `json:"onDelete,omitzero"`
}

type recallLine struct {
	Off            *bool                   `json:"off,omitempty"`
	Scopes         *[]enum[pb.MemoryScope] `json:"scopes,omitempty"`
	MaxMemories    *int32                  `json:"maxMemories,omitempty"`
	MaxEachTokens  *int32                  `json:"maxEachTokens,omitempty"`
	MaxTokens      *int32                  `json:"maxTokens,omitempty"`
	Deadline       *time.Duration          `json:"deadlineNanos,omitempty"`
	Floor          *float64                `json:"floor,omitempty"`
	MaxViewPercent *int32                  `json:"maxViewPercent,omitempty"`
}
