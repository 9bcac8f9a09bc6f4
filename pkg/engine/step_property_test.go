package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// stepping is a random conversation on two engines: one appends and builds in one call, the other in two.
type stepping struct {
	*lifeline
	joined, apart *bench
	n             uint64
	refused       map[conversation.Kind]int
	stepped       int
}

func newStepping(t *rapid.T) *stepping {
	mode := rapid.SampledFrom([]conversation.Policy{eager, {}, {Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize}}}).Draw(t, "mode")
	mode.MaxWait = ptr(time.Duration(0))
	if rapid.Bool().Draw(t, "cites") {
		mode.Citations = conversation.CitationsPolicy{On: ptr(true), ThresholdChars: ptr(int32(400)), ReleaseOnEndRun: ptr(rapid.Bool().Draw(t, "releases"))}
	}
	if rapid.Bool().Draw(t, "ttl") {
		mode.TTL, mode.TTLWithoutTombstone = ptr(4*time.Minute), ptr(rapid.IntRange(0, 4).Draw(t, "tombstone") > 0)
	}
	cache := rapid.SampledFrom([]int64{0, 1 << 24}).Draw(t, "cache")
	change := func(o *engine.Options) { o.CacheBytes, o.Defaults = cache, mode }
	s := &stepping{joined: lifeBench(memory.New(memory.Options{}), change), apart: lifeBench(memory.New(memory.Options{}), change)}
	s.lifeline = &lifeline{t: t, engines: []*bench{s.joined, s.apart}, erases: rapid.Bool().Draw(t, "erases")}
	return s
}

// moment gives both engines the same ids from here on.
func (s *stepping) moment() {
	s.n++
	s.joined.ids.Store(s.n << 20)
	s.apart.ids.Store(s.n << 20)
}

func (s *stepping) request() engine.BuildRequest {
	r := engine.BuildRequest{
		Key: keyOf("c"), Format: rapid.SampledFrom([]conversation.Format{conversation.FormatOpenAIChat, conversation.FormatNeutral}).Draw(s.t, "format"),
		Budget:         budgetOf(rapid.SampledFrom([]int32{3000, 3000, 9000, room}).Draw(s.t, "budget")),
		CloseOpenCalls: rapid.Bool().Draw(s.t, "closes"),
	}
	switch rapid.IntRange(0, 7).Draw(s.t, "turn") {
	case 0:
		r.SameTurn = true
	case 1:
		r.Turn = ptr(rapid.Int32Range(1, 300).Draw(s.t, "named turn"))
	}
	if rapid.IntRange(0, 3).Draw(s.t, "used") == 0 {
		r.LastUsage = &engine.Usage{Input: rapid.Int32Range(0, 9000).Draw(s.t, "input"), Output: 30}
	}
	return r
}

// messages are those of one call: several units, sometimes.
func (s *stepping) messages() (all []conversation.Message, extras []engine.AppendExtra) {
	for range rapid.IntRange(1, 3).Draw(s.t, "units") {
		more, with := s.unit()
		all, extras = append(all, more...), append(extras, with...)
		extras = append(extras, make([]engine.AppendExtra, len(all)-len(extras))...)
	}
	return all, extras
}

func (s *stepping) unit() ([]conversation.Message, []engine.AppendExtra) {
	switch rapid.IntRange(0, 9).Draw(s.t, "open") {
	case 0:
		return []conversation.Message{call("o")}, nil
	case 1:
		m := result("o", s.words())
		m.RunID = "run"
		return []conversation.Message{m}, nil
	case 2:
		m := call("a")
		m.Tags = []string{conversation.TagAborted}
		return []conversation.Message{user(s.name()), m}, nil
	default:
		return s.drawn()
	}
}

// told is what a build says; its receipts and its revision are told apart.
func stepTold(r *engine.BuildResult) string {
	return strings.Join(seen(r), "\n") + fmt.Sprint(string(r.MessagesJSON), r.SHA256, r.Turn, r.Tokens, r.Prefix, r.Decisions, r.Degradations, r.Compaction, r.Revision, r.Manifest.Seq)
}

