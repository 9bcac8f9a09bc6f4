package conversationservice

import "github.com/palimpsest-context/palimpsest/pkg/engine"

func memorySettables() map[string]setter {
	return map[string]setter{
		"policy.memory":                func(to, from *engine.Info) { to.Policy.Memory = from.Policy.Memory },
		"policy.memory.enabled":        func(to, from *engine.Info) { to.Policy.Memory.On = from.Policy.Memory.On },
		"policy.memory.sync":           func(to, from *engine.Info) { to.Policy.Memory.Sync = from.Policy.Memory.Sync },
		"policy.memory.batch_messages": func(to, from *engine.Info) { to.Policy.Memory.BatchMessages = from.Policy.Memory.BatchMessages },
		"policy.memory.batch_tokens":   func(to, from *engine.Info) { to.Policy.Memory.BatchTokens = from.Policy.Memory.BatchTokens },
		"policy.memory.batch_max_age":  func(to, from *engine.Info) { to.Policy.Memory.BatchMaxAge = from.Policy.Memory.BatchMaxAge },
		"policy.memory.sync_delay":     func(to, from *engine.Info) { to.Policy.Memory.SyncDelay = from.Policy.Memory.SyncDelay },
		"policy.memory.session_idle":   func(to, from *engine.Info) { to.Policy.Memory.SessionIdle = from.Policy.Memory.SessionIdle },
		"policy.memory.sync_roles":     func(to, from *engine.Info) { to.Policy.Memory.SyncRoles = from.Policy.Memory.SyncRoles },
		"policy.memory.extract":        func(to, from *engine.Info) { to.Policy.Memory.Extract = from.Policy.Memory.Extract },
		"policy.memory.sync_scope":     func(to, from *engine.Info) { to.Policy.Memory.SyncScope = from.Policy.Memory.SyncScope },
		"policy.memory.infer":          func(to, from *engine.Info) { to.Policy.Memory.Infer = from.Policy.Memory.Infer },
		"policy.memory.recall":         func(to, from *engine.Info) { to.Policy.Memory.Recall = from.Policy.Memory.Recall },
		"policy.memory.on_delete":      func(to, from *engine.Info) { to.Policy.Memory.OnDelete = from.Policy.Memory.OnDelete },
	}
}

func recallSettables() map[string]setter {
	return map[string]setter{
		"policy.memory.recall.enabled": func(to, from *engine.Info) { to.Policy.Memory.Recall.Off = from.Policy.Memory.Recall.Off },
		"policy.memory.recall.scopes":  func(to, from *engine.Info) { to.Policy.Memory.Recall.Scopes = from.Policy.Memory.Recall.Scopes },
		"policy.memory.recall.max_memories": func(to, from *engine.Info) {
			to.Policy.Memory.Recall.MaxMemories = from.Policy.Memory.Recall.MaxMemories
		},
		"policy.memory.recall.max_each_tokens": func(to, from *engine.Info) {
			to.Policy.Memory.Recall.MaxEachTokens = from.Policy.Memory.Recall.MaxEachTokens
		},
		"policy.memory.recall.max_tokens": func(to, from *engine.Info) { to.Policy.Memory.Recall.MaxTokens = from.Policy.Memory.Recall.MaxTokens },
		"policy.memory.recall.deadline":   func(to, from *engine.Info) { to.Policy.Memory.Recall.Deadline = from.Policy.Memory.Recall.Deadline },
		"policy.memory.recall.floor":      func(to, from *engine.Info) { to.Policy.Memory.Recall.Floor = from.Policy.Memory.Recall.Floor },
		"policy.memory.recall.max_view_percent": func(to, from *engine.Info) {
			to.Policy.Memory.Recall.MaxViewPercent = from.Policy.Memory.Recall.MaxViewPercent
		},
	}
}
