package config

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/endpoint"
)

// The memories, by the names of --memory.
const (
	MemoryEmbedded   = "embedded"
	MemoryMem0       = "mem0"
	MemoryMem0Server = "mem0-server"
	MemoryAgentCore  = "agentcore"
)

// MemoryFlags say what remembers across conversations. The key is no flag, and no key of the configuration file, as those of summaries.
type MemoryFlags struct {
	Memory           string        `help:"Memory across conversations, where their policy switches it on: embedded (in the store), mem0 (the platform), mem0-server (your own), agentcore (Amazon Bedrock); by default none." env:"PALIMPSEST_MEMORY" enum:",embedded,mem0,mem0-server,agentcore" default:""`
	MemoryBackfill   bool          `help:"Remember also what was said before the store first knew this memory." env:"PALIMPSEST_MEMORY_BACKFILL"`
	MemoryURL        string        `name:"memory-url" help:"Base URL of a mem0-server, such as http://localhost:8888, or one in place of the others' own. https, except on this machine." env:"PALIMPSEST_MEMORY_URL" placeholder:"URL"`
	MemoryAPIKeyFile string        `name:"memory-api-key-file" help:"File with the key for mem0 or mem0-server, read again when it changes; or PALIMPSEST_MEMORY_API_KEY." env:"PALIMPSEST_MEMORY_API_KEY_FILE" type:"path" placeholder:"FILE"`
	MemoryInsecure   bool          `help:"Send memories and the key to a mem0-server on another machine without TLS." env:"PALIMPSEST_MEMORY_INSECURE"`
	MemoryID         string        `name:"memory-id" help:"Id of agentcore's memory." env:"PALIMPSEST_MEMORY_ID" placeholder:"ID"`
	MemoryRegion     string        `help:"AWS region of agentcore; by default, like the credentials, from AWS's own configuration." env:"PALIMPSEST_MEMORY_REGION" placeholder:"REGION"`
	MemoryNamespace  string        `help:"Template of the namespaces in which agentcore's strategies keep an actor's records, with {actorId}, and {sessionId} if all have it; by default ${memory_namespace}." env:"PALIMPSEST_MEMORY_NAMESPACE" placeholder:"TEMPLATE"`
	MemoryTimeout    time.Duration `help:"How long one call of a service may take, 1s to 10m; 0 means 10s with agentcore, 30s to read and 2m to add with Mem0." env:"PALIMPSEST_MEMORY_TIMEOUT" default:"0s"`
}

// MemoryKey is where the key of a memory service is from.
func (s *MemoryFlags) MemoryKey() Provider {
	return Provider{Name: "memory-api", KeyFile: s.MemoryAPIKeyFile, Variable: "PALIMPSEST_MEMORY_API_KEY"}
}

// CheckMemory finds what the types of the flags cannot say.
func (s *MemoryFlags) CheckMemory() error {
	return errors.Join(s.checkMemoryFlags(), s.checkMemoryKind())
}

// checkMemoryFlags refuses what the memory has no use for: whoever set it means another.
func (s *MemoryFlags) checkMemoryFlags() error {
	isMem0, isAgentCore := s.Memory == MemoryMem0 || s.Memory == MemoryMem0Server, s.Memory == MemoryAgentCore
	var faults []error
	for _, f := range []struct {
		name       string
		set, taken bool
	}{
		{"backfill", s.MemoryBackfill, s.Memory != ""},
		{"url", s.MemoryURL != "", isMem0 || isAgentCore},
		{"api-key-file", s.MemoryAPIKeyFile != "", isMem0},
		{"insecure", s.MemoryInsecure, s.Memory == MemoryMem0Server},
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

func (s *MemoryFlags) checkMemoryKind() error {
	key := s.MemoryKey()
	switch {
	case s.Memory == MemoryMem0Server && s.MemoryURL == "":
		return errors.New("--memory mem0-server needs --memory-url")
	case s.Memory == MemoryMem0 && !key.HasKey():
		return errors.New("--memory mem0 needs --memory-api-key-file or PALIMPSEST_MEMORY_API_KEY")
	case s.Memory == MemoryAgentCore && s.MemoryID == "":
		return errors.New("--memory agentcore needs --memory-id")
	case s.MemoryAPIKeyFile != "" && lookup(key.Variable) != "":
		return fmt.Errorf("--memory-api-key-file and %s are both set: which is the key?", key.Variable)
	case s.MemoryTimeout != 0 && (s.MemoryTimeout < time.Second || s.MemoryTimeout > 10*time.Minute):
		return errors.New("--memory-timeout must be 1s to 10m, or 0")
	case s.MemoryURL != "":
		if _, err := endpoint.Parse(s.MemoryURL, !s.MemoryInsecure); err != nil {
			return fmt.Errorf("--memory-url %w", err)
		}
	}
	return nil
}
