package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"

	palimpsest "github.com/palimpsest-context/palimpsest/clients/go"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// policy has large results cited, so that the model sees where they are and reads what it needs.
func policy() *pb.Policy {
	return &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: proto.Bool(true), ThresholdChars: proto.Int32(3000)}}
}

func model() string { return cmp.Or(os.Getenv("MODEL"), "gpt-5.2") }

func url() string {
	return cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1") + "/chat/completions"
}

// definitions are the tools as Chat Completions takes them.
func definitions() json.RawMessage {
	named := [][2]string{{"get_weather", "city"}, {"web_search", "q"}, {"fetch_log", "service"}}
	all := make([]string, 0, len(named))
	for _, tool := range named {
		all = append(all, fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":`+
			`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}}}`, tool[0], tool[1], tool[1]))
	}
	return json.RawMessage("[" + strings.Join(all, ",") + "]")
}

// tools are the program's. Those by which the model gets text back are the sidecar's.
func tools() map[string]palimpsest.Tool {
	type place struct{ City string }
	return map[string]palimpsest.Tool{
		"get_weather": palimpsest.Func(func(_ context.Context, p place) (string, error) { return "Rain in " + p.City + ".", nil }),
		"web_search":  func(context.Context, json.RawMessage) (string, error) { return "Billing had an outage at 09:00.", nil },
		"fetch_log":   func(context.Context, json.RawMessage) (string, error) { return serviceLog(), nil },
	}
}

// serviceLog is a megabyte of lines, of which one says why.
func serviceLog() string {
	const lines = 16000
	var b strings.Builder
	for i := range lines {
		if i == lines/2 {
			b.WriteString("09:00:00 FATAL billing: the disk of the ledger is full\n")
		}
		fmt.Fprintf(&b, "08:%02d:%02d INFO billing: invoice %d was sent to its customer by mail\n", i/60%60, i%60, i)
	}
	return b.String()
}
