package summarize

import (
	"cmp"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// ModelUsage is what the calls to one model used, in tokens as counted by [Usage].
type ModelUsage struct {
	Model  string // provider/model; empty for all models beyond maxModelsTracked
	Calls  int64
	Tokens conversation.CallTokens
}

// maxModelsTracked limits the models tracked per conversation, because prompts can name any.
const maxModelsTracked = 32

// ledger records by model what each conversation's calls used. A conversation without requests restarts at zero once maxConversations
// others had some.
type ledger struct {
	conversations *simplelru.LRU[Scope, []ModelUsage] // sorted by model
}

func newLedger() ledger {
	conversations, _ := simplelru.NewLRU[Scope, []ModelUsage](maxConversations, nil) // only a size below 1 is an error
	return ledger{conversations}
}

func (l *ledger) add(s Scope, model string, paid conversation.CallTokens) {
	all, _ := l.conversations.Get(s)
	at, found := findModel(all, model)
	if !found && len(all) >= maxModelsTracked {
		model = ""
		at, found = findModel(all, model)
	}
	if !found {
		all = slices.Insert(all, at, ModelUsage{Model: model})
	}
	all[at].Calls++
	all[at].Tokens = all[at].Tokens.Plus(paid)
	l.conversations.Add(s, all)
}

func findModel(all []ModelUsage, model string) (at int, found bool) {
	return slices.BinarySearchFunc(all, model, func(m ModelUsage, model string) int { return cmp.Compare(m.Model, model) })
}

// Spent returns what a conversation's own calls used since the process started, sorted by model; the caller owns it. Calls that were
// skipped because of an open breaker or the spend limit are not included.
func (d *Service) Spent(s Scope) []ModelUsage {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ledger.conversations == nil {
		return nil
	}
	all, _ := d.ledger.conversations.Peek(s)
	return slices.Clone(all)
}
