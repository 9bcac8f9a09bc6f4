package extractive

import (
	"fmt"
	"slices"
	"strings"
)

// fault is a member of a JSON text that looks like the report of an error.
type fault struct {
	node  int32
	level severity
	// key is whether its key says so.
	key bool
	// form is what it has in common with others that differ in their variable parts.
	form  uint64
	worth float64
}

// faultShare is the part of an extract, in percent, that errors in a JSON text may take.
const faultShare = 50

// addFailures offers the members that report errors, the rarest first, with what tells their item apart.
func (r *jsonReader) addFailures() {
	faults := r.faults()
	room := r.target * faultShare / 100
	for k, f := range faults {
		label := r.path(f.node) + ": "
		text := r.raw(f.node) + r.owner(f.node)
		size := len(label) + min(len(text), r.target)
		if k > 0 && size > room {
			continue
		}
		room -= size
		r.pieces = append(r.pieces, piece{label: label, text: text, most: r.target * 7 / 10, order: -len(faults) + k, worth: worthError - float64(k)})
	}
}

// faults returns one fault of each form, those of the greatest worth first.
func (r *jsonReader) faults() []fault {
	all, count := r.allFaults()
	seen := map[uint64]bool{}
	var kept []fault
	for _, f := range all {
		if seen[f.form] || (count[f.form] > 3 && count[f.form]*20 > len(all)) && !f.key {
			continue
		}
		seen[f.form] = true
		f.worth = 4*rarity(count[f.form], len(r.doc.nodes)) + float64(f.level) - float64(r.doc.nodes[f.node].end-r.doc.nodes[f.node].start)/300
		if f.key {
			f.worth += 2
		}
		kept = append(kept, f)
	}
	slices.SortStableFunc(kept, func(a, b fault) int { return compareFloat(b.worth, a.worth) })
	return kept[:min(len(kept), 4+r.target/60)]
}

// allFaults returns every fault in order, and how many have each form.
func (r *jsonReader) allFaults() (all []fault, count map[uint64]int) {
	count = map[uint64]int{}
	var words []uint64
	for i := range r.doc.nodes {
		f, ok := r.faultAt(int32(i))
		if !ok {
			continue
		}
		words = maskedWords(words[:0], clipBytes(r.raw(int32(i)), 2000))
		f.form = combine(append(words, maskedHash(r.doc.key(int32(i))+"=")))
		count[f.form]++
		all = append(all, f)
	}
	return all, count
}

// clipBytes returns at most the first n bytes, for hashing only: a character may be cut.
func clipBytes(s string, n int) string {
	return s[:min(len(s), n)]
}

// faultAt says whether a scalar reports an error: by its words, or by its key and not being empty.
func (r *jsonReader) faultAt(i int32) (fault, bool) {
	n := &r.doc.nodes[i]
	if n.kind == '{' || n.kind == '[' || n.kind == 'n' {
		return fault{}, false
	}
	key, raw := r.doc.key(i), r.doc.text[n.start:n.end]
	level := ordinary
	if n.kind == '"' {
		level = severityOf(raw)
	}
	byKey := failingKey(key, raw) || (n.kind == '"' && n.parent != none && failingKey(r.doc.key(n.parent), raw))
	return fault{node: i, level: level, key: byKey}, level >= failing || byKey
}

// failingKey says whether a key and its value report an error: "error": "…", "success": false, "exit_code": 2.
func failingKey(key, raw string) bool {
	k := strings.ToLower(clipBytes(key, 24))
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

// owner says what tells the object apart that a fault stands in.
func (r *jsonReader) owner(i int32) string {
	best, bestWorth := none, 4.5
	parent := r.doc.nodes[i].parent
	if parent == none {
		return ""
	}
	for c := r.doc.nodes[parent].first; c != none; c = r.doc.nodes[c].next {
		n := &r.doc.nodes[c]
		if w := keyWorth(r.doc.key(c)); c != i && (n.kind == '"' || n.kind == 0) && n.end-n.start < 60 && w > bestWorth {
			best, bestWorth = c, w
		}
	}
	if best == none {
		return ""
	}
	return fmt.Sprintf(" (%s %s)", r.doc.key(best), r.raw(best))
}
