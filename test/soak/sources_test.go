package soak

import (
	"context"
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// content is one that an agent has stored.
type content struct {
	handle string
	sum    [sha256.Size]byte
	word   string // that it ends with
	run    string
}

// research stores a content, looks for something, reads something again, or ends the run.
func (a *agent) research(ctx context.Context) error {
	if a.habits == plain || len(a.record) == 0 {
		return nil
	}
	switch n := a.random.IntN(10); {
	case n < 3 || len(a.contents) == 0:
		return a.keep(ctx)
	case n < 6:
		return a.look(ctx)
	case n < 9:
		return a.reread(ctx)
	default:
		return a.endRun(ctx)
	}
}

func (a *agent) run() string { return fmt.Sprint("run-", a.runs) }

// keep stores a content: sometimes one of several chunks, sometimes bytes that the conversation has.
func (a *agent) keep(ctx context.Context) error {
	most := 20_000
	if a.random.IntN(10) == 0 {
		most = 700_000
	}
	word := fmt.Sprintf("w%x", a.random.Uint64())
	bytes := []byte(a.text(most) + word)
	for range 1 + a.random.IntN(2) {
		header := &pb.StoreContentHeader{ConversationId: a.conversation, RunId: a.run()}
		got, err := a.Store(ctx, header, bytes, len(bytes))
		if err != nil {
			return err
		}
		a.contents = append(a.contents, content{got.GetCitation().GetContentId(), sha256.Sum256(bytes), word, a.run()})
	}
	a.done.contents.Add(1)
	return nil
}

func (a *agent) any() content { return a.contents[a.random.IntN(len(a.contents))] }

// look searches all contents, and all messages, for a word.
func (a *agent) look(ctx context.Context) error {
	one := a.any()
	found, err := a.Contents.SearchContent(ctx, &pb.SearchContentRequest{
		ConversationId: a.conversation, Excerpts: &pb.ExcerptQuery{SearchTerms: []string{one.word}},
	})
	if err != nil {
		return err
	}
	if n := len(found.GetExcerpts()); n == 0 && one.run == a.run() {
		return fmt.Errorf("%s: nothing is found of %s, which goes on", a.conversation, one.handle)
	}
	_, err = a.Conversations.SearchMessages(ctx, &pb.SearchMessagesRequest{ConversationId: a.conversation, Query: one.word})
	a.done.searches.Add(1)
	return err
}

// reread streams a content, which must come whole, or be gone with its run.
func (a *agent) reread(ctx context.Context) error {
	one := a.any()
	got, err := a.Stream(ctx, &pb.StreamContentRequest{ConversationId: a.conversation, ContentId: one.handle})
	switch {
	case process.Reason(err) == "CONTENT_EXPIRED" && one.run != a.run():
		a.done.gone.Add(1)
		return nil
	case err != nil:
		return err
	case one.run != a.run() || sha256.Sum256(got) != one.sum:
		return fmt.Errorf("%s: %s of %s is not what was stored, or outlived its run", a.conversation, one.handle, one.run)
	}
	return nil
}

// endRun ends the run at once, and begins the next.
func (a *agent) endRun(ctx context.Context) error {
	_, err := a.Contents.EndRun(ctx, &pb.EndRunRequest{ConversationId: a.conversation, RunId: a.run(), Grace: durationpb.New(0)})
	a.runs++
	return err
}
