package conversationservice

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func rangeRules() rules.Table[*pb.MessageRange] {
	return rules.Table[*pb.MessageRange]{
		rules.Number("start_index", schema.IndexLimit(), (*pb.MessageRange).GetStartIndex),
		rules.EndIndex(schema.IndexLimit(), func(r *pb.MessageRange) *int32 { return r.EndIndex }),
	}
}

func filterRules() rules.Table[*pb.MessageFilter] {
	return rules.Table[*pb.MessageFilter]{
		rules.Scalars("roles", rules.AtMost(8), nil, (*pb.MessageFilter).GetRoles, func(c *rules.Checker, r pb.Role) { checkSet(c, r, r == 0) }),
		schema.Tags("tags", (*pb.MessageFilter).GetTags),
		rules.Scalars("message_types", rules.AtMost(8), nil, (*pb.MessageFilter).GetMessageTypes, func(c *rules.Checker, t pb.MessageType) { rules.CheckEnum(c, t) }),
		rules.Text("run_id", schema.OptionalNameLimit(), (*pb.MessageFilter).GetRunId),
	}
}

func checkSet(c *rules.Checker, r pb.Role, unset bool) {
	if unset {
		c.Fail("must not be unspecified")
		return
	}
	rules.CheckEnum(c, r)
}

// fromRange: the engine reads an end below 0 as the end of the record.
func fromRange(r *pb.MessageRange) conversation.Range {
	if r == nil || r.EndIndex == nil {
		return conversation.Range{First: r.GetStartIndex(), End: -1}
	}
	return conversation.Range{First: r.GetStartIndex(), End: r.GetEndIndex()}
}

func fromFilter(f *pb.MessageFilter) engine.Filter {
	return engine.Filter{
		Roles: convert.Each(f.GetRoles(), func(r pb.Role) conversation.Role { return conversation.Role(r) }),
		Tags:  f.GetTags(),
		Types: convert.Each(f.GetMessageTypes(), func(t pb.MessageType) conversation.MessageType { return conversation.MessageType(t) }),
		RunID: f.GetRunId(),
	}
}
