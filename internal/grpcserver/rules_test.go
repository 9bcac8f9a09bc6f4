package grpcserver

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

func services() []protoreflect.ServiceDescriptor {
	return []protoreflect.ServiceDescriptor{
		pb.File_palimpsest_v1_context_service_proto.Services().Get(0),
		pb.File_palimpsest_v1_conversation_service_proto.Services().Get(0),
		pb.File_palimpsest_v1_policy_service_proto.Services().Get(0),
		pb.File_palimpsest_v1_content_service_proto.Services().Get(0),
		pb.File_palimpsest_v1_memory_service_proto.Services().Get(0),
	}
}

// TestRules_EveryFieldOfEveryRequest_HasARuleThatTheCommentTells holds the rules against the protos: no field without a rule,
// no rule without a field, and each limit in the same words on both sides.
func TestRules_EveryFieldOfEveryRequest_HasARuleThatTheCommentTells(t *testing.T) {
	comments := protoComments(t)
	book := allRules()
	for _, service := range services() {
		for i := range service.Methods().Len() {
			input := service.Methods().Get(i).Input()
			ofInput, ok := book[input.FullName()]
			if !ok {
				t.Errorf("%s has no rules", input.FullName())
				continue
			}
			told := ofInput.Facts()
			walk(t, string(input.Name()), input, told, comments)
			for _, fault := range compare(input, told, comments) {
				t.Error(fault)
			}
		}
	}
}

func walk(t *testing.T, path string, m protoreflect.MessageDescriptor, told []rules.Facts, comments map[string]string) {
	t.Helper()
	for _, r := range told {
		field := m.Fields().ByName(protoreflect.Name(r.Field))
		if field == nil || r.Nested == nil {
			continue
		}
		nested := field.Message()
		for _, fault := range compare(nested, r.Nested(), comments) {
			t.Errorf("%s.%s: %s", path, r.Field, fault)
		}
		walk(t, path+"."+r.Field, nested, r.Nested(), comments)
	}
}

// phrase finds in a comment what sounds like a limit. What follows "by default" or "Default" is none.
var (
	phrase = regexp.MustCompile(`(?:at most \d(?:[\d,]*\d)?(?: MiB| bytes| tool calls)?|[\d,.]+(?: bytes| minute)? to [\d,.]*\d(?: bytes| MiB| years)?)`)
	// What is not a limit of the field itself.
	aside = regexp.MustCompile(`\(at most 1,000 ahead\)|[Dd]efault [\d,.]+|At most 128 pinned messages a conversation|At most one report`)
)

// compare holds one message against its table.
func compare(m protoreflect.MessageDescriptor, told []rules.Facts, comments map[string]string) (faults []string) {
	byField := map[string]rules.Facts{}
	for _, r := range told {
		byField[r.Field] = r
		if m.Fields().ByName(protoreflect.Name(r.Field)) == nil && m.Oneofs().ByName(protoreflect.Name(r.Field)) == nil {
			faults = append(faults, string(m.FullName())+": a rule for a field that there is not: "+r.Field)
		}
	}
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		r, ok := byField[string(field.Name())]
		if !ok {
			faults = append(faults, string(field.FullName())+": no rule")
			continue
		}
		if comment, ours := comments[string(field.FullName())]; ours {
			for _, fault := range compareComment(r, comment) {
				faults = append(faults, string(field.FullName())+": "+fault)
			}
		}
		if field.Message() != nil && r.Nested == nil && !r.Ignored && field.Message().ParentFile().Package() != "google.protobuf" {
			faults = append(faults, string(field.FullName())+": its message has no rules")
		}
	}
	for i := range m.Oneofs().Len() {
		o := m.Oneofs().Get(i)
		if _, ok := byField[string(o.Name())]; !ok && !o.IsSynthetic() && strings.HasPrefix(comments[string(o.FullName())], "Required") {
			faults = append(faults, string(o.FullName())+": required, and no rule says so")
		}
	}
	return faults
}

