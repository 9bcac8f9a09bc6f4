package policyservice

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestFromActionPolicy_AnyKey_ComesBack(t *testing.T) {
	for _, want := range []*pb.ActionPolicy{
		{Key: &pb.ActionPolicy_AgentActionId{AgentActionId: "a"}, Expiration: &pb.Expiration{Turns: new(int32(2)), Mode: 2}},
		{Key: &pb.ActionPolicy_ActionId{ActionId: "b"}, DefaultCompactPromptId: "p"},
		{Key: &pb.ActionPolicy_ToolName{ToolName: "c"}},
		{Key: &pb.ActionPolicy_ToolName{ToolName: "e"}, Importance: pb.Importance_IMPORTANCE_HIGH},
		{Key: &pb.ActionPolicy_ToolName{ToolName: "d"}, Citations: &pb.ActionCitations{Enabled: new(false), ThresholdChars: new(int32(300))}},
	} {
		if diff := cmp.Diff(want, toActionPolicy(fromActionPolicy(want)), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFromPrompt_FullPrompt_ComesBack(t *testing.T) {
	want := &pb.Prompt{Id: "p", Template: "{{content}}", Models: []string{"a/b", "c/d"}, MaxOutputTokens: 5}
	prompt := fromPrompt(want)
	prompt.Version = 7
	got := toPrompt(prompt)
	if got.GetVersion() != 7 {
		t.Errorf("version %d", got.GetVersion())
	}
	got.Version = 0
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}
