package admission

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
)

func namesOf(path []protoreflect.FieldDescriptor) string {
	out := make([]string, len(path))
	for i, field := range path {
		out[i] = string(field.Name())
	}
	return strings.Join(out, ".")
}

// TestElementCounter_EveryListOfEveryRequest_IsCounted finds the lists in the descriptors, so that it knows those of later requests too.
func TestElementCounter_EveryListOfEveryRequest_IsCounted(t *testing.T) {
	lists := 0
	for _, service := range []protoreflect.ServiceDescriptor{
		pb.File_palimpsest_v1_context_service_proto.Services().Get(0),
		pb.File_palimpsest_v1_conversation_service_proto.Services().Get(0),
		pb.File_palimpsest_v1_policy_service_proto.Services().Get(0),
		pb.File_palimpsest_v1_content_service_proto.Services().Get(0),
	} {
		for i := range service.Methods().Len() {
			request := service.Methods().Get(i).Input()
			for _, path := range proptest.Lists(request) {
				lists++
				raw := proptest.FillList(path, 4*maxElements)
				c := elementCounter{limit: maxElements}
				if c.walk(raw, request) || c.field != namesOf(path) {
					t.Errorf("%s: %s: %d elements are let through, at %q", request.Name(), namesOf(path), c.count, c.field)
				}
				c = elementCounter{limit: maxElements}
				if !c.walk(proptest.FillList(path, 1000), request) || c.count < 250 {
					t.Errorf("%s: %s: few elements are counted as %d", request.Name(), namesOf(path), c.count)
				}
			}
		}
	}
	if lists < 30 {
		t.Errorf("only %d lists: the requests are not walked", lists)
	}
}

func TestElementCounter_Message_CountsFieldsAndEntries(t *testing.T) {
	descriptor := (&pb.AppendMessageRequest{}).ProtoReflect().Descriptor()
	raw, err := proto.Marshal(&pb.AppendMessageRequest{
		ConversationId: "c", // 1
		Message: &pb.Message{ // 1
			Role:  pb.Role_ROLE_USER,                                                                    // 1
			Parts: []*pb.Part{{Content: &pb.Part_Text{Text: "x"}}, {Content: &pb.Part_Text{Text: "y"}}}, // 2, and a text each
			Tags:  []string{"a", "b", "c"},                                                              // 3
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := elementCounter{limit: maxElements}
	if !c.walk(raw, descriptor) || c.count != 10 {
		t.Errorf("%d elements, want 10", c.count)
	}
	for limit, fits := range map[int]bool{9: false, 10: true} {
		if c := (elementCounter{limit: limit}); c.walk(raw, descriptor) != fits {
			t.Errorf("with a limit of %d: %v", limit, !fits)
		}
	}
	for n := range raw {
		c := elementCounter{limit: maxElements}
		c.walk(raw[:n], descriptor) // what is cut anywhere is not ours to refuse
	}
}

// FuzzElementCounter_AnyBytes_CountWhatUnmarshals holds the count against what comes of the bytes.
func FuzzElementCounter_AnyBytes_CountWhatUnmarshals(f *testing.F) {
	f.Add([]byte{0x12, 0x02, 0x12, 0x00})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var request pb.BatchAppendMessagesRequest
		if proto.Unmarshal(raw, &request) != nil {
			return
		}
		c := elementCounter{limit: len(raw) + 1}
		if !c.walk(raw, request.ProtoReflect().Descriptor()) {
			t.Fatalf("%d elements in %d bytes", c.count, len(raw))
		}
		parts := len(request.GetItems())
		for _, item := range request.GetItems() {
			parts += len(item.GetMessage().GetParts()) + len(item.GetMessage().GetTags())
		}
		if c.count < parts {
			t.Errorf("%d counted, there are %d", c.count, parts)
		}
	})
}

// TestElementCounter_ProvidersJSON_CountsItsValues: two bytes of a provider's JSON can become hundreds. What stands in strings is text.
func TestElementCounter_ProvidersJSON_CountsItsValues(t *testing.T) {
	of := func(json string) *elementCounter {
		raw, err := proto.Marshal(&pb.BuildContextRequest{Append: &pb.BuildAppend{ProviderInput: &pb.ProviderInput{Json: json}}})
		if err != nil {
			t.Fatal(err)
		}
		c := &elementCounter{limit: maxElements}
		if !c.walk(raw, (&pb.BuildContextRequest{}).ProtoReflect().Descriptor()) && c.field != "append.provider_input.json" {
			t.Errorf("too many at %q", c.field)
		}
		return c
	}
	none := of("").count + 1
	for json, want := range map[string]int{
		`{}`: 1, `[{"a":1,"b":[2,3]}]`: 5, `"{[,,,"`: 0, `["\\",1,"\",{["]`: 3, `[`: 1, strings.Repeat("[", 500): 500,
	} {
		if got := of(json).count - none; got != want {
			t.Errorf("%s: %d values, want %d", json, got, want)
		}
	}
	for _, json := range []string{"[" + strings.Repeat("{},", maxElements) + "{}]", strings.Repeat("[", 2*maxElements)} {
		if c := of(json); c.count <= maxElements {
			t.Errorf("%d elements are let through", c.count)
		}
	}
	if c := of(`{"text":"` + strings.Repeat(",", 4*maxElements) + `"}`); c.count > 10 {
		t.Errorf("a text counts as %d elements", c.count)
	}
}
