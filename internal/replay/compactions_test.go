package replay

import (
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// grow is a build: the history grew by so much, and the context weighs total.
type grow struct {
	by, total int
	start     int32 // of the window
	summaries int
}

func measured(builds []grow) report.Compactions {
	c := &conversation{session: &session{window: 1000, policy: &policy{}}, Tally: report.NewTally(nil), history: validate.NewHistory(func(string) int { return 0 })}
	for _, b := range builds {
		c.history.Tokens += b.by
		response := &pb.BuildContextResponse{Compaction: &pb.CompactionStatus{WindowStartIndex: b.start}}
		for range b.summaries {
			response.Events = append(response.Events, &pb.LifecycleEvent{Type: pb.EventType_EVENT_TYPE_SUMMARIZED})
		}
		c.compaction(response, b.total)
	}
	return c.Compactions
}

func TestConversation_Compaction_IsMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		builds []grow
		want   report.Compactions
	}{
		"never": {[]grow{{by: 400, total: 400}, {by: 500, total: 900}}, report.Compactions{}},
		"by a summary": {[]grow{{by: 900, total: 900}, {by: 200, total: 500, summaries: 1}},
			report.Compactions{Count: 1, Summaries: 1, Largest: 0.5}},
		"by the window": {[]grow{{by: 900, total: 900}, {by: 200, total: 560, start: 4}, {by: 10, total: 570, start: 4}},
			report.Compactions{Count: 1, Largest: 0.56, Over: 1}},
		"twice, in time": {[]grow{{by: 1100, total: 500, summaries: 1}, {by: 400, total: 900}, {by: 150, total: 450, summaries: 2}},
			report.Compactions{Count: 2, Summaries: 3, Largest: 0.5}},
		// A window that was filled by pruning's leave: it is the view that must grow.
		"twice, too early": {[]grow{{by: 1100, total: 500, summaries: 1}, {by: 300, total: 600}, {by: 100, total: 450, summaries: 1}},
			report.Compactions{Count: 2, Summaries: 2, Largest: 0.5, Early: 1}},
	} {
		if got := measured(c.builds); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
