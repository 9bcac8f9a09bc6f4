package schema

import (
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

// ProviderInput are the rules of a provider's JSON. What is wrong within the JSON, its reader says.
func ProviderInput() rules.Table[*pb.ProviderInput] {
	return rules.Table[*pb.ProviderInput]{
		providersFormat(),
		rules.Text("json", rules.ByteRange(2, MaxContentBytes), (*pb.ProviderInput).GetJson).Says("at most " + rules.Grouped(MaxReadMessages) + " messages"),
		rules.Enum("shape", (*pb.ProviderInput).GetShape),
		rules.Message("history", (*pb.ProviderInput).GetHistory, historyRules()),
		rules.Text("model", OptionalNameLimit(), (*pb.ProviderInput).GetModel),
		rules.Text("run_id", OptionalNameLimit(), (*pb.ProviderInput).GetRunId),
		rules.Text("step_id", OptionalNameLimit(), (*pb.ProviderInput).GetStepId),
		Tags("tags", (*pb.ProviderInput).GetTags),
		rules.Anything[*pb.ProviderInput]("aborted"),
	}
}

func providersFormat() rules.Rule[*pb.ProviderInput] {
	return rules.RequiredEnum("format", (*pb.ProviderInput).GetFormat).Then(func(c *rules.Checker, in *pb.ProviderInput) {
		if in.GetFormat() == pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL {
			c.Fail("must be a provider's: NEUTRAL is no provider's")
		}
	})
}

// MaxReadMessages is how many messages one JSON may become.
const MaxReadMessages = 10_000

func historyRules() rules.Table[*pb.HistoryOptions] {
	return rules.Table[*pb.HistoryOptions]{
		rules.Number("known_count", IndexLimit(), (*pb.HistoryOptions).GetKnownCount),
		rules.ClosedText("known_sha256", (*pb.HistoryOptions).GetKnownSha256, lowerHex).Also(func(c *rules.Checker, h *pb.HistoryOptions) {
			if (h.GetKnownCount() > 0) != (h.GetKnownSha256() != "") {
				c.Fail("must be set where known_count is above 0, and there alone")
			}
		}),
		rules.Enum("on_divergence", (*pb.HistoryOptions).GetOnDivergence),
		rules.Enum("on_cut", (*pb.HistoryOptions).GetOnCut),
		rules.Anything[*pb.HistoryOptions]("by_place"),
	}
}

func lowerHex(s string) string {
	const digits = "0123456789abcdef"
	if len(s) != 64 || strings.Trim(s, digits) != "" {
		return "must be 64 lower-case hexadecimal digits"
	}
	return ""
}

// Appendable is what a request appends: a message, or a provider's JSON in its place.
type Appendable interface {
	comparable
	GetMessage() *pb.Message
	GetProviderInput() *pb.ProviderInput
}

// AppendedMessage are the rules of the message, and of what may stand in its place.
func AppendedMessage[M Appendable](messages rules.Table[*pb.Message]) rules.Rule[M] {
	return rules.Message("message", M.GetMessage, messages).Also(func(c *rules.Checker, m M) {
		if (m.GetMessage() == nil) == (m.GetProviderInput() == nil) {
			c.Fail("set exactly one of message and provider_input")
		}
		if m.GetProviderInput().GetHistory().GetByPlace() {
			c.Fail("provider_input.history.by_place asks for a view: use BuildContext")
		}
	})
}

// NotWithProviderInput refuses a field beside a provider's JSON.
func NotWithProviderInput[M Appendable](r rules.Rule[M], set func(M) bool) rules.Rule[M] {
	return r.Also(func(c *rules.Checker, m M) {
		if m.GetProviderInput() != nil && set(m) {
			c.Fail("must not be set together with provider_input")
		}
	})
}
