package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
)

// inForce are the texts of facts that nothing contradicts.
func inForce(t *testing.T, target memory.Target, s memory.Scope) (out []string) {
	t.Helper()
	for _, m := range list(t, target, s, memory.Fact) {
		if m.SupersededBy == "" {
			out = append(out, m.Text)
		}
	}
	slices.Sort(out)
	return out
}

func TestFacts_Newer_SupersedeWhatTheyContradict(t *testing.T) {
	t.Parallel()
	for older, newer := range map[string]string{
		"My name is Ann.":                        "My name is Anna Maria.",
		"Call me Ann.":                           "My name is Bea.",
		"I live in Lisbon.":                      "I now live in Porto.",
		"I work at Acme.":                        "I work for Initech now.",
		"I prefer Vue over React.":               "I prefer React over Vue.",
		"I prefer React to Vue.":                 "I prefer Svelte to React or Angular.",
		"The deadline is March 3.":               "Our deadline is now April 10.",
		"The budget of the kitchen is 500 euros": "The budget of the kitchen is 700 euros.",
		"My favorite color is blue.":             "My favorite color is actually green.",
		"I eat meat.":                            "I never eat meat.",
		"Always use tabs.":                       "Never use tabs.",
		"I don't like early meetings.":           "I like early meetings.",
		"The user's name is Ann.":                "User's name is Bea.",
		"The standup is on Monday at 9:30.":      "The standup is on Friday at 10.",
		"My phone number is 555-1234.":           "My phone number is 555-9876.",
	} {
		if got := settled(t, older, newer); !slices.Equal(got, []string{newer}) {
			t.Errorf("%q, then %q: %q are in force", older, newer, got)
		}
	}
}

func TestFacts_ThatMayBothHold_Stay(t *testing.T) {
	t.Parallel()
	for one, other := range map[string]string{
		"I prefer tea over coffee.":             "I prefer React over Vue.",
		"My friend is Tom.":                     "My friend is nice.",
		"I like tea.":                           "I like coffee.",
		"My sister keeps bees.":                 "My sister keeps hens.",
		"Order 123 is 50 euros.":                "Order 456 is 70 euros.",
		"The meeting is on Monday.":             "The meeting is in room 4.",
		"My name is Ann.":                       "My dog's name is Rex.",
		"The deadline of the kitchen is May 1.": "The deadline of the garden is June 1.",
		"I don't like early meetings.":          "I like late meetings.",
		"It is 5 degrees here.":                 "It is 9 degrees here.",
	} {
		if got := settled(t, one, other); len(got) != 2 {
			t.Errorf("%q, then %q: %q are in force", one, other, got)
		}
	}
}

// settled are the facts in force after one was said, and then another.
func settled(t *testing.T, texts ...string) []string {
	t.Helper()
	w, s := memoryWorld(t), user("anna")
	o := w.options()
	o.Extract = eachMessage
	target := w.with(o)
	for i, text := range texts {
		add(t, target, talk(s, fmt.Sprint("talk", i), 0, day(i), text))
	}
	return inForce(t, target, s)
}

// eachMessage takes each message for a fact.
func eachMessage(_ context.Context, messages []memory.Message) (out []embedded.Extracted, _ error) {
	for _, m := range messages {
		out = append(out, embedded.Extracted{Text: m.Text, SaidBy: "user", Indices: []int32{m.Index}})
	}
	return out, nil
}

// What is superseded is listed and not found, is in force again when it is said again, or when what contradicts it goes.
func TestFacts_Superseded_AreKeptUnseen(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	add(t, target, talk(s, "one", 0, day(0), "I prefer Vue over React."))
	add(t, target, talk(s, "two", 0, day(1), "I prefer React over Vue."))
	if got := textsOf(find(t, target, s, "do I prefer React or Vue")); !slices.Equal(got, []string{"I prefer React over Vue."}) {
		t.Errorf("%q", got)
	}
	facts := list(t, target, s, memory.Fact)
	if len(facts) != 2 || facts[1].SupersededBy != facts[0].ID {
		t.Errorf("%+v", facts)
	}
	add(t, target, talk(s, "three", 0, day(2), "I prefer Vue over React."))
	if got := inForce(t, target, s); !slices.Equal(got, []string{"I prefer Vue over React."}) {
		t.Errorf("said again: %q", got)
	}
	retract(t, target, s, "three", 0, 1)
	retract(t, target, s, "one", 0, 1)
	if got := inForce(t, target, s); !slices.Equal(got, []string{"I prefer React over Vue."}) {
		t.Errorf("taken back: %q", got)
	}
}

