package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/endpoint"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
)

// The memories, by the names of --memory.
const (
	memoryEmbedded   = "embedded"
	memoryMem0       = "mem0"
	memoryMem0Server = "mem0-server"
	memoryAgentCore  = "agentcore"
)

// memorySettings say what remembers across conversations. The key is no flag, and no key of the configuration file, as those of summaries.
type memorySettings struct {
	Memory           string        `help:"The memory across conversations, for those whose policy switches it on: embedded (an index in the store), mem0 (Mem0's platform), mem0-server (your own Mem0 server) or agentcore (Amazon Bedrock AgentCore Memory). Nothing if it is not set." env:"PALIMPSEST_MEMORY" enum:",embedded,mem0,mem0-server,agentcore" default:""`
	MemoryBackfill   bool          `help:"Remember also what was said before the store first knew this memory, not only what is said from then on." env:"PALIMPSEST_MEMORY_BACKFILL"`
	MemoryURL        string        `name:"memory-url" help:"Base URL of the memory: of a mem0-server, such as http://localhost:8888; for the others, one instead of their own. https, except on this machine." env:"PALIMPSEST_MEMORY_URL" placeholder:"URL"`
	MemoryAPIKeyFile string        `name:"memory-api-key-file" help:"File with the key for mem0 or mem0-server, read again when it changes; or set PALIMPSEST_MEMORY_API_KEY." env:"PALIMPSEST_MEMORY_API_KEY_FILE" type:"path" placeholder:"FILE"`
	MemoryInsecure   bool          `help:"Send what is remembered, and the key, to a mem0-server on another machine without TLS." env:"PALIMPSEST_MEMORY_INSECURE"`
	MemoryID         string        `name:"memory-id" help:"Id of the memory of agentcore." env:"PALIMPSEST_MEMORY_ID" placeholder:"ID"`
	MemoryRegion     string        `help:"AWS region of agentcore; by default that of AWS's own configuration, which its credentials come from too." env:"PALIMPSEST_MEMORY_REGION" placeholder:"REGION"`
	MemoryNamespace  string        `help:"Template of the namespaces in which the strategies of agentcore keep an actor's records, with {actorId}, and {sessionId} if all of them have it; ${memory_namespace} if it is not set." env:"PALIMPSEST_MEMORY_NAMESPACE" placeholder:"TEMPLATE"`
	MemoryTimeout    time.Duration `help:"How long one call of a service may take, 1s to 10m; 0 for what the service needs: 10s with agentcore, 30s to read and 2m to add with Mem0." env:"PALIMPSEST_MEMORY_TIMEOUT" default:"0s"`
}

// memoryKey is where the key of a memory service is from.
func (s *memorySettings) memoryKey() providerAccess {
	return providerAccess{provider: "memory-api", keyFile: s.MemoryAPIKeyFile, variable: "PALIMPSEST_MEMORY_API_KEY"}
}

func (s *memorySettings) checkMemory() error {
	return errors.Join(s.checkMemoryFlags(), s.checkMemoryKind())
}

// checkMemoryFlags refuses what the memory has no use for: whoever set it means another.
func (s *memorySettings) checkMemoryFlags() error {
	isMem0, isAgentCore := s.Memory == memoryMem0 || s.Memory == memoryMem0Server, s.Memory == memoryAgentCore
	var faults []error
	for _, f := range []struct {
		name       string
		set, taken bool
	}{
		{"backfill", s.MemoryBackfill, s.Memory != ""},
		{"url", s.MemoryURL != "", isMem0 || isAgentCore},
		{"api-key-file", s.MemoryAPIKeyFile != "", isMem0},
		{"insecure", s.MemoryInsecure, s.Memory == memoryMem0Server},
		{"id", s.MemoryID != "", isAgentCore},
		{"region", s.MemoryRegion != "", isAgentCore},
		{"namespace", s.MemoryNamespace != "", isAgentCore},
		{"timeout", s.MemoryTimeout != 0, isMem0 || isAgentCore},
	} {
		if f.set && !f.taken {
			faults = append(faults, fmt.Errorf("--memory-%s is not for --memory %s", f.name, cmp.Or(s.Memory, `""`)))
		}
	}
	return errors.Join(faults...)
}

func (s *memorySettings) checkMemoryKind() error {
	key := s.memoryKey()
	switch {
	case s.Memory == memoryMem0Server && s.MemoryURL == "":
		return errors.New("--memory mem0-server needs --memory-url")
	case s.Memory == memoryMem0 && !key.hasKey():
		return errors.New("--memory mem0 needs --memory-api-key-file or PALIMPSEST_MEMORY_API_KEY")
	case s.Memory == memoryAgentCore && s.MemoryID == "":
		return errors.New("--memory agentcore needs --memory-id")
	case s.MemoryAPIKeyFile != "" && lookup(key.variable) != "":
		return fmt.Errorf("--memory-api-key-file and %s are both set: which is the key?", key.variable)
	case s.MemoryTimeout != 0 && (s.MemoryTimeout < time.Second || s.MemoryTimeout > 10*time.Minute):
		return errors.New("--memory-timeout must be 1s to 10m, or 0")
	case s.MemoryURL != "":
		if _, err := endpoint.Parse(s.MemoryURL, !s.MemoryInsecure); err != nil {
			return fmt.Errorf("--memory-url %w", err)
		}
	}
	return nil
}

// remembering is how the engine makes a memory; nil for none.
type remembering struct {
	made  func(engine.MemorySources) memory.Target
	close func()
	// observer is told what it is given.
	observer engine.MemoryObserver
}

// newMemory makes a client of the memory that settings name; nothing is asked of it. It is closed after the engine.
func newMemory(ctx context.Context, s *memorySettings) (*remembering, error) {
	switch s.Memory {
	case "":
		return &remembering{close: func() {}}, nil
	case memoryEmbedded:
		return &remembering{made: newEmbedded, close: func() {}}, nil
	case memoryAgentCore:
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

func newMem0(s *memorySettings) (*remembering, error) {
	kind := mem0.Platform
	if s.Memory == memoryMem0Server {
		kind = mem0.Server
	}
	key, err := newFreshKey(s.memoryKey())
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
	access providerAccess
	mu     sync.Mutex
	last   string
}

func newFreshKey(a providerAccess) (*freshKey, error) {
	key, err := a.key()
	return &freshKey{access: a, last: key}, err
}

// value is the key as it is now; what it was, while its file cannot be read.
func (k *freshKey) value() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, err := k.access.key(); err == nil {
		k.last = key
	}
	return k.last
}