// step appends and builds on both engines, and compares the answers.
func (s *stepping) step() {
	messages, extras := s.messages()
	r := s.request()
	appending := func() engine.AppendRequest {
		return engine.AppendRequest{Key: keyOf("c"), Messages: owned(messages), Extras: append([]engine.AppendExtra(nil), extras...)}
	}
	s.moment()
	got, refused := s.joined.Step(ctx, engine.StepRequest{Build: r, Append: appending()})
	if refused != nil {
		s.refuse(refused, r, appending)
		return
	}
	appended, err := s.apart.Append(ctx, appending())
	if err != nil {
		s.t.Fatalf("appended in one call, refused alone: %v", err)
	}
	built, err := s.apart.Build(ctx, r)
	if err != nil {
		s.t.Fatalf("built in one call, refused alone: %v", err)
	}
	s.stepped++
	if one, two := stepTold(got.Result), stepTold(built); one != two {
		s.t.Fatalf("in one call\n%s\nin two\n%s", one, two)
	}
	if one, two := fmt.Sprint(got.Events), fmt.Sprint(append(appended.Events, built.Events...)); one != two {
		s.t.Fatalf("events in one call\n%s\nin two\n%s", one, two)
	}
	if one, two := fmt.Sprint(got.Appended.Calls, got.Appended.Citations), fmt.Sprint(appended.Calls, appended.Citations); one != two {
		s.t.Fatalf("calls and citations in one call\n%s\nin two\n%s", one, two)
	}
}

// refuse requires the same refusal from the two-call engine, and brings both to the same record.
func (s *stepping) refuse(refused error, r engine.BuildRequest, appending func() engine.AppendRequest) {
	if !strings.HasSuffix(refused.Error(), "; nothing was appended") {
		s.t.Fatalf("%v (%v)", refused, causeOf(refused))
	}
	s.refused[conversation.KindOf(refused)]++
	s.moment()
	_, err := s.apart.Append(ctx, appending())
	if err == nil {
		if _, err := s.joined.Append(ctx, appending()); err != nil {
			s.t.Fatalf("refused in one call with %v, then appended alone by one engine of two: %v", refused, err)
		}
		_, err = s.apart.Build(ctx, r)
	}
	if conversation.KindOf(err) != conversation.KindOf(refused) {
		s.t.Fatalf("refused in one call: %v (%v); in two: %v", refused, causeOf(refused), err)
	}
}

// state is all that is stored of the conversation, but for the numbers of commits.
func (s *stepping) state(b *bench) string {
	snap, err := b.store.Read(ctx, keyOf("c"), store.Query{
		Info: true, Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}, Edits: &store.EditRange{},
		Manifest: &store.ManifestRange{Limit: 1000}, AllSlots: true, Stored: &store.StoredRange{Limit: 10_000},
	})
	if err != nil {
		return err.Error()
	}
	snap.Head.Version = 0
	for i := range snap.Messages {
		snap.Messages[i].Commit = 0
	}
	for i := range snap.Edits {
		snap.Edits[i].Commit = 0
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", " ")
	if err := enc.Encode(snap); err != nil {
		s.t.Fatal(err)
	}
	return out.String()
}

func (s *stepping) compare() {
	one, two := strings.Split(s.state(s.joined), "\n"), strings.Split(s.state(s.apart), "\n")
	for i := range one {
		if i >= len(two) || one[i] != two[i] {
			s.t.Fatalf("the record of one call has\n%s\nwhere that of two has\n%s", strings.Join(one[max(0, i-12):i+1], "\n"), strings.Join(two[max(0, i-12):min(len(two), i+1)], "\n"))
		}
	}
}

// TestEngine_Step_AnyConversation_IsAppendThenBuild: one call leaves the record, the context and the decisions that two calls do.
func TestEngine_Step_AnyConversation_IsAppendThenBuild(t *testing.T) {
	testlane.OneCaller(t)
	refused, stepped := map[conversation.Kind]int{}, 0
	proptest.Check(t, func(t *rapid.T) {
		s := newStepping(t)
		s.refused = refused
		for range rapid.IntRange(3, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 11).Draw(t, "step") {
			case 0:
				s.moment()
				if c, err := s.joined.Get(ctx, keyOf("c")); err == nil && c.Head.Messages > 0 {
					s.expand()
				}
			case 1:
				s.pause()
			case 2:
				s.moment()
				s.append()
			default:
				s.step()
			}
			s.compare()
		}
		stepped += s.stepped
	})
	t.Logf("%d steps, refused %v", stepped, refused)
}
