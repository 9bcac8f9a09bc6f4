package provider

// Assemble joins blocks into the provider's JSON from nothing: what an Assembly, which remembers, must agree with.
func Assemble(t Traits, blocks []Block) (system, messages []byte) {
	return assembleSystem(t, blocks), assembleMessages(t, blocks)
}

// IsDocument reports whether a text is JSON that readers go on with: what encoding/json must agree with.
func IsDocument(s string) bool { return isDocument(s) }
