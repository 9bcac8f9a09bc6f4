package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// withHyphens joins a flag to a value that begins with a hyphen, as tokens of pages and streams may, which else is taken for a flag. A word that
// is a flag of the command stays one. What stands behind -- are arguments.
func withHyphens(program *kong.Application, args []string) []string {
	command := program.Node
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if at := slices.IndexFunc(command.Children, func(n *kong.Node) bool { return n.Name == args[i] }); at >= 0 {
			command = command.Children[at]
		}
		f := flagOf(command, args[i])
		if f != nil && !f.IsBool() && i+1 < len(args) && strings.HasPrefix(args[i+1], "-") && !isFlag(command, args[i+1]) {
			out = append(out, args[i]+"="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// isFlag says whether a word that begins with a hyphen is a flag of a command, or stands for standard input or the end of all flags.
func isFlag(command *kong.Node, word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return word == "-" || word == "--" || word == "-h" || flagOf(command, name) != nil
}

func flagOf(command *kong.Node, word string) *kong.Flag {
	for _, group := range command.AllFlags(false) {
		for _, f := range group {
			if "--"+f.Name == word {
				return f
			}
		}
	}
	return nil
}
