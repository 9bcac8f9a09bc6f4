package conversation

// RetentionKind says how long a block stays in the view.
type RetentionKind int8

// The kinds. Unset is the caller's own content, which is permanent and makes no record one that carries retention.
const (
	RetentionUnset RetentionKind = iota
	RetentionPermanent
	RetentionKeepLast
)

// Retention is how long a block of a message stays in the view (behaviour §6).
type Retention struct {
	Kind RetentionKind
	Last int32 // for RetentionKeepLast: N, at least 1
}

// Variant says in which variant of its message a part stands.
type Variant int8

// The variants. The numbers are those of the API.
const (
	BothVariants Variant = iota
	DisplayOnly
	PersistentOnly
)

// Spacing is the block that follows every addition of a plugin.
const Spacing = "\n\n"

// Addition is what a plugin adds to a message.
type Addition struct {
	Plugin    string
	Header    string
	Display   bool      // the model sees it now
	Retention Retention // how long later builds show it; unset: never
	Parts     []Part
}

// Carries says whether the message carries retention: whether it counts when blocks are numbered.
func (m *Message) Carries() bool {
	for i := range m.Parts {
		if m.Parts[i].Retention.Kind != RetentionUnset {
			return true
		}
	}
	return false
}

// Varied says whether the message's two variants differ.
func (m *Message) Varied() bool {
	for i := range m.Parts {
		if m.Parts[i].Variant != BothVariants {
			return true
		}
	}
	return false
}

// Shows says whether the part stands in the display variant, or, if persistent, in the persistent one.
func (p *Part) Shows(persistent bool) bool {
	if persistent {
		return p.Variant != DisplayOnly
	}
	return p.Variant != PersistentOnly
}
