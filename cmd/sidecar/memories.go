package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
)

// remembering is how the engine makes a memory; nil for none.
type remembering struct {
	made  func(engine.MemorySources) memory.Target
	close func()
	// observer is told what it is given.
	observer engine.MemoryObserver
}

// newMemory makes a client of the memory that settings name; nothing is asked of it. It is closed after the engine.
func newMemory(ctx context.Context, s *config.MemoryFlags) (*remembering, error) {
	switch s.Memory {
	case "":
		return &remembering{close: func() {}}, nil
	case config.MemoryEmbedded:
		return &remembering{made: newEmbedded, close: func() {}}, nil
	case config.MemoryAgentCore:
		t, err := agentcore.New(ctx, agentcore.Options{
			MemoryID: s.MemoryID, Region: s.MemoryRegion, BaseEndpoint: s.MemoryURL, Namespace: s.MemoryNamespace, Timeout: s.MemoryTimeout,
		})
		if err != nil {
			return nil, fmt.Errorf("--memory agentcore: %w", err)
		}
		return &remembering{made: engine.MemoryOf(t), close: t.Close}, nil
	default:
		return newMem0(s)
	}
}

func newMem0(s *config.MemoryFlags) (*remembering, error) {
	kind := mem0.Platform
	if s.Memory == config.MemoryMem0Server {
		kind = mem0.Server
	}
	key, err := newFreshKey(s.MemoryKey())
	if err != nil {
		return nil, err
	}
	t, err := mem0.New(mem0.Options{
		Kind: kind, BaseURL: s.MemoryURL, AllowInsecure: s.MemoryInsecure, APIKey: key.value, ReadTime: s.MemoryTimeout, ChangeTime: s.MemoryTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("--memory %s: %w", s.Memory, err)
	}
	return &remembering{made: engine.MemoryOf(t), close: t.Close}, nil
}

// newEmbedded makes the index over what is on record.
func newEmbedded(from engine.MemorySources) memory.Target {
	return embedded.New(embedded.Options{
		Store: from.Store, Texts: from.Texts, IDs: from.IDs, Clock: from.Clock, Cache: from.Cache, Extract: embedded.Extractive,
		Model: func(ctx context.Context, b *memory.Batch, said []memory.Message) ([]byte, error) {
			return from.Facts(ctx, b.Scope.Namespace, b.Conversation, said)
		},
	})
}

// freshKey is a key whose file may be replaced while the sidecar runs.
type freshKey struct {
	access config.Provider
	mu     sync.Mutex
	last   string
}

func newFreshKey(a config.Provider) (*freshKey, error) {
	key, err := a.Key()
	return &freshKey{access: a, last: key}, err
}

// value is the key as it is now; what it was, while its file cannot be read.
func (k *freshKey) value() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, err := k.access.Key(); err == nil {
		k.last = key
	}
	return k.last
}
