package conversation

// RetentionKind says how long a block stays in the view.
type RetentionKind int8

// The kinds. Unset is for the caller's own content: it is permanent, and does not make its message one that carries
// retention.
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

// Variant says to which variant of its message a part belongs.
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
	Display   bool      // part of the display variant: the model sees it now
	Retention Retention // for how long later builds show it; unset: never
	Parts     []Part
}

// Carries reports whether the message carries retention, so that it counts when blocks age.
func (m *Message) Carries() bool {
	for i := range m.Parts {
		if m.Parts[i].Retention.Kind != RetentionUnset {
			return true
		}
	}
	return false
}

// Varied reports whether the message's two variants differ.
func (m *Message) Varied() bool {
	for i := range m.Parts {
		if m.Parts[i].Variant != BothVariants {
			return true
		}
	}
	return false
}

// Shows reports whether the part belongs to the persistent variant or, if persistent is false, to the display variant.
func (p *Part) Shows(persistent bool) bool {
	if persistent {
		return p.Variant != DisplayOnly
	}
	return p.Variant != PersistentOnly
}
