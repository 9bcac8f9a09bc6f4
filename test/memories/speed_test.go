package memories

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestMemoriesSpeed_FreshProcess_RecallsInTime: a process that has never seen an actor of 10,000 messages recalls within the deadline, on every
// store.
func TestMemoriesSpeed_FreshProcess_RecallsInTime(t *testing.T) {
	testlane.Speed(t)
	const messages, processes = 10_000, 20
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			first := start(t, s, atOnce())
			first.fill("ann", messages)
			late, times := 0, make([]time.Duration, 0, processes)
			for i := range processes {
				id := fmt.Sprintf("fresh%d", i)
				first.create(id, "ann")
				asks := message(conversation.RoleUser, fmt.Sprintf("What did I say of walrus%d and the old lighthouse?", 37*i))
				asks.Tags = []string{"no-memory"} // or the next process finds it in place of what was said
				if _, err := first.Append(t.Context(), engine.AppendRequest{Key: key(id), Messages: []conversation.Message{asks}}); err != nil {
					t.Fatal(err)
				}
				fresh := start(t, s, atOnce())
				began := time.Now()
				r := fresh.build(id, conversation.FormatOpenAIChat, 50_000)
				times = append(times, time.Since(began))
				if r.Tokens.Memories == 0 {
					late++
					t.Logf("process %d: %+v after %v", i, r.Events, times[i])
				}
			}
			slices.Sort(times)
			t.Logf("%s: %d of %d were late; p50 %v, slowest %v", name, late, processes, times[processes/2], times[processes-1])
			if late > 0 {
				t.Errorf("%d of %d recalled nothing within 300 ms", late, processes)
			}
		})
	}
}

// fill has an actor say so many messages in conversations of a thousand.
func (p *process) fill(actor string, messages int) {
	p.t.Helper()
	for c := range messages / 1000 {
		id := fmt.Sprintf("%s/%d", actor, c)
		p.create(id, actor)
		batch := make([]conversation.Message, 1000)
		for i := range batch {
			n := c*1000 + i
			batch[i] = message(conversation.RoleUser, fmt.Sprintf(
				"On day %d we saw walrus%d near the old lighthouse of harbor%d, and paid %d for the boat that took the %d of us there.", n%365, n, n%97, n%61, n%7))
		}
		if _, err := p.Append(p.t.Context(), engine.AppendRequest{Key: key(id), Messages: batch}); err != nil {
			p.t.Fatal(err)
		}
		p.inSync(id)
	}
}
