package redis

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	_ "embed"
	"encoding/hex"
	"strings"
)

//go:embed lua/common.lua
var luaCommon string

//go:embed lua/write.lua
var luaWrite string

//go:embed lua/begin.lua
var luaBegin string

//go:embed lua/steps.lua
var luaSteps string

//go:embed lua/more.lua
var luaMore string

//go:embed lua/append.lua
var luaAppend string

//go:embed lua/commit.lua
var luaCommit string

//go:embed lua/stage.lua
var luaStage string

//go:embed lua/delete.lua
var luaDelete string

//go:embed lua/mark.lua
var luaMark string

//go:embed lua/disclaim.lua
var luaDisclaim string

//go:embed lua/log.lua
var luaLog string

//go:embed lua/messages.lua
var luaMessages string

//go:embed lua/since.lua
var luaSince string

//go:embed lua/edits.lua
var luaEdits string

//go:embed lua/slots.lua
var luaSlots string

//go:embed lua/fields.lua
var luaFields string

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
	begin := "local PUBLISH = '" + publish + "'\n" + luaBegin
	read := func(text string) *script { return newScript(flagReads, luaCommon, text) }
	return &scripts{
		commit: newScript("", begin, luaAppend, luaSteps, luaMore, luaCommon, luaWrite, luaCommit),
		erase:  newScript(flagFrees, begin, luaAppend, luaSteps, luaMore, luaCommon, luaWrite, luaCommit),
		stage:  newScript("", begin, luaSteps, luaCommon, luaWrite, luaStage),
		remove: newScript(flagFrees, begin, luaSteps, luaCommon, luaWrite, luaDelete),

		mark: newScript(flagFrees, luaMark), disclaim: newScript(flagFrees, luaDisclaim),
		probe: newScript(flagFrees, "return 1"), // whether a script that writes may begin

		messages: read(luaLog + luaMessages), since: read(luaLog + luaSince), edits: read(luaEdits), slots: read(luaSlots), fields: read(luaFields),
	}
}
