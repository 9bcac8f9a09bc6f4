package schema

import (
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

// input says whether plugins may add to messages of the role. A role that is not said is a fault of its own.
func input(r pb.Role) bool {
	return r != pb.Role_ROLE_SYSTEM && r != pb.Role_ROLE_ASSISTANT
}

func keepLimit() rules.Limit { return rules.NumberRange(1, 1_000_000) }

func checkAddable(c *rules.Checker, p *pb.Part) {
	switch kind := partKind(p); kind {
	case "", "text", "media":
	default:
		c.FailIn(kind, "is no part for an addition, which holds text and media")
	}
}

func retentionRules() rules.Table[*pb.Retention] {
	return rules.Table[*pb.Retention]{
		rules.Either("policy", func(r *pb.Retention) bool { return r.GetPolicy() != nil }),
		rules.Message("permanent", (*pb.Retention).GetPermanent, rules.Table[*pb.Permanent]{}),
		rules.OptionalNumber("keep_last", keepLimit(), func(r *pb.Retention) *int32 {
			if k, ok := r.GetPolicy().(*pb.Retention_KeepLast); ok {
				return &k.KeepLast
			}
			return nil
		}),
	}
}

// sourceRules are those of what a caller says that a result came from.
func sourceRules() rules.Table[*pb.ResultSource] {
	return rules.Table[*pb.ResultSource]{
		rules.Enum("type", (*pb.ResultSource).GetType),
		rules.ShownName("url", rules.AtMostBytes(2048), (*pb.ResultSource).GetUrl),
		rules.ShownName("title", OptionalNameLimit(), (*pb.ResultSource).GetTitle),
	}
}

const (
	maxParts        = 1024
	maxCalls        = 512
	maxResultPieces = 256

	// The blocks that additions become: their parts, a header and a spacing each.
	maxAdded = maxAdditions * (maxAdditionParts + 2)
)

// Message are those of what is appended: what parts say of plugins is output only.
func Message() rules.Table[*pb.Message] {
	return messageTable(func(*pb.Part) bool { return false })
}

// Record are those of messages that come back from an export: what plugins added is among their parts.
func Record() rules.Table[*pb.Message] {
	return messageTable(func(p *pb.Part) bool { return p.GetPlugin() != "" })
}

func messageTable(added func(*pb.Part) bool) rules.Table[*pb.Message] {
	actions, expiration := actionRules(), Expiration()
	return rules.Table[*pb.Message]{
		rules.OptionalText("id", rules.ByteRange(1, 128), (*pb.Message).GetId),
		rules.RequiredEnum("role", (*pb.Message).GetRole),
		speakerRule(),
		partsRule(partRules(actions, expiration), added),
		rules.Enum("message_type", (*pb.Message).GetMessageType),
		rules.List("actions", rules.AtMost(64), (*pb.Message).GetActions, actions),
		rules.Message("expiration", (*pb.Message).GetExpiration, expiration),
		importanceRule(),
		rules.Anything[*pb.Message]("pinned"),
		rules.Text("model", OptionalNameLimit(), (*pb.Message).GetModel),
		rules.Text("run_id", OptionalNameLimit(), (*pb.Message).GetRunId),
		rules.Text("step_id", OptionalNameLimit(), (*pb.Message).GetStepId),
		Tags("tags", (*pb.Message).GetTags),
		rules.OptionalText("metadata_json", rules.AtMostBytes(65_536), (*pb.Message).GetMetadataJson, rules.JSONObject),
	}.OutputOnly("index", "create_time", "turn_added", "token_count", "view", "estimated")
}

// speakerRule checks who speaks. A tool's name belongs to each of its results.
func speakerRule() rules.Rule[*pb.Message] {
	return rules.ShownName("name", OptionalNameLimit(), (*pb.Message).GetName).Also(func(c *rules.Checker, m *pb.Message) {
		if m.GetName() != "" && m.GetRole() == pb.Role_ROLE_TOOL {
			c.Fail("is not for role tool: each tool_result names its tool")
		}
	})
}

// importanceRule checks how important a message is. The system's are kept whatever is said of them: at the head of the record, and
// beside summaries.
func importanceRule() rules.Rule[*pb.Message] {
	return rules.Enum("importance", (*pb.Message).GetImportance).Also(func(c *rules.Checker, m *pb.Message) {
		if m.GetImportance() != pb.Importance_IMPORTANCE_UNSPECIFIED && m.GetRole() == pb.Role_ROLE_SYSTEM {
			c.Fail("is not for role system")
		}
	})
}

func actionRules() rules.Table[*pb.ActionRef] {
	return rules.Table[*pb.ActionRef]{
		rules.Text("action_id", OptionalNameLimit(), (*pb.ActionRef).GetActionId),
		rules.Text("agent_action_id", OptionalNameLimit(), (*pb.ActionRef).GetAgentActionId),
	}
}

// Tags is a list of tags.
func Tags[M any](field string, get func(M) []string) rules.Rule[M] { return names(field, 64, get) }

// names is a list of at most so many names.
func names[M any](field string, most int64, get func(M) []string) rules.Rule[M] {
	return rules.Texts(field, rules.AtMost(most), NameLimit(), get)
}

// partsRule checks the parts of a message, and what only the message knows of them: what its role may hold, and how many calls.
// What plugins added is counted apart.
func partsRule(ofPart rules.Table[*pb.Part], added func(*pb.Part) bool) rules.Rule[*pb.Message] {
	own := rules.NumberRange(1, maxParts)
	promised := rules.List("parts", own, (*pb.Message).GetParts, ofPart).Facts
	promised.Limits = append(promised.Limits, fmt.Sprintf("at most %d tool calls", maxCalls))
	return rules.Rule[*pb.Message]{Facts: promised, Check: func(c *rules.Checker, m *pb.Message) {
		count := countParts(m, added)
		rules.CheckCount(c, own, count.own)
		rules.CheckCount(c, rules.AtMost(maxAdded), count.added)
		for i, p := range m.GetParts() {
			c.Element(i)
			ofPart.Check(c, p)
			if added(p) {
				checkAdded(c, m.GetRole(), p)
			} else {
				checkKind(c, m.GetRole(), p)
			}
			checkRetention(c, m.GetRole(), p)
			c.Leave()
		}
		if count.calls > maxCalls {
			c.Fail("must have at most %d tool calls", maxCalls)
		}
	}}
}

type partCount struct{ own, added, calls int }

func countParts(m *pb.Message, added func(*pb.Part) bool) (n partCount) {
	for _, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			n.calls++
		}
		if added(p) {
			n.added++
		} else {
			n.own++
		}
	}
	return n
}

