package grpcserver

import (
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestServer_ImportConversation_DamagedFacts_AreRefused(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	worked(t, s, "c", 20)
	if _, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "c"}); err != nil {
		t.Fatal(err)
	}
	good := string(export(t, s, "c"))
	for name, facts := range map[string]string{"negative": `{\"body\":-`, "text": `{\"body\":\"x\",\"b\":`, "list": `[`} {
		changed := strings.Replace(good, `"factsJson":"{\"body\":`, `"factsJson":"`+facts, 1)
		if changed == good {
			t.Fatal("the case changes nothing")
		}
		_, err := importAs(ctx, s, name, []byte(changed), 1<<20)
		if ReasonOf(err) != "INVALID_FIELD" {
			t.Errorf("%s: %v", name, err)
			_, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{
				ConversationId: name, Options: &pb.CompactionOptions{KeepRecent: new(int32(0)), TargetTokens: new(int32(1))},
			})
			t.Logf("%s: compacting it then answers %v", name, err)
		}
	}
}
