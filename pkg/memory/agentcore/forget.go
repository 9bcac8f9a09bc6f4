package agentcore

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	ac "github.com/aws/aws-sdk-go-v2/service/bedrockagentcore"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore/types"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// mostAtOnce is how many records, and how many events, one call of Retract or Forget deletes.
const mostAtOnce = 100

// wholeConversation is an end of a range that no message reaches: all that follows is meant, also what nobody knows any more.
const wholeConversation = 1 << 30

// What the service keeps, in words for people.
const (
	residueOfConversations = "facts drawn from this conversation: AgentCore does not say which they are, and the namespace has no {sessionId}"
	residueOfSessions      = "facts drawn from a session of this conversation, part of which stays: AgentCore does not say which they are"
)

// Delete implements memory.Target. The service deletes by id alone, so that each is first looked at.
func (t *Target) Delete(ctx context.Context, s memory.Scope, ids []string) (gone []string, err error) {
	for some := range slices.Chunk(ids, mostAtOnce) {
		mine, err := t.mine(ctx, s, some)
		if err != nil {
			return gone, err
		}
		if _, err := t.deleteRecords(ctx, mine); err != nil {
			return gone, err
		}
		gone = append(gone, mine...)
	}
	return gone, nil
}

// mine are those ids that are of records of a scope.
func (t *Target) mine(ctx context.Context, s memory.Scope, ids []string) (out []string, err error) {
	path, form := *t.layout.path(s), regexp.MustCompile(`^mem-[a-zA-Z0-9_-]{36,46}$`)
	for _, id := range ids {
		if !form.MatchString(id) || slices.Contains(out, id) {
			continue
		}
		got, err := call(ctx, t, readsOne, asking(t.api.getRecord, &ac.GetMemoryRecordInput{MemoryId: t.memoryID, MemoryRecordId: &id}))
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if got.MemoryRecord == nil {
			return nil, &memory.UnavailableError{Cause: "answer"}
		}
		if _, ok := within(path, got.MemoryRecord.Namespaces); ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// deleteRecords deletes at most mostAtOnce records and returns how many there were.
func (t *Target) deleteRecords(ctx context.Context, ids []string) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	input := &ac.BatchDeleteMemoryRecordsInput{MemoryId: t.memoryID}
	for _, id := range ids {
		input.Records = append(input.Records, types.MemoryRecordDeleteInput{MemoryRecordId: &id})
	}
	out, err := call(ctx, t, changes, asking(t.api.deleteRecords, input))
	if err != nil {
		return 0, err
	}
	return len(out.SuccessfulRecords), firstFailure(out.FailedRecords)
}

// Forget implements memory.Target: first the events, so that nothing new is drawn from them, then the records, whenever they came.
func (t *Target) Forget(ctx context.Context, s memory.Scope, _ time.Time) (f memory.Forgetting, err error) {
	var goes going
	for session, err := range t.sessions(ctx, actorOf(s), "") {
		if err != nil {
			return f, err
		}
		if err := t.addEvents(ctx, &goes, s, session); err != nil {
			return f, err
		}
		if goes.full() {
			break
		}
	}
	for r, err := range t.records(ctx, s, t.layout.path(s)) {
		if err != nil {
			return f, err
		}
		if goes.records = append(goes.records, r.ID); len(goes.records) == mostAtOnce {
			break
		}
	}
	return t.forget(ctx, s, &goes)
}

// going is what a call of Retract or Forget deletes.
type going struct {
	events  []eventName
	records []string
	residue []string
}

type eventName struct{ session, id string }

func (g *going) full() bool { return len(g.events) >= mostAtOnce }

// addEvents adds those of a session to what goes.
func (t *Target) addEvents(ctx context.Context, g *going, s memory.Scope, session string) error {
	for e, err := range t.events(ctx, actorOf(s), session) {
		if err != nil {
			return err
		}
		if g.events = append(g.events, eventName{session, e.id}); g.full() {
			break
		}
	}
	return nil
}

// forget deletes what goes. Where that is as much as goes at once there may be more.
func (t *Target) forget(ctx context.Context, s memory.Scope, g *going) (f memory.Forgetting, err error) {
	f.Residue = g.residue
	for i, e := range g.events {
		if i == mostAtOnce {
			break
		}
		if err := t.deleteEvent(ctx, actorOf(s), e.session, e.id); err != nil {
			return f, err
		}
		f.Deleted++
	}
	n, err := t.deleteRecords(ctx, g.records)
	f.Deleted += int64(n)
	f.More = len(g.events) >= mostAtOnce || len(g.records) >= mostAtOnce
	return f, err
}

// Retract implements memory.Target. Events know their messages, and so do messages that are kept as they are; one event goes as a whole.
// What strategies drew goes where the namespace tells its session, and nothing of that session stays.
func (t *Target) Retract(ctx context.Context, s memory.Scope, r *memory.Retraction) (f memory.Forgetting, err error) {
	var goes going
	fates, err := t.retractEvents(ctx, s, r, &goes)
	if err != nil {
		return f, err
	}
	if err := t.retractRecords(ctx, s, r, fates, &goes); err != nil {
		return f, err
	}
	if len(goes.records) >= mostAtOnce {
		goes.events = nil // they still say which sessions end
	}
	return t.forget(ctx, s, &goes)
}

// fate says what a retraction does to a session. It is not known of a session whose events are gone.
type fate int8

const (
	unknown fate = iota
	ends
	shrinks
	stays
)

// with is the fate of a session that holds one event more.
func (f fate) with(e, gone conversation.Range) fate {
	next := shrinks
	switch {
	case gone.Covers(e):
		next = ends
	case !gone.Overlaps(e):
		next = stays
	}
	if f == unknown || f == next {
		return next
	}
	return shrinks
}

// retractEvents finds the events that go, and what becomes of their sessions.
func (t *Target) retractEvents(ctx context.Context, s memory.Scope, r *memory.Retraction, goes *going) (fates map[string]fate, err error) {
	fates = map[string]fate{}
	for session, err := range t.sessions(ctx, actorOf(s), ofIncarnation(r.Conversation, r.Incarnation)) {
		if err != nil {
			return nil, err
		}
		for e, err := range t.events(ctx, actorOf(s), session) {
			if err != nil {
				return nil, err
			}
			if e.messages.Overlaps(r.Range) {
				goes.events = append(goes.events, eventName{session, e.id})
			}
			fates[session] = fates[session].with(e.messages, r.Range)
		}
	}
	return fates, nil
}

// retractRecords finds the records that go, and says what cannot be found.
func (t *Target) retractRecords(ctx context.Context, s memory.Scope, r *memory.Retraction, fates map[string]fate, goes *going) error {
	path := t.layout.saidPath(s, r.Conversation, r.Incarnation)
	switch {
	case r.KeepFacts:
	case t.layout.sessions:
		path = t.layout.path(s)
	default:
		goes.residue = append(goes.residue, residueOfConversations)
	}
	all := r.Range.First == 0 && r.Range.End >= wholeConversation
	for rec, err := range t.records(ctx, s, path) {
		switch {
		case err != nil:
			return err
		case rec.Kind == memory.Said && rec.from(r):
			goes.records = append(goes.records, rec.ID)
		case rec.Kind != memory.Fact || r.KeepFacts || !rec.inSession(r):
		case all || fates[rec.session] == ends:
			goes.records = append(goes.records, rec.ID)
		case fates[rec.session] != stays && !slices.Contains(goes.residue, residueOfSessions):
			goes.residue = append(goes.residue, residueOfSessions)
		}
		if len(goes.records) >= mostAtOnce {
			break
		}
	}
	return nil
}
