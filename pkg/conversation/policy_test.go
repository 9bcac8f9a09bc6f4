package conversation_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// settings visits every nil-able setting of a policy.
func settings(v reflect.Value, visit func(path string, field reflect.Value)) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if f := v.Field(i); f.Kind() == reflect.Pointer {
			visit(name, f)
		} else {
			settings(f, func(path string, field reflect.Value) { visit(name+"."+path, field) })
		}
	}
}

// policyWith sets one setting, or all if path is empty, to a number.
func policyWith(path string, n int64) conversation.Policy {
	var p conversation.Policy
	settings(reflect.ValueOf(&p).Elem(), func(at string, f reflect.Value) {
		if path == "" || path == at {
			f.Set(reflect.New(f.Type().Elem()))
			f.Elem().SetInt(n)
		}
	})
	return p
}

func policyPaths() []string {
	var out []string
	settings(reflect.ValueOf(&conversation.Policy{}).Elem(), func(path string, _ reflect.Value) { out = append(out, path) })
	return out
}

// TestPolicy_Or_EveryFieldByItself: policy resolves per field (behaviour §4), and a zero is a value.
func TestPolicy_Or_EveryFieldByItself(t *testing.T) {
	for _, path := range policyPaths() {
		got := policyWith(path, 0).Or(policyWith("", 9))
		settings(reflect.ValueOf(&got).Elem(), func(at string, f reflect.Value) {
			want := int64(9)
			if at == path {
				want = 0
			}
			if f.IsNil() || f.Elem().Int() != want {
				t.Errorf("%s set: %s is %v, want %d", path, at, f, want)
			}
		})
		if got := (conversation.Policy{}).Or(policyWith(path, 3)); !reflect.DeepEqual(got, policyWith(path, 3)) {
			t.Errorf("%s is not taken from the next policy", path)
		}
	}
}

func TestPolicy_Hash_DiffersWhereThePolicyDiffers(t *testing.T) {
	seen := map[string]string{}
	note := func(what string, p conversation.Policy) {
		h := p.Hash()
		if len(h) != 16 || strings.Trim(h, "0123456789abcdef") != "" {
			t.Errorf("%s: hash %q", what, h)
		}
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have one hash", what, other)
		}
		seen[h] = what
	}
	note("nothing", conversation.Policy{})
	for _, path := range policyPaths() {
		for _, n := range []int64{0, 1, 50} {
			note(fmt.Sprint(path, " = ", n), policyWith(path, n))
		}
	}
	if one, other := policyWith("TTL", 5), policyWith("TTL", 5); one.Hash() != other.Hash() {
		t.Error("the hash of equal policies differs")
	}
	if got := (conversation.Policy{TTL: new(time.Duration)}).Hash(); got == (conversation.Policy{}).Hash() {
		t.Error("off is not unset")
	}
}

func TestBudget_Tokens_SmallerOfTheTwo(t *testing.T) {
	for _, tt := range []struct{ window, reserved, most, want int64 }{
		{conversation.DefaultContextWindow, conversation.DefaultReservedOutput, 0, 111_616},
		{100, 30, 0, 70}, {100, 30, 60, 60}, {100, 30, 70, 70}, {100, 30, 80, 70}, {100, 100, 0, 0}, {100, 130, 0, -30}, {100, 130, 5, -30},
	} {
		b := conversation.Budget{ContextWindow: tt.window, ReservedOutput: tt.reserved, MaxContext: tt.most}
		if got := b.Tokens(); got != tt.want {
			t.Errorf("%+v: %d, want %d", b, got, tt.want)
		}
	}
}

func TestError_Text_ViolationsAndCause(t *testing.T) {
	err := conversation.Errorf(conversation.InvalidField, "bad %s", "request").Because(io.ErrUnexpectedEOF)
	if err.Error() != "bad request" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, cause %v", err, err.Cause)
	}
	err.Violations = []conversation.Violation{{Field: "a.b", Text: "too long"}}
	if got := err.Error(); got != "bad request: a.b: too long" {
		t.Errorf("one violation: %q", got)
	}
	err.Violations = append(err.Violations, conversation.Violation{Field: "c"}, conversation.Violation{Field: "d"})
	if got := err.Error(); got != "bad request: a.b: too long (and 2 more)" {
		t.Errorf("three violations: %q", got)
	}
	if strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) {
		t.Error("the cause is for the log alone")
	}
}

func TestKindOf_AnyError_OfTheChain(t *testing.T) {
	domain := conversation.Errorf(conversation.Contention, "moved")
	for _, tt := range []struct {
		err  error
		want conversation.Kind
	}{
		{domain, conversation.Contention}, {fmt.Errorf("outer: %w", domain), conversation.Contention},
		{io.EOF, conversation.Internal}, {nil, conversation.Internal},
	} {
		if got := conversation.KindOf(tt.err); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestID_String_IsHexadecimal(t *testing.T) {
	id := conversation.ID{0: 1, 15: 0xfe}
	if s := id.String(); s != "010000000000000000000000000000fe" || id.IsZero() || !(conversation.ID{}).IsZero() {
		t.Errorf("got %s, zero %v", s, id.IsZero())
	}
}
