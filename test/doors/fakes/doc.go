// Fakes is one server that plays four providers, for agents in any language: it
// refuses what the providers refuse, in their own words' form, and streams as
// they do. internal/validate judges what it is sent; tools, cache marks,
// signatures and the keys of requests it judges itself.
//
//	fakes -listen 127.0.0.1:0
//
// What it answers is decided from the request alone (play): parallel calls, a
// call that returns a large result, calls of the sidecar's own tools where they
// are offered, and a text. The model's name says how: fake-abort breaks a stream
// in the middle of a call, fake-slow pauses between pieces, any other plays whole.
// Below /s/NAME a run has a script of its own: PUT /s/NAME with a list of answers, GET /s/NAME/requests for what was sent, DELETE /s/NAME.
// GET /stats tells what was asked and refused, POST /reset forgets it.
package main
