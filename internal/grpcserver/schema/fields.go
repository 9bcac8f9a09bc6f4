package schema

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

// The counters that a server has, by the names of the API.
const (
	counterO200k  = "o200k"
	counterCl100k = "cl100k"
	counterChars4 = "chars4"
)

// CounterName is the condition of a counter that a server has.
func CounterName(s string) string {
	switch s {
	case counterO200k, counterCl100k, counterChars4:
		return ""
	default:
		return "must be o200k, cl100k or chars4"
	}
}

// BuildID is the condition of the id of a build.
func BuildID(s string) string {
	if _, ok := convert.ParseBuildID(s); !ok {
		return "must be the id of a build, such as b12"
	}
	return ""
}

// SummaryID is the condition of the id of a summary.
func SummaryID(s string) string {
	if _, ok := convert.ParseSummaryID(s); !ok {
		return "must be the id of a summary, such as s7"
	}
	return ""
}

// ContentID is the field that names a content.
func ContentID[M any](get func(M) string) rules.Rule[M] {
	return rules.Text("content_id", handleLimit(), get)
}

// Span are the rules of a range in a content.
func Span() rules.Table[*pb.Span] {
	return rules.Table[*pb.Span]{
		rules.Number("start_index", PlaceLimit(), (*pb.Span).GetStartIndex),
		rules.EndIndex(PlaceLimit(), func(s *pb.Span) *int64 { return s.EndIndex }),
	}
}

// ConversationID is the field that names a conversation.
func ConversationID[M any](field string, get func(M) string) rules.Rule[M] {
	return rules.ShownName(field, NameLimit(), get)
}

// RequestID is the field that makes a retry the same request.
func RequestID[M any](get func(M) string) rules.Rule[M] {
	return rules.Text("request_id", OptionalNameLimit(), get)
}
