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
type Stretch struct{ pb *pb.Range }

// UnmarshalText reads a stretch as it is written on the command line.
func (s *Stretch) UnmarshalText(raw []byte) error {
	start, end, err := ends(string(raw), math.MaxInt32)
	s.pb = &pb.Range{Start: int32(start), End: int32(end)}
	return err
}

// Reach is a Stretch of a content, which may be larger than a message.
type Reach struct{ pb *pb.ContentSpan }

// mostBytes is the end of a reach that gives none.
const mostBytes = 1 << 42

// UnmarshalText reads a reach as it is written on the command line.
func (r *Reach) UnmarshalText(raw []byte) error {
	start, end, err := ends(string(raw), mostBytes)
	r.pb = &pb.ContentSpan{Start: start, End: end}
	return err
}

// ends reads A:B. Neither end lies beyond the most, which is B if that is left out.
func ends(text string, most int64) (start, end int64, err error) {
	from, to, ok := strings.Cut(text, ":")
	start, first := bound(from, 0, most)
	end, last := bound(to, most, most)
	if !ok || first != nil || last != nil || end <= start {
		return 0, 0, errors.New("it must be A:B, A: or :B, counted from 0, with A less than B")
	}
	return start, end, nil
}

func bound(text string, missing, most int64) (int64, error) {
	if text == "" {
		return missing, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (n < 0 || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}
