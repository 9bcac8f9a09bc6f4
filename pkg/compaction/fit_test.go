package compaction_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
)

func claim(first int32, whole, least int64) *compaction.Claim {
	return &compaction.Claim{First: first, Whole: whole, Least: least}
}

func unitsOf(tokens ...int64) []compaction.TailUnit {
	var out []compaction.TailUnit
	for i, n := range tokens {
		out = append(out, compaction.TailUnit{First: int32(10 * i), Tokens: n})
	}
	return out
}

// weighs returns the weight of a result's context, added up independently.
func weighs(in *compaction.FitInput, r *compaction.FitResult) int64 {
	n := in.Fixed + r.Newest
	before := func(c *compaction.Claim, granted int64) {
		if c != nil && c.First < r.Start {
			n += granted
		} else if c != nil {
			n += c.Whole
		}
	}
	before(in.Request, r.Request)
	before(in.Opening, r.Opening)
	for i, c := range in.Restored {
		if i < r.Restored {
			n += c.Whole
		}
	}
	for i := range r.System {
		n += in.System[i].Whole
	}
	for i := range r.Verbatim {
		n += in.Verbatim[i].Whole
	}
	for i, s := range r.Summaries {
		if s.Stands {
			n += in.Summaries[i].Around + s.Text + s.List
		}
	}
	for _, p := range in.Units {
		asked := in.Request != nil && p.First == in.Request.First || in.Opening != nil && p.First == in.Opening.First
		if p.First >= r.Start && !p.Claimed && !asked {
			n += p.Tokens
		}
	}
	return n
}

func drawClaims(t *rapid.T) compaction.FitInput {
	amount := func(name string) int64 { return rapid.Int64Range(0, 300).Draw(t, name) }
	in := compaction.FitInput{
		Fixed: rapid.Int64Range(0, 200).Draw(t, "fixed"), Limit: rapid.Int64Range(1, 1000).Draw(t, "limit"), Over: rapid.Bool().Draw(t, "over"),
		Start: rapid.Int32Range(0, 20).Draw(t, "start"),
	}
	first := in.Start
	for range rapid.IntRange(0, 10).Draw(t, "pieces") {
		in.Units = append(in.Units, compaction.TailUnit{First: first, Tokens: amount("tokens")})
		first += rapid.Int32Range(1, 4).Draw(t, "messages")
	}
	in.Newest = compaction.Claim{First: first, Whole: amount("newest")}
	in.Newest.Least = rapid.Int64Range(0, in.Newest.Whole).Draw(t, "newest at its shortest")
	in.Request, in.Opening = drawAsked(t, &in, "request", in.Start-1), drawAsked(t, &in, "opening", in.Start-2)
	if in.Request != nil && in.Opening != nil && in.Request.First == in.Opening.First {
		in.Opening = nil
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "restored") {
		in.Restored = append(in.Restored, *claim(int32(-10-i), amount("restored tokens"), 0))
	}
	for range rapid.IntRange(0, 3).Draw(t, "system") {
		in.System = append(in.System, *claim(-20, amount("system tokens"), 0))
	}
	for range rapid.IntRange(0, 3).Draw(t, "verbatim") {
		in.Verbatim = append(in.Verbatim, *claim(-30, amount("verbatim tokens"), 0))
	}
	for range rapid.IntRange(0, 3).Draw(t, "summaries") {
		in.Summaries = append(in.Summaries, compaction.SummaryClaim{Around: 10, Text: amount("text") + 1, List: amount("list")})
	}
	in.Rest = rapid.Int64Range(in.Limit/2, in.Limit).Draw(t, "rest")
	in.Target = in.Limit * rapid.Int64Range(1, 90).Draw(t, "target") / 100
	return in
}

// drawAsked draws the request or the opening: a piece of the tail, a piece before it, or none.
func drawAsked(t *rapid.T, in *compaction.FitInput, name string, before int32) *compaction.Claim {
	c := claim(before, rapid.Int64Range(0, 600).Draw(t, name), 0)
	switch where := rapid.IntRange(-2, len(in.Units)-1).Draw(t, name+" at"); {
	case where == -2 || where == -1 && before < 0:
		return nil
	case where >= 0:
		c.First, c.Whole = in.Units[where].First, in.Units[where].Tokens
	}
	c.Least = rapid.Int64Range(0, min(c.Whole, 60)).Draw(t, name+" at its shortest")
	return c
}

