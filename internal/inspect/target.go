package inspect

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Target names a message by its index or its id, or a summary by its id. An id that looks like one of the others is written id:ID.
type Target struct {
	index   *int32
	summary string
	id      string
}

// UnmarshalText reads a target as it is written on the command line.
func (t *Target) UnmarshalText(raw []byte) error {
	text := string(raw)
	number, summary := strings.CutPrefix(text, "s")
	n, err := strconv.ParseUint(number, 10, 63)
	switch {
	case err != nil:
		t.id = strings.TrimPrefix(text, "id:")
	case summary:
		t.summary = text
	case n > math.MaxInt32:
		return fmt.Errorf("%s is no index; if it is an id, write id:%s", text, text)
	default:
		index := int32(n)
		t.index = &index
	}
	if *t == (Target{}) {
		return errors.New("it must not be empty")
	}
	return nil
}

// into sets the target of a request.
func (t *Target) into(r *pb.ExpandMessageRequest) {
	switch {
	case t.index != nil:
		r.Target = &pb.ExpandMessageRequest_MessageIndex{MessageIndex: *t.index}
	case t.summary != "":
		r.Target = &pb.ExpandMessageRequest_SummaryId{SummaryId: t.summary}
	default:
		r.Target = &pb.ExpandMessageRequest_MessageId{MessageId: t.id}
	}
}

// Stretch is A:B on the command line: counted from 0, without B. A is the beginning if it is left out, B the end.
type Stretch struct{ pb *pb.Span }

// furthest is the largest position that the API takes.
const furthest = 1 << 42

// UnmarshalText reads a stretch as it is written on the command line.
func (s *Stretch) UnmarshalText(raw []byte) error {
	from, to, ok := strings.Cut(string(raw), ":")
	start, err := position(from)
	s.pb = &pb.Span{StartIndex: start}
	if to != "" && err == nil {
		var end int64
		end, err = position(to)
		s.pb.EndIndex = &end
		ok = ok && start < end
	}
	if !ok || err != nil {
		return errors.New("it must be A:B, A: or :B, counted from 0, with A less than B")
	}
	return nil
}

// position reads an end of a stretch; 0 if it is left out.
func position(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (n < 0 || n > furthest) {
		err = strconv.ErrRange
	}
	return n, err
}
