package content_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// noise is so many bytes without a pattern, behind a beginning.
func noise(begins string, n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	out := []byte(begins)
	for len(out) < n {
		out = append(out, byte(r.IntN(256)))
	}
	return string(out)
}

const pngBegins = "\x89PNG\r\n\x1a\n"

func lineOf(mime, data, recall string) string {
	return fmt.Sprintf("[Media: %s, %d bytes, sha256 %x%s]", mime, len(data), func() []byte { s := sha256.Sum256([]byte(data)); return s[:8] }(), recall)
}

func wrapped(s string, width int, end string) string {
	var lines []string
	for ; len(s) > width; s = s[width:] {
		lines = append(lines, s[:width])
	}
	return strings.Join(append(lines, s), end)
}

func TestWithoutBase64_Bytes_BecomeALine(t *testing.T) {
	png, jpeg, blob := noise(pngBegins, 6000), noise("\xff\xd8\xff\xe0", 3000), noise("\x01", 900)
	std, url := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	const recall = ". Full text: expand_message(7)"
	for _, c := range []struct{ name, text, want string }{
		{"a bare run", "see " + std([]byte(png)) + "\ndone", "see " + lineOf("image/png", png, recall) + "\ndone"},
		{"of no known type", std([]byte(blob)), lineOf("unknown type", blob, recall)},
		{"a data: URL", `<img src="data:image/png;base64,` + std([]byte(png)) + `">`, `<img src="` + lineOf("image/png", png, recall) + `">`},
		{"a data: URL of another type than it says", "(data:image/webp;base64," + std([]byte(png)) + ")", "(" + lineOf("image/png", png, recall) + ")"},
		{"a data: URL with parameters", "data:text/csv;charset=utf-8;base64," + std([]byte(blob)), lineOf("text/csv", blob, recall)},
		{"an image in JSON", `{"type":"image","data":"` + std([]byte(blob)) + `","mimeType":"image/png"}`, `{"type":"image","data":"` + lineOf("image/png", blob, recall) + `","mimeType":"image/png"}`},
		{"of zeros, declared", `{"mime_type": "image/png", "data": "` + std(make([]byte, 1500)) + `"}`, `{"mime_type": "image/png", "data": "` + lineOf("image/png", string(make([]byte, 1500)), recall) + `"}`},
		{"in a notebook", `{"image/jpeg": "` + std([]byte(blob)) + `\n"}`, `{"image/jpeg": "` + lineOf("image/jpeg", blob, recall) + `\n"}`},
		{"JSON in JSON", `"{\"data\":\"` + std([]byte(blob)) + `\",\"mimeType\":\"image\/jpg\"}"`, `"{\"data\":\"` + lineOf("image/jpeg", blob, recall) + `\",\"mimeType\":\"image\/jpg\"}"`},
		{"escaped slashes", `{"d":"` + strings.ReplaceAll(std([]byte(png)), "/", `\/`) + `"}`, `{"d":"` + lineOf("image/png", png, recall) + `"}`},
		{"a JPEG with escaped slashes", `{"d":"` + strings.ReplaceAll(std([]byte(jpeg)), "/", `\/`) + `"}`, `{"d":"` + lineOf("image/jpeg", jpeg, recall) + `"}`},
		{"behind a line of JSON", `{"out":"$ base64\n` + std([]byte(png)) + `\nx"}`, `{"out":"$ base64\n` + lineOf("image/png", png, recall) + `\nx"}`},
		{"behind an escape of JSON", `"\u003e` + std([]byte(png)) + `"`, `"\u003e` + lineOf("image/png", png, recall) + `"`},
		{"for URLs", "t=" + url([]byte(png)) + "&x", "t=" + lineOf("image/png", png, recall) + "&x"},
		{"in lines", "x\n" + wrapped(std([]byte(png)), 76, "\n") + "\nDone with it.", "x\n" + lineOf("image/png", png, recall) + "\nDone with it."},
		{"in lines of PEM", "-----BEGIN X-----\r\n" + wrapped(std([]byte(blob)), 64, "\r\n") + "\r\n-----END X-----", "-----BEGIN X-----\r\n" + lineOf("unknown type", blob, recall) + "\r\n-----END X-----"},
		{"words behind whole lines", wrapped(std([]byte(noise("", 57*20))), 76, "\n") + "\nDone with it.", lineOf("unknown type", noise("", 57*20), recall) + "\nDone with it."},
		{"in lines of JSON", `{"out":"` + wrapped(std([]byte(blob)), 76, `\n`) + `\n"}`, `{"out":"` + lineOf("unknown type", blob, recall) + `\n"}`},
		{"several", std([]byte(png)) + " " + std([]byte(blob)), lineOf("image/png", png, recall) + " " + lineOf("unknown type", blob, recall)},
		{"the type of the object's own", `[{"mimeType":"image/png","x":1},{"data":"` + std([]byte(blob)) + `"}]`, `[{"mimeType":"image/png","x":1},{"data":"` + lineOf("unknown type", blob, recall) + `"}]`},
	} {
		got, found := content.WithoutBase64(c.text, "expand_message(7)")
		if got != c.want || len(found) != strings.Count(c.want, "[Media: ") {
			t.Errorf("%s: %d found\n%.300q\nwant\n%.300q", c.name, len(found), got, c.want)
		}
		if again, _ := content.WithoutBase64(got, "expand_message(7)"); again != got {
			t.Errorf("%s: not the same again", c.name)
		}
	}
	if _, found := content.WithoutBase64("data:image/png;base64,"+std([]byte(png)), ""); len(found) != 1 || found[0].Data != png || found[0].Type != "image/png" {
		t.Error("what the run stood for is not its bytes")
	}
}

