package bound

import (
	"math"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/replay/recording"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// foresight is what somebody knows of a recording who knows all of it: until
// when each message is needed. docs/replay.md defines what is done with it.
type foresight struct {
	holdings []holding
	builds   []int      // how many messages each build can show
	demands  [][]demand // what the message behind each build takes up
	fixed    int        // weight of the tools, which every build holds
}

// holding is a message that can be shown.
type holding struct {
	weight  int
	from    int    // the first build that can show it
	until   int    // the last build that must, whatever refers to it
	needs   []need // builds whose message takes up what it holds newest, in order
	byAgent bool
}

// need is how many references and shingles the message behind a build takes up.
type need struct{ build, references, content int }

// demand is a reference or a shingle that is taken up, and which messages hold it.
type demand struct {
	holders []int
	content bool
	foreign bool // others than the agent said it
}

// forever is a build that never comes.
const forever = math.MaxInt

// foreseer reads a recording from its first message on.
type foreseer struct {
	*foresight
	count    validate.Counter
	history  *validate.History
	shingler recall.Shingler
	words    map[string][]int // who holds a reference
	runs     map[uint64][]int // who holds a shingle
	request  int              // the newest message of a user; -1 before one
	leading  bool             // only system messages so far
}

// foresee reads a recording. What is asked for while nothing can be answered is
// no build.
func foresee(r *recording.Recording, count validate.Counter) *foresight {
	f := &foreseer{
		foresight: &foresight{fixed: count(r.Tools)}, count: count, history: validate.NewHistory(count), shingler: recall.NewShingler(),
		words: map[string][]int{}, runs: map[uint64][]int{}, request: -1, leading: true,
	}
	for i, m := range r.Messages {
		own := recall.Message(m)
		if r.Asks(i) && !f.history.SystemOnly() && !f.history.Pending() {
			f.build(own)
		}
		f.add(m, own)
	}
	return f.foresight
}

// build takes in what the next message takes up of the messages before it. The
// newest one that holds something is who is needed for it.
func (f *foreseer) build(next validate.Message) {
	var demands []demand
	for word := range recall.ReferencesOf(next.Items) {
		if holders := f.words[word]; len(holders) > 0 {
			f.need(holders).references++
			demands = append(demands, demand{holders: holders})
		}
	}
	for run := range f.shingler.Of(next.Items) {
		if holders := f.runs[run]; len(holders) > 0 {
			f.need(holders).content++
			demands = append(demands, demand{holders: holders, content: true, foreign: f.foreign(holders)})
		}
	}
	f.builds, f.demands = append(f.builds, len(f.holdings)), append(f.demands, demands)
	f.history.Shown()
}

// need is what the build at hand takes up of the newest holder.
func (f *foreseer) need(holders []int) *need {
	h := &f.holdings[holders[len(holders)-1]]
	if last := len(h.needs) - 1; last < 0 || h.needs[last].build != len(f.builds) {
		h.needs = append(h.needs, need{build: len(f.builds)})
	}
	return &h.needs[len(h.needs)-1]
}

func (f *foreseer) foreign(holders []int) bool {
	for _, i := range holders {
		if !f.holdings[i].byAgent {
			return true
		}
	}
	return false
}

// add takes in a message that is on record now. Leading system messages stay,
// and a user's message until the next one; the next build must show any other.
func (f *foreseer) add(m *pb.Message, own validate.Message) {
	f.history.Add(own)
	i, now := len(f.holdings), len(f.builds)
	h := holding{weight: own.Tokens(f.count), from: now, until: now, byAgent: m.GetRole() == pb.Role_ROLE_ASSISTANT}
	f.leading = f.leading && m.GetRole() == pb.Role_ROLE_SYSTEM
	switch {
	case f.leading:
		h.until = forever
	case m.GetRole() == pb.Role_ROLE_USER:
		if f.request >= 0 {
			f.holdings[f.request].until = max(f.holdings[f.request].from, now-1)
		}
		h.until, f.request = forever, i
	}
	f.holdings = append(f.holdings, h)
	for word := range recall.ReferencesOf(own.Items) {
		f.words[word] = append(f.words[word], i)
	}
	for run := range f.shingler.Of(own.Items) {
		f.runs[run] = append(f.runs[run], i)
	}
}