// TestFit_AnyClaims_AreGrantedInTheirOrder checks Fit against behaviour §4: nothing exceeds the budget, and no claim gets more than its
// share while an earlier one gets less.
func TestFit_AnyClaims_AreGrantedInTheirOrder(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		in := drawClaims(t)
		r := compaction.Fit(in)
		if r.Fits != (in.Fixed+in.Newest.Least <= in.Limit) {
			t.Fatalf("fits is %v", r.Fits)
		}
		if !r.Fits {
			return
		}
		if n := weighs(&in, &r); n > in.Limit && r.Start > in.Start {
			t.Fatalf("%+v weighs %d of %d", r, n, in.Limit)
		}
		room := in.Limit - in.Fixed - in.Newest.Least
		room -= checkAsked(t, &in, "request", in.Request, r.Request, room, compaction.RequestShare)
		room -= checkAsked(t, &in, "opening", in.Opening, r.Opening, room, compaction.OpeningShare)
		if want := min(in.Newest.Whole, in.Newest.Least+room); r.Newest != want {
			t.Fatalf("the newest unit may weigh %d, not %d", r.Newest, want)
		}
		room -= r.Newest - in.Newest.Least
		for i, c := range in.Restored {
			if fits := c.Whole <= room; fits != (i < r.Restored) {
				t.Fatalf("restored unit %d of %d with %d left: %+v", i, c.Whole, room, r)
			} else if !fits {
				break
			}
			room -= c.Whole
		}
		checkShares(t, &in, &r)
	})
}

func checkAsked(t *rapid.T, in *compaction.FitInput, name string, c *compaction.Claim, got, room, divisor int64) int64 {
	if c == nil {
		if got != 0 {
			t.Fatalf("%s: %d are granted to nobody", name, got)
		}
		return 0
	}
	most := room
	if in.Over {
		most = min(room, max(in.Limit/divisor, c.Least))
	}
	want := min(c.Whole, most)
	if want < c.Least {
		want = 0
	}
	if got != want {
		t.Fatalf("%s of %d, at least %d: granted %d, not %d, with %d left of %d", name, c.Whole, c.Least, got, want, room, in.Limit)
	}
	return got
}

func checkShares(t *rapid.T, in *compaction.FitInput, r *compaction.FitResult) {
	var texts, lists int64
	for i, s := range r.Summaries {
		if s.Text > in.Summaries[i].Text || s.List > in.Summaries[i].List || s.Text < 0 || s.List < 0 {
			t.Fatalf("summary %d of %+v was granted %+v", i, in.Summaries[i], s)
		}
		texts, lists = texts+s.Text, lists+s.List
	}
	if in.Over && (texts > in.Limit/10 || lists > in.Limit/10) {
		t.Fatalf("texts %d and lists %d of summaries are over their shares of %d", texts, lists, in.Limit)
	}
	verbatim := int64(0)
	for _, c := range in.Verbatim[:r.Verbatim] {
		verbatim += c.Whole
	}
	if in.Over && verbatim > in.Limit/10 {
		t.Fatalf("important units of %d tokens are over their share of %d", verbatim, in.Limit)
	}
}

// TestFit_LargerLimit_GrantsNoLess: more room never shows less, except that a claim which only fits now may take room from weaker ones.
func TestFit_LargerLimit_GrantsNoLess(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		in := drawClaims(t)
		in.Rest = in.Limit
		larger := in
		larger.Limit += rapid.Int64Range(0, 500).Draw(t, "more")
		larger.Rest, larger.Target = larger.Limit, in.Target*larger.Limit/in.Limit
		a, b := compaction.Fit(in), compaction.Fit(larger)
		asked, both := b.Request-a.Request, b.Request-a.Request+b.Opening-a.Opening
		if asked < 0 || both < 0 || both+b.Newest-a.Newest < 0 {
			t.Fatalf("%+v at %d, and %+v at %d", a, in.Limit, b, larger.Limit)
		}
	})
}

