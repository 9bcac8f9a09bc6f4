package search

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// hostileTexts are texts that nothing is made for, each of about so many bytes.
func hostileTexts(size int) map[string]string {
	random := rand.New(rand.NewPCG(3, 4))
	fill := func(piece func() string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(piece())
		}
		return b.String()
	}
	letter := func() string { return string(rune('a' + random.IntN(26))) }
	return map[string]string{
		"one line without a space": fill(letter),
		"words of one letter":      fill(func() string { return letter() + " " }),
		"lines of one letter":      fill(func() string { return letter() + "\n" }),
		"punctuation":              fill(func() string { return string("!?.,;: \n"[random.IntN(8)]) }),
		"no UTF-8":                 fill(func() string { return string([]byte{byte(128 + random.IntN(128))}) }),
		"marks":                    fill(func() string { return "\u0301" }),
		"ever new words":           fill(func() string { return fmt.Sprintf("%x ", random.Uint32()) }),
		"humps":                    fill(func() string { return strings.ToUpper(letter()) + letter() }),
		"Chinese without an end":   fill(func() string { return string(rune(0x4E00 + random.IntN(5000))) }),
		"Thai without an end":      fill(func() string { return string(rune(0x0E01 + random.IntN(46))) }),
		"one word":                 fill(func() string { return "fee " }),
		"quotes":                   fill(func() string { return `"` }),
		"full stops":               fill(func() string { return ".) " }),
	}
}

func TestDocument_Hostile_TimeIsBounded(t *testing.T) {
	for name, text := range hostileTexts(5 << 20) {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			r := content.Read(content.KindText, text)
			read := time.Since(begun)
			begun = time.Now()
			d := NewDocument(r)
			prepared := time.Since(begun)
			begun = time.Now()
			s := NewSearch(NewQuery("a fee", text[len(text)/2:len(text)/2+400], `"`+text[100:120]+`"`), Options{})
			s.Add(0, d)
			n := len(s.Excerpts())
			t.Logf("read in %v, prepared in %v, %d excerpts in %v, size %.2f", read, prepared, n, time.Since(begun), float64(d.Size())/float64(len(text)))
			if all := prepared + time.Since(begun); all > testlane.Slack(5*time.Second) {
				t.Errorf("5 MB take %v", all)
			}
			if index := d.Size() - r.Size(); index > int64(len(text)) {
				t.Errorf("an index of %d bytes for %d", index, len(text))
			}
		})
	}
}

// heapOf returns how much more of the heap is in use after making something that is kept.
func heapOf[T any](made func() T) (kept T, size int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept = made()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return kept, int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func TestDocument_Size_IsWhatTheHeapHolds(t *testing.T) {
	texts := hostileTexts(2 << 20)
	texts["page"] = "<html><body>" + strings.Repeat("<p>The fee of the premium card is waived in the <b>first</b> year.</p>", 20000) + "</body></html>"
	texts["prose"] = strings.Repeat("The fee of the premium card is waived in the first year, and 12.50 after it. ", 20000)
	for name, text := range texts {
		kind := content.KindText
		if strings.HasPrefix(text, "<html>") {
			kind = content.KindHTML
		}
		d, held := heapOf(func() *Document { return NewDocument(content.Read(kind, text)) })
		if says := d.Size(); says-d.reading.Size() > int64(len(text)) || held > says+says/10+4096 {
			t.Errorf("%s: %d bytes are said, %d held, the text has %d", name, says, held, len(text))
		}
	}
}

func TestPrepare_SmallText_CostsNothing(t *testing.T) {
	if d := NewDocument(content.Read(content.KindText, strings.Repeat("a word ", 1000))); d.index != nil || d.Size() > 200 {
		t.Errorf("a small text has an index; %d bytes", d.Size())
	}
}
