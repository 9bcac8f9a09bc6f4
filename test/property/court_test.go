package property

import (
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// court judges the contexts of one case by their bytes.
type court struct {
	t      *rapid.T
	last   map[conversation.Format]*validate.Context
	judges map[conversation.Format]*validate.Checker
}

func newCourt(t *rapid.T) court {
	return court{t: t, last: map[conversation.Format]*validate.Context{}, judges: map[conversation.Format]*validate.Checker{}}
}

// legal holds a context to its provider's rules and to its budget, and its prefix to what is reported of it.
func (c *court) legal(f conversation.Format, budget int32, b *build) {
	judge := c.judges[f]
	if judge == nil {
		var err error
		if judge, err = validate.NewChecker(formats[f], count); err != nil {
			c.t.Fatal(err)
		}
		c.judges[f] = judge
	}
	system, messages := b.System, b.MessagesJSON
	if f == conversation.FormatNeutral {
		messages = b.shown
	}
	read := judge.Read(system, messages)
	if len(read.Violations) > 0 {
		c.t.Fatalf("illegal: %v\n%s\n%s", read.Violations, system, messages)
	}
	if most := int(float64(budget)/b.Tokens.Factor) - int(b.Tokens.Fixed); read.Tokens > most {
		c.t.Fatalf("%d tokens by an independent count (%d by ours) in a budget of %d, times %.2f, with %d fixed\n%s", read.Tokens, b.Tokens.Total, budget, b.Tokens.Factor, b.Tokens.Fixed, messages)
	}
	c.rewriteReport(b)
	before := c.last[f]
	c.last[f] = read
	if before == nil || b.Prefix.BrokenBy != engine.BreakNone {
		return
	}
	for i := range before.Blocks {
		if i >= len(read.Blocks) || before.Blocks[i].JSON != read.Blocks[i].JSON || before.Blocks[i].Role != read.Blocks[i].Role {
			c.t.Fatalf("block %d of the previous build is not in place, and no rewrite is reported:\n%s\n%s", i, before.Blocks[i].JSON, read.Blocks[min(i, len(read.Blocks)-1)].JSON)
		}
	}
}

// rewriteReport demands that a build says what a rewrite cost where one is reported, and nothing else.
func (c *court) rewriteReport(b *build) {
	r := b.Prefix.Rewrite
	switch b.Prefix.BrokenBy {
	case engine.BreakNone, engine.BreakFirstBuild, engine.BreakTailReplaced:
		if r != (engine.RewriteReport{}) {
			c.t.Fatalf("nothing was rewritten, and it is said to have cost %+v", r)
		}
	default:
		pays := r.BreakEvenTurns >= 0
		if r.Reread < 0 || r.Cost < 0 || pays != (r.Saved > 0) || b.Prefix.StableTokens+r.Reread > b.Tokens.Messages {
			c.t.Fatalf("a rewrite of %d tokens, %d of them stable, is said to have cost %+v", b.Tokens.Messages, b.Prefix.StableTokens, r)
		}
	}
}