func TestWithoutBase64_Texts_Stay(t *testing.T) {
	random := noise("", 3000)
	std := base64.StdEncoding.EncodeToString
	for name, text := range map[string]string{
		"a short run":          std([]byte(random[:750])),
		"hexadecimal":          hex.EncodeToString([]byte(random)),
		"upper hexadecimal":    strings.ToUpper(hex.EncodeToString([]byte(random))),
		"a hex dump":           hex.Dump([]byte(random)),
		"digits":               strings.Repeat("3141592653", 300),
		"one letter":           strings.Repeat("A", 4000),
		"an identifier":        strings.Repeat("getTheUsersAccountByName", 200),
		"a sequence":           strings.Repeat("GATTACA", 600),
		"paths":                strings.Repeat("/usr/lib/Python3/distPackages/x86", 100),
		"a slug":               strings.Repeat("My-2nd-long-Slug-", 200),
		"minified code":        strings.Repeat(`function aB1(e){return e.x2?cD3(e.y4):null};var Z9=aB1(window);`, 100),
		"mappings of a source": strings.Repeat("AAAA,IAAM2C,CAAC;", 300),
		"words":                strings.Repeat("The quick brown Fox jumps over 13 lazy dogs. ", 200),
		"both alphabets":       strings.ReplaceAll(std([]byte(random)), "A", "-"),
		"no length of base64":  std([]byte(random[:2997])) + "a",
	} {
		if got, found := content.WithoutBase64(text, ""); got != text || len(found) > 0 {
			t.Errorf("%s became %.200q", name, got)
		}
	}
}

// TestWithoutBase64_Hostile_IsLinear: twice the text takes about twice the time.
func TestWithoutBase64_Hostile_IsLinear(t *testing.T) {
	testlane.Speed(t)
	line := wrapped(strings.Repeat("aB3", 2000), 76, "\n")
	for name, unit := range map[string]string{
		"almost runs": strings.Repeat("aB3", 333) + "!", "lines that end in words": line + " x\n", "data: URLs": "data:;base64,data:;base64,",
		"breaks": strings.Repeat("a", 60) + "\n", "escapes": `\/`, "lines of JSON": `a\n`, "braces": strings.Repeat("aB3", 334) + "{{{{",
	} {
		text := strings.Repeat(unit, 16<<20/len(unit))
		begun := time.Now()
		content.WithoutBase64(text, "")
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%s: 16 MiB took %v", name, took)
		}
	}
}

func FuzzWithoutBase64(f *testing.F) {
	png := base64.StdEncoding.EncodeToString([]byte(noise(pngBegins, 1200)))
	for _, seed := range []string{"", "data:image/png;base64," + png, `{"data":"` + strings.ReplaceAll(png, "/", `\/`) + `","mimeType":"x/y"}`, wrapped(png, 76, "\r\n") + "==", wrapped(png, 64, `\n`)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, found := content.WithoutBase64(text, "")
		if len(found) == 0 && out != text || len(out) > len(text) {
			t.Errorf("%d found, %d bytes became %d", len(found), len(text), len(out))
		}
		for i := range found {
			if len(found[i].Data) < content.MaxBase64*3/4 {
				t.Errorf("a run of %d bytes", len(found[i].Data))
			}
		}
	})
}

func BenchmarkWithoutBase64(b *testing.B) {
	png := base64.StdEncoding.EncodeToString([]byte(noise(pngBegins, 60_000)))
	for name, text := range map[string]string{"words": strings.Repeat("The quick brown Fox jumps over 13 lazy dogs.\n", 25_000), "a picture": `{"data":"` + png + `","mimeType":"image/png"}`} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				content.WithoutBase64(text, "")
			}
		})
	}
}
