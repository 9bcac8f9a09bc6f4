package isolation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
)

// duration is how long tests under load last: PALIMPSEST_SOAK says so where there is time.
func duration(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("PALIMPSEST_SOAK")
	if text == "" {
		return time.Second
	}
	d, err := time.ParseDuration(text)
	must(t, err)
	return min(d, time.Minute)
}

// TestSoakIsolation_TwoTokensUnderLoad_NeverSeeEachOther has 64 clients of two namespaces do the same things. Every id and every text says
// whose it is, and half of the work is in conversations that have the same name in both.
func TestSoakIsolation_TwoTokensUnderLoad_NeverSeeEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openBolt(t))
	ctx, cancel := context.WithTimeout(t.Context(), duration(t))
	defer cancel()
	var clients sync.WaitGroup
	var calls atomic.Int64
	for n := range 64 {
		mine, theirs, token := "of-team-a", "of-team-b", operator
		if n%2 == 1 {
			mine, theirs, token = theirs, mine, stranger
		}
		clients.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				name := []string{mine, "of-both"}[round%2]
				seen, err := w.live(as(ctx, token), fmt.Sprintf("%s-%d", name, (n/2+round)%8), mine, round)
				if err != nil && !isOfLoad(err) {
					t.Errorf("%s: %v", mine, err)
					return
				}
				if strings.Contains(seen, theirs) {
					t.Errorf("a client of %s sees what is %s", mine, theirs)
					return
				}
				calls.Add(1)
			}
		})
	}
	clients.Wait()
	t.Logf("%d rounds of 64 clients", calls.Load())
}

// isOfLoad says whether an error comes of many clients at once, or of the end of the test.
func isOfLoad(err error) bool {
	switch status.Code(err) {
	case codes.Aborted, codes.ResourceExhausted, codes.DeadlineExceeded, codes.Canceled:
		return true
	default:
		return false
	}
}

