package embedded

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// CheckedFacts reads what a model drew from messages: a JSON array of {text, said_by, indices}, alone or as the member "facts" of an object.
// A fact is left out that cites no message, or a message that was not a user's, or that holds a name, a number or an identifier that stands
// in no message that it cites. Whatever else the model wrote is an error: ErrRefused.
func CheckedFacts(answer []byte, messages []memory.Message) ([]Extracted, error) {
	drawn, err := parseFacts(answer)
	if err != nil {
		return nil, err
	}
	said := map[int32]*memory.Message{}
	for i := range messages {
		if messages[i].Role == conversation.RoleUser {
			said[messages[i].Index] = &messages[i]
		}
	}
	var out []Extracted
	for _, x := range drawn {
		if checked, ok := checkFact(x, said); ok {
			out = append(out, checked)
		}
	}
	return out, nil
}

type modelFact struct {
	Text    string  `json:"text"`
	SaidBy  string  `json:"said_by"`
	Indices []int32 `json:"indices"`
}

func parseFacts(answer []byte) (drawn []modelFact, err error) {
	text := strings.TrimSpace(string(answer))
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(rest, "json"), "```"))
	}
	if strings.HasPrefix(text, "[") {
		err = json.Unmarshal([]byte(text), &drawn)
	} else {
		var whole struct{ Facts *[]modelFact }
		if err = json.Unmarshal([]byte(text), &whole); err == nil && whole.Facts != nil {
			return *whole.Facts, nil
		}
		err = errDamaged
	}
	if err != nil {
		return nil, refused("the model's facts cannot be read")
	}
	return drawn, nil
}

// checkFact compares a fact with the messages that it cites. Who said it is known from them, whatever the model says.
func checkFact(x modelFact, said map[int32]*memory.Message) (Extracted, bool) {
	text := facts.OneLine(x.Text)
	if text == "" || utf8.RuneCountInString(text) > facts.MaxRule || len(x.Indices) == 0 || len(x.Indices) > maxSources {
		return Extracted{}, false
	}
	known, saidBy := map[string]bool{}, ""
	for i, index := range x.Indices {
		m := said[index]
		if m == nil || i > 0 && m.Speaker() != saidBy {
			return Extracted{}, false
		}
		saidBy = m.Speaker()
		for _, w := range claims(spoken(m), false) {
			known[w] = true
		}
	}
	for _, w := range claims(text, true) {
		if !known[w] && !known[strings.TrimSuffix(w, "s")] && !known[strings.TrimSuffix(w, "es")] {
			return Extracted{}, false
		}
	}
	return Extracted{Text: text, SaidBy: saidBy, Indices: slices.Clone(x.Indices)}, true
}

// claims returns the words of a text in lower case: all of them, or those alone that name somebody or something, or hold a digit.
func claims(text string, alone bool) (out []string) {
	first := true
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"“”„«»()[]{}<>;!?", r) })
	for _, w := range words {
		begins := first
		first = strings.HasSuffix(w, ".") || strings.HasSuffix(w, ":")
		w = strings.TrimSuffix(strings.Trim(strings.ReplaceAll(w, "’", "'"), "'.,:"), "'s")
		if w == "" || alone && !claimsSomething(w, begins) {
			continue
		}
		out = append(out, strings.ToLower(w))
		if !alone { // a name may be part of what a message joins
			out = append(out, strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return strings.ContainsRune("/-_.,:@'", r) })...)
		}
	}
	return out
}

// plainBeginnings are words that facts begin with and that name nobody.
var plainBeginnings = strings.Fields("the user users their they a an his her he she it its this that i my our we in on at for from when if no not never always " +
	"all every each as to there prefers likes loves wants uses lives works has is was")

// claimsSomething says whether a word names somebody or something, or holds a digit or a sign that joins identifiers.
func claimsSomething(w string, begins bool) bool {
	if strings.IndexFunc(w, unicode.IsDigit) >= 0 || strings.ContainsAny(w, "_@/\\#") || strings.Contains(w, ".") {
		return true
	}
	r, size := utf8.DecodeRuneInString(w)
	if !unicode.IsUpper(r) {
		return strings.IndexFunc(w[size:], unicode.IsUpper) >= 0
	}
	return !slices.Contains(plainBeginnings, strings.ToLower(w)) || !begins && w != "I"
}
