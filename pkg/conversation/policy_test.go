package conversation_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// settings visits every setting of a policy: pointers if zero is a valid value, and other fields. It skips the source of an
// expiration, which only says who set the rest, and unknown fields.
func settings(v reflect.Value, visit func(path string, field reflect.Value)) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i); {
		case name == "Source", name == "Unknown":
		case f.Kind() == reflect.Struct:
			settings(f, func(path string, field reflect.Value) { visit(name+"."+path, field) })
		default:
			visit(name, f)
		}
	}
}

// set sets a setting to a number, converted to its type.
func set(f reflect.Value, n int64) {
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		set(f.Elem(), n)
	case reflect.Bool:
		f.SetBool(n > 0)
	case reflect.String:
		f.SetString(fmt.Sprint(n))
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		set(f.Index(0), n)
	case reflect.Float64:
		f.SetFloat(float64(n))
	default:
		f.SetInt(n)
	}
}

// policyWith sets one setting, or all if path is empty, to a number.
func policyWith(path string, n int64) conversation.Policy {
	var p conversation.Policy
	settings(reflect.ValueOf(&p).Elem(), func(at string, f reflect.Value) {
		if path == "" || path == at {
			set(f, n)
		}
	})
	return p
}

// policyPaths returns the settings, each with the least number to which it can be set.
func policyPaths() map[string]int64 {
	out := map[string]int64{}
	settings(reflect.ValueOf(&conversation.Policy{}).Elem(), func(path string, f reflect.Value) {
		out[path] = 1
		if f.Kind() == reflect.Pointer {
			out[path] = 0
		}
	})
	return out
}

// TestPolicy_Or_EveryFieldByItself: policy resolves per field (behaviour §4), and a zero is a value.
func TestPolicy_Or_EveryFieldByItself(t *testing.T) {
	for path, least := range policyPaths() {
		got, mine, next := policyWith(path, least).Or(policyWith("", 9)), policyWith("", least), policyWith("", 9)
		settings(reflect.ValueOf(&got).Elem(), func(at string, f reflect.Value) {
			want := next
			if at == path {
				want = mine
			}
			settings(reflect.ValueOf(&want).Elem(), func(same string, w reflect.Value) {
				if same == at && !reflect.DeepEqual(f.Interface(), w.Interface()) {
					t.Errorf("%s set: %s is %v, want %v", path, at, f, w)
				}
			})
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
	for path, least := range policyPaths() {
		for _, n := range []int64{0, 1, 50} {
			if p := policyWith(path, n); n >= least && (n < 2 || !reflect.DeepEqual(p, policyWith(path, 1))) {
				note(fmt.Sprint(path, " = ", n), p)
			}
		}
	}
	if one, other := policyWith("TTL", 5), policyWith("TTL", 5); one.Hash() != other.Hash() {
		t.Error("the hash of equal policies differs")
	}
	if got := (conversation.Policy{TTL: new(time.Duration)}).Hash(); got == (conversation.Policy{}).Hash() {
		t.Error("off is not unset")
	}
}

// TestPolicy_Hash_NeighborsDoNotRunTogether: two adjacent settings do not have the hash of one other setting.
func TestPolicy_Hash_NeighborsDoNotRunTogether(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		var a, b conversation.Policy
		drawn := map[string]int64{}
		number := rapid.SampledFrom([]int64{-1, -1, 1, 11})
		settings(reflect.ValueOf(&a).Elem(), func(path string, f reflect.Value) {
			if drawn[path] = number.Draw(t, path); drawn[path] >= 0 {
				set(f, drawn[path])
			}
		})
		settings(reflect.ValueOf(&b).Elem(), func(path string, f reflect.Value) {
			n := drawn[path]
			if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				n = number.Draw(t, path)
			}
			if n >= 0 {
				set(f, n)
			}
		})
		if (a.Hash() == b.Hash()) != reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v\nhash %s and %s", a, b, a.Hash(), b.Hash())
		}
	})
}

// TestPolicy_Hash_OfEarlierVersions: manifests hold hashes of policies from before there were settings for expiry, retention
// and rewriting. A policy that sets none of them keeps its hash. The last hash is fixed for later versions.
func TestPolicy_Hash_OfEarlierVersions(t *testing.T) {
	hour := time.Hour
	fit := conversation.Policy{
		Fit: conversation.FitPolicy{MaxContextTokens: new(int32(8000)), MaxResultPercent: new(int32)}, TTL: &hour,
	}
	later := fit
	later.Expiration.Results = conversation.Expiration{Turns: new(int32(2)), Mode: conversation.ExpirationCompact, CompactPromptID: "brief"}
	later.Rewrite.ColdAfter, later.Retention.AllInputs = &hour, new(bool)
	for want, p := range map[string]conversation.Policy{
		"446da448e4ed4b65": {}, "284749fe9d587763": fit, "fd2f2dc78a3070aa": later,
	} {
		if got := p.Hash(); got != want {
			t.Errorf("%+v: hash %s, and it was %s", p, got, want)
		}
	}
	sourced := later
	sourced.Expiration.Results.Source = conversation.SourceTool
	if sourced.Hash() != later.Hash() {
		t.Error("who set an expiration is no setting")
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