func retract(t *testing.T, target memory.Target, s memory.Scope, name string, first, end int32) {
	t.Helper()
	_, err := target.Retract(t.Context(), s, &memory.Retraction{
		Conversation: name, Incarnation: incarnationOf(name), Range: conversation.Range{First: first, End: end},
	})
	must(t, err)
}

func TestFacts_OlderOnes_SupersedeNothing(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	add(t, target, talk(s, "new", 0, day(5), "My name is Bea."))
	add(t, target, talk(s, "old", 0, day(1), "My name is Ann."))
	if got := inForce(t, target, s); !slices.Equal(got, []string{"My name is Bea."}) {
		t.Errorf("%q", got)
	}
	other := talk(s, "other", 0, day(6), "My name is Tom.")
	other.Messages[0].Name = "Tom"
	add(t, target, other)
	if got := inForce(t, target, s); !slices.Equal(got, []string{"My name is Bea.", "My name is Tom."}) {
		t.Errorf("of two speakers: %q", got)
	}
}

// Equal facts are one with several sources, and go with the last.
func TestFacts_Equal_MergeTheirSources(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	for i := range 3 {
		add(t, target, talk(s, fmt.Sprint("talk", i), 0, day(i), "Hello there.", "I am allergic to walnuts."))
	}
	facts := list(t, target, s, memory.Fact)
	if len(facts) != 1 || len(facts[0].Sources) != 3 || !facts[0].Time.Equal(day(2).Add(time.Minute)) {
		t.Fatalf("%+v", facts)
	}
	retract(t, target, s, "talk0", 0, 9)
	retract(t, target, s, "talk2", 1, 2)
	if facts = list(t, target, s, memory.Fact); len(facts) != 1 || len(facts[0].Sources) != 1 || facts[0].Sources[0].Conversation != "talk1" {
		t.Fatalf("%+v", facts)
	}
	retract(t, target, s, "talk1", 0, 1)
	if facts = list(t, target, s, memory.Fact); len(facts) != 1 {
		t.Fatal("a fact went with another message")
	}
	retract(t, target, s, "talk1", 1, 2)
	if facts = list(t, target, s, memory.Fact); len(facts) != 0 {
		t.Fatalf("%+v", facts)
	}
}

func TestFacts_OfMessagesThatGo_AreFoundOnlyIfKept(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	add(t, target, talk(s, "talk", 0, day(0), "I am allergic to walnuts, and I will come by later."))
	_, err := target.Retract(t.Context(), s, &memory.Retraction{Conversation: "talk", Range: conversation.Range{End: 9}, KeepFacts: true})
	must(t, err)
	found := find(t, target, s, "walnuts")
	if len(found) != 1 || found[0].Kind != memory.Fact {
		t.Errorf("%+v", found)
	}
}

// A fact is no second answer beside the message that it repeats, and deleting either deletes what says nothing else.
func TestFacts_AndTheirMessages_AreOneAnswer(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		w, s := memoryWorld(t), user("anna")
		target := w.process()
		add(t, target, talk(s, "talk", 0, day(0), "I am allergic to walnuts."))
		if all := list(t, target, s); len(all) != 2 {
			t.Fatalf("%q", textsOf(all))
		} else if found := find(t, target, s, "walnuts"); len(found) != 1 {
			t.Errorf("%q", textsOf(found))
		} else if _, err := target.Delete(t.Context(), s, []string{all[i].ID}); err != nil {
			t.Error(err)
		}
		if left := find(t, target, s, "walnuts"); len(left) != 0 {
			t.Errorf("%d deleted, and %q are found", i, textsOf(left))
		}
	}
}

