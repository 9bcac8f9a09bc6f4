package content_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// picture is bytes that begin as a PNG does.
func picture(n int) []byte {
	out := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, n)...)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 8; i < len(out); i++ {
		out[i] = byte(r.Uint32())
	}
	return out
}

func broken(s string, at int, by string) string {
	var lines []string
	for ; len(s) > at; s = s[at:] {
		lines = append(lines, s[:at])
	}
	return strings.Join(append(lines, s), by)
}

func TestFindBase64_InAnyWriting_IsFoundWhole(t *testing.T) {
	data := picture(3001)
	std, url := base64.StdEncoding.EncodeToString(data), base64.URLEncoding.EncodeToString(data)
	for name, c := range map[string]struct{ before, run, after, mime string }{
		"alone":         {"", std, "", ""},
		"unpadded":      {"x: ", strings.TrimRight(std, "="), " done", ""},
		"url-safe":      {`{"data":"`, url, `","n":1}`, ""},
		"data URL":      {`<img src="`, "data:image/png;charset=x;base64," + std, `">`, "image/png"},
		"PHP's slashes": {`{"data":"`, strings.ReplaceAll(std, "/", `\/`), `"}`, ""},
		"lines":         {"begin\n", broken(std, 76, "\n"), "\nend of it", ""},
		"PEM's lines":   {"-----BEGIN X-----\n", broken(std, 64, "\r\n"), "\r\n-----END X-----\n", ""},
		"lines in JSON": {`{"data":"`, broken(std, 76, `\n`), `\n","b":1}`, ""},
	} {
		text := c.before + c.run + c.after
		found := content.FindBase64(text)
		if len(found) != 1 || text[found[0].Start:found[0].End] != c.run || found[0].MIMEType != c.mime || !bytes.Equal(found[0].Data, data) {
			t.Errorf("%s: %d runs, %+.60v", name, len(found), found)
			continue
		}
		if line := found[0].Line(" x"); !json.Valid([]byte(`"` + line + `"`)) {
			t.Errorf("%s: %s cannot stand in JSON", name, line)
		}
	}
	if two := content.FindBase64(std + " and " + std); len(two) != 2 {
		t.Errorf("%d runs of two", len(two))
	}
}

func TestFindBase64_WhatIsText_Stays(t *testing.T) {
	data := picture(3001)
	digests := ""
	for range 100 {
		digests += hex.EncodeToString(data[:32]) + "\n"
	}
	for name, text := range map[string]string{
		"short":             base64.StdEncoding.EncodeToString(data[:750]),
		"hexadecimal":       hex.EncodeToString(data),
		"digests":           digests,
		"one letter":        strings.Repeat("x", 5000),
		"words":             strings.Repeat("The quick brown fox jumps over 13 lazy dogs. ", 100),
		"names in lines":    strings.Repeat("SomeVeryLongClassNameOfAFactoryOfFactories42\n", 100),
		"paths":             strings.Repeat("/Srv/a-b_c/d1+", 200),
		"words in one":      "ABC123" + strings.Repeat("word", 1000),
		"minified":          strings.Repeat("function(a,b){return A1[b]+c}", 100),
		"impossible length": "aA1" + strings.Repeat("b", 998) + strings.Repeat("c", 4*10),
	} {
		if found := content.FindBase64(text); len(found) > 0 {
			t.Errorf("%s: %+.100v", name, found)
		}
	}
}

// TestFindBase64_Hostile_IsLinear: a text twice as long takes about twice as long, whatever it breaks off at.
func TestFindBase64_Hostile_IsLinear(t *testing.T) {
	for name, piece := range map[string]string{
		"lines that do not go on": strings.Repeat("A", 70) + "\n" + strings.Repeat("b1", 30) + " \n", "slashes": `\/`, "breaks": "A\\n", "URLs": "data:;base64,A",
	} {
		text := strings.Repeat(piece, 4<<20/len(piece))
		begin := time.Now()
		content.FindBase64(text)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: %v for 4 MiB", name, took)
		}
	}
}