func checkKind(c *rules.Checker, role pb.Role, p *pb.Part) {
	if kind, holds, ok := kindAllowed(role, p); !ok {
		c.FailIn(kind, "is no part for this role, which holds "+holds)
	}
}

// checkAdded checks a part that a plugin added.
func checkAdded(c *rules.Checker, role pb.Role, p *pb.Part) {
	if !input(role) {
		c.FailIn("plugin", "belongs to messages of role user and tool alone")
	}
	if !NameLimit().Holds(int64(len(p.GetPlugin()))) {
		c.FailIn("plugin", "must have "+NameLimit().Length())
	}
	checkAddable(c, p)
}

func checkRetention(c *rules.Checker, role pb.Role, p *pb.Part) {
	switch {
	case p.GetRetention() == nil:
	case !input(role):
		c.FailIn("retention", "belongs to messages of role user and tool alone")
	case p.GetToolResult() != nil && p.GetRetention().GetKeepLast() > 0:
		c.FailIn("retention", "must not let a tool result go, whose call would stand unanswered: that is what expiration is for")
	}
}

// kindAllowed says which kind a part has, what the role may hold, and whether the two agree. A role or a kind that is not known
// is a fault of its own, found elsewhere.
func kindAllowed(role pb.Role, p *pb.Part) (kind, holds string, ok bool) {
	kind = partKind(p)
	switch role {
	case pb.Role_ROLE_SYSTEM:
		return kind, "text", kind == "" || kind == "text"
	case pb.Role_ROLE_USER:
		return kind, "text and media", kind == "" || kind == "text" || kind == "media"
	case pb.Role_ROLE_ASSISTANT:
		return kind, "text, media, tool_call, reasoning and opaque", kind != "tool_result"
	case pb.Role_ROLE_TOOL:
		return kind, "tool_result", kind == "" || kind == "tool_result"
	default:
		return kind, "", true
	}
}

