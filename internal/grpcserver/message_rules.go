package grpcserver

import (
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	maxParts        = 1024
	maxCalls        = 512
	maxResultPieces = 256

	// The blocks that additions become: their parts, a header and a spacing each.
	maxAdded = maxAdditions * (maxAdditionParts + 2)
)

// messageRules are those of what is appended: what parts say of plugins is output only.
func messageRules() table[*pb.Message] {
	return messageTable(func(*pb.Part) bool { return false })
}

// recordRules are those of messages that come back from an export: what plugins added is among their parts.
func recordRules() table[*pb.Message] {
	return messageTable(func(p *pb.Part) bool { return p.GetPlugin() != "" })
}

func messageTable(added func(*pb.Part) bool) table[*pb.Message] {
	actions, expiration := actionRules(), expirationRules()
	return table[*pb.Message]{
		optionalText("id", byteRange(1, 128), (*pb.Message).GetId),
		requiredEnum("role", (*pb.Message).GetRole),
		partsRule(partRules(actions, expiration), added),
		enum("message_type", (*pb.Message).GetMessageType),
		list("actions", atMost(64), (*pb.Message).GetActions, actions),
		message("expiration", (*pb.Message).GetExpiration, expiration),
		anything[*pb.Message]("pinned"),
		text("model", optionalNameLimit(), (*pb.Message).GetModel),
		text("run_id", optionalNameLimit(), (*pb.Message).GetRunId),
		text("step_id", optionalNameLimit(), (*pb.Message).GetStepId),
		tags("tags", (*pb.Message).GetTags),
		optionalText("metadata_json", atMostBytes(65_536), (*pb.Message).GetMetadataJson, jsonObject),
		outputOnly[*pb.Message]("index"),
		outputOnly[*pb.Message]("create_time"),
		outputOnly[*pb.Message]("turn_added"),
		outputOnly[*pb.Message]("token_count"),
		outputOnly[*pb.Message]("view"),
		outputOnly[*pb.Message]("estimated"),
	}
}

func actionRules() table[*pb.ActionRef] {
	return table[*pb.ActionRef]{
		text("action_id", optionalNameLimit(), (*pb.ActionRef).GetActionId),
		text("agent_action_id", optionalNameLimit(), (*pb.ActionRef).GetAgentActionId),
	}
}

func tags[M any](field string, get func(M) []string) rule[M] { return names(field, 64, get) }

// names is a list of at most so many names.
func names[M any](field string, most int64, get func(M) []string) rule[M] {
	return texts(field, atMost(most), nameLimit(), get)
}

// texts is a list of strings, each of which obeys a limit of its own.
func texts[M any](field string, l, each limit, get func(M) []string) rule[M] {
	return scalars(field, l, []string{"each " + each.length()}, get, func(c *checker, text string) {
		if !each.holds(int64(len(text))) {
			c.fail("must have %s", each.length())
		}
	})
}

