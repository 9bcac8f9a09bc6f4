package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func fromMemory(p *pb.MemoryPolicy) conversation.MemoryPolicy {
	if p == nil {
		return conversation.MemoryPolicy{}
	}
	return conversation.MemoryPolicy{
		On:            p.Enabled,
		Sync:          conversation.SyncStrategy(p.GetSync()),
		BatchMessages: p.BatchMessages,
		BatchTokens:   p.BatchTokens,
		BatchMaxAge:   FromDuration(p.GetBatchMaxAge()),
		SyncDelay:     FromDuration(p.GetSyncDelay()),
		SessionIdle:   FromDuration(p.GetSessionIdle()),
		SyncRoles:     fromRoles(p.GetSyncRoles()),
		Extract:       conversation.MemoryExtraction(p.GetExtract()),
		SyncScope:     conversation.MemoryScope(p.GetSyncScope()),
		Infer:         p.Infer,
		Recall:        fromRecall(p.GetRecall()),
		OnDelete:      conversation.MemoryOnDelete(p.GetOnDelete()),
	}
}

func fromRecall(p *pb.MemoryRecallPolicy) conversation.RecallPolicy {
	if p == nil {
		return conversation.RecallPolicy{}
	}
	return conversation.RecallPolicy{
		Off:            opposite(p.Enabled),
		Scopes:         fromScopes(p.GetScopes()),
		MaxMemories:    p.MaxMemories,
		MaxEachTokens:  p.MaxEachTokens,
		MaxTokens:      p.MaxTokens,
		Deadline:       FromDuration(p.GetDeadline()),
		Floor:          p.Floor,
		MaxViewPercent: p.MaxViewPercent,
	}
}

// toMemory returns nil for a policy that sets nothing.
func toMemory(p conversation.MemoryPolicy) *pb.MemoryPolicy {
	if p == (conversation.MemoryPolicy{}) {
		return nil
	}
	return &pb.MemoryPolicy{
		Enabled:       p.On,
		Sync:          pb.MemorySyncStrategy(p.Sync),
		BatchMessages: p.BatchMessages,
		BatchTokens:   p.BatchTokens,
		BatchMaxAge:   toDuration(p.BatchMaxAge),
		SyncDelay:     toDuration(p.SyncDelay),
		SessionIdle:   toDuration(p.SessionIdle),
		SyncRoles:     toRoles(p.SyncRoles),
		Extract:       pb.MemoryExtraction(p.Extract),
		SyncScope:     pb.MemoryScope(p.SyncScope),
		Infer:         p.Infer,
		Recall:        toRecall(p.Recall),
		OnDelete:      pb.MemoryOnDelete(p.OnDelete),
	}
}

func toRecall(p conversation.RecallPolicy) *pb.MemoryRecallPolicy {
	if p == (conversation.RecallPolicy{}) {
		return nil
	}
	return &pb.MemoryRecallPolicy{
		Enabled:        opposite(p.Off),
		Scopes:         toScopes(p.Scopes),
		MaxMemories:    p.MaxMemories,
		MaxEachTokens:  p.MaxEachTokens,
		MaxTokens:      p.MaxTokens,
		Deadline:       toDuration(p.Deadline),
		Floor:          p.Floor,
		MaxViewPercent: p.MaxViewPercent,
	}
}

// fromRoles tells a list that is set and empty from one that is not set, as fromScopes does.
func fromRoles(l *pb.RoleList) *[]conversation.Role {
	if l == nil {
		return nil
	}
	return new(numbers[conversation.Role](l.GetRoles()))
}

func toRoles(list *[]conversation.Role) *pb.RoleList {
	if list == nil {
		return nil
	}
	return &pb.RoleList{Roles: numbers[pb.Role](*list)}
}

func fromScopes(l *pb.MemoryScopeList) *[]conversation.MemoryScope {
	if l == nil {
		return nil
	}
	return new(numbers[conversation.MemoryScope](l.GetScopes()))
}

func toScopes(list *[]conversation.MemoryScope) *pb.MemoryScopeList {
	if list == nil {
		return nil
	}
	return &pb.MemoryScopeList{Scopes: numbers[pb.MemoryScope](*list)}
}

// numbers are the values of an enum as those of its twin. An empty list is nil, as protobuf reads it.
func numbers[To, From ~int8 | ~int32](list []From) []To {
	return Each(list, func(v From) To { return To(v) })
}
