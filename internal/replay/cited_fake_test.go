package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// citer cites results over 1,000 characters by their first 40, and gives them
// back in pages. Its fields break one promise each.
type citer struct {
	contents map[string]map[int32]citedByFake // by conversation and message

	never    bool
	all      bool // also what is short
	citation func(*pb.Citation)
	silent   bool // no decision speaks of citations
	page     func(*pb.RetrieveContentResponse)
	refuse   error
}

type citedByFake struct {
	citation *pb.Citation
	words    string
}

func (f *citer) cite(id string, index int32, m *pb.Message) []*pb.Citation {
	words := m.GetParts()[0].GetToolResult().GetText()
	if f.never || words == "" || len(words) <= 1000 && !f.all {
		return nil
	}
	c := &pb.Citation{
		ContentId: fmt.Sprintf("c%d-fake", index), TotalBytes: int64(len(words)), TotalChars: int64(utf8.RuneCountInString(words)),
		Text: fmt.Sprintf("[c%d-fake] %.40s", index, words),
	}
	if f.citation != nil {
		f.citation(c)
	}
	if f.contents == nil {
		f.contents = map[string]map[int32]citedByFake{}
	}
	if f.contents[id] == nil {
		f.contents[id] = map[int32]citedByFake{}
	}
	f.contents[id][index] = citedByFake{c, words}
	return []*pb.Citation{c}
}

// entered is a record with its citations in place, and the decisions about them.
func (f *citer) entered(id string, record []*pb.Message) (out []*pb.Message, said []*pb.Decision) {
	for i, m := range record {
		if c, ok := f.contents[id][int32(i)]; ok {
			m = proto.CloneOf(m)
			m.Parts[0].GetToolResult().Output = &pb.ToolResult_Text{Text: c.citation.GetText()}
			if !f.silent {
				said = append(said, &pb.Decision{Kind: pb.DecisionKind_DECISION_KIND_CITED, StartIndex: int32(i), EndIndex: int32(i) + 1})
			}
		}
		out = append(out, m)
	}
	return out, said
}

func (f *fake) RetrieveContent(_ context.Context, r *pb.RetrieveContentRequest) (*pb.RetrieveContentResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.citer.refuse != nil {
		return nil, f.citer.refuse
	}
	for index, c := range f.citer.contents[r.GetConversationId()] {
		if c.citation.GetContentId() != r.GetContentId() {
			continue
		}
		sum := sha256.Sum256([]byte(c.words))
		out := &pb.RetrieveContentResponse{Source: &pb.SourceRecord{Sha256: hex.EncodeToString(sum[:]), CitedBy: []int32{index}}}
		if r.GetExcerpts() != nil {
			out.Excerpts = []*pb.Excerpt{{Text: c.words[:min(500, len(c.words))]}}
			return out, nil
		}
		half := len(c.words) / 2
		out.Chunk, out.NextPageToken = []byte(c.words[:half]), "rest"
		if r.GetPageToken() != "" {
			out.Chunk, out.NextPageToken = []byte(c.words[half:]), ""
		}
		if f.citer.page != nil {
			f.citer.page(out)
		}
		return out, nil
	}
	return nil, refusal("CONTENT_NOT_FOUND")
}
