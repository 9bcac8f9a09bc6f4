package proptest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const million = 1 << 20

// upTo repeats what next returns until there is a megabyte of it.
func upTo(next func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < million; i++ {
		b.WriteString(next(i))
	}
	return b.String()[:million]
}

// Megabytes are texts of one megabyte: of each kind, and the worst that was thought of.
func Megabytes() map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, 3+r.IntN(8))
		for i := range letters {
			letters[i] = byte('a' + r.IntN(26))
		}
		return string(letters)
	}
	records := upTo(func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"%s %s","status":"%s","amount":%d.5,"tags":["%s","x"]},`, i, word(), word(), "ok", i%977, word())
	})
	whole := records[:strings.LastIndex(records, "},")+1]
	return map[string]string{
		"JSON array":          "[" + whole + "]",
		"JSON lines":          strings.ReplaceAll(whole, "},{", "}\n{"),
		"JSON small values":   "[" + strings.Repeat("1,", million/2) + "1]",
		"JSON keys":           "{" + strings.TrimSuffix(upTo(func(i int) string { return fmt.Sprintf(`"k%07d":%08d,`, i, i) }), ",") + "}",
		"JSON broken at once": "[}" + records,
		"JSON broken off":     "[" + records,
		"JSON nested":         strings.Repeat("[", million/2) + strings.Repeat("]", million/2),
		"JSON objects nested": strings.Repeat(`{"a":`, million/6) + "1" + strings.Repeat("}", million/6),
		"JSON nested by 9000": strings.Repeat(`{"a":[`, 4500) + strings.Repeat("1,", million/2-16_000) + "1" + strings.Repeat("]}", 4500),
		"JSON errors":         "[" + strings.TrimSuffix(upTo(func(int) string { return fmt.Sprintf(`{"error":"%s failed"}`, word()) + "," }), ",") + "]",
		"brackets in text":    upTo(func(int) string { return `text {"a": [1, ` }),
		"log":                 upTo(func(i int) string { return fmt.Sprintf("2024-01-02 03:04:%02d INFO worker-%d did %d\n", i%60, i%9, i) }),
		"log without pattern": upTo(func(int) string {
			return word() + " " + word() + " failed " + word() + " " + word() + " " + word() + "\n"
		}),
		"short lines":      strings.Repeat("a\n", million/2),
		"one word":         strings.Repeat("a", million),
		"one line":         upTo(func(int) string { return word() + " " }),
		"one line of code": upTo(func(i int) string { return fmt.Sprintf("var %s=function(a){return %s(a,%d)};", word(), word(), i) }),
		"blank":            strings.Repeat(" \n", million/2-1) + "x",
		"escapes":          strings.Repeat("\x1b[31mx", million/6),
		"carriage returns": strings.Repeat("10%\r", million/4),
		"one cluster":      "e" + strings.Repeat("\u0301", million/2),
		"flags":            strings.Repeat("🇩🇪", million/8),
		"families":         strings.Repeat("👨‍👩‍👧 ", million/19),
		"Han":              strings.Repeat("系统日志显示连接被拒绝。", million/36),
		"no UTF-8":         strings.Repeat("\xff\xfe", million/2),
		"prose":            upTo(func(int) string { return "The " + word() + " " + word() + " of " + word() + " is " + word() + ". " }),
		"page": "<html><body>" + upTo(func(i int) string {
			return fmt.Sprintf("<h2>Part %d</h2><p>The %s of <a href=\"/x/%s\">it</a>.</p>", i, word(), word())
		}),
		"page of tags":       "<html>" + strings.Repeat("<div>", million/5),
		"page of tables":     "<html>" + strings.Repeat("<table><tr><td>x", million/16),
		"page unclosed":      "<html><a href=\"" + strings.Repeat("x", million),
		"page of brackets":   "<html>" + strings.Repeat("<", million),
		"page of attributes": "<html><a " + upTo(func(i int) string { return fmt.Sprintf("a%d=b ", i) }),
		"Markdown": upTo(func(i int) string {
			return fmt.Sprintf("\n## Part %d\n\n- The %s [link](https://example.com/%s)\n", i, word(), word())
		}),
		"Markdown fences":   "# a\n\n# b\n\n" + strings.Repeat("```\n", million/4),
		"code":              upTo(func(i int) string { return fmt.Sprintf("def f%d(%s):\n    return %s(%d)\n", i, word(), word(), i) }),
		"diff":              "--- a/x\n+++ b/x\n" + upTo(func(i int) string { return fmt.Sprintf("@@ -%d,1 +%d,1 @@\n-%s\n+%s\n", i, i, word(), word()) }),
		"search results":    upTo(func(i int) string { return fmt.Sprintf("src/%s.go:%d:return %s\n", word(), i, word()) }),
		"paths":             upTo(func(int) string { return "src/" + word() + "/" + word() + ".go\n" }),
		"separated values":  "id,name,amount\n" + upTo(func(i int) string { return fmt.Sprintf("%d,%s,%d\n", i, word(), i%97) }),
		"colons":            strings.Repeat("a/b:", million/4),
		"dashes and digits": strings.Repeat("a.b-1", million/5),
	}
}
