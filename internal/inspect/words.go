package inspect

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// reasons says why an edit was made. What has no words here says its name.
var reasons = map[pb.DecisionReason]string{
	pb.DecisionReason_DECISION_REASON_RESULT_OVER_SHARE:       "a tool result was over its share of the budget",
	pb.DecisionReason_DECISION_REASON_NEWEST_UNIT_OVER_BUDGET: "the newest messages did not fit into the budget",
	pb.DecisionReason_DECISION_REASON_BEFORE_WINDOW:           "before the window's start; no summary stands for it",
	pb.DecisionReason_DECISION_REASON_APPENDED:                "the caller appended it",
	pb.DecisionReason_DECISION_REASON_EXPIRED:                 "its turns were over",
	pb.DecisionReason_DECISION_REASON_UNIT_EXPIRED:            "the turns of all that belongs together were over",
	pb.DecisionReason_DECISION_REASON_EXPIRED_FIRST_CHARS:     "its turns were over; its first characters stay",
	pb.DecisionReason_DECISION_REASON_EXPIRED_SUMMARY:         "its turns were over; a model's summary stays",
	pb.DecisionReason_DECISION_REASON_EXPIRED_EXTRACT:         "its turns were over; the sidecar's extract stays",
	pb.DecisionReason_DECISION_REASON_RETENTION:               "words of plugins were past their retention",
	pb.DecisionReason_DECISION_REASON_EXPAND_REQUEST:          "ExpandMessage asked for it",
	pb.DecisionReason_DECISION_REASON_HELD_FOR_REWRITE:        "not yet worth what the provider would read anew",
	pb.DecisionReason_DECISION_REASON_SUMMARY_NOT_READY:       "the model's summary is not there yet",
	pb.DecisionReason_DECISION_REASON_SUMMARY_REFUSED:         "a limit has refused the model's summary so far",
	pb.DecisionReason_DECISION_REASON_SUMMARY_NOT_ASKED:       "no model was asked for the summary yet",
	pb.DecisionReason_DECISION_REASON_PRUNED:                  "a tool result older than the newest tokens, which stay",
	pb.DecisionReason_DECISION_REASON_OVERFLOW:                "the view outgrew its budget",
	pb.DecisionReason_DECISION_REASON_MESSAGE_THRESHOLD:       "more messages had gathered than the policy allows",
	pb.DecisionReason_DECISION_REASON_CACHE_COLD:              "the provider's cache was cold, so that rewriting cost nothing",
	pb.DecisionReason_DECISION_REASON_COMPACT_REQUEST:         "CompactConversation asked for it",
	pb.DecisionReason_DECISION_REASON_SUMMARIES_MERGED:        "enough summaries of a level had gathered",
	pb.DecisionReason_DECISION_REASON_REWIND_REQUEST:          "RewindConversation or UndoRewind asked for it",
	pb.DecisionReason_DECISION_REASON_CORRECTION_REQUEST:      "CorrectMessage asked for it",
	pb.DecisionReason_DECISION_REASON_OVER_CITATION_THRESHOLD: "longer than the policy lets in; a citation stands for it",
	pb.DecisionReason_DECISION_REASON_STORE_CONTENT_REQUEST:   "StoreContent asked for it",
	pb.DecisionReason_DECISION_REASON_RUN_ENDED:               "its run has ended, or was forgotten",
	pb.DecisionReason_DECISION_REASON_OVER_BUDGET_SHARE:       "over its share of the budget; a part is shown, or a summary",
	pb.DecisionReason_DECISION_REASON_NO_ROOM:                 "stronger claims on the budget leave no room",
	pb.DecisionReason_DECISION_REASON_RESIDUE_DROPPED:         "what another provider said beside it is left out",
	pb.DecisionReason_DECISION_REASON_MEMORIES_ANSWER:         "memories of earlier conversations answer it",
	pb.DecisionReason_DECISION_REASON_MEMORY_NO_ACTOR:         "no memories: the conversation has no actor_id",
	pb.DecisionReason_DECISION_REASON_MEMORY_QUERY_EMPTY:      "no memories: it has too few words to search by",
	pb.DecisionReason_DECISION_REASON_MEMORY_BELOW_FLOOR:      "no memories: none answers it well enough",
	pb.DecisionReason_DECISION_REASON_MEMORY_IN_VIEW:          "no memories: what answers it is in view already",
	pb.DecisionReason_DECISION_REASON_MEMORY_OVER_CAP:         "no room for memories",
	pb.DecisionReason_DECISION_REASON_MEMORY_DEADLINE:         "no memories: they came too late",
	pb.DecisionReason_DECISION_REASON_MEMORY_UNAVAILABLE:      "no memories: the memory could not be reached",
	pb.DecisionReason_DECISION_REASON_MEMORY_INDEX_COLD:       "no memories: their index was being loaded",
	pb.DecisionReason_DECISION_REASON_MEMORY_DRY_RUN:          "no memories: a dry run recalls nothing",
	pb.DecisionReason_DECISION_REASON_MEMORY_FORGOTTEN:        "memories were forgotten",
	pb.DecisionReason_DECISION_REASON_DUPLICATE_LINES:         "lines of it stood in the view already",
	pb.DecisionReason_DECISION_REASON_COPY_NOT_SHOWN:          "what stood for lines of it is not shown any more",
	pb.DecisionReason_DECISION_REASON_SIGNATURE_ADDED:         "a call that Gemini did not make has the placeholder of a signature",
	pb.DecisionReason_DECISION_REASON_BYTES_REPLACED:          "bytes in base64 are no text; an image or a line stands for them",
	pb.DecisionReason_DECISION_REASON_REMOVED_BY_CALLER:       "the caller's own list lacks it, or, if it was expanded, has it again",
}

func reasonText(r pb.DecisionReason) string {
	if words, ok := reasons[r]; ok {
		return words
	}
	return sheet.EnumText(r)
}

// indexRange names the messages of a half-open range as people count: up to the last one, inclusive.
func indexRange(start, end int32) string {
	switch {
	case start < 0:
		return "-" // made by the rendering
	case end-start <= 1:
		return fmt.Sprint(start)
	default:
		return fmt.Sprintf("%d-%d", start, end-1)
	}
}

func timestamp(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().UTC().Format(time.DateTime)
}

// joinNonEmpty joins what is not empty.
func joinNonEmpty(separator string, words ...string) string {
	kept := words[:0]
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, separator)
}
