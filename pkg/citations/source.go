package citations

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// The types of sources.
const (
	sourceWeb      = "web"
	sourceDatabase = "database"
	sourceStorage  = "storage"
	sourceSearch   = "search"
	sourceTool     = "tool"
)

// SourceType guesses where a tool result came from, by the words in the tool's name, or else by the form of the result.
func SourceType(tool string, kind content.Kind, text string) string {
	words := content.NameWords(content.Head(tool, maxName))
	for _, known := range []struct {
		source string
		words  []string
	}{
		{sourceSearch, []string{"search", "google", "bing"}},
		{sourceDatabase, []string{"sql", "query", "database", "db", "table", "records"}},
		{sourceWeb, []string{"fetch", "browse", "browser", "web", "webpage", "page", "url", "http", "https", "crawl", "scrape"}},
		{sourceStorage, []string{"read", "file", "files", "s3", "storage", "bucket", "blob"}},
	} {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(known.words, w) }) {
			return known.source
		}
	}
	switch {
	case kind == content.KindHTML:
		return sourceWeb
	case kind == content.KindJSON && looksLikeSearchResults(text):
		return sourceSearch
	default:
		return sourceTool
	}
}

// sourceHead is how much of a content is searched for its own URL, in bytes.
const sourceHead = 256 << 10

// maxName is how much of a tool's name is read, in bytes.
const maxName = 256

// looksLikeSearchResults reports whether a JSON document contains search results.
func looksLikeSearchResults(text string) bool {
	root := readTree(content.Head(text, sourceHead))
	if root == nil {
		return false
	}
	return slices.ContainsFunc(append([]*jsonValue{root}, root.members...), func(v *jsonValue) bool { return v.isArray() && len(v.searchResults()) > 0 })
}

// maxURL is how long a URL may be, in bytes.
const maxURL = 2048

// SourceURL returns where a content came from: as it says itself (a canonical link, a url member), or as the call's JSON arguments say;
// empty if neither does. It is an absolute http or https URL of at most 2,048 bytes, without user name and password.
func SourceURL(kind content.Kind, text, arguments string) string {
	own := ""
	switch kind {
	case content.KindHTML:
		own = pageURL(text)
	case content.KindJSON:
		own = memberURL(text)
	}
	if own == "" {
		own = memberURL(arguments)
	}
	return own
}

// memberURL returns a URL that an object has as a member.
func memberURL(text string) string {
	root := readTree(content.Head(text, sourceHead))
	if root == nil || !root.isObject() {
		return ""
	}
	for _, name := range []string{"url", "source_url", "sourceUrl", "page_url", "uri", "link", "href"} {
		if m := root.member(name); m != nil && m.isString() && len(m.text) <= 6*maxURL {
			var link string
			if json.Unmarshal([]byte(m.text), &link) == nil {
				if link = cleanURL(link); link != "" {
					return link
				}
			}
		}
	}
	return ""
}

// cleanURL returns a URL if it is http or https, and empty otherwise.
func cleanURL(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.User = nil
	if link = u.String(); len(link) <= maxURL {
		return link
	}
	return ""
}

// pageURL returns the canonical link of a page, or else the one that it offers for sharing.
func pageURL(text string) string {
	z := html.NewTokenizer(strings.NewReader(content.Head(text, sourceHead)))
	shared := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return shared
		case html.StartTagToken, html.SelfClosingTagToken:
			switch t := z.Token(); {
			case t.DataAtom == atom.Body:
				return shared
			case t.DataAtom == atom.Link && strings.EqualFold(attribute(t, "rel"), "canonical"):
				if link := cleanURL(attribute(t, "href")); link != "" {
					return link
				}
			case t.DataAtom == atom.Meta && strings.EqualFold(attribute(t, "property"), "og:url"):
				shared = cleanURL(attribute(t, "content"))
			}
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
