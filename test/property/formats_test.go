package property

import (
	"os"
	"slices"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/anthropic"
	"github.com/palimpsest-context/palimpsest/pkg/provider/gemini"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openaichat"
	"github.com/palimpsest-context/palimpsest/pkg/provider/openairesponses"
)

// renderers are all formats there are. Engines have them, and properties draw from them.
var renderers = []provider.Format{openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New(), neutral.New()}

// formats says how contexts are judged.
var formats = map[conversation.Format]validate.Format{
	conversation.FormatOpenAIChat:      validate.OpenAIChat,
	conversation.FormatOpenAIResponses: validate.OpenAIResponses,
	conversation.FormatAnthropic:       validate.Anthropic,
	conversation.FormatGemini:          validate.Gemini,
	conversation.FormatNeutral:         validate.Neutral,
}

// drawn are the formats that properties draw, in the order of the renderers; foreign leaves out the neutral one, which is no provider's.
func drawn(foreign bool) (all []conversation.Format) {
	for _, r := range renderers {
		if !foreign || r.Format() != conversation.FormatNeutral {
			all = append(all, r.Format())
		}
	}
	return all
}

// TestFormats_EveryProviders_IsDrawnAndJudged: a format that is not would be promised, and held to nothing.
func TestFormats_EveryProviders_IsDrawnAndJudged(t *testing.T) {
	folders, err := os.ReadDir("../../pkg/provider")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range folders {
		if f.IsDir() && f.Name() != "testdata" {
			want = append(want, f.Name())
		}
	}
	for _, r := range renderers {
		got = append(got, strings.ReplaceAll(r.Traits().Name, "-", ""))
		if _, err := validate.NewChecker(formats[r.Format()], count); err != nil {
			t.Errorf("%s: nobody judges it: %v", r.Traits().Name, err)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("drawn are %v, and pkg/provider has %v", got, want)
	}
	for number, name := range pb.ContextFormat_name {
		if f := conversation.Format(number); f != conversation.FormatUnspecified && !slices.Contains(drawn(false), f) {
			t.Errorf("%s is in the API, and never drawn", name)
		}
	}
}
