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

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
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
	receipt := a.cited
	check(receipt != nil, "the log is cited: %s stands for %d characters of it", receipt.GetContentId(), receipt.GetTotalChars())
	check(receipt.GetTotalChars() == int64(len(buildLog())), "nothing of it is lost: the record holds the whole")
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
	a.say(ctx, "Read the page again, and the log.")
	a.converse(ctx, readsAgain(sources[1].GetContentId(), sources[0].GetContentId()))
	gone := a.sources(ctx)[1]
	check(gone.GetState() == pb.ContentState_CONTENT_STATE_EXPIRED, "the page's source record stays: %s", gone.GetSourceUrl())
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
