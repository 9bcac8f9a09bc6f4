package agentcore_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore/agentcoretest"
)

func TestNew_Options_ThatAreWrong(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*agentcore.Options){
		"no memory":             func(o *agentcore.Options) { o.MemoryID = "" },
		"a memory's name":       func(o *agentcore.Options) { o.MemoryID = "sesame" },
		"a memory's path":       func(o *agentcore.Options) { o.MemoryID = "sesame/../x-0123456789" },
		"no region":             func(o *agentcore.Options) { o.Region = "" },
		"a region with a host":  func(o *agentcore.Options) { o.Region = "sesame.example/" },
		"http to a network":     func(o *agentcore.Options) { o.BaseEndpoint = "http://sesame.example" },
		"a password":            func(o *agentcore.Options) { o.BaseEndpoint = "https://u:sesame@h.example" },
		"a query":               func(o *agentcore.Options) { o.BaseEndpoint = "https://h.example/?sesame=1" },
		"no URL":                func(o *agentcore.Options) { o.BaseEndpoint = "sesame" },
		"a file":                func(o *agentcore.Options) { o.BaseEndpoint = "file:///sesame" },
		"no actor in the space": func(o *agentcore.Options) { o.Namespace = "/sesame" },
	} {
		o := agentcore.Options{MemoryID: agentcoretest.MemoryID, Region: agentcoretest.Region, Credentials: agentcoretest.Credentials()}
		change(&o)
		if _, err := agentcore.New(t.Context(), o); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, good := range []string{"", "https://vpce-1.bedrock-agentcore.eu-central-1.vpce.amazonaws.com", "http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"} {
		o := agentcore.Options{MemoryID: agentcoretest.MemoryID, Region: agentcoretest.Region, Credentials: agentcoretest.Credentials(), BaseEndpoint: good}
		target, err := agentcore.New(t.Context(), o)
		if err != nil {
			t.Errorf("%s: %v", good, err)
			continue
		}
		target.Close()
	}
}

// Credentials and region come from AWS's chain; addresses do not.
func TestNew_WithoutCredentials_TakesThoseOfTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": agentcoretest.Key, "AWS_SECRET_ACCESS_KEY": agentcoretest.Secret, "AWS_SESSION_TOKEN": "", "AWS_REGION": agentcoretest.Region,
		"AWS_CONFIG_FILE": t.TempDir() + "/config", "AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/credentials", "AWS_PROFILE": "",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE": "http://127.0.0.1:1", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server, func(o *agentcore.Options) { o.Credentials, o.Region = nil, "" })
	if _, err := target.Put(t.Context(), anna(), note("k", canary)); err != nil {
		t.Error(err)
	}
	t.Setenv("AWS_REGION", "")
	o := agentcore.Options{MemoryID: agentcoretest.MemoryID, BaseEndpoint: server.URL}
	if _, err := agentcore.New(t.Context(), o); err == nil {
		t.Error("there is no region")
	}
}
