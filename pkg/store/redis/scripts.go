package redis

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"embed"
	"encoding/hex"
	"strings"
)

//go:embed lua/*.lua
var programs embed.FS

// lua is the text of files of programs. Their names are written in this file alone.
func lua(files ...string) string {
	texts := make([]string, len(files))
	for i, file := range files {
		text, err := programs.ReadFile("lua/" + file + ".lua")
		if err != nil {
			panic(err)
		}
		texts[i] = string(text)
	}
	return strings.Join(texts, "\n")
}

// script is a program of the server's.
type script struct{ text, sha string }

// newScript puts the line in front without which a full memory is found out half way, after some was written.
func newScript(flags string, parts ...string) *script {
	text := "#!lua" + flags + "\n" + strings.Join(parts, "\n")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}

// The flags: what erases may write when memory is full, and what reads may always run.
const (
	flagFrees = " flags=allow-oom"
	flagReads = " flags=no-writes"
)

// scripts are all that a store runs.
type scripts struct {
	commit, erase, stage, remove          *script
	mark, disclaim, probe                 *script
	messages, since, edits, slots, fields *script
}

// newScripts makes them with the command that tells others of commits.
func newScripts(publish string) *scripts {
	write := func(flags string, files ...string) *script {
		return newScript(flags, "local PUBLISH = '"+publish+"'\n"+lua("begin"), lua(files...))
	}
	read := func(files ...string) *script { return newScript(flagReads, lua("common"), lua(files...)) }
	return &scripts{
		commit: write("", "append", "steps", "more", "common", "write", "commit"),
		erase:  write(flagFrees, "append", "steps", "more", "common", "write", "commit"),
		stage:  write("", "steps", "common", "write", "stage"),
		remove: write(flagFrees, "steps", "common", "write", "delete"),

		mark: newScript(flagFrees, lua("mark")), disclaim: newScript(flagFrees, lua("disclaim")),
		probe: newScript(flagFrees, "return 1"), // whether a script that writes may begin

		messages: read("log", "messages"), since: read("log", "since"), edits: read("edits"), slots: read("slots"), fields: read("fields"),
	}
}
