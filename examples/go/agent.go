// An agent that asks a model, over HTTP alone, what its arguments say:
//
//	OPENAI_API_KEY=… go run ./examples/go "Why does billing fail?"
//
// It starts a sidecar for itself, which is found by PALIMPSEST_BINARY or on
// PATH. Its tools stand in tools.go.
package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"os"

	palimpsest "github.com/palimpsest-context/palimpsest/clients/go"
)

// [agent]
func main() {
	ctx, p := context.Background(), must(palimpsest.Local(context.Background()))
	defer p.Close()
	conv := p.Conversation("billing", palimpsest.WithPolicy(policy()))
	for _, said := range os.Args[1:] {
		conv.User(said)
		for calls := ask(ctx, conv); len(calls) > 0; calls = ask(ctx, conv) {
			must(0, conv.Answer(ctx, calls, tools()))
		}
	}
}

func ask(ctx context.Context, conv *palimpsest.Conversation) []palimpsest.Call {
	body := must(conv.OpenAI(ctx, palimpsest.Request{Model: model(), System: "You are terse.", Tools: definitions()}))
	request := must(http.NewRequestWithContext(ctx, http.MethodPost, url(), bytes.NewReader(body)))
	request.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	return must(conv.Add(ctx, must(io.ReadAll(io.TeeReader(response.Body, os.Stdout)))))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// [/agent]
