package provider

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// PDF is the MIME type of PDF.
const PDF = "application/pdf"

// The image types that every provider accepts.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// IsImage reports whether every provider accepts images of the MIME type.
func IsImage(mime string) bool { return slices.Contains(imageTypes, mime) }

// HasData reports whether the media's bytes are present.
func HasData(m *conversation.Media) bool { return m.Data.Inline != "" }

// IsWeb reports whether the media can be fetched from the web.
func IsWeb(m *conversation.Media) bool {
	return strings.HasPrefix(m.URI, "https://") || strings.HasPrefix(m.URI, "http://")
}

// IsReachable reports whether a provider gets the media's bytes with the request, or can fetch them from the web.
func IsReachable(m *conversation.Media) bool { return HasData(m) || IsWeb(m) }

// IsImageOrPDF reports whether media is an image or a PDF that the provider can get.
func IsImageOrPDF(m *conversation.Media) bool {
	return (IsImage(m.MIMEType) || m.MIMEType == PDF) && IsReachable(m)
}

// AppendURL appends the location of media as a JSON string: its address, or a data: URL.
func AppendURL(dst []byte, m *conversation.Media) []byte {
	if HasData(m) {
		return AppendDataURL(dst, m.MIMEType, m.Data.Inline)
	}
	return AppendString(dst, m.URI)
}
