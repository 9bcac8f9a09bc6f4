package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// grow appends a message and builds, telling what the provider counted for the build before: ratio times our count.
func (b *bench) grow(t *testing.T, ratio float64, before *engine.BuildResult) *engine.BuildResult {
	t.Helper()
	b.append(t, "c", answer(words(2000)), user("more"))
	return b.asked(t, "c", 100_000, func(r *engine.BuildRequest) {
		r.Model = "m"
		if before != nil {
			r.LastUsage = &engine.Usage{Input: int32(1000 + ratio*float64(before.Tokens.Fixed+before.Tokens.Messages)), Output: 99}
		}
	})
}

// TestEngine_Build_LastUsageCalibrates: the factor follows the differences between successive reports, within 0.5 to 2, in steps of 2 %
// (behaviour §12). It changes reported totals, but never stored counts.
func TestEngine_Build_LastUsageCalibrates(t *testing.T) {
	for _, tt := range []struct{ ratio, want float64 }{{1, 1}, {1.2, 1.2}, {0.8, 0.8}, {5, 2}, {0.1, 0.5}} {
		b := newBench(1 << 20)
		b.append(t, "c", user("go"))
		var r *engine.BuildResult
		for range 45 {
			r = b.grow(t, tt.ratio, r)
		}
		if f := r.Tokens.Factor; f < tt.want-0.021 || f > tt.want+0.021 || r.Manifest.Factor != f {
			t.Errorf("ratio %.1f: factor %.3f", tt.ratio, f)
		}
		sum := float64(r.Tokens.Fixed+r.Tokens.Messages) * r.Tokens.Factor
		if total := float64(r.Tokens.Total); total < sum-1 || total > sum+1 || r.Tokens.Total > 100_000 {
			t.Errorf("total %.0f, want %.0f", total, sum)
		}
		if other := b.asked(t, "c", 100_000, func(r *engine.BuildRequest) { r.Model, r.DryRun = "other", true }); other.Tokens.Factor != 1 {
			t.Errorf("another model has factor %.2f", other.Tokens.Factor)
		}
		if m := b.records(t, "c")[1]; m.Tokens != 2004 {
			t.Errorf("a stored count became %d", m.Tokens)
		}
	}
}

// TestEngine_ReportUsage_OnePerManifest: the first report counts, whichever way it came. Empty reports are ignored.
func TestEngine_ReportUsage_OnePerManifest(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("go"))
	r := b.asked(t, "c", 10_000, func(r *engine.BuildRequest) { r.Model = "m" })
	report := func(seq int64, u engine.Usage, want bool) {
		t.Helper()
		version := b.head(t, "c").Version
		_, counted, err := b.ReportUsage(ctx, keyOf("c"), seq, "", u)
		if err != nil || counted != want || (b.head(t, "c").Version != version) != want {
			t.Errorf("manifest %d: counted %v, %v; want %v", seq, counted, err, want)
		}
	}
	report(r.Manifest.Seq, engine.Usage{Output: 50}, false)
	report(r.Manifest.Seq, engine.Usage{CacheRead: 50}, true)
	report(r.Manifest.Seq, engine.Usage{Input: 60}, false)
	next := b.asked(t, "c", 10_000, func(r *engine.BuildRequest) { r.Model, r.LastUsage = "m", &engine.Usage{Input: 60} })
	if got, err := b.Manifest(ctx, keyOf("c"), r.Manifest.Seq, 0); err != nil || !got.Manifest.UsageReported {
		t.Errorf("the manifest does not say that it has a report: %v", err)
	}
	b.asked(t, "c", 10_000, func(r *engine.BuildRequest) { r.Model, r.LastUsage = "m", &engine.Usage{Input: 60} })
	report(next.Manifest.Seq, engine.Usage{Input: 70}, false)
	_, _, err := b.ReportUsage(ctx, keyOf("c"), 99, "", engine.Usage{Input: 1})
	expect(t, err, conversation.ManifestNotFound)
}

