package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// errorMember is a member of a JSON text that looks like an error report.
type errorMember struct {
	node  int32
	level facts.Severity
	// byKey is true if its key says so.
	byKey bool
	// formHash identifies its form without variable parts.
	formHash uint64
	worth    float64
}

// errorShare is the percentage of an extract for errors in a JSON text.
const errorShare = 50

// addErrorMembers offers the members that report errors, the rarest first, with what identifies their item.
func (r *jsonReader) addErrorMembers() {
	faults := r.errorMembers()
	room := r.target * errorShare / 100
	for k, f := range faults {
		label := r.path(f.node) + ": "
		text := r.raw(f.node) + r.identifyingMember(f.node)
		size := len(label) + min(len(text), r.target)
		if k > 0 && size > room {
			continue
		}
		room -= size
		r.entries = append(r.entries, choice.Entry{Label: label, Text: text, MaxChars: r.target * 7 / 10, Order: -len(faults) + k, Score: worthError - float64(k)})
	}
}

// errorMembers returns one member for each form of error, those with the highest scores first.
func (r *jsonReader) errorMembers() []errorMember {
	all, count := r.allErrorMembers()
	seen := map[uint64]bool{}
	var kept []errorMember
	for _, f := range all {
		if seen[f.formHash] || (count[f.formHash] > 3 && count[f.formHash]*20 > len(all)) && !f.byKey {
			continue
		}
		seen[f.formHash] = true
		f.worth = 4*rarity(count[f.formHash], len(r.doc.Nodes)) + float64(f.level) - float64(r.doc.Nodes[f.node].End-r.doc.Nodes[f.node].Start)/300
		if f.byKey {
			f.worth += 2
		}
		kept = append(kept, f)
	}
	slices.SortStableFunc(kept, func(a, b errorMember) int { return cmp.Compare(b.worth, a.worth) })
	return kept[:min(len(kept), 4+r.target/60)]
}

// allErrorMembers returns all members that report errors in order, and the count of each form.
func (r *jsonReader) allErrorMembers() (all []errorMember, count map[uint64]int) {
	count = map[uint64]int{}
	var words []uint64
	for i := range r.doc.Nodes {
		f, ok := r.errorMemberAt(int32(i))
		if !ok {
			continue
		}
		raw := r.raw(int32(i))
		words = maskedWords(words[:0], raw[:min(len(raw), 2000)])
		f.formHash = hashWords(append(words, maskedHash(r.doc.Key(int32(i))+"=")))
		count[f.formHash]++
		all = append(all, f)
	}
	return all, count
}

// errorMemberAt reports whether a scalar reports an error: by its words, or by its key if it is not empty.
func (r *jsonReader) errorMemberAt(i int32) (errorMember, bool) {
	n := &r.doc.Nodes[i]
	if n.Kind == '{' || n.Kind == '[' || n.Kind == 'n' {
		return errorMember{}, false
	}
	key, raw := r.doc.Key(i), r.doc.Text[n.Start:n.End]
	level := facts.Ordinary
	if n.Kind == '"' {
		level = facts.SeverityOf(raw)
	}
	byKey := failingKey(key, raw) || (n.Kind == '"' && n.Parent != content.NoNode && failingKey(r.doc.Key(n.Parent), raw))
	return errorMember{node: i, level: level, byKey: byKey}, level >= facts.Failing || byKey
}

// failingKey reports whether a key and its value report an error: "error": "…", "success": false, "exit_code": 2.
func failingKey(key, raw string) bool {
	k := strings.ToLower(key[:min(len(key), 24)])
	switch k {
	case "error", "errors", "err", "exception", "traceback", "failure", "error_message", "errormessage", "error_code", "errorcode",
		"failure_reason", "iserror", "is_error", "failed", "stderr":
		return raw != `""` && raw != "false" && raw != "0"
	case "success", "ok", "succeeded", "passed":
		return raw == "false"
	case "exit_code", "exitcode", "returncode", "return_code":
		return raw != "0" && raw != `"0"`
	}
	return false
}

// identifyingMember returns what identifies the object that contains an error.
func (r *jsonReader) identifyingMember(i int32) string {
	best, bestWorth := content.NoNode, 4.5
	parent := r.doc.Nodes[i].Parent
	if parent == content.NoNode {
		return ""
	}
	for c := r.doc.Nodes[parent].First; c != content.NoNode; c = r.doc.Nodes[c].Next {
		n := &r.doc.Nodes[c]
		if w := keyWorth(r.doc.Key(c)); c != i && (n.Kind == '"' || n.Kind == 0) && n.End-n.Start < 60 && w > bestWorth {
			best, bestWorth = c, w
		}
	}
	if best == content.NoNode {
		return ""
	}
	return fmt.Sprintf(" (%s %s)", r.doc.Key(best), r.raw(best))
}
