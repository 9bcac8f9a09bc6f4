package schema

import (
	"slices"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

func memoryRules() rules.Table[*pb.MemoryPolicy] {
	const day = 24 * time.Hour
	return rules.Table[*pb.MemoryPolicy]{
		rules.Anything[*pb.MemoryPolicy]("enabled"),
		rules.Enum("sync", (*pb.MemoryPolicy).GetSync),
		rules.OptionalNumber("batch_messages", rules.NumberRange(1, 1_000), func(p *pb.MemoryPolicy) *int32 { return p.BatchMessages }),
		rules.OptionalNumber("batch_tokens", rules.NumberRange(1, 1_000_000), func(p *pb.MemoryPolicy) *int32 { return p.BatchTokens }),
		rules.DurationRange("batch_max_age", "1 second to 24 hours", time.Second, day, (*pb.MemoryPolicy).GetBatchMaxAge),
		rules.Duration("sync_delay", "0 to 1 hour", time.Hour, (*pb.MemoryPolicy).GetSyncDelay),
		rules.DurationRange("session_idle", "1 minute to 30 days", time.Minute, 30*day, (*pb.MemoryPolicy).GetSessionIdle),
		rules.Message("sync_roles", (*pb.MemoryPolicy).GetSyncRoles, rules.Table[*pb.RoleList]{
			rules.Scalars("roles", rules.AtMost(2), nil, (*pb.RoleList).GetRoles, func(c *rules.Checker, r pb.Role) {
				if r != pb.Role_ROLE_USER && r != pb.Role_ROLE_ASSISTANT {
					c.Fail("must be USER or ASSISTANT")
				}
			}),
		}),
		rules.Enum("extract", (*pb.MemoryPolicy).GetExtract),
		rules.Enum("sync_scope", (*pb.MemoryPolicy).GetSyncScope).Also(func(c *rules.Checker, p *pb.MemoryPolicy) {
			if s := p.GetSyncScope(); s == pb.MemoryScope_MEMORY_SCOPE_AGENT || s == pb.MemoryScope_MEMORY_SCOPE_ORG {
				c.Fail("must be USER or SESSION: what one user says is not shown to others")
			}
		}),
		rules.Anything[*pb.MemoryPolicy]("infer"),
		rules.Message("recall", (*pb.MemoryPolicy).GetRecall, recallRules()),
		rules.Enum("on_delete", (*pb.MemoryPolicy).GetOnDelete),
	}
}

func recallRules() rules.Table[*pb.MemoryRecallPolicy] {
	return rules.Table[*pb.MemoryRecallPolicy]{
		rules.Anything[*pb.MemoryRecallPolicy]("enabled"),
		rules.Message("scopes", (*pb.MemoryRecallPolicy).GetScopes, rules.Table[*pb.MemoryScopeList]{
			MemoryScopes("scopes", (*pb.MemoryScopeList).GetScopes),
		}),
		rules.OptionalNumber("max_memories", rules.NumberRange(1, 20), func(p *pb.MemoryRecallPolicy) *int32 { return p.MaxMemories }),
		rules.OptionalNumber("max_each_tokens", rules.NumberRange(10, 2_000), func(p *pb.MemoryRecallPolicy) *int32 { return p.MaxEachTokens }),
		rules.OptionalNumber("max_tokens", rules.NumberRange(50, 10_000), func(p *pb.MemoryRecallPolicy) *int32 { return p.MaxTokens }),
		rules.DurationRange("deadline", "10 milliseconds to 10 seconds", 10*time.Millisecond, 10*time.Second, (*pb.MemoryRecallPolicy).GetDeadline),
		rules.Decimal("floor", 0, 1, func(p *pb.MemoryRecallPolicy) *float64 { return p.Floor }),
		rules.OptionalNumber("max_view_percent", rules.NumberRange(1, 50), func(p *pb.MemoryRecallPolicy) *int32 { return p.MaxViewPercent }),
	}
}

// MemoryScopes are the rules of a list of scopes, each of which stands there once.
func MemoryScopes[M any](field string, get func(M) []pb.MemoryScope) rules.Rule[M] {
	return rules.Scalars(field, rules.AtMost(4), nil, get, func(c *rules.Checker, s pb.MemoryScope) {
		if s == pb.MemoryScope_MEMORY_SCOPE_UNSPECIFIED {
			c.Fail("must not be unspecified")
		}
		rules.CheckEnum(c, s)
	}).Then(func(c *rules.Checker, m M) {
		if scopes := slices.Sorted(slices.Values(get(m))); len(slices.Compact(scopes)) < len(get(m)) {
			c.Fail("must name each scope once")
		}
	})
}