func TestFit_Start_Table(t *testing.T) {
	newest := func(n int64) compaction.Claim { return compaction.Claim{First: 100, Whole: n, Least: n} }
	for name, tt := range map[string]struct {
		in    compaction.FitInput
		start int32
	}{
		"all fits": {compaction.FitInput{Units: unitsOf(30, 30), Newest: newest(30), Limit: 100, Rest: 100, Target: 50}, 0},
		"down to the target": {compaction.FitInput{
			Units: unitsOf(40, 30, 20), Newest: newest(30), Limit: 100, Rest: 100, Target: 50, Over: true,
		}, 20},
		"nearer to the target above it": {compaction.FitInput{
			Units: unitsOf(40, 10, 40), Newest: newest(15), Limit: 100, Rest: 100, Target: 50, Over: true,
		}, 20},
		"the newest unit stays": {compaction.FitInput{Units: unitsOf(40), Newest: newest(90), Limit: 100, Rest: 100, Target: 50, Over: true}, 100},
		"the request stays before the start": {compaction.FitInput{
			Units: unitsOf(10, 60, 20), Newest: newest(30), Request: claim(0, 10, 10), Limit: 100, Rest: 100, Target: 60, Over: true,
		}, 20},
		"what was reported lowers the rest": {compaction.FitInput{Units: unitsOf(40, 20), Newest: newest(20), Limit: 100, Rest: 70, Target: 50}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			if r := compaction.Fit(tt.in); r.Start != tt.start || !r.Fits {
				t.Errorf("got %+v, want start %d", r, tt.start)
			}
		})
	}
}

// TestFit_GrowingConversation_CutsRarely: a cut goes down to the target, so the next one is far away.
func TestFit_GrowingConversation_CutsRarely(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		const limit = 1000
		var pieces []compaction.TailUnit
		start, cuts := int32(0), 0
		for i := range int32(200) {
			n := rapid.Int64Range(1, 20).Draw(t, "tokens")
			in := compaction.FitInput{Newest: compaction.Claim{First: i, Whole: n, Least: n}, Start: start, Limit: limit, Rest: limit, Target: limit / 2}
			total := n
			for _, p := range pieces {
				if p.First >= start {
					in.Units = append(in.Units, p)
					total += p.Tokens
				}
			}
			in.Over = total > limit
			if r := compaction.Fit(in); r.Start != start {
				start = r.Start
				cuts++
			}
			pieces = append(pieces, compaction.TailUnit{First: i, Tokens: n})
		}
		if cuts > 200*20/(limit/2-20)+1 {
			t.Fatalf("%d cuts", cuts)
		}
	})
}

// TestFit_SummaryWithoutText_GivesWay: the frame around a summary weighs too, so the summary is dropped like others.
func TestFit_SummaryWithoutText_GivesWay(t *testing.T) {
	in := compaction.FitInput{
		Limit: 100, Rest: 100, Target: 50, Over: true, Newest: *claim(20, 60, 60),
		Summaries: []compaction.SummaryClaim{{Around: 25}, {Around: 25}},
	}
	if r := compaction.Fit(in); r.Summaries[0].Stands || !r.Summaries[1].Stands {
		t.Errorf("%+v", r.Summaries)
	}
}

// TestFit_RequestWithMedia_LeavesRoomToTheOpening: the opening gets the room that a cut of the request cannot use.
func TestFit_RequestWithMedia_LeavesRoomToTheOpening(t *testing.T) {
	request := claim(10, 1700, 40)
	request.Words = 60
	in := compaction.FitInput{Limit: 2000, Rest: 2000, Target: 1000, Over: true, Newest: *claim(20, 1700, 1700), Request: request, Opening: claim(0, 50, 50)}
	if r := compaction.Fit(in); r.Request != 60 || r.Opening != 50 {
		t.Errorf("%+v", r)
	}
}