func TestFacts_InALongerMessage_AreOneAnswerWithIt(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	add(t, target, talk(s, "talk", 0, day(0), "Good to see you all. I am allergic to walnuts. Let us eat at eight, or whenever the others come."))
	if found := find(t, target, s, "walnuts"); len(found) != 1 || len(list(t, target, s)) != 2 {
		t.Errorf("%q", textsOf(found))
	}
}

func TestFacts_FailingExtraction_LeavesTheBatchForLater(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	o, calls := w.options(), 0
	o.Extract = func(ctx context.Context, messages []memory.Message) ([]embedded.Extracted, error) {
		if calls++; calls == 1 {
			return nil, errors.New("secret of the model")
		}
		return eachMessage(ctx, messages)
	}
	target, b := w.with(o), talk(s, "talk", 0, day(0), "The bees are in the hall.")
	if _, err := target.Add(t.Context(), b); !errors.Is(err, memory.ErrUnavailable) || len(list(t, target, s)) > 0 {
		t.Errorf("%v", err)
	}
	add(t, target, b)
	add(t, target, b)
	if calls != 2 || len(list(t, target, s)) != 2 {
		t.Errorf("%d calls; a batch that is known is drawn from again", calls)
	}
	assistant := talk(s, "talk", 1, day(0), "They make honey.")
	assistant.Messages[0].Role = conversation.RoleAssistant
	add(t, target, assistant)
	if facts := list(t, target, s, memory.Fact); len(facts) != 1 {
		t.Errorf("an assistant's words became a fact: %q", textsOf(facts))
	}
}

