package policies

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// File is a policy as it is written down: that of each conversation, and those
// of single tools, in the order of the file.
type File struct {
	Conversation *pb.Policy
	Tools        []*pb.ActionPolicy
}

// Load returns the policy of a name, or else that a file holds, for a server.
func Load(nameOrFile string) (*File, error) { return Read(nameOrFile, refusedInAny) }

// refusedInAny says why a field has no place in any policy.
func refusedInAny(field string) string {
	switch field {
	case "palimpsest.v1.Expiration.source":
		return "the sidecar says it"
	case "palimpsest.v1.Expiration.preserve_original_content":
		return "erasing is asked for by name, in messages and action policies"
	default:
		return ""
	}
}

// Read reads the policy of a name that ships, Default, or else a file. Refused says
// why a field, by its full name in the contract, cannot be set, or "". Every
// fault is named with its line.
func Read(nameOrFile string, refused func(field string) string) (*File, error) {
	if nameOrFile == Default {
		return &File{Conversation: &pb.Policy{}}, nil
	}
	raw, err := source(nameOrFile)
	if err != nil {
		return nil, fmt.Errorf("policies: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("policies: %s: %w", nameOrFile, err)
	}
	if len(document.Content) == 0 {
		return nil, fmt.Errorf("policies: %s: says nothing", nameOrFile)
	}
	r := &reader{file: nameOrFile, refused: refused}
	file := r.read(document.Content[0])
	if err := errors.Join(r.faults...); err != nil {
		return nil, fmt.Errorf("policies: %w", err)
	}
	return file, nil
}

// source returns the YAML. A name that ships is never a file: ./NAME is.
func source(nameOrFile string) ([]byte, error) {
	if slices.Contains(Names(), nameOrFile) {
		return []byte(Text(nameOrFile)), nil
	}
	raw, err := os.ReadFile(nameOrFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q is neither a policy that ships (%s), nor %s, nor a file", nameOrFile, strings.Join(Names(), ", "), Default)
	}
	return raw, err
}

func (r *reader) read(n *yaml.Node) *File {
	file := &File{Conversation: &pb.Policy{}}
	r.pairs(n, func(key, value *yaml.Node) {
		switch key.Value {
		case "conversation":
			r.message(value, file.Conversation)
		case "tools":
			r.pairs(value, func(tool, value *yaml.Node) { file.Tools = append(file.Tools, r.tool(tool.Value, value)) })
		default:
			r.fault(key, "unknown key %q: a policy has conversation and tools", key.Value)
		}
	})
	return file
}

// tool reads what is said of a tool: the settings of its results' expiration,
// and beside them citations and importance.
func (r *reader) tool(name string, n *yaml.Node) *pb.ActionPolicy {
	p := &pb.ActionPolicy{Key: &pb.ActionPolicy_ToolName{ToolName: name}, Expiration: &pb.Expiration{}}
	r.pairs(n, func(key, value *yaml.Node) {
		switch key.Value {
		case "citations", "importance":
			r.key(key, value, p)
		default:
			r.key(key, value, p.Expiration)
		}
	})
	return p
}
