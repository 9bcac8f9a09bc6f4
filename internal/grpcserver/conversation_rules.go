package grpcserver

import (
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// conversationID is the field that names a conversation.
func conversationID[M any](field string, get func(M) string) rule[M] {
	return shownName(field, nameLimit(), get)
}

func requestID[M any](get func(M) string) rule[M] {
	return text("request_id", optionalNameLimit(), get)
}

func conversationRules() table[*pb.Conversation] {
	return table[*pb.Conversation]{
		conversationID("id", (*pb.Conversation).GetId),
		text("actor_id", optionalNameLimit(), (*pb.Conversation).GetActorId),
		text("agent_id", optionalNameLimit(), (*pb.Conversation).GetAgentId),
		text("title", atMostBytes(1024), (*pb.Conversation).GetTitle),
		optionalText("metadata_json", atMostBytes(65_536), (*pb.Conversation).GetMetadataJson, jsonObject),
		message("policy", (*pb.Conversation).GetPolicy, policyRules()),
		closedText("counter", (*pb.Conversation).GetCounter, counterName),
		outputOnly[*pb.Conversation]("turn"),
		outputOnly[*pb.Conversation]("revision"),
		outputOnly[*pb.Conversation]("message_count"),
		outputOnly[*pb.Conversation]("token_count"),
		outputOnly[*pb.Conversation]("window_start_index"),
		outputOnly[*pb.Conversation]("create_time"),
		outputOnly[*pb.Conversation]("update_time"),
		outputOnly[*pb.Conversation]("expire_time"),
	}
}

func rangeRules() table[*pb.IndexRange] {
	return table[*pb.IndexRange]{
		number("start", indexLimit(), (*pb.IndexRange).GetStart),
		afterStart(optionalNumber("end", indexLimit(), func(r *pb.IndexRange) *int32 { return r.End })),
	}
}

func afterStart(r rule[*pb.IndexRange]) rule[*pb.IndexRange] {
	return rule[*pb.IndexRange]{r.facts, func(c *checker, m *pb.IndexRange) {
		r.check(c, m)
		if m.End != nil && m.GetEnd() < m.GetStart() {
			c.fail("must not be less than start")
		}
	}}
}

func filterRules() table[*pb.MessageFilter] {
	return table[*pb.MessageFilter]{
		scalars("roles", atMost(8), nil, (*pb.MessageFilter).GetRoles, func(c *checker, r pb.Role) { checkSet(c, r, r == 0) }),
		tags("tags", (*pb.MessageFilter).GetTags),
		scalars("message_types", atMost(8), nil, (*pb.MessageFilter).GetMessageTypes, func(c *checker, t pb.MessageType) { checkEnum(c, t) }),
		text("run_id", optionalNameLimit(), (*pb.MessageFilter).GetRunId),
	}
}

func checkSet(c *checker, r pb.Role, unset bool) {
	if unset {
		c.fail("must not be unspecified")
		return
	}
	checkEnum(c, r)
}

func pageSize[M any](get func(M) int32) rule[M] {
	r := number("page_size", numberRange(0, maxPageSize), get)
	r.limits = append(r.limits, fmt.Sprintf("%d by default", defaultPageSize))
	return r
}

func replyBytes[M any](get func(M) *int32) rule[M] {
	r := optionalNumber("max_reply_bytes", numberRange(0, maxReplyBytes), get)
	r.limits = append(r.limits, grouped(defaultReplyBytes)+" (3.5 MiB) by default")
	return r
}