func TestExtractive_Sentences_ThatStateAreFacts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Hi! I'm allergic to walnuts. How are you?":           {"I'm allergic to walnuts."},
		"Please never call me before 9:30.":                   {"Please never call me before 9:30."},
		"Well, I prefer React over Vue":                       {"Well, I prefer React over Vue"},
		"My name is Ann. Nice to meet you!":                   {"My name is Ann."},
		"Our invoice number is QX-4471.":                      {"Our invoice number is QX-4471."},
		"The budget of the kitchen is 12,400 euros. Thanks!":  {"The budget of the kitchen is 12,400 euros."},
		"Can you book a flight to Rome on 3 May?":             nil,
		"I don't know. I can't find it. I love it!":           nil,
		"Look:\n```\nretry_limit = 500 ms\n```\nThanks a lot": nil,
		"ERROR: request 12345 failed after 30 ms":             nil,
		"So cool, wow!": nil,
	} {
		drawn, err := embedded.Extractive(t.Context(), []memory.Message{
			{Index: 4, Role: conversation.RoleUser, Text: text}, {Index: 5, Role: conversation.RoleAssistant, Text: "I prefer Vue over React."},
		})
		must(t, err)
		var got []string
		for _, x := range drawn {
			got = append(got, x.Text)
			if !slices.Equal(x.Indices, []int32{4}) || x.SaidBy != "user" {
				t.Errorf("%+v", x)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestCheckedFacts_OfAModel_AreHeldToWhatTheyCite(t *testing.T) {
	t.Parallel()
	messages := []memory.Message{
		{Index: 3, Role: conversation.RoleUser, Text: "I moved to Utrecht in 2019, near Marguerite's place."},
		{Index: 4, Role: conversation.RoleAssistant, Text: "So you live in Paris with Bob, order QX-1."},
		{Index: 5, Role: conversation.RoleUser, Text: "My invoice is QX-4471 and I like bees. Write to a.b@example.com"},
		{Index: 6, Role: conversation.RoleUser, Name: "Tom", Text: "I drive a Saab."},
	}
	for answer, want := range map[string]int{
		`[{"text":"Moved to Utrecht in 2019","said_by":"user","indices":[3]}]`:                 1,
		`{"facts":[{"text":"The user likes bees","said_by":"x","indices":[5]}]}`:               1,
		"```json\n[{\"text\":\"Tom drives a Saab\",\"said_by\":\"Tom\",\"indices\":[6]}]\n```": 1,
		`[{"text":"Write to a.b@example.com","said_by":"user","indices":[5]}]`:                 1,
		`[]`: 0,
		`[{"text":"The user likes bees","said_by":"user","indices":[]}]`:       0,
		`[{"text":"The user likes bees","said_by":"user"}]`:                    0,
		`[{"text":"The user likes bees","said_by":"user","indices":[9]}]`:      0,
		`[{"text":"Lives in Paris","said_by":"user","indices":[4]}]`:           0,
		`[{"text":"Moved to Utrecht in 2018","said_by":"user","indices":[3]}]`: 0,
		`[{"text":"Moved to Paris in 2019","said_by":"user","indices":[3]}]`:   0,
		`[{"text":"The invoice is QX-4472","said_by":"user","indices":[5]}]`:   0,
		`[{"text":"The invoice is QX-4471","said_by":"user","indices":[3]}]`:   0,
		`[{"text":"Bob lives near","said_by":"user","indices":[3]}]`:           0,
		`[{"text":"Moved, and likes bees","said_by":"user","indices":[3,6]}]`:  0,
		`[{"text":"   ","said_by":"user","indices":[3]}]`:                      0,
	} {
		got, err := embedded.CheckedFacts([]byte(answer), messages)
		if err != nil || len(got) != want {
			t.Errorf("%s: %+v, %v", answer, got, err)
		}
	}
	for _, answer := range []string{"", "null", "{}", "I am sorry", `{"facts":1}`, `[{"text":1}]`, "[", "```"} {
		if _, err := embedded.CheckedFacts([]byte(answer), messages); !errors.Is(err, memory.ErrRefused) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// TestFacts_ExtractNone_AreNotDrawn, and what was said is kept all the same.
func TestFacts_ExtractNone_AreNotDrawn(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	o := w.options()
	o.Extract = eachMessage
	target := w.with(o)
	b := talk(s, "talk", 0, day(1), "I live in Lisbon.")
	b.Extract = conversation.ExtractNone
	if _, err := target.Add(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	listing, err := target.List(t.Context(), s, &memory.Page{Limit: 10})
	if err != nil || len(listing.Memories) != 1 || listing.Memories[0].Kind != memory.Said {
		t.Errorf("%+v, %v", listing.Memories, err)
	}
}

// TestFacts_ByModel_AreCheckedOrDoneWithout: what a model draws is held against the messages; where it fails, sentences serve.
func TestFacts_ByModel_AreCheckedOrDoneWithout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		err    error
		want   []string
	}{
		"good":     {answer: `{"facts":[{"text":"Anna is allergic to walnuts.","said_by":"user","indices":[0]}]}`, want: []string{"Anna is allergic to walnuts."}},
		"invented": {answer: `{"facts":[{"text":"Allergic to walnuts since 1987.","said_by":"user","indices":[0]}]}`},
		"broken":   {answer: `{"facts":`, want: []string{"I am allergic to walnuts, says Anna."}},
		"away":     {err: errors.New("away"), want: []string{"I am allergic to walnuts, says Anna."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := memoryWorld(t), user("anna")
			o := w.options()
			o.Extract = eachMessage
			o.Model = func(context.Context, *memory.Batch, []memory.Message) ([]byte, error) { return []byte(c.answer), c.err }
			target, b := w.with(o), talk(s, "talk", 0, day(0), "I am allergic to walnuts, says Anna.")
			b.Extract = conversation.ExtractModel
			add(t, target, b)
			if got := textsOf(list(t, target, s, memory.Fact)); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestSearch_FewMemories_ReachTheFloor: the first thing that a user tells is found as the thousandth is.
func TestSearch_FewMemories_ReachTheFloor(t *testing.T) {
	t.Parallel()
	w, s := memoryWorld(t), user("anna")
	target := w.process()
	add(t, target, talk(s, "talk", 0, day(0), "I prefer window seats on night trains."))
	found, err := target.Search(t.Context(), s, &memory.Query{Text: "Which seats on the night train to Rome?", Limit: 5, Floor: 0.25, Now: day(1)})
	if err != nil || len(found) == 0 {
		t.Errorf("%v, %v", found, err)
	}
}
