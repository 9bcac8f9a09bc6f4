package conversationservice

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// pathReserved is the path of a field that an update can bring into conflict with another.
const pathReserved = "policy.fit.reserved_output_tokens"

// setter takes one field of a conversation over from another.
type setter func(to, from *engine.Info)

// settables are the paths that an update mask may name: of a policy, every field, and those of the policies in it.
func settables() map[string]setter {
	out := map[string]setter{
		"actor_id":      func(to, from *engine.Info) { to.ActorID = from.ActorID },
		"agent_id":      func(to, from *engine.Info) { to.AgentID = from.AgentID },
		"title":         func(to, from *engine.Info) { to.Title = from.Title },
		"metadata_json": func(to, from *engine.Info) { to.Metadata = from.Metadata },
		"policy":        func(to, from *engine.Info) { to.Policy = from.Policy },
	}
	addSettables(out, "policy", (&pb.Policy{}).ProtoReflect().Descriptor(), reflect.TypeFor[conversation.Policy](), nil)
	return out
}

// addSettables adds the fields of a policy of the API, which is a struct of the domain at some index of conversation.Policy.
func addSettables(out map[string]setter, path string, api protoreflect.MessageDescriptor, domain reflect.Type, at []int) {
	for i := range api.Fields().Len() {
		f := api.Fields().Get(i)
		field, path := convert.SettingNamed(domain, string(f.Name())), path+"."+string(f.Name())
		index := append(slices.Clone(at), field.Index...)
		out[path] = func(to, from *engine.Info) {
			reflect.ValueOf(&to.Policy).Elem().FieldByIndex(index).Set(reflect.ValueOf(&from.Policy).Elem().FieldByIndex(index))
		}
		if m := f.Message(); m != nil && strings.HasSuffix(string(m.Name()), "Policy") {
			addSettables(out, path, m, field.Type, index)
		}
	}
}

func maskRules() rules.Table[*fieldmaskpb.FieldMask] {
	known := slices.Collect(maps.Keys(settables()))
	return rules.Table[*fieldmaskpb.FieldMask]{
		rules.Scalars("paths", rules.NumberRange(1, int64(len(known))), nil, (*fieldmaskpb.FieldMask).GetPaths, func(c *rules.Checker, path string) {
			if !slices.Contains(known, path) {
				c.Fail("is not a path that can be changed")
			}
		}),
	}
}