func compareComment(r rules.Facts, comment string) (faults []string) {
	if r.Ignored != strings.HasPrefix(comment, "Output only.") {
		faults = append(faults, "the rule and the comment disagree whether it is output only")
	}
	for _, limit := range r.Limits {
		if !strings.Contains(comment, limit) {
			faults = append(faults, "the comment does not say the rule's limit: "+limit)
		}
	}
	told := strings.Join(r.Limits, "; ")
	for _, found := range phrase.FindAllString(aside.ReplaceAllString(comment, ""), -1) {
		if !r.Ignored && !strings.Contains(told, found) {
			faults = append(faults, "the comment tells a limit that no rule has: "+found)
		}
	}
	return faults
}

func TestCompare_WhatDiffers_IsFound(t *testing.T) {
	m := pb.File_palimpsest_v1_message_proto.Messages().ByName("ActionRef")
	good := map[string]string{
		"palimpsest.v1.ActionRef.action_id":       "Optional. The action's id; at most 256 bytes.",
		"palimpsest.v1.ActionRef.agent_action_id": "Optional. At most long; at most 256 bytes.",
	}
	told := rules.Table[*pb.ActionRef]{
		rules.Text("action_id", rules.AtMostBytes(256), (*pb.ActionRef).GetActionId),
		rules.Text("agent_action_id", rules.AtMostBytes(256), (*pb.ActionRef).GetAgentActionId),
	}.Facts()
	if faults := compare(m, told, good); len(faults) != 0 {
		t.Fatalf("good rules: %q", faults)
	}
	for name, c := range map[string]struct {
		told    []rules.Facts
		comment string
	}{
		"a field without a rule": {told[:1], good["palimpsest.v1.ActionRef.action_id"]},
		"another limit":          {told, "Optional. The action's id; at most 128 bytes."},
		"no limit in words":      {told, "Optional. The action's id."},
		"output only":            {told, "Output only. The action's id; at most 256 bytes."},
		"a rule for nothing":     {append(told, rules.Facts{Field: "nothing"}), good["palimpsest.v1.ActionRef.action_id"]},
	} {
		comments := map[string]string{
			"palimpsest.v1.ActionRef.action_id":       c.comment,
			"palimpsest.v1.ActionRef.agent_action_id": good["palimpsest.v1.ActionRef.agent_action_id"],
		}
		if len(compare(m, c.told, comments)) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}

// protoComments reads the comments of fields, oneofs and enum values from the protos, by full name. Generated code does not
// carry them.
func protoComments(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := os.ReadDir("../../proto/palimpsest/v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		readComments(t, "../../proto/palimpsest/v1/"+f.Name(), out)
	}
	return out
}

var (
	opens    = regexp.MustCompile(`^(message|enum|oneof|service) (\w+) \{(\})?$`)
	declares = regexp.MustCompile(`^(?:optional |repeated )?(?:[\w.]+ )?(\w+) = \d+;$`)
)

func readComments(t *testing.T, path string, out map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var comment []string
	scope := []string{"palimpsest.v1"}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if text, ok := strings.CutPrefix(line, "// "); ok {
			comment = append(comment, text)
			continue
		}
		switch found := opens.FindStringSubmatch(line); {
		case found != nil:
			out[scope[len(scope)-1]+"."+found[2]] = strings.Join(comment, " ")
			if found[3] == "" {
				scope = append(scope, inner(scope[len(scope)-1], found[1], found[2]))
			}
		case line == "}":
			scope = scope[:len(scope)-1]
		case declares.MatchString(line):
			out[scope[len(scope)-1]+"."+declares.FindStringSubmatch(line)[1]] = strings.Join(comment, " ")
		}
		comment = nil
	}
}

// inner is the scope of names inside a block: the fields of a oneof and the values of an enum are named as if they stood
// outside it.
func inner(scope, kind, name string) string {
	if kind == "oneof" || kind == "enum" {
		return scope
	}
	return scope + "." + name
}
