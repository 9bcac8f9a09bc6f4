package embedded

import (
	"slices"
	"strings"
	"unicode"
)

// statement is what a fact says, as far as it can be told without a model. Two facts contradict each other if
//
//   - they are the same words but for a negation: "I eat meat", "I never eat meat";
//   - they say of the same subject that it is something else, and the subject has one value at a time, such as a name or a deadline, or
//     the two values are of one kind: figures with the same words around them, days, dates;
//   - they are of those that replace each other: where somebody lives, works, what they are called;
//   - one prefers to something else what the other prefers less.
//
// Anything else is no contradiction: two facts that differ may both hold.
type statement struct {
	words   string // equal for facts that say the same
	plain   string // without negations
	negated bool
	content int // words of plain that are no function words of the grammar below
	subject string
	value   string
	kind    string   // the value with its figures and dates made alike; empty without any
	single  bool     // the subject has one value at a time
	better  string   // what is preferred
	worse   []string // to what
}

func newStatement(text string) *statement {
	words := wordsOf(text)
	s := &statement{words: strings.Join(words, " ")}
	var plain []string
	for _, w := range firstPerson(words) {
		if slices.Contains(negations, w) {
			s.negated = true
			continue
		}
		if !slices.Contains(fillers, w) {
			plain = append(plain, w)
		}
	}
	s.plain = strings.Join(plain, " ")
	for _, w := range plain {
		if !slices.Contains(grammar, w) {
			s.content++
		}
	}
	if !s.negated {
		s.readPreference(plain)
		s.readValue(plain)
	}
	return s
}

var (
	negations = strings.Fields("not don't dont doesn't doesnt didn't isn't aren't never no longer can't cannot won't without")
	fillers   = strings.Fields("do does now actually currently really also just still always anymore today please well so and but oh hi hello yes")
	grammar   = strings.Fields("i my a an the is are am was be to of in at on for with we our it this that me you your use have has")
	articles  = strings.Fields("my our the a an")
	copulas   = strings.Fields("is are was were be becomes became =")
	pronouns  = strings.Fields("it this that these those he she they there here i we you what who which one everything something nothing all")
	// singular name what has one value at a time.
	singular = strings.Fields("name surname nickname deadline address email mail phone birthday birthdate age job employer profession title role " +
		"budget timezone zone language hometown city country manager boss supervisor username account plan version size weight height price location " +
		"salary currency date time number limit status password pronouns")
	favorites = strings.Fields("favorite favourite preferred default current")
	// replacing begin statements that replace each other. They are compared without their articles.
	replacing = map[string]string{
		"i live in": "live", "i moved to": "live", "i have moved to": "live", "i work at": "work", "i work for": "work", "call me": "name",
		"i am called": "name", "my name is": "name", "i work as": "work as",
	}
	instead = []string{" over ", " rather than ", " instead of ", " to "}
	days    = strings.Fields("monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september " +
		"october november december jan feb mar apr jun jul aug sep sept oct nov dec tomorrow noon midnight am pm")
)

// wordsOf returns the words of a text in lower case, with what joins figures, addresses and names in them.
func wordsOf(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("'.,:/-_@+#%$€£=&", r)
	})
	out := words[:0]
	for _, w := range words {
		if w = strings.Trim(w, "'.,:/-"); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// firstPerson returns words as the user would say them: a model writes of the user in the third person. Contracted verbs are written out.
func firstPerson(words []string) []string {
	var out []string
	for i, w := range words {
		switch {
		case w == "the" && i+1 < len(words) && strings.HasPrefix(words[i+1], "user"):
		case w == "user's" || w == "users'":
			out = append(out, "my")
		case w == "user":
			out = append(out, "i")
		case i > 0 && words[i-1] == "user" && w == "is":
			out = append(out, "am")
		case i > 0 && words[i-1] == "user" && strings.HasSuffix(w, "s") && w != "was" && w != "has":
			out = append(out, strings.TrimSuffix(w, "s"))
		case w == "i'm":
			out = append(out, "i", "am")
		case w == "i've":
			out = append(out, "i", "have")
		case strings.HasSuffix(w, "'s") && slices.Contains(singular, strings.TrimSuffix(w, "'s")):
			out = append(out, strings.TrimSuffix(w, "'s"), "is")
		default:
			out = append(out, w)
		}
	}
	return out
}

// readPreference reads "I prefer this over that".
func (s *statement) readPreference(words []string) {
	text := strings.Join(words, " ")
	_, rest, ok := strings.Cut(text, "i prefer ")
	if !ok {
		return
	}
	for _, word := range instead {
		if better, worse, ok := strings.Cut(rest, word); ok {
			s.better = strings.TrimSpace(better)
			for _, w := range strings.Split(worse, " or ") {
				s.worse = append(s.worse, strings.TrimSpace(w))
			}
			return
		}
	}
}

// readValue reads "my name is Ann": a subject, and what it is.
func (s *statement) readValue(words []string) {
	text := strings.Join(words, " ")
	for begin, subject := range replacing {
		if rest, ok := strings.CutPrefix(text, begin+" "); ok {
			s.subject, s.value, s.single = "i "+subject, rest, true
			return
		}
	}
	at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(copulas, w) })
	if at < 1 || at == len(words)-1 {
		return
	}
	subject, value := words[:at], words[at+1:]
	if n := len(subject); n > 1 && subject[n-1] == "will" {
		subject = subject[:n-1]
	}
	if slices.Contains(articles, subject[0]) {
		subject = subject[1:]
	}
	const longest = 8
	if len(subject) == 0 || len(subject) > longest || slices.Contains(pronouns, subject[0]) {
		return
	}
	s.subject, s.value = strings.Join(subject, " "), strings.Join(value, " ")
	s.single = slices.Contains(favorites, subject[0]) || slices.Contains(singular, headOf(subject))
	s.kind = kindOf(value)
}

// headOf is the word that says what a subject is: the last one before what it is of.
func headOf(subject []string) string {
	for i, w := range subject {
		if i > 0 && (w == "of" || w == "for" || w == "in" || w == "at") {
			return subject[i-1]
		}
	}
	return subject[len(subject)-1]
}

// kindOf returns a value with its figures, days and months made alike; empty if it has none.
func kindOf(value []string) string {
	var out []string
	some := false
	for _, w := range value {
		if strings.ContainsAny(w, "0123456789") || slices.Contains(days, w) {
			some = true
			if len(out) == 0 || out[len(out)-1] != "#" {
				out = append(out, "#")
			}
			continue
		}
		out = append(out, w)
	}
	if !some {
		return ""
	}
	return strings.Join(out, " ")
}

// contradicts says whether both statements cannot hold.
func (s *statement) contradicts(o *statement) bool {
	switch {
	case s.words == o.words:
		return false
	case s.negated != o.negated:
		return s.plain == o.plain && s.content >= 1
	case s.better != "" && o.better != "":
		return slices.Contains(s.worse, o.better) || slices.Contains(o.worse, s.better)
	case s.subject == "" || s.subject != o.subject || s.value == o.value:
		return false
	default:
		return s.single && o.single || s.kind != "" && s.kind == o.kind
	}
}
