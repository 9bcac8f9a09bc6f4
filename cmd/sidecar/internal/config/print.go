package config

import (
	"bytes"
	"fmt"
	"reflect"
	"text/tabwriter"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
)

// Command is `sidecar config`.
type Command struct {
	Print configPrintCommand `cmd:"" help:"Print the values in force, and where each comes from, as a configuration file."`
}

// configPrintCommand is `sidecar config print`. It takes the flags of serve.
type configPrintCommand struct {
	Settings
}

// Run prints all settings. What it prints is itself a configuration file.
func (c *configPrintCommand) Run(ctx *kong.Context, out *command.Output, file *File) error {
	if err := c.Check(); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out.Stdout, 0, 8, 2, ' ', 0)
	for _, flag := range ctx.Selected().Flags {
		if flag.Name == "config" {
			continue
		}
		if err := printSetting(w, flag, file.sourceOf(ctx, flag)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func printSetting(w *tabwriter.Writer, flag *kong.Flag, source string) error {
	value := flag.Target.Interface()
	if isUnset(flag.Target) {
		_, err := fmt.Fprintf(w, "# %s:\t# not set\n", flag.Name)
		return err
	}
	if _, ok := value.(secret); ok {
		_, err := fmt.Fprintf(w, "# %s:\t# a secret, from %s\n", flag.Name, source)
		return err
	}
	if s, ok := value.(fmt.Stringer); ok {
		value = s.String()
	}
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		return err
	}
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&node)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %s\t# %s\n", flag.Name, bytes.TrimRight(text, "\n"), source)
	return err
}

// isUnset says that a setting has no value that a configuration file could have.
func isUnset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil()
	case reflect.Slice, reflect.String:
		return v.Len() == 0
	default:
		return false
	}
}

// sourceOf says what set a flag.
func (f *File) sourceOf(ctx *kong.Context, flag *kong.Flag) string {
	for _, p := range ctx.Path {
		if p.Flag == flag && !p.Resolved {
			return "flag"
		}
	}
	if name := environmentOf(flag); name != "" {
		return name
	}
	if v, ok := f.values[flag.Name]; ok {
		return fmt.Sprintf("%s:%d", f.path, v.line)
	}
	return "default"
}
