package citations

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

func TestSourceType_ByNameThenByLook(t *testing.T) {
	results := `{"items": [{"title": "a", "url": "https://a.b", "snippet": "c"}]}`
	for _, c := range []struct {
		tool    string
		content string
		want    string
	}{
		{"web_search", "", "search"}, {"WebSearch", "", "search"}, {"google-custom-search", "", "search"}, {"run_sql", "", "database"}, {"queryDatabase", "", "database"},
		{"db.query", "", "database"}, {"fetch_url", "", "web"}, {"WebPageContent", "", "web"}, {"browse", "", "web"}, {"HTTPGet", "", "tool"}, {"http_get", "", "web"}, {"read", "", "storage"}, {"ReadFile", "", "storage"},
		{"s3_get", "", "storage"}, {"get_user", "plain", "tool"}, {"research", "", "tool"}, {"spread", "", "tool"}, {"profile", "", "tool"}, {"", "<html><p>x</html>", "web"}, {"lookup", results, "search"},
		{"lookup", `[{"name": "a"}]`, "tool"}, {"", "", "tool"}, {strings.Repeat("a_", 1<<20), "", "tool"},
	} {
		if got := SourceType(c.tool, content.KindOf("", c.content), c.content); got != c.want {
			t.Errorf("%.40q with %.20q is of type %s, want %s", c.tool, c.content, got, c.want)
		}
	}
}

func TestSourceURL(t *testing.T) {
	for name, c := range map[string]struct {
		content, arguments, want string
	}{
		"canonical":          {`<html><head><meta property="og:url" content="https://a.b/shared"><link rel="canonical" href="https://a.b/c?d=1&amp;e=2"></head>`, "", "https://a.b/c?d=1&e=2"},
		"shared":             {`<html><head><link rel="canonical" href="/c"><meta property="og:url" content="https://a.b/shared"></head>`, "", "https://a.b/shared"},
		"in the body":        {`<html><head></head><body><link rel="canonical" href="https://a.b/c"></body>`, `{"url": "https://a.b/d"}`, "https://a.b/d"},
		"member":             {`{"status": 200, "url": "https://a.b/c"}`, `{"url": "https://a.b/d"}`, "https://a.b/c"},
		"arguments":          {"plain text", `{"max": 1, "page_url": "http://a.b/d"}`, "http://a.b/d"},
		"other scheme":       {"plain text", `{"url": "file:///etc/passwd"}`, ""},
		"no page":            {`{"url": "ftp://a.b/c"}`, "", ""},
		"script":             {`{"url": "javascript:alert(1)"}`, "", ""},
		"relative":           {`{"url": "/c"}`, "", ""},
		"second best":        {`{"url": "/c", "link": "https://a.b/c"}`, "", "https://a.b/c"},
		"no string":          {`{"url": ["https://a.b/c"]}`, "", ""},
		"password":           {`{"url": "https://user:secret@a.b/c"}`, "", "https://a.b/c"},
		"control characters": {`{"url": "https://a.b/c\nd"}`, "", ""},
		"spaces":             {`{"url": "https://a.b/c d"}`, "", "https://a.b/c%20d"},
		"too long":           {`{"url": "https://a.b/` + strings.Repeat("c", maxURL) + `"}`, "", ""},
		"long":               {`{"url": "https://a.b/` + strings.Repeat("c", maxURL-12) + `"}`, "", "https://a.b/" + strings.Repeat("c", maxURL-12)},
		"no JSON":            {"plain text", "https://a.b/c", ""},
		"list":               {`[{"url": "https://a.b/c"}]`, "", ""},
		"nothing":            {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SourceURL(content.KindOf("", c.content), c.content, c.arguments); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}