func TestEngine_ReportUsage_SameAsLastUsage(t *testing.T) {
	one, two := newBench(0), newBench(1<<20)
	var a, b *engine.BuildResult
	for _, bench := range []*bench{one, two} {
		bench.append(t, "c", user("go"))
	}
	for range 12 {
		a = one.grow(t, 1.5, a)
		if b != nil {
			n := int32(1000 + 1.5*float64(b.Tokens.Fixed+b.Tokens.Messages))
			if _, counted, err := two.ReportUsage(ctx, keyOf("c"), b.Manifest.Seq, "m", engine.Usage{Input: n}); err != nil || !counted {
				t.Fatalf("counted %v, %v", counted, err)
			}
		}
		b = two.grow(t, 1, nil)
		if a.Tokens != b.Tokens {
			t.Fatalf("by last_usage %+v, by ReportUsage %+v", a.Tokens, b.Tokens)
		}
	}
	if a.Tokens.Factor <= 1.1 {
		t.Errorf("factor %.2f", a.Tokens.Factor)
	}
}

// TestEngine_Build_LastUsageOfAForgottenManifest: a report for a build that is no longer known does not fail the next build.
func TestEngine_Build_LastUsageOfAForgottenManifest(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("go"))
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	b.now = b.now.Add(31 * 24 * time.Hour)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := b.ask("c", 1000, func(r *engine.BuildRequest) { r.LastUsage = &engine.Usage{Input: 50} })
	if err != nil || r.Turn != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestEngine_Build_ModelProfile: budget and media weight of a model without a policy of the caller's (behaviour §4, §12).
