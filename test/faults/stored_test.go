package faults

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	// citedOver is the least threshold that a policy may have, in characters.
	citedOver = 200
	// manyChunks is the length of contents that are stored as several chunks, in bytes.
	manyChunks = 270_000
	// sip is how much of a content is sent at a time: little, so that a kill meets most of them half sent.
	sip = 16 << 10
)

// long is what a seed leaves when divided by 64 whose content takes a while to send.
const long = 59

// cites is a policy that cites whatever can be cited.
func cites(release bool) *pb.CitationsPolicy {
	return &pb.CitationsPolicy{Enabled: new(true), ThresholdChars: new(int32(citedOver)), ReleaseOnEndRun: &release}
}

// brief says whether the contents of a run go as soon as it is ended. Those of other runs go an hour later.
func brief(run string) bool { return strings.HasPrefix(run, "brief") }

// runOf chooses one of the runs that a generation has by a round.
func runOf(r *rand.Rand, round int) string {
	n := r.IntN(4 + 2*(round%roundsOfGeneration))
	if n%4 == 3 {
		return fmt.Sprint("long-", n)
	}
	return fmt.Sprint("brief-", n)
}

// twin is one of two texts that are stored, and said by tools, over and over.
func twin(seed uint64) string {
	return legible(rand.New(rand.NewPCG(seed%2, 5)), 100_000+200_000*int(seed%2))
}

// legible is what is written without what makes a caller's content no text.
func legible(r *rand.Rand, length int) string {
	return strings.ReplaceAll(written(r, length), "\x00", "")
}

// content is what the op stores.
func (o *op) content() []byte {
	r := rand.New(rand.NewPCG(o.seed, 4))
	switch o.seed % 8 {
	case 0, 1:
		return []byte(twin(r.Uint64()))
	case 2:
		return []byte(legible(r, manyChunks+r.IntN(300_000)))
	case 3:
		if o.seed%64 == long {
			return bytesOf(r, 2<<20)
		}
		return bytesOf(r, manyChunks+r.IntN(100_000))
	case 4:
		return []byte(written(r, r.IntN(3000)))
	default:
		return []byte(legible(r, r.IntN(3000)))
	}
}

// searched is a call of a tool and what it said, long enough to be cited.
func searched(r *rand.Rand, request, run string) []*pb.Message {
	out := exchange(r, request, 1000+r.IntN(3000))
	said := out[1].GetParts()[0].GetToolResult()
	switch r.IntN(4) {
	case 0:
		said.Output = &pb.ToolResult_Text{Text: written(r, 33_000+r.IntN(70_000))}
	case 1:
		said.Output = &pb.ToolResult_Text{Text: twin(r.Uint64())}
	}
	for _, m := range out {
		m.RunId = run
	}
	return out
}

// origin is what the caller says of a content, by which it is known again.
type origin struct {
	Request string `json:"request"`
}

// header says what the op stores.
func (o *op) header() (*pb.StoreContentHeader, error) {
	of, err := json.Marshal(origin{o.request})
	return &pb.StoreContentHeader{ConversationId: o.conversation, RunId: o.run, RequestId: o.request, MetadataJson: string(of)}, err
}

// store streams a content in, piece by piece.
func (o *op) store(ctx context.Context, c *process.Client) (outcome, error) {
	header, err := o.header()
	if err != nil {
		return outcome{}, err
	}
	reply, err := c.Store(ctx, header, o.content(), sip)
	return outcome{handles: reply.GetCitation().GetContentId(), revision: reply.GetRevision(), duplicate: reply.GetDuplicate()}, err
}

// end ends a run.
func (o *op) end(ctx context.Context, c *process.Client) (outcome, error) {
	request := &pb.EndRunRequest{ConversationId: o.conversation, RunId: o.run, RequestId: o.request}
	if brief(o.run) {
		request.Grace = durationpb.New(0)
	}
	reply, err := c.Contents.EndRun(ctx, request)
	return outcome{first: reply.GetScheduledContents(), revision: reply.GetRevision(), duplicate: reply.GetDuplicate()}, err
}

// sources are all source records of a conversation.
func sources(ctx context.Context, c *process.Client, conversation string) (out []*pb.SourceRecord, err error) {
	request := &pb.ListSourcesRequest{ConversationId: conversation, PageSize: 1000}
	for {
		page, err := c.Contents.ListSources(ctx, request)
		if err != nil {
			return nil, err
		}
		out = append(out, page.GetSources()...)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return out, nil
		}
	}
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
