// Package palimpsest is the client of a Palimpsest sidecar for agents in Go.
//
//	p, err := palimpsest.Local(ctx) // or palimpsest.New("127.0.0.1:7171")
//	defer p.Close()
//	conv := p.Conversation("c1")
//	conv.User("Why does billing fail?")
//	for {
//		request, err := conv.OpenAI(ctx, palimpsest.Request{Model: "gpt-5.2", System: "You are terse.", Tools: tools})
//		reply, err := post(ctx, request) // the provider's answer, as it came
//		calls, err := conv.Add(ctx, reply)
//		if len(calls) == 0 {
//			break
//		}
//		conv.Answer(ctx, calls, map[string]palimpsest.Tool{"search": search})
//	}
//
// JSON of providers goes in and out as it is, so that any SDK and any HTTP
// client fits: the package imports none.
package palimpsest