// partsRule checks the parts of a message, and what only the message knows of them: what its role may hold, and how many calls.
// What plugins added is counted apart.
func partsRule(rules table[*pb.Part], added func(*pb.Part) bool) rule[*pb.Message] {
	own := numberRange(1, maxParts)
	promised := list("parts", own, (*pb.Message).GetParts, rules).facts
	promised.limits = append(promised.limits, fmt.Sprintf("at most %d tool calls", maxCalls))
	return rule[*pb.Message]{promised, func(c *checker, m *pb.Message) {
		count := countParts(m, added)
		checkCount(c, own, count.own)
		checkCount(c, atMost(maxAdded), count.added)
		for i, p := range m.GetParts() {
			c.element(i)
			rules.check(c, p)
			if added(p) {
				checkAdded(c, m.GetRole(), p)
			} else {
				checkKind(c, m.GetRole(), p)
			}
			checkRetention(c, m.GetRole(), p)
			c.leave()
		}
		if count.calls > maxCalls {
			c.fail("must have at most %d tool calls", maxCalls)
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

func checkKind(c *checker, role pb.Role, p *pb.Part) {
	if kind, holds, ok := kindAllowed(role, p); !ok {
		c.failIn(kind, "is no part for this role, which holds "+holds)
	}
}

// checkAdded checks a part that a plugin added.
func checkAdded(c *checker, role pb.Role, p *pb.Part) {
	if !input(role) {
		c.failIn("plugin", "belongs to messages of role user and tool alone")
	}
	if !nameLimit().holds(int64(len(p.GetPlugin()))) {
		c.failIn("plugin", "must have "+nameLimit().length())
	}
	checkAddable(c, p)
}

func checkRetention(c *checker, role pb.Role, p *pb.Part) {
	switch {
	case p.GetRetention() == nil:
	case !input(role):
		c.failIn("retention", "belongs to messages of role user and tool alone")
	case p.GetToolResult() != nil && p.GetRetention().GetKeepLast() > 0:
		c.failIn("retention", "must not let a tool result go, whose call would stand unanswered: that is what expiration is for")
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

func partRules(actions table[*pb.ActionRef], expiration table[*pb.Expiration]) table[*pb.Part] {
	media := mediaRules()
	return table[*pb.Part]{
		either("content", func(p *pb.Part) bool { return p.GetContent() != nil }),
		text("text", atMostBytes(maxContentBytes), (*pb.Part).GetText),
		message("media", (*pb.Part).GetMedia, media),
		message("tool_call", (*pb.Part).GetToolCall, callRules()),
		message("tool_result", (*pb.Part).GetToolResult, resultRules(actions, expiration, media)),
		message("reasoning", (*pb.Part).GetReasoning, reasoningRules()),
		message("opaque", (*pb.Part).GetOpaque, opaqueRules()),
		message("retention", (*pb.Part).GetRetention, retentionRules()),
		refused("citation", func(p *pb.Part) bool { return p.GetCitation() != nil }),
		outputOnly[*pb.Part]("plugin"),
		outputOnly[*pb.Part]("variant"),
		outputOnly[*pb.Part]("erasure"),
	}
}

func mediaRules() table[*pb.Media] {
	return table[*pb.Media]{
		text("mime_type", nameLimit(), (*pb.Media).GetMimeType),
		either("source", func(m *pb.Media) bool { return len(m.GetData()) > 0 || m.GetUri() != "" }),
		data("data", atMostBytes(maxContentBytes), (*pb.Media).GetData),
		text("uri", atMostBytes(8192), (*pb.Media).GetUri),
		text("detail", atMostBytes(64), (*pb.Media).GetDetail),
	}
}

func callRules() table[*pb.ToolCall] {
	return table[*pb.ToolCall]{
		text("call_id", byteRange(1, 512), (*pb.ToolCall).GetCallId),
		text("name", nameLimit(), (*pb.ToolCall).GetName),
		text("arguments_json", atMostBytes(maxContentBytes), (*pb.ToolCall).GetArgumentsJson),
	}
}

func resultRules(actions table[*pb.ActionRef], expiration table[*pb.Expiration], media table[*pb.Media]) table[*pb.ToolResult] {
	return table[*pb.ToolResult]{
		text("call_id", byteRange(1, 512), (*pb.ToolResult).GetCallId),
		text("name", optionalNameLimit(), (*pb.ToolResult).GetName),
		enum("state", (*pb.ToolResult).GetState),
		text("text", atMostBytes(maxContentBytes), (*pb.ToolResult).GetText),
		textIf("json", atMostBytes(maxContentBytes), resultJSON, jsonValue),
		message("parts", (*pb.ToolResult).GetParts, table[*pb.ToolResultParts]{
			list("parts", numberRange(1, maxResultPieces), (*pb.ToolResultParts).GetParts, pieceRules(media)),
		}),
		message("expiration", (*pb.ToolResult).GetExpiration, expiration),
		list("actions", atMost(64), (*pb.ToolResult).GetActions, actions),
		message("recalled_from", (*pb.ToolResult).GetRecalledFrom, recalledRules()),
		message("source", (*pb.ToolResult).GetSource, sourceRules()),
		outputOnly[*pb.ToolResult]("citation"),
	}
}

func recalledRules() table[*pb.RecalledFrom] {
	return table[*pb.RecalledFrom]{
		either("source", func(r *pb.RecalledFrom) bool { return r.GetSource() != nil }),
		textIf("content_id", handleLimit(), recalledContent),
		number("message_index", indexLimit(), (*pb.RecalledFrom).GetMessageIndex),
	}
}

func recalledContent(r *pb.RecalledFrom) (string, bool) {
	id, ok := r.GetSource().(*pb.RecalledFrom_ContentId)
	if !ok {
		return "", false
	}
	return id.ContentId, true
}

func resultJSON(r *pb.ToolResult) (string, bool) {
	j, ok := r.GetOutput().(*pb.ToolResult_Json)
	if !ok {
		return "", false
	}
	return j.Json, true
}

func pieceRules(media table[*pb.Media]) table[*pb.ToolResultPart] {
	return table[*pb.ToolResultPart]{
		either("content", func(p *pb.ToolResultPart) bool { return p.GetContent() != nil }),
		text("text", atMostBytes(maxContentBytes), (*pb.ToolResultPart).GetText),
		message("media", (*pb.ToolResultPart).GetMedia, media),
	}
}

func reasoningRules() table[*pb.Reasoning] {
	return table[*pb.Reasoning]{
		text("text", atMostBytes(maxContentBytes), (*pb.Reasoning).GetText),
		text("signature", atMostBytes(maxContentBytes), (*pb.Reasoning).GetSignature),
		text("provider", nameLimit(), (*pb.Reasoning).GetProvider),
		text("model", optionalNameLimit(), (*pb.Reasoning).GetModel),
	}
}

func opaqueRules() table[*pb.Opaque] {
	return table[*pb.Opaque]{
		text("provider", nameLimit(), (*pb.Opaque).GetProvider),
		text("json", byteRange(2, maxContentBytes), (*pb.Opaque).GetJson, jsonObject),
	}
}
