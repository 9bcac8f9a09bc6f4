package demo

// step is one answer of the agent: what it says, and what it asks of its tools. A step with a question ends with the user's
// next one. The words are written in advance; what the tools answer is not.
type step struct {
	says  string
	calls []call
	next  string
	keep  string // the call whose result is put back into the view in full, as String writes it
	then  event  // what people do when the agent has spoken, before the next question
}

// event is something that is not the agent's doing.
type event int

const (
	nothing    event = iota
	clearing         // the operator lets old results be cleared
	compacting       // the operator asks for a smaller view
	rewinding        // the user takes the last question back, and all that followed on it
)

func says(words string, calls ...call) step { return step{says: words, calls: calls} }

// answers ends a question and opens the next one.
func answers(words, next string) step { return step{says: words, next: next} }

// before lets something happen between an answer and the next question.
func (s step) before(next string, then event) step {
	s.next, s.then = next, then
	return s
}

// keeping puts the result of an earlier call back into the view, at the end of a step.
func (s step) keeping(of call) step {
	s.keep = of.String()
	return s
}

// fleeting steps only look around: their words need not stay longer than what they found.
func (s *step) fleeting() bool {
	for _, c := range s.calls {
		if c.Tool != "list" {
			return false
		}
	}
	return len(s.calls) > 0
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
		answers("Idle connections wait in Transport.idleConn, keyed by proxy, scheme and address (transport.go). MaxIdleConns, "+
			"MaxIdleConnsPerHost, MaxConnsPerHost and IdleConnTimeout limit them. Reuse fails when the body is not read to its end "+
			"and closed, or when the server closed the idle connection first.",
			"And what does HTTP/2 change? Is it the same pool?"),
		says("HTTP/2 is bundled into one file. All of it.", read(http+"/h2_bundle.go")),
		says("Its own pool?", search("clientConnPool", http)),
		says("What the documentation says, in full.", doc("-all net/http")),
		says("Three small files at once.", read(http+"/roundtrip.go"), read(http+"/httptrace/trace.go"), read(http+"/omithttp2.go")),
		says("Settings that switch it off.", read("doc/godebug.md"), search("http2client", "doc")),
		answers("It has a pool of its own, because one HTTP/2 connection carries many requests at once (h2_bundle.go). Transport "+
			"asks it once TLS has agreed on h2.",
			"Has this changed between releases? Look at the API records and at the tests."),
		says("One record for each release.", list("api")),
		says("All that they say about net/http.", search("pkg net/http", "api")),
		says("The first of them, whole.", read("api/go1.txt")),
		says("The tests of it.", read(http+"/transport_test.go")),
		answers("The fields came one by one: the records under api/ name the release of each. The tests hold the behaviour.",
			"Something else: what is the largest Go file in the toolchain, and where does it come from?"),
		says("I measure all of them.", biggest("src", 25)),
		says("All of the largest, to be sure.", read(ssa+"/opGen.go")),
		says("Generated, then. By what?", list(ssa+"/_gen"), search("opGen.go", "src/cmd/compile")),
		says("One source of rules.", read(ssa+"/_gen/AMD64.rules")),
		answers("opGen.go of the compiler's ssa package: generated from the operation tables in _gen.",
			"Back to the start: which limit would you raise first for many requests to one host?"),
		says("I have read about it. I ask for what I found rather than search again.", again(limits)),
		says("Transport's documentation belongs in sight for this.").keeping(doc("net/http.Transport")),
		says("MaxIdleConnsPerHost: its default is 2 (transport.go), so a third idle connection to one host is closed.").
			before("And the server: when does it close a connection that nobody uses?", clearing),
		says("The server, whole, and who sets its timeouts.", read(http+"/server.go"), search("IdleTimeout", http)),
		says("After IdleTimeout; where that is zero, after ReadTimeout; where both are, never (server.go).").
			before("Where is that tested in HTTP/3?", compacting),
		says("net/http has no HTTP/3.").before("I meant HTTP/1: where is it tested?", rewinding),
		says("In the tests of serving.", search("IdleTimeout", http+"/serve_test.go")),
		says("Its tests set IdleTimeout and look at the connection (serve_test.go)."),
	}
}