func TestEngine_Build_ModelProfile(t *testing.T) {
	b := newBench(0)
	put := func(p conversation.ModelProfile) {
		t.Helper()
		if err := b.PutModelProfile(ctx, "default", p, engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	put(conversation.ModelProfile{
		Model: "small", ContextWindowTokens: ptr(int32(5000)), ReservedOutputTokens: ptr(int32(1000)), MediaTokens: ptr(int32(7)), Factor: ptr(1.5),
	})
	picture := user("look")
	picture.Model = "small"
	picture.Parts = append(picture.Parts, conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", URI: "x:y"}})
	if got := b.append(t, "c", picture).Messages[0].Tokens; got != 4+1+7 {
		t.Errorf("a picture of this model's weighs %d", got)
	}
	ask := func(model string, o engine.BudgetOverride, p conversation.Policy) *engine.BuildResult {
		t.Helper()
		r, err := b.Build(ctx, engine.BuildRequest{Key: keyOf("c"), Model: model, Budget: o, PolicyOverride: p, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	policy := conversation.Policy{Fit: conversation.FitPolicy{ContextWindowTokens: ptr(int32(6000)), MaxContextTokens: ptr(int32(4500))}}
	reserving := conversation.Policy{Fit: conversation.FitPolicy{ReservedOutputTokens: ptr(int32(9000))}}
	for _, tt := range []struct {
		model  string
		o      engine.BudgetOverride
		p      conversation.Policy
		want   int64
		factor float64
	}{
		{"unknown", engine.BudgetOverride{}, conversation.Policy{}, 128_000 - 16_384, 1},
		{"small", engine.BudgetOverride{}, conversation.Policy{}, 4000, 1.5},
		{"small", engine.BudgetOverride{}, policy, 4500, 1.5},
		{"small", engine.BudgetOverride{ReservedOutput: ptr(int32(2000))}, policy, 4000, 1.5},
		{"small", engine.BudgetOverride{ContextWindow: ptr(int32(3000)), MaxContext: ptr(int32(100))}, policy, 100, 1.5},
		// A reserve set at a less specific level than the window is at most a quarter of it.
		{"unknown", engine.BudgetOverride{ContextWindow: ptr(int32(8192))}, conversation.Policy{}, 6144, 1},
		{"unknown", engine.BudgetOverride{ContextWindow: ptr(int32(100_000))}, conversation.Policy{}, 100_000 - 16_384, 1},
		{"unknown", engine.BudgetOverride{}, conversation.Policy{Fit: conversation.FitPolicy{ContextWindowTokens: ptr(int32(4000))}}, 3000, 1},
		{"small", engine.BudgetOverride{ContextWindow: ptr(int32(800))}, conversation.Policy{}, 600, 1.5},
		{"unknown", engine.BudgetOverride{ContextWindow: ptr(int32(8000))}, reserving, 6000, 1},
		{"unknown", engine.BudgetOverride{ContextWindow: ptr(int32(8000)), ReservedOutput: ptr(int32(7000))}, reserving, 1000, 1},
	} {
		r := ask(tt.model, tt.o, tt.p)
		if r.Tokens.Budget != tt.want || r.Tokens.Factor != tt.factor {
			t.Errorf("%s: %+v, want %d at %.1f", tt.model, r.Tokens, tt.want, tt.factor)
		}
	}
}

func TestEngine_ModelProfiles_PutListDelete(t *testing.T) {
	b := newBench(0)
	other := second(b)
	for i := range 5 {
		for range 2 { // twice is replacing
			if err := b.PutModelProfile(ctx, "default", conversation.ModelProfile{Model: fmt.Sprint("m", i), MediaTokens: ptr(int32(i))}, engine.Request{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	page, next, err := b.ModelProfiles(ctx, "default", "", 3)
	if err != nil || len(page) != 3 || next != "m2" || *page[2].MediaTokens != 2 {
		t.Errorf("%+v, %s, %v", page, next, err)
	}
	page, next, err = b.ModelProfiles(ctx, "default", next, 3)
	if err != nil || len(page) != 2 || next != "" || page[0].Model != "m3" {
		t.Errorf("%+v, %s, %v", page, next, err)
	}
	if page, _, err := b.ModelProfiles(ctx, "another", "", 3); err != nil || len(page) != 0 {
		t.Errorf("another namespace has %+v, %v", page, err)
	}
	if _, err := other.ModelProfile(ctx, "default", "m1"); err != nil {
		t.Error(err)
	}
	if err := b.DeleteModelProfile(ctx, "default", "m1", engine.Request{}); err != nil {
		t.Fatal(err)
	}
	_, err = b.ModelProfile(ctx, "default", "m1")
	expect(t, err, conversation.ModelProfileNotFound)
	expect(t, b.DeleteModelProfile(ctx, "default", "m1", engine.Request{}), conversation.ModelProfileNotFound)
	other.now = other.now.Add(time.Second) // what another process knows is a second old at most
	_, err = other.ModelProfile(ctx, "default", "m1")
	expect(t, err, conversation.ModelProfileNotFound)
	if list, err := b.List(ctx, engine.ListRequest{Namespace: "default", Limit: 10}); err != nil || len(list.Conversations) != 0 {
		t.Errorf("profiles are listed as %+v, %v", list, err)
	}
}

// TestEngine_PutModelProfile_Retry: a request id makes a change of profiles safe to repeat (behaviour §3).
func TestEngine_PutModelProfile_Retry(t *testing.T) {
	b := newBench(0)
	p := conversation.ModelProfile{Model: "m", MediaTokens: ptr(int32(7))}
	put, other := request("PutModelProfile", "r", "one"), request("PutModelProfile", "r", "two")
	for range 2 {
		if err := b.PutModelProfile(ctx, "default", p, put); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, b.PutModelProfile(ctx, "default", p, other), conversation.RequestIDReused)
	drop := request("DeleteModelProfile", "r", "m")
	for range 2 {
		if err := b.DeleteModelProfile(ctx, "default", "m", drop); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, b.DeleteModelProfile(ctx, "default", "m", engine.Request{}), conversation.ModelProfileNotFound)
}

// TestEngine_Build_KnownModels: shipped profiles are used until an operator puts one. For an unknown model, the answer has a notice.
func TestEngine_Build_KnownModels(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("u"))
	want := func(model string, budget int64, unknown bool) {
		t.Helper()
		r, err := b.Build(ctx, engine.BuildRequest{Key: keyOf("c"), Model: model, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		named := slices.ContainsFunc(r.Degradations, func(d engine.Degradation) bool { return d.Code == engine.ModelUnknown })
		if r.Tokens.Budget != budget || named != unknown {
			t.Errorf("%s: budget %d, want %d; %+v", model, r.Tokens.Budget, budget, r.Degradations)
		}
	}
	want("shipped", 50_000, false)
	want("shipped-20261122", 50_000, false)
	want("shipped-2026-11-22", 50_000, false)
	for _, name := range []string{
		"shipped@20261122", "models/shipped", "house/openai/shipped", "us.anthropic.shipped-20261122-v1:0", "us-gov.anthropic.shipped", "anthropic.shipped-v1",
		"arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.shipped-v1:0",
	} {
		want(name, 50_000, false)
	}
	for _, name := range []string{"shipped-mini", "other.shipped", "shipped/other", "shipped-v1:0-x"} {
		want(name, 128_000-16_384, true)
	}
	want("", 128_000-16_384, false)
	if p, err := b.ModelProfile(ctx, "default", "shipped"); err != nil || *p.ContextWindowTokens != 50_000 {
		t.Errorf("%+v, %v", p, err)
	}
	own := conversation.ModelProfile{Model: "shipped", ContextWindowTokens: ptr(int32(60_000)), ReservedOutputTokens: ptr(int32(0))}
	if err := b.PutModelProfile(ctx, "default", own, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	want("shipped", 60_000, false)
	want("shipped-20261122", 60_000, false)
	if err := b.DeleteModelProfile(ctx, "default", "shipped", engine.Request{}); err != nil {
		t.Fatal(err)
	}
	want("shipped", 50_000, false)
}

// TestEngine_Build_Window_AssumedIsSaid: if nothing sets the context window, the answer names the assumed one and says what to do, no
// matter what else is known of the model.
func TestEngine_Build_Window_AssumedIsSaid(t *testing.T) {
	b, asked := newBench(0), engine.BuildRequest{DryRun: true}
	b.append(t, "c", user("u"))
	priced := conversation.ModelProfile{Model: "priced", InputPrice: ptr(2.0)}
	if err := b.PutModelProfile(ctx, "default", priced, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		model  string
		budget engine.BudgetOverride
		codes  []string
		says   string
	}{
		"no model":                   {"", engine.BudgetOverride{}, []string{engine.BudgetAssumed}, "128000 tokens are assumed, 16384 of them for the answer: name the model"},
		"a model of which we know":   {"shipped", engine.BudgetOverride{}, nil, ""},
		"an unknown one":             {"other", engine.BudgetOverride{}, []string{engine.ModelUnknown, engine.BudgetAssumed}, "put a profile of the model"},
		"a profile without a window": {"priced", engine.BudgetOverride{}, []string{engine.BudgetAssumed}, "put a profile of the model"},
		"a window, no model":         {"", engine.BudgetOverride{ContextWindow: ptr(int32(128_000))}, nil, ""},
		"a window, an unknown model": {"other", engine.BudgetOverride{ContextWindow: ptr(int32(9_000))}, []string{engine.ModelUnknown}, ""},
		"a cap below the assumed":    {"", engine.BudgetOverride{MaxContext: ptr(int32(9_000))}, nil, ""},
		"a cap above the assumed":    {"", engine.BudgetOverride{MaxContext: ptr(int32(900_000))}, []string{engine.BudgetAssumed}, "128000 tokens are assumed"},
		"a reserve alone":            {"", engine.BudgetOverride{ReservedOutput: ptr(int32(1_000))}, []string{engine.BudgetAssumed}, "1000 of them for the answer"},
	} {
		asked.Key, asked.Model, asked.Budget = keyOf("c"), tt.model, tt.budget
		r, err := b.Build(ctx, asked)
		if err != nil {
			t.Fatal(name, err)
		}
		var codes []string
		said := ""
		for _, d := range r.Degradations {
			codes, said = append(codes, d.Code), d.Done
		}
		if !slices.Equal(codes, tt.codes) || !strings.Contains(said, tt.says) {
			t.Errorf("%s: %+v", name, r.Degradations)
		}
	}
	fit := conversation.FitPolicy{ContextWindowTokens: ptr(int32(50_000))}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("windowed"), Info: engine.Info{Policy: conversation.Policy{Fit: fit}}}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "windowed", user("u"))
	if r, err := b.Build(ctx, engine.BuildRequest{Key: keyOf("windowed")}); err != nil || len(r.Degradations) > 0 {
		t.Errorf("the policy says it: %+v, %v", r, err)
	}
}
