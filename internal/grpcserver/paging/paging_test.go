package paging

import (
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestCut_RoomEnds_TheRestIsForTheNextPage(t *testing.T) {
	large := &pb.Prompt{Template: strings.Repeat("x", 1<<20)}
	for name, c := range map[string]struct {
		list []*pb.Prompt
		want int
	}{
		"none":            {nil, 0},
		"all have room":   {[]*pb.Prompt{large, large, large}, 3},
		"one has none":    {[]*pb.Prompt{large, large, large, large}, 3},
		"one is too much": {[]*pb.Prompt{{Template: strings.Repeat("x", DefaultReplyBytes)}, {}}, 1},
	} {
		if page, more := Cut(c.list); len(page) != c.want || more != (c.want < len(c.list)) {
			t.Errorf("%s: %d elements, more %v", name, len(page), more)
		}
	}
}

func TestNextNumber_Token_OpensForItsQuestionAlone(t *testing.T) {
	req := &pb.ListMessagesRequest{ConversationId: "c"}
	req.PageToken, req.PageSize = NextNumber(req, new(int32(7))), 3
	if n := OpenNumber[int32](req); n == nil || *n != 7 {
		t.Errorf("got %v", n)
	}
	req.ConversationId = "d"
	if cursor, ok := Open(req); ok {
		t.Errorf("another question opens it: %q", cursor)
	}
	if last := NextNumber[int32](req, nil); last != "" {
		t.Errorf("the last page goes on: %q", last)
	}
}
