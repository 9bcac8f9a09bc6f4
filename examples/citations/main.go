// Command citations plays an agent whose large results stay outside of its model's view, and are found again. It needs a sidecar
// that runs, and no model: the model's part is a script that reads what a model would read. It checks each thing that it shows.
//
//	bin/sidecar serve --store memory
//	go run ./examples/citations
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	log.SetFlags(0)
	address := flag.String("address", "127.0.0.1:7171", "the sidecar: host:port, or unix:///path")
	tools := flag.String("tools", "clients/tools/openai_chat.json", "the tools for the model, as `sidecar tools` prints them")
	flag.Parse()

	connection, err := grpc.NewClient(*address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	defer func() { _ = connection.Close() }()
	definitions, err := os.ReadFile(*tools)
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	a := newAgent(connection, string(definitions))
	a.begin(ctx)
	buildFails(ctx, a)
	pageIsFetched(ctx, a)
	runEnds(ctx, a)
}

// buildFails: a tool returns a log of which the model needs one line.
func buildFails(ctx context.Context, a *agent) {
	fmt.Println("the user asks why a build fails, and the model runs it")
	a.say(ctx, "Why does the build of release "+release+" fail?")
	a.converse(ctx, readsLog())
	check(a.cited.GetTotalChars() == int64(len(buildLog())), "%s stands for all %d characters of the log", a.cited.GetContentId(), len(buildLog()))
}

// pageIsFetched: the agent holds a page that no tool of the model's returned.
func pageIsFetched(ctx context.Context, a *agent) {
	fmt.Println("the agent fetches the page of the linker's messages by itself")
	page := a.store(ctx, "https://linker.example/messages", linkerPage())
	a.say(ctx, "This may help:\n"+page.GetText())
	a.converse(ctx, readsPage(page.GetContentId()))
}

// runEnds: what was stored for a run goes with it.
func runEnds(ctx context.Context, a *agent) {
	fmt.Println("the run ends; what was stored for it goes, and what messages cite stays")
	sources := a.sources(ctx)
	check(len(sources) == 2, "two sources are known: what a tool returned, and the page")
	a.end(ctx)
	a.run = "run-2"
	check(a.isGone(ctx, sources[1].GetContentId()), "the page's source record stays, and says that it is gone")
	a.say(ctx, "Read the page again, and the log.")
	a.converse(ctx, readsAgain(sources[1].GetContentId(), sources[0].GetContentId()))
}

// check says what holds, and ends the program if it does not.
func check(holds bool, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if !holds {
		log.Fatal("NOT SO: ", what)
	}
	fmt.Println("  " + what)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