func partKind(p *pb.Part) string {
	switch p.GetContent().(type) {
	case *pb.Part_Text:
		return "text"
	case *pb.Part_Media:
		return "media"
	case *pb.Part_ToolCall:
		return "tool_call"
	case *pb.Part_ToolResult:
		return "tool_result"
	case *pb.Part_Reasoning:
		return "reasoning"
	case *pb.Part_Opaque:
		return "opaque"
	default:
		return ""
	}
}

func partRules(actions rules.Table[*pb.ActionRef], expiration rules.Table[*pb.Expiration]) rules.Table[*pb.Part] {
	media := mediaRules()
	return rules.Table[*pb.Part]{
		rules.Either("content", func(p *pb.Part) bool { return p.GetContent() != nil }),
		rules.Text("text", rules.AtMostBytes(MaxContentBytes), (*pb.Part).GetText),
		rules.Message("media", (*pb.Part).GetMedia, media),
		rules.Message("tool_call", (*pb.Part).GetToolCall, ToolCall()),
		rules.Message("tool_result", (*pb.Part).GetToolResult, resultRules(actions, expiration, media)),
		rules.Message("reasoning", (*pb.Part).GetReasoning, reasoningRules()),
		rules.Message("opaque", (*pb.Part).GetOpaque, opaqueRules()),
		rules.Message("retention", (*pb.Part).GetRetention, retentionRules()),
		rules.Message("residue", (*pb.Part).GetResidue, residueRules()),
		rules.Refused("citation", func(p *pb.Part) bool { return p.GetCitation() != nil }),
		rules.Refused("recalled", func(p *pb.Part) bool { return p.GetRecalled() != nil }),
	}.OutputOnly("plugin", "variant", "erasure")
}

func mediaRules() rules.Table[*pb.Media] {
	return rules.Table[*pb.Media]{
		rules.Text("mime_type", NameLimit(), (*pb.Media).GetMimeType),
		rules.Either("source", func(m *pb.Media) bool { return len(m.GetData()) > 0 || m.GetUri() != "" }),
		rules.Data("data", rules.AtMostBytes(MaxContentBytes), (*pb.Media).GetData),
		rules.Text("uri", rules.AtMostBytes(8192), (*pb.Media).GetUri),
		rules.Text("detail", rules.AtMostBytes(64), (*pb.Media).GetDetail),
	}
}

// ToolCall are the rules of a tool call.
func ToolCall() rules.Table[*pb.ToolCall] {
	return rules.Table[*pb.ToolCall]{
		rules.Text("call_id", rules.ByteRange(1, 512), (*pb.ToolCall).GetCallId),
		rules.Text("name", NameLimit(), (*pb.ToolCall).GetName),
		rules.Text("arguments_json", rules.AtMostBytes(MaxContentBytes), (*pb.ToolCall).GetArgumentsJson),
	}
}

