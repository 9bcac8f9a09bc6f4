package memorytest

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// What keeps scopes apart.
func scopeCases() []check {
	return []check{
		{"scopes share nothing", scopesAreApart},
		{"names may be anything", namesAreApart},
		{"what conversations say stays in its scope", batchesAreApart},
		{"deleting a foreign memory changes nothing", foreignDelete},
		{"forgetting a scope leaves the others alone", foreignForget},
	}
}

// kinds are scopes of all kinds that have the same names, in two namespaces.
func (b *box) kinds() (out []memory.Scope) {
	for _, space := range []string{b.space, b.space + "-2"} {
		for _, id := range []string{"anna", "bert"} {
			for _, kind := range []memory.ScopeKind{memory.ScopeUser, memory.ScopeSession, memory.ScopeAgent} {
				out = append(out, memory.Scope{Namespace: space, Kind: kind, ID: id})
			}
		}
		out = append(out, memory.Scope{Namespace: space, Kind: memory.ScopeOrg})
	}
	return out
}

// odd are users whose names a service or a careless mapping may stumble over.
func (b *box) odd() (out []memory.Scope) {
	for _, id := range []string{
		"a", "A", "a/b", "a:b", "a b", "a%2Fb", "a+b", "ä", "a\u0308", "日本", "h-", "h-a", ".", "..", "*", "a?x=1&user_id=a", "a#b", `a"b`, `a\b`, "-", "_",
		"null", "0", strings.Repeat("x", 100), strings.Repeat("x", 101), strings.Repeat("x", 255), strings.Repeat("é", 120), b.user("a/b").ExternalID(),
	} {
		out = append(out, b.user(id))
	}
	// Together these would be one name each.
	for _, pair := range [][2]string{{":x", "y"}, {"", "x:y"}, {"/x", "y"}, {"", "x/y"}} {
		out = append(out, memory.Scope{Namespace: b.space + pair[0], Kind: memory.ScopeUser, ID: pair[1]})
	}
	return out
}

// apart puts a memory of its own and one with equal words into each scope, and holds each to showing its own.
func (b *box) apart(scopes []memory.Scope) map[memory.Scope]string {
	b.Helper()
	mine := map[memory.Scope]string{}
	own := func(i int) string { return fmt.Sprintf("My locker is number %d.", 1000+i) }
	for i, s := range scopes {
		mine[s] = b.put(s, own(i))
	}
	for i, s := range scopes {
		b.remembers(s, own(i))
		b.equal(ids(b.list(s, 50)), []string{mine[s]})
		b.equal(ids(b.search(s, own(i))), []string{mine[s]})
	}
	return mine
}

func scopesAreApart(b *box) { b.apart(b.kinds()) }

func namesAreApart(b *box) { b.apart(b.odd()) }

func batchesAreApart(b *box) {
	anna, bert := b.user("anna"), b.user("bert")
	talk := memory.Scope{Namespace: b.space, Kind: memory.ScopeSession, ID: "anna"}
	for i, s := range []memory.Scope{anna, bert, talk} {
		batch := b.batch(s, "anna", 0, facts()[i])
		batch.Incarnation = conversation.ID{byte(i + 1)} // one message has one text
		b.add(batch)
	}
	for i, s := range []memory.Scope{anna, bert, talk} {
		b.remembers(s, facts()[i])
		for j := range 3 {
			if j != i {
				b.equal(count(b.search(s, facts()[j]), facts()[j]), 0)
				b.equal(count(b.list(s, 50), facts()[j]), 0)
			}
		}
	}
}

func foreignDelete(b *box) {
	if !b.limits.ForgetsOne {
		b.Log("single memories cannot be deleted")
		return
	}
	scopes := b.kinds()
	mine := b.apart(scopes)
	for _, s := range scopes {
		var foreign []string
		for _, other := range scopes {
			if other != s {
				foreign = append(foreign, mine[other])
			}
		}
		gone, err := b.target.Delete(b.ctx, s, foreign)
		b.must(err)
		b.equal(len(gone), 0)
	}
	for _, s := range scopes {
		b.equal(ids(b.list(s, 50)), []string{mine[s]})
	}
}

func foreignForget(b *box) {
	for _, scopes := range [][]memory.Scope{b.kinds(), b.odd()} {
		mine := b.apart(scopes)
		for i, s := range scopes {
			b.forget(s)
			b.forgot(s, "locker")
			if i+1 < len(scopes) {
				next := scopes[i+1]
				b.equal(ids(b.list(next, 50)), []string{mine[next]})
			}
			if i%8 == 0 {
				for _, other := range scopes[i+1:] {
					b.equal(ids(b.list(other, 50)), []string{mine[other]})
				}
			}
		}
	}
}
