package property

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// repeat adds stretches of one text, which others have too, to what a message gives back.
func (g *generator) repeat(m *conversation.Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		text := &p.Text
		if r := p.Result; r != nil {
			text = &r.Text
		}
		if !givesBack(m, p) {
			continue
		}
		for range rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(g.t, "stretches") {
			first := rapid.IntRange(0, 15).Draw(g.t, "first line")
			for n := first; n < first+rapid.SampledFrom([]int{1, 3, 8, 30}).Draw(g.t, "lines"); n++ {
				text.Inline += fmt.Sprintf("\nline %d of a file that is read again", n%20)
			}
			text.Inline += "\n" + g.mark()
		}
	}
}

// givesBack says whether a part is what a tool or an action gave back, in one text.
func givesBack(m *conversation.Message, p *conversation.Part) bool {
	acted := m.Type == conversation.TypeActionResult || m.Type == conversation.TypeSubAgentResult
	return p.Kind == conversation.PartToolResult && p.Result.Output == conversation.OutputText ||
		p.Kind == conversation.PartText && acted && m.Role == conversation.RoleUser
}

// deduplicated demands of what a build deduplicates that it may, that nobody had seen it, and that it weighs less.
func (a *journal) deduplicated(ed *conversation.Edit) {
	e := a.record[ed.Range.First]
	if on := a.policy.Deduplication.On; on == nil || !*on || !a.own || e.index < a.seenBy || e.pinned || e.leading {
		a.t.Fatalf("message %d is deduplicated: seen up to %d, own budget %t", e.index, a.seenBy, a.own)
	}
	for i := range ed.Parts {
		p := &ed.Parts[i]
		_, otherwise := e.shown[p.Part] // other parts of the message may be cited
		if !givesBack(&e.message, &e.message.Parts[p.Part]) || p.Level != conversation.Shortened || len(p.Copies) == 0 || otherwise ||
			tokensOf(&p.Shown) >= tokensOf(&e.message.Parts[p.Part]) {
			a.t.Fatalf("part %d of message %d is deduplicated: %+v", p.Part, e.index, p)
		}
	}
}

// cameBack demands that something was there to come back.
func (a *journal) cameBack(ed *conversation.Edit) {
	for _, f := range a.record[ed.Range.First].shown {
		if f.copies {
			return
		}
	}
	a.t.Fatalf("message %d comes back, and names no copies", ed.Range.First)
}

var named = regexp.MustCompile(`^\[(\d+) lines as in message (\d+)(?:, part (\d+))?, lines (\d+)-(\d+): .*\. Full text: expand_message\((\d+)\)\]$`)

// copies demands that what a line names stands in the same context, line for line, and that with these lines put back a text is what was
// appended.
func (v *seen) copies() {
	for index, texts := range v.texts {
		for _, text := range texts {
			lines, names := strings.Split(text, "\n"), false
			for i, line := range lines {
				n := named.FindStringSubmatch(line)
				if n == nil {
					continue
				}
				names, lines[i] = true, v.copied(n)
			}
			whole := strings.Join(lines, "\n")
			if names && !slices.ContainsFunc(v.record[index].message.Parts, func(p conversation.Part) bool { return oneText(&p) == whole }) {
				v.t.Fatalf("message %d shows\n%s\nwhich with its lines put back is\n%s", index, text, whole)
			}
		}
	}
}

// copied are the lines that a line names, which their message must show.
func (v *seen) copied(n []string) string {
	number := make([]int, len(n))
	for i := range n {
		number[i], _ = strconv.Atoi(n[i])
	}
	of := v.record[number[2]]
	part := &of.message.Parts[max(0, number[3]-1)]
	lines := strings.Split(oneText(part), "\n")[number[4]-1 : number[5]]
	text := strings.Join(lines, "\n")
	shown := slices.ContainsFunc(v.texts[of.index], func(s string) bool { return strings.Contains("\n"+s+"\n", "\n"+text+"\n") })
	if len(lines) != number[1] || !shown || !v.bytesHold(lines) {
		v.t.Fatalf("%s\nnames what message %d does not show:\n%s", n[0], of.index, strings.Join(v.texts[of.index], "\n--\n"))
	}
	return text
}

// bytesHold says whether lines stand in what was sent, as JSON writes them.
func (v *seen) bytesHold(lines []string) bool {
	quoted := strconv.Quote(strings.Join(lines, "\n")) // what is drawn has nothing that JSON writes in another way
	return strings.Contains(string(v.build.shown), quoted[1:len(quoted)-1])
}

func oneText(p *conversation.Part) string {
	if p.Result != nil {
		return p.Result.Text.Inline
	}
	return p.Text.Inline
}
