package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// File resolves flags from a YAML file. kong asks its resolvers before the environment and would let the file win, so it
// stays silent for a flag whose environment variable is set.
type File struct {
	path   string
	values map[string]fileValue
	// last is the flag that was resolved last: the one that a parse error of kong's is about.
	last string
}

// fileValue is a key of the file, as a flag's text.
type fileValue struct {
	text string
	line int
}

// Validate is kong's hook for checking the whole model; a file is checked when it is loaded.
func (f *File) Validate(*kong.Application) error { return nil }

// Resolve returns the file's value for a flag that neither the command line nor the environment sets.
func (f *File) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	f.last = ""
	value, ok := f.values[flag.Name]
	if !ok || environmentOf(flag) != "" {
		return nil, nil
	}
	f.last = flag.Name
	return value.text, nil
}

// environmentOf is the variable that sets a flag, or "".
func environmentOf(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if isSet(name) {
			return name
		}
	}
	return ""
}

// Explain says where in the file the value stands that kong could not take.
func (f *File) Explain(err error) error {
	if f.last != "" && strings.Contains(err.Error(), "--"+f.last) {
		return fmt.Errorf("%s:%d: %w", f.path, f.values[f.last].line, err)
	}
	return err
}

// BeforeResolve loads the configuration file, once kong knows its name and before it needs its values.
func (s *Settings) BeforeResolve(ctx *kong.Context, file *File) error {
	flags := ctx.Selected().Flags
	i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == "config" })
	path, _ := ctx.FlagValue(flags[i]).(string)
	return file.load(path, func(key string) bool {
		return key != "config" && slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == key })
	})
}

// load reads the file; known says which keys it may have.
func (f *File) load(path string, known func(key string) bool) error {
	if path == "" {
		return nil
	}
	f.path = path
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the configuration: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(document.Content) == 0 {
		return nil
	}
	return f.take(document.Content[0], known)
}

func (f *File) take(root *yaml.Node, known func(key string) bool) error {
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: must be a list of keys and values", f.path, root.Line)
	}
	f.values = make(map[string]fileValue, len(root.Content)/2)
	var faults []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := f.takeOne(root.Content[i], root.Content[i+1], known); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", f.path, root.Content[i].Line, err))
		}
	}
	return errors.Join(faults...)
}

func (f *File) takeOne(key, value *yaml.Node, known func(key string) bool) error {
	if _, twice := f.values[key.Value]; twice {
		return fmt.Errorf("the key %q stands twice", key.Value)
	}
	if !known(key.Value) {
		return fmt.Errorf("unknown key %q", key.Value)
	}
	text, err := flagText(value)
	if err != nil {
		return fmt.Errorf("the key %q %w", key.Value, err)
	}
	f.values[key.Value] = fileValue{text: text, line: key.Line}
	return nil
}

// flagText is a value as it would stand on the command line. A list is joined as kong splits it.
func flagText(value *yaml.Node) (string, error) {
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag != "!!null":
		return value.Value, nil
	case value.Kind == yaml.SequenceNode && len(value.Content) > 0:
		texts := make([]string, len(value.Content))
		for i, element := range value.Content {
			if element.Kind != yaml.ScalarNode || strings.Contains(element.Value, ",") {
				return "", errors.New("must be a list of plain values")
			}
			texts[i] = element.Value
		}
		return strings.Join(texts, ","), nil
	default:
		return "", errors.New("must have a value, or a list of values")
	}
}
