package conversationservice

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// fullPolicy sets every field of a policy.
func fullPolicy() *pb.Policy {
	n := new(int32(11))
	return &pb.Policy{
		Fit: &pb.FitPolicy{MaxContextTokens: n, ContextWindowTokens: n, ReservedOutputTokens: n, TargetPercent: n, MaxResultPercent: n, KeepOpening: new(false)},
		Ttl: durationpb.New(1e12), TtlWithoutTombstone: new(true), MaxWait: durationpb.New(1e9),
		Expiration: &pb.ExpirationPolicy{Enabled: new(false), Results: &pb.Expiration{Turns: n}},
		Retention:  &pb.RetentionPolicy{AllInputs: new(true)},
		Rewrite:    &pb.RewritePolicy{Mode: 1, MinGainTokens: n, MaxDeferralTurns: n, ColdAfter: durationpb.New(1e9), ExpectTurns: n, ColdCutPercent: n},
		Pruning: &pb.PruningPolicy{
			Enabled: new(true), ProtectTokens: n, MinimumTokens: n, MaxPartTokens: n, ProtectedTools: &pb.NameList{},
			ProtectedToolPrefixes: &pb.NameList{Names: []string{"a"}}, EraseAfter: durationpb.New(0),
		},
		Compaction: &pb.CompactionPolicy{
			Strategy: 2, ThresholdMessages: n, PreparePercent: n, KeepRecent: n, TailPercent: n, TargetPercent: n, MinShrinkPercent: n,
			FanOut: n, SummaryTokens: n, PromptId: new(""), CountReasoning: new(true), ListTokens: n, LivePrefix: new(true), SummaryInputTokens: new(int32(1000)),
		},
		Citations:     &pb.CitationsPolicy{Enabled: new(true), ThresholdChars: new(int32(211)), ReleaseOnEndRun: new(false), RecallTools: &pb.NameList{}},
		Deduplication: &pb.DeduplicationPolicy{Enabled: new(false), ExcludedTools: &pb.NameList{}, MinLines: n},
		Memory: &pb.MemoryPolicy{
			Enabled: new(true), Sync: 1, BatchMessages: n, BatchTokens: n, BatchMaxAge: durationpb.New(1e9), SyncDelay: durationpb.New(0),
			SessionIdle: durationpb.New(1e11), SyncRoles: &pb.RoleList{Roles: []pb.Role{pb.Role_ROLE_ASSISTANT}}, Extract: 1, SyncScope: 2,
			Infer: new(false), OnDelete: 2, Recall: &pb.MemoryRecallPolicy{
				Enabled: new(false), Scopes: &pb.MemoryScopeList{}, MaxMemories: n, MaxEachTokens: n, MaxTokens: new(int32(60)),
				Deadline: durationpb.New(1e9), Floor: new(0.5), MaxViewPercent: n,
			},
		},
	}
}

// masked is a policy with what a path names alone.
func masked(full protoreflect.Message, path string) protoreflect.Message {
	if path == "" {
		return full
	}
	name, rest, _ := strings.Cut(path, ".")
	out := full.New()
	field := full.Descriptor().Fields().ByName(protoreflect.Name(name))
	if rest == "" {
		out.Set(field, full.Get(field))
	} else {
		out.Set(field, protoreflect.ValueOfMessage(masked(full.Get(field).Message(), rest)))
	}
	return out
}

// policyPaths are the paths of all fields of a policy and of the messages in it, down to those of its recall.
func policyPaths() []string {
	out := []string{""}
	fields := (&pb.Policy{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		out = append(out, string(f.Name()))
		if f.Message() == nil || f.Message().ParentFile().Package() != "palimpsest.v1" {
			continue
		}
		for j := range f.Message().Fields().Len() {
			out = append(out, string(f.Name())+"."+string(f.Message().Fields().Get(j).Name()))
		}
	}
	recall := (&pb.MemoryRecallPolicy{}).ProtoReflect().Descriptor().Fields()
	for i := range recall.Len() {
		out = append(out, "memory.recall."+string(recall.Get(i).Name()))
	}
	return out
}

func TestSettables_EveryPathOfAPolicy_SetsAndClearsThatAlone(t *testing.T) {
	full := fullPolicy()
	setters := settables()
	for _, path := range policyPaths() {
		set := setters[strings.TrimSuffix("policy."+path, ".")]
		if set == nil {
			t.Errorf("policy.%s cannot be changed", path)
			continue
		}
		to, from := engine.Info{}, engine.Info{Policy: convert.FromPolicy(full)}
		set(&to, &from)
		if diff := cmp.Diff(masked(full.ProtoReflect(), path).Interface(), proto.Message(convert.ToPolicy(to.Policy)), protocmp.Transform()); diff != "" {
			t.Errorf("policy.%s: %s", path, diff)
		}
		set(&to, &engine.Info{})
		if convert.ToPolicy(to.Policy) != nil {
			t.Errorf("policy.%s is not cleared", path)
		}
	}
}

func TestMaskRules_EveryPath_Passes(t *testing.T) {
	c := &rules.Checker{}
	maskRules().Check(c, &fieldmaskpb.FieldMask{Paths: slices.Collect(maps.Keys(settables()))})
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}
