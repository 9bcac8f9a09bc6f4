package badinput

import (
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// adding asks for a memory of a conversation, with something changed.
func adding(change func(*pb.AddMemoryRequest)) *pb.AddMemoryRequest {
	r := &pb.AddMemoryRequest{Of: &pb.AddMemoryRequest_ConversationId{ConversationId: target}, Text: secret}
	change(r)
	return r
}

// memoryRows: what calls about memories can be wrong about.
func memoryRows() []row {
	long, unknown := strings.Repeat("x", 257), pb.MemoryScope(99)
	user, org := pb.MemoryScope_MEMORY_SCOPE_USER, pb.MemoryScope_MEMORY_SCOPE_ORG
	none := []string{"of"}
	return []row{
		{"SearchMemories", "nothing", &pb.SearchMemoriesRequest{}, invalid("conversation_id", "query")},
		{"SearchMemories", "figures", &pb.SearchMemoriesRequest{ConversationId: target, Query: strings.Repeat("x", 10_001), MaxResults: 101, MinScore: new(math.NaN())},
			invalid("query", "max_results", "min_score")},
		{"SearchMemories", "scope twice", &pb.SearchMemoriesRequest{ConversationId: target, Query: secret, Scopes: []pb.MemoryScope{user, org, user}}, invalid("scopes")},
		{"SearchMemories", "scopes of none", &pb.SearchMemoriesRequest{ConversationId: target, Query: secret, Scopes: []pb.MemoryScope{0, unknown}}, invalid("scopes[0]", "scopes[1]")},
		{"ListMemories", "nobody's", &pb.ListMemoriesRequest{PageSize: -1, PageToken: secret, Kinds: []pb.MemoryKind{0, 99}},
			invalid("of", "kinds[0]", "kinds[1]", "page_size", "page_token")},
		{"ListMemories", "an actor's organization", &pb.ListMemoriesRequest{Of: &pb.ListMemoriesRequest_ActorId{ActorId: secret}, Scope: org}, invalid("scope")},
		{"ListMemories", "long actor", &pb.ListMemoriesRequest{Of: &pb.ListMemoriesRequest_ActorId{ActorId: long}}, invalid("actor_id")},
		{"AddMemory", "nothing", &pb.AddMemoryRequest{}, invalid("of", "text")},
		{"AddMemory", "long", adding(func(r *pb.AddMemoryRequest) {
			r.Text, r.RequestId, r.Scope = strings.Repeat("x", 16_001), long, unknown
		}), invalid("scope", "text", "request_id")},
		{"AddMemory", "metadata array", adding(func(r *pb.AddMemoryRequest) { r.MetadataJson = `["` + secret + `"]` }), invalid("metadata_json")},
		{"AddMemory", "metadata too long", adding(func(r *pb.AddMemoryRequest) { r.MetadataJson = `{"a":"` + strings.Repeat("x", 4_096) + `"}` }), invalid("metadata_json")},
		{"AddMemory", "no time", adding(func(r *pb.AddMemoryRequest) { r.ExpireTime = &timestamppb.Timestamp{Seconds: math.MaxInt64} }), invalid("expire_time")},
		{"AddMemory", "control character", &pb.AddMemoryRequest{Of: &pb.AddMemoryRequest_ConversationId{ConversationId: "a\n"}, Text: secret}, invalid("conversation_id")},
		{"DeleteMemory", "nothing", &pb.DeleteMemoryRequest{}, invalid(append(none, "memory_id")...)},
		{"DeleteMemory", "id of two lines", &pb.DeleteMemoryRequest{Of: &pb.DeleteMemoryRequest_ConversationId{ConversationId: target}, MemoryId: "a\n/"}, invalid("memory_id")},
		{"EndSession", "nothing", &pb.EndSessionRequest{}, invalid("conversation_id")},
		{"GetMemorySync", "nothing", &pb.GetMemorySyncRequest{ConversationId: "\x00"}, invalid("conversation_id")},
		{"ForgetActor", "nobody", &pb.ForgetActorRequest{Records: 99}, invalid("actor_id", "records")},
		{"GetForget", "nothing", &pb.GetForgetRequest{}, invalid("forget_id")},
		{"GetForget", "long", &pb.GetForgetRequest{ForgetId: long}, invalid("forget_id")},
	}
}

// memoryPolicyRows: every field of policy.memory out of its range.
func memoryPolicyRows() []row {
	create := func(p *pb.MemoryPolicy, fields ...string) row {
		return row{"CreateConversation", "memory " + strings.Join(fields, " "), &pb.CreateConversationRequest{
			Conversation: &pb.Conversation{Id: nobody, Policy: &pb.Policy{Memory: p}},
		}, invalid(under("conversation.policy.memory.", fields)...)}
	}
	zero, many := new(int32), new(int32(math.MaxInt32))
	user := pb.MemoryScope_MEMORY_SCOPE_USER
	return []row{
		create(&pb.MemoryPolicy{Sync: 99, Extract: -1, SyncScope: 99, OnDelete: 99}, "sync", "extract", "sync_scope", "on_delete"),
		create(&pb.MemoryPolicy{SyncScope: pb.MemoryScope_MEMORY_SCOPE_ORG}, "sync_scope"),
		create(&pb.MemoryPolicy{SyncScope: pb.MemoryScope_MEMORY_SCOPE_AGENT}, "sync_scope"),
		create(&pb.MemoryPolicy{BatchMessages: zero, BatchTokens: many}, "batch_messages", "batch_tokens"),
		create(&pb.MemoryPolicy{BatchMaxAge: durationpb.New(time.Millisecond), SyncDelay: durationpb.New(-1), SessionIdle: durationpb.New(31 * 24 * time.Hour)},
			"batch_max_age", "sync_delay", "session_idle"),
		create(&pb.MemoryPolicy{SyncRoles: &pb.RoleList{Roles: []pb.Role{pb.Role_ROLE_SYSTEM, pb.Role_ROLE_TOOL}}}, "sync_roles.roles[0]", "sync_roles.roles[1]"),
		create(&pb.MemoryPolicy{SyncRoles: &pb.RoleList{Roles: []pb.Role{1, 2, 2}}}, "sync_roles.roles", "sync_roles.roles[0]"),
		create(&pb.MemoryPolicy{Recall: &pb.MemoryRecallPolicy{MaxMemories: zero, MaxEachTokens: zero, MaxTokens: zero, MaxViewPercent: many}},
			"recall.max_memories", "recall.max_each_tokens", "recall.max_tokens", "recall.max_view_percent"),
		create(&pb.MemoryPolicy{Recall: &pb.MemoryRecallPolicy{Deadline: durationpb.New(0), Floor: new(1.5)}}, "recall.deadline", "recall.floor"),
		create(&pb.MemoryPolicy{Recall: &pb.MemoryRecallPolicy{Scopes: &pb.MemoryScopeList{Scopes: []pb.MemoryScope{user, user}}}}, "recall.scopes.scopes"),
	}
}