func resultRules(actions rules.Table[*pb.ActionRef], expiration rules.Table[*pb.Expiration], media rules.Table[*pb.Media]) rules.Table[*pb.ToolResult] {
	return rules.Table[*pb.ToolResult]{
		rules.Text("call_id", rules.ByteRange(1, 512), (*pb.ToolResult).GetCallId),
		rules.Text("name", OptionalNameLimit(), (*pb.ToolResult).GetName),
		rules.Enum("state", (*pb.ToolResult).GetState),
		rules.Text("text", rules.AtMostBytes(MaxContentBytes), (*pb.ToolResult).GetText),
		rules.TextIf("json", rules.AtMostBytes(MaxContentBytes), rules.Alternative((*pb.ToolResult).GetOutput, func(x *pb.ToolResult_Json) string { return x.Json }), rules.JSONValue),
		rules.Message("parts", (*pb.ToolResult).GetParts, rules.Table[*pb.ToolResultParts]{
			rules.List("parts", rules.NumberRange(1, maxResultPieces), (*pb.ToolResultParts).GetParts, pieceRules(media)),
		}),
		rules.Message("expiration", (*pb.ToolResult).GetExpiration, expiration),
		rules.List("actions", rules.AtMost(64), (*pb.ToolResult).GetActions, actions),
		rules.Message("recalled_from", (*pb.ToolResult).GetRecalledFrom, recalledRules()),
		rules.Message("source", (*pb.ToolResult).GetSource, sourceRules()),
		rules.Enum("importance", (*pb.ToolResult).GetImportance),
	}.OutputOnly("citation")
}

func recalledRules() rules.Table[*pb.RecalledFrom] {
	return rules.Table[*pb.RecalledFrom]{
		rules.Either("source", func(r *pb.RecalledFrom) bool { return r.GetSource() != nil }),
		rules.TextIf("content_id", handleLimit(), rules.Alternative((*pb.RecalledFrom).GetSource, func(x *pb.RecalledFrom_ContentId) string { return x.ContentId })),
		rules.Number("message_index", IndexLimit(), (*pb.RecalledFrom).GetMessageIndex),
		{Facts: rules.Facts{Field: "memories"}, Check: func(c *rules.Checker, r *pb.RecalledFrom) {
			if x, set := r.GetSource().(*pb.RecalledFrom_Memories); set && !x.Memories {
				c.Fail("must be true where it is set")
			}
		}},
	}
}

func pieceRules(media rules.Table[*pb.Media]) rules.Table[*pb.ToolResultPart] {
	return rules.Table[*pb.ToolResultPart]{
		rules.Either("content", func(p *pb.ToolResultPart) bool { return p.GetContent() != nil }),
		rules.Text("text", rules.AtMostBytes(MaxContentBytes), (*pb.ToolResultPart).GetText),
		rules.Message("media", (*pb.ToolResultPart).GetMedia, media),
	}
}

func reasoningRules() rules.Table[*pb.Reasoning] {
	return rules.Table[*pb.Reasoning]{
		rules.Text("text", rules.AtMostBytes(MaxContentBytes), (*pb.Reasoning).GetText),
		rules.Text("signature", rules.AtMostBytes(MaxContentBytes), (*pb.Reasoning).GetSignature),
		rules.Text("provider", NameLimit(), (*pb.Reasoning).GetProvider),
		rules.Text("model", OptionalNameLimit(), (*pb.Reasoning).GetModel),
	}
}

func opaqueRules() rules.Table[*pb.Opaque] {
	return rules.Table[*pb.Opaque]{
		rules.Text("provider", NameLimit(), (*pb.Opaque).GetProvider),
		rules.Text("json", rules.ByteRange(2, MaxContentBytes), (*pb.Opaque).GetJson, rules.JSONObject),
	}
}

func residueRules() rules.Table[*pb.Residue] {
	return rules.Table[*pb.Residue]{
		rules.Text("provider", NameLimit(), (*pb.Residue).GetProvider),
		rules.Text("json", rules.ByteRange(2, 1<<20), (*pb.Residue).GetJson, rules.JSONObject),
	}
}
