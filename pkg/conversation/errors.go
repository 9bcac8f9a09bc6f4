package conversation

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the class of an error. Each reason belongs to one, and the edge of the API maps reasons to codes.
type Kind string

// The reasons that the domain can give. Each is an ErrorReason of the API without its prefix; the API documents them.
const (
	InvalidField           Kind = "INVALID_FIELD"
	ConversationNotFound   Kind = "CONVERSATION_NOT_FOUND"
	ConversationDeleted    Kind = "CONVERSATION_DELETED"
	ConversationExists     Kind = "CONVERSATION_EXISTS"
	MessageNotFound        Kind = "MESSAGE_NOT_FOUND"
	ManifestNotFound       Kind = "MANIFEST_NOT_FOUND"
	ManifestNotRebuildable Kind = "MANIFEST_NOT_REBUILDABLE"
	ModelProfileNotFound   Kind = "MODEL_PROFILE_NOT_FOUND"
	ActionPolicyNotFound   Kind = "ACTION_POLICY_NOT_FOUND"
	PromptNotFound         Kind = "PROMPT_NOT_FOUND"
	SummaryNotFound        Kind = "SUMMARY_NOT_FOUND"
	NotEdited              Kind = "NOT_EDITED"
	OriginalErased         Kind = "ORIGINAL_ERASED"
	ExpansionTooLarge      Kind = "EXPANSION_TOO_LARGE"
	NothingToCompact       Kind = "NOTHING_TO_COMPACT"
	AlreadyRewound         Kind = "ALREADY_REWOUND"
	NothingToUndo          Kind = "NOTHING_TO_UNDO"
	NotCorrectable         Kind = "NOT_CORRECTABLE"
	ContentNotFound        Kind = "CONTENT_NOT_FOUND"
	ContentExpired         Kind = "CONTENT_EXPIRED"
	ContentNotText         Kind = "CONTENT_NOT_TEXT"
	RunEnded               Kind = "RUN_ENDED"
	ChecksumMismatch       Kind = "CHECKSUM_MISMATCH"
	IndexMismatch          Kind = "INDEX_MISMATCH"
	Contention             Kind = "CONTENTION"
	RequestIDReused        Kind = "REQUEST_ID_REUSED"
	ResultWithoutCall      Kind = "RESULT_WITHOUT_CALL"
	PendingToolCalls       Kind = "PENDING_TOOL_CALLS"
	EmptyContext           Kind = "EMPTY_CONTEXT"
	NoMessages             Kind = "NO_MESSAGES"
	ContextCannotFit       Kind = "CONTEXT_CANNOT_FIT"
	TurnPassed             Kind = "TURN_PASSED"
	ReplyTooLarge          Kind = "REPLY_TOO_LARGE"
	LimitExceeded          Kind = "LIMIT_EXCEEDED"
	StoreUnavailable       Kind = "STORE_UNAVAILABLE"
	OutcomeUnknown         Kind = "OUTCOME_UNKNOWN"
	CorruptRecord          Kind = "CORRUPT_RECORD"
	StoreFull              Kind = "STORE_FULL"
	ResumeTokenExpired     Kind = "RESUME_TOKEN_EXPIRED" //nolint:gosec // the name of a reason, no credential
	Overloaded             Kind = "OVERLOADED"
	Unauthenticated        Kind = "UNAUTHENTICATED"
	PermissionDenied       Kind = "PERMISSION_DENIED"
	QuotaExceeded          Kind = "QUOTA_EXCEEDED"
	MemoryDisabled         Kind = "MEMORY_DISABLED"
	NoActor                Kind = "NO_ACTOR"
	MemoryUnavailable      Kind = "MEMORY_UNAVAILABLE"
	ForgetNotFound         Kind = "FORGET_NOT_FOUND"
	HistoryDiverged        Kind = "HISTORY_DIVERGED"
	HistoryAmbiguous       Kind = "HISTORY_AMBIGUOUS"
	HistoryPrefixUnknown   Kind = "HISTORY_PREFIX_UNKNOWN"
	Cancelled              Kind = "CANCELLED"
	Internal               Kind = "INTERNAL"
)

// Error is the only error type of the domain. Text is safe to show: it never holds conversation text.
type Error struct {
	Kind       Kind
	Text       string
	Violations []Violation
	Quota      *QuotaRefusal // of QuotaExceeded
	Divergence *Divergence   // of HistoryDiverged
	Known      []int32       // of HistoryPrefixUnknown: the number of elements of each remembered list, newest first
	Cause      error         // for the log only
	// NothingAppended is set if a call that appends first has recorded nothing.
	NothingAppended bool
}

// QuotaRefusal says which limit of a namespace refused a call, and when to try again.
type QuotaRefusal struct {
	Limit      string // such as "conversations"; never an id
	RetryAfter time.Duration
}

// Divergence is where a caller's list first differs from the record; both numbers count from 0.
type Divergence struct{ Element, Message int32 }

// Violation is one fault of a request.
type Violation struct {
	Field string // path of the field, such as message.parts[2].text
	Text  string // what is wrong, without the value
}

// Error returns the safe text.
func (e *Error) Error() string {
	if e.NothingAppended {
		return e.text() + "; nothing was appended"
	}
	return e.text()
}

func (e *Error) text() string {
	if len(e.Violations) == 0 {
		return e.Text
	}
	v := e.Violations[0]
	more := ""
	if n := len(e.Violations) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("%s: %s: %s%s", e.Text, v.Field, v.Text, more)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an error of a kind.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// OverQuota sets the limit that refused the call.
func (e *Error) OverQuota(limit string, retryAfter time.Duration) *Error {
	e.Quota = &QuotaRefusal{Limit: limit, RetryAfter: retryAfter}
	return e
}

// At adds a violation: a field of the request, and what is wrong with it.
func (e *Error) At(field, text string) *Error {
	e.Violations = append(e.Violations, Violation{Field: field, Text: text})
	return e
}

// Because sets the cause.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// KindOf returns the kind of the domain error in err's chain, or Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
