package redis

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"embed"
	"encoding/hex"
	"strings"
)

//go:embed lua/*.lua
var programs embed.FS

// lua returns the text of program files. Only this file names them.
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

// script is a program that the server runs.
type script struct{ text, sha string }

// newScript adds a first line with flags. Without it, a script would only find out that memory is full after it has written
// something.
func newScript(flags string, parts ...string) *script {
	text := "#!lua" + flags + "\n" + strings.Join(parts, "\n")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}

// The flags: scripts that erase may write when memory is full, and scripts that read may always run.
const (
	flagFrees = " flags=allow-oom"
	flagReads = " flags=no-writes"
)

// scripts holds all scripts of a store.
type scripts struct {
	commit, erase, stage, remove          *script
	mark, disclaim, probe                 *script
	messages, since, edits, slots, fields *script
}

// newScripts makes the scripts. publish is the command that tells others about commits.
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
		probe: newScript(flagFrees, "return 1"), // tests whether a script that writes may start

		messages: read("log", "messages"), since: read("log", "since"), edits: read("edits"), slots: read("slots"), fields: read("fields"),
	}
}