// live is a step of an agent's: everything that it is shown comes back as text.
func (w *world) live(ctx context.Context, id, mine string, round int) (seen string, err error) {
	contexts, record, contents := pb.NewContextServiceClient(w.conn), pb.NewConversationServiceClient(w.conn), pb.NewContentServiceClient(w.conn)
	var out strings.Builder
	keep := func(reply fmt.Stringer, err error) error {
		if err == nil {
			out.WriteString(reply.String())
		}
		return err
	}
	appended, err := contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: id, RequestId: fmt.Sprint("r", round), Message: &pb.Message{
		Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: fmt.Sprintf("a needle %s in round %d", mine, round)}}},
	}})
	if err := keep(appended, err); status.Code(err) != codes.AlreadyExists && err != nil {
		return "", err
	}
	stored, err := storeText(ctx, contents, id, strings.Repeat("a needle "+mine+"\n", 100))
	if err := keep(stored, err); err != nil {
		return "", err
	}
	for _, call := range []func() error{
		func() error {
			r, err := contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: id, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT})
			return keep(r, err)
		},
		func() error {
			r, err := record.SearchMessages(ctx, &pb.SearchMessagesRequest{ConversationId: id, Query: "needle"})
			return keep(r, err)
		},
		func() error {
			r, err := contents.SearchContent(ctx, &pb.SearchContentRequest{ConversationId: id, Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"needle"}}})
			return keep(r, err)
		},
		func() error {
			r, err := record.ListConversations(ctx, &pb.ListConversationsRequest{})
			return keep(r, err)
		},
		func() error {
			watching, leave := context.WithCancel(ctx)
			defer leave()
			stream, err := record.WatchEvents(watching, &pb.WatchEventsRequest{ConversationId: id})
			if err != nil {
				return err
			}
			r, err := stream.Recv()
			return keep(r, err)
		},
	} {
		if err := call(); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

func storeText(ctx context.Context, contents pb.ContentServiceClient, id, text string) (*pb.StoreContentResponse, error) {
	upload, err := contents.StoreContent(ctx)
	if err != nil {
		return nil, err
	}
	for _, piece := range []*pb.StoreContentRequest{
		{Piece: &pb.StoreContentRequest_Header{Header: &pb.StoreContentHeader{ConversationId: id}}}, {Piece: &pb.StoreContentRequest_Chunk{Chunk: []byte(text)}},
	} {
		if err := upload.Send(piece); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return upload.CloseAndRecv()
}

// admit replaces the file of credentials with one that lets in another token too.
func (w *world) admit(t testing.TB, token string) {
	t.Helper()
	w.admitActors(t, token, "[]")
}

func (w *world) admitActors(t testing.TB, token, actors string) {
	t.Helper()
	text := credentials() + "  - {name: turn, namespace: team-a, actors: " + actors + ", sha256: " + access.HashOf(token).String() + "}\n"
	must(t, os.WriteFile(w.file+".new", []byte(text), 0o600))
	must(t, os.Rename(w.file+".new", w.file))
}

// TestSoakIsolation_CredentialsReplacedUnderLoad_NobodyIsRefusedOrLetInWrongly: who is in every state of the file is never refused, who is in
// none is never let in, and who comes and goes is let in and refused in time.
func TestSoakIsolation_CredentialsReplacedUnderLoad_NobodyIsRefusedOrLetInWrongly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openMemory(t))
	record := pb.NewConversationServiceClient(w.conn)
	ask := func(ctx context.Context, token string) error {
		_, err := record.ListConversations(as(ctx, token), &pb.ListConversationsRequest{})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var calls atomic.Int64
	for range 8 {
		clients.Go(func() {
			for ctx.Err() == nil {
				if err := ask(ctx, operator); err != nil && ctx.Err() == nil {
					t.Errorf("who has a credential is refused: %v", err)
				}
				if err := ask(ctx, wrong); status.Code(err) != codes.Unauthenticated && ctx.Err() == nil {
					t.Errorf("who has none is let in: %v", err)
				}
				calls.Add(2)
			}
		})
	}
	rounds := 3
	if os.Getenv("PALIMPSEST_SOAK") != "" {
		rounds = 100
	}
	for n := range rounds {
		comes, goes := "pal_even", "pal_odd"
		if n%2 == 1 {
			comes, goes = goes, comes
		}
		w.admit(t, comes)
		eventually(t, func() bool { return ask(ctx, comes) == nil })
		if err := ask(ctx, goes); status.Code(err) != codes.Unauthenticated {
			t.Errorf("a token that was taken out is let in beside its successor: %v", err)
		}
	}
	cancel()
	clients.Wait()
	t.Logf("%d files, %d calls beside them", rounds, calls.Load())
}

func eventually(t testing.TB, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
	}
}

// TestIsolation_CredentialTakenBack_EndsItsStreams: a stream may outlive its credential by days, if nobody looks.
func TestIsolation_CredentialTakenBack_EndsItsStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openMemory(t))
	w.admit(t, "pal_lost")
	record := pb.NewConversationServiceClient(w.conn)
	eventually(t, func() bool {
		_, err := record.ListConversations(as(t.Context(), "pal_lost"), &pb.ListConversationsRequest{})
		return err == nil
	})
	w.converse(t, operator, "c", false)
	watch := func(token string) (pb.ConversationService_WatchEventsClient, error) {
		ctx, cancel := context.WithTimeout(as(t.Context(), token), 20*time.Second)
		t.Cleanup(cancel)
		return record.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
	}
	lost, err := watch("pal_lost")
	must(t, err)
	kept, err := watch(agent)
	must(t, err)
	for range 3 {
		_, err = lost.Recv()
		must(t, err)
		_, err = kept.Recv()
		must(t, err)
	}
	w.admit(t, "pal_other")
	for err == nil {
		_, err = lost.Recv()
	}
	if status.Code(err) != codes.Unauthenticated {
		t.Fatalf("the stream of a lost token ends with %v", err)
	}
	_, err = pb.NewContextServiceClient(w.conn).AppendMessage(as(t.Context(), agent), parse(t, `{"conversationId":"c","message":{"role":"ROLE_USER","parts":[{"text":"last"}]}}`, &pb.AppendMessageRequest{}))
	must(t, err)
	for n := 0; n < 50; n++ {
		event, err := kept.Recv()
		must(t, err)
		if event.GetEvent().GetMessageIndex() == 4 {
			return
		}
	}
	t.Fatal("who kept their credential does not hear of the last message")
}
