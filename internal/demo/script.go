package demo

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
)

// step is one answer of the agent: what it says, and what it asks of its tools. The words are written in advance; what the tools
// answer is not.
type step struct {
	says  string
	calls []call
	keep  call                                // the call whose result is put back into the view in full
	then  func(*agent, context.Context) error // what people do when the agent has spoken, before the next question
	next  string                              // the user's next question, if this answers one
}

func says(words string, calls ...call) step { return step{says: words, calls: calls} }

// fleeting steps only look around: their words need not stay longer than what they found.
func (s *step) fleeting() bool {
	return len(s.calls) > 0 && !slices.ContainsFunc(s.calls, func(c call) bool { return c.Tool != "list" })
}

const systemPrompt = "You are a research agent. Explore the sources with your tools and answer with file and line. " +
	"Never guess: what you have not read you do not know. Never change a file."

const firstQuestion = "How does Go's HTTP client reuse connections, what limits the reuse, and when does it fail? " +
	"Cite file and line. You must not rely on what you remember of older releases."

// goScript explores Go's own tree.
func goScript() []step {
	const http, ssa = "src/net/http", "src/cmd/compile/internal/ssa"
	limits := search("MaxIdleConnsPerHost", http)
	return []step{
		says("First the lie of the land.", list("."), list("src")),
		says("The client lives in net/http.", list(http), doc("net/http")),
		says("Transport is the type that keeps connections.", doc("net/http.Transport")),
		says("Its source, whole.", read(http+"/transport.go")),
		says("Where idle connections are kept.", search("idleConn", http)),
		says("What limits them: three settings at once.", limits, search("IdleConnTimeout", http), search("MaxConnsPerHost", http)),
		says("The struct itself.", excerpt(http+"/transport.go", 90, 70)),
		says("Perhaps the pool has a file of its own.", read(http+"/connpool.go")),
		says("It has not. All methods of Transport, then.", search("func (t *Transport)", http)),
		says("How a connection goes back to the pool.", search("tryPutIdleConn", http), excerpt(http+"/transport.go", 1000, 140)),
		says("The client on top of it.", read(http+"/client.go")),
		says("And how bodies are transferred.", read(http+"/transfer.go")),
		{says: "Idle connections wait in Transport.idleConn, keyed by proxy, scheme and address (transport.go). MaxIdleConns, " +
			"MaxIdleConnsPerHost, MaxConnsPerHost and IdleConnTimeout limit them. Reuse fails when the body is not read to its end " +
			"and closed, or when the server closed the idle connection first.",
			next: "And what does HTTP/2 change? Is it the same pool?"},
		says("HTTP/2 is bundled into one file. All of it.", read(http+"/h2_bundle.go")),
		says("Its own pool?", search("clientConnPool", http)),
		says("What the documentation says, in full.", doc("-all net/http")),
		says("Three small files at once.", read(http+"/roundtrip.go"), read(http+"/httptrace/trace.go"), read(http+"/omithttp2.go")),
		says("Settings that switch it off.", read("doc/godebug.md"), search("http2client", "doc")),
		{says: "It has a pool of its own, because one HTTP/2 connection carries many requests at once (h2_bundle.go). Transport " +
			"asks it once TLS has agreed on h2.",
			next: "Has this changed between releases? Look at the API records and at the tests."},
		says("One record for each release.", list("api")),
		says("All that they say about net/http.", search("pkg net/http", "api")),
		says("The first of them, whole.", read("api/go1.txt")),
		says("The tests of it.", read(http+"/transport_test.go")),
		{says: "The fields came one by one: the records under api/ name the release of each. The tests hold the behavior.",
			next: "Something else: what is the largest Go file in the toolchain, and where does it come from?"},
		says("I measure all of them.", largest("src", ".go")),
		says("All of the largest, to be sure.", read(ssa+"/opGen.go")),
		says("Generated, then. By what?", list(ssa+"/_gen"), search("opGen.go", "src/cmd/compile")),
		says("One source of rules.", read(ssa+"/_gen/AMD64.rules")),
		{says: "opGen.go of the compiler's ssa package: generated from the operation tables in _gen.",
			next: "Back to the start: which limit would you raise first for many requests to one host?"},
		says("I have read about it. I ask for what I found rather than search again.", again(limits)),
		{says: "Transport's documentation belongs in sight for this.", keep: doc("net/http.Transport")},
		{says: "MaxIdleConnsPerHost: its default is 2 (transport.go), so a third idle connection to one host is closed.",
			then: (*agent).prune, next: "And the server: when does it close a connection that nobody uses?"},
		says("The server, whole, and who sets its timeouts.", read(http+"/server.go"), search("IdleTimeout", http)),
		{says: "After IdleTimeout; where that is zero, after ReadTimeout; where both are, never (server.go).",
			then: (*agent).compact, next: "Where is that tested in HTTP/3?"},
		{says: "net/http has no HTTP/3.", then: (*agent).rewind, next: "I meant HTTP/1: where is it tested?"},
		says("In the tests of serving.", search("IdleTimeout", http+"/serve_test.go")),
		says("Its tests set IdleTimeout and look at the connection (serve_test.go)."),
	}
}

// planned is how many turns a planned script has at least.
const planned = 28

// plan writes a script for a tree that nobody has seen before: folders listed, files of all sizes read, names searched for, and
// files that do not exist.
func (t *tree) plan() ([]step, error) {
	files, err := t.walk(".")
	if err != nil {
		return nil, err
	}
	if len(files) < planned {
		return nil, fmt.Errorf("%s has %d readable files, too few for the demo: name another folder with --tree", t.name, len(files))
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name)) })
	// Files are picked evenly over their sizes.
	pick := func(i int) string { return files[(i*37%planned)*(len(files)-1)/(planned-1)].name }
	steps := []step{says("First the lie of the land.", list("."), largest(".", ""))}
	for i := range planned {
		at := pick(i)
		folder, stem := path.Dir(at), path.Base(at[:len(at)-len(path.Ext(at))])
		steps = append(steps, []step{
			says("A file, whole.", read(at)),
			says("Its folder, and who mentions it.", list(folder), search(stem, folder)),
			says("Two more at once.", read(at), read(files[len(files)-1-i].name)),
			says("Perhaps it has notes.", read(at+".notes"), excerpt(at, 1, 40)),
		}[i%4])
		if i == planned/2 {
			steps = append(steps, step{says: "So much for the first half.", next: "Go on with the rest, and name what surprises you."})
		}
	}
	earlier := read(pick(8)) // of middling size: long enough to be compacted, short enough to come back
	return append(steps,
		says("One of the files, once more: I ask for it rather than read it again.", again(earlier)),
		step{says: "It belongs in sight for the answer.", keep: earlier},
		step{says: "That is what there is to see.", then: (*agent).prune, next: "Look at two of them again."},
		says("One of middling size, and another.", read(pick(13)), read(pick(21))),
		step{says: "I have seen them.", then: (*agent).compact, next: "Is there a third?"},
		step{says: "There is.", then: (*agent).rewind, next: "No: which of the two is larger?"},
		says("The second one.")), nil
}
