package proptest

import (
	"strings"

	"pgregory.net/rapid"
)

// JSON are documents of any shape, some of them with strings that are larger than a step of an outline, and some no JSON.
func JSON() *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n  ", "\t\r\n"})
	scalar := rapid.SampledFrom([]string{
		`1`, `0`, `-0.5e+3`, `12E1`, `true`, `false`, `null`, `""`, `"a b"`, `"\"]\\"`, `"é\u00e9\n"`, `"` + strings.Repeat("long ", 200) + `"`,
		`"` + strings.Repeat("[,\\\"", (32<<10)/4) + `"`,
	})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if depth == 0 || kind < 2 && depth < 3 {
				return scalar.Draw(t, "scalar")
			}
			var b strings.Builder
			array := kind%2 == 0
			n := rapid.SampledFrom([]int{0, 1, 2, 3, 5, 40}).Draw(t, "members")
			if depth < 3 {
				n = min(n, 5)
			}
			b.WriteByte("{["[kind%2^1])
			for i := range n {
				if i > 0 {
					b.WriteString(space.Draw(t, "space") + ",")
				}
				b.WriteString(space.Draw(t, "space"))
				if !array {
					b.WriteString(rapid.SampledFrom([]string{`"a"`, `"key"`, `"a/b~c"`, `"\u0041\""`, `"名"`}).Draw(t, "key") + space.Draw(t, "space") + ":" + space.Draw(t, "space"))
				}
				b.WriteString(value(depth-1).Draw(t, "value"))
			}
			b.WriteString(space.Draw(t, "space"))
			b.WriteByte("}]"[kind%2^1])
			return b.String()
		})
	}
	return rapid.Custom(func(t *rapid.T) string {
		text := space.Draw(t, "before") + value(3).Draw(t, "document") + space.Draw(t, "after")
		if rapid.IntRange(0, 5).Draw(t, "break") == 0 && text != "" {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "where")
			text = text[:at] + rapid.SampledFrom([]string{"", ",", "]", "}", `"`, "x", "1", "\\", "\x01", "."}).Draw(t, "with") + text[at+1:]
		}
		return text
	})
}

// Page are texts of tags, references and words in any order.
func Page() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
		"<p>", "</p>", "<b>", "</b>", "<td>", "<tr>", "<table>", "<h1>", "</h1>", "<h2 class=x>", "</h2>", "<pre>", "</pre>", "<script>", "</script>", "<br/>", "<svg>", "</svg>",
		"<title>", "</title>", "<main>", "<article>", "<!-- c -->", "<!-", "&amp;", "&lt;", "&nbsp", "&notit;", "&#x4e2d;", "&#65", "&semi;", "&bogus;", "&", "<", " ", "\n", "  \n ", "Word",
		"a", "中文", "é", "\x00", "\xff", "x&y", "long words here ", "<textarea>", "</textarea>", "<li>", "\f",
	})), func(parts []string) string { return strings.Join(parts, "") })
}
