package helm

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

const chartFolder = "../../deploy/helm/palimpsest"

// agent is what mode sidecar cannot do without.
const agent = "sidecar: {agent: {image: 'registry.example.com/agent:1.0.0'}}\n"

// matrix are values that each render another chart.
var matrix = map[string]string{
	"sidecar":           agent,
	"sidecar, loopback": "sidecar: {listen: loopback, agent: {image: a, env: [{name: A, value: b}]}}\n",
	"sidecar, emptyDir": agent + "persistence: {enabled: false}\nreplicas: 3\n",
	"sidecar, settings": agent + "settings: {default-policy: balanced, summary-tokens-per-minute: 2000000, reflection: true, default-ttl: 720h}\n" +
		"env: [{name: PALIMPSEST_OPENAI_KEY, valueFrom: {secretKeyRef: {name: models, key: openai}}}]\n",
	"sidecar, volumes": "sidecar: {agent: {image: a, volumeMounts: [{name: more, mountPath: /more}]}}\n" +
		"volumes: [{name: more, emptyDir: {}}]\nvolumeMounts: [{name: more, mountPath: /more}]\n",
	"sidecar, no network policy":  agent + "networkPolicy: {enabled: false}\n",
	"sidecar, another ops port":   agent + "opsPort: 1024\n",
	"service":                     "mode: service\n",
	"service, certificates":       "mode: service\naccess: {clientCASecret: palimpsest-ca}\nservice: {port: 443, annotations: {a: b}}\n",
	"service, no network policy":  "mode: service\nnetworkPolicy: {enabled: false}\npersistence: {storageClass: fast, size: 50Gi}\nmaxStoreSize: 45GiB\n",
	"service, models":             "mode: service\nnetworkPolicy: {egress: [{ports: [{port: 443}]}]}\nsettings: {openai-url: 'https://api.openai.com/v1'}\n",
	"service, placed":             "mode: service\nnodeSelector: {a: b}\ntolerations: [{key: a, operator: Exists}]\naffinity: {nodeAffinity: {}}\npriorityClassName: high\n",
	"service, names":              "mode: service\nfullnameOverride: context\npodLabels: {team: a}\npodAnnotations: {a: b}\nimagePullSecrets: [{name: registry}]\n",
	"service, an image by digest": "mode: service\nimage: {digest: 'sha256:" + strings.Repeat("0a", 32) + "'}\n",
	"service, monitored":          "mode: service\nmonitoring: {podMonitor: {enabled: true, labels: {release: prometheus}}}\n",
	"sidecar, postgres":           agent + "store: {kind: postgres, dsnSecret: database}\nreplicas: 3\n",
	"service, redis":              "mode: service\nreplicas: 4\nstore: {kind: redis, dsnSecret: database}\nsettings: {store-pool-size: 32}\nnetworkPolicy: {egress: [{ports: [{port: 6379}]}]}\n",
	"sidecar, spread":             agent + "replicas: 2\ntopologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]\n",
}

// refused are values that must not render, each with a word of why not.
var refused = map[string]struct{ values, says string }{
	"no agent":                      {"", "sidecar.agent.image"},
	"a misspelled value":            {agent + "replica: 2\n", "replica"},
	"a misspelled value inside":     {agent + "persistence: {enable: true}\n", "enable"},
	"a wrong type":                  {agent + "replicas: two\n", "replicas"},
	"an unknown mode":               {"mode: daemon\n", "mode"},
	"two services":                  {"mode: service\nreplicas: 2\n", "one process owns a store"},
	"a database without its secret": {agent + "store: {kind: postgres}\n", "store.dsnSecret"},
	"an unknown store":              {agent + "store: {kind: mysql}\n", "kind"},
	"a flag of the chart's own":     {agent + "settings: {listen: '0.0.0.0:1'}\n", "listen"},
	"rules that are not there":      {agent + "monitoring: {rules: {enable: true}}\n", "enable"},
	"a size without a unit":         {agent + "persistence: {size: '5'}\n", "size"},
}

func valuesOf(t *testing.T, text string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// render is what `helm template` prints, without its notes.
func render(t *testing.T, text string) (string, error) {
	t.Helper()
	return renderAs(t, "weather", text)
}

func renderAs(t *testing.T, release, text string) (string, error) {
	t.Helper()
	loaded := loadChart(t)
	options := chartutil.ReleaseOptions{Name: release, Namespace: "agents", Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(loaded, valuesOf(t, text), options, chartutil.DefaultCapabilities.Copy())
	if err != nil {
		return "", err
	}
	files, err := engine.Engine{Strict: true}.Render(loaded, values)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") {
			out.WriteString("---\n" + strings.TrimSpace(files[name]) + "\n")
		}
	}
	return out.String(), nil
}

// TestChart_Lint_Strict is `helm lint --strict`: a warning is a fault.
func TestChart_Lint_Strict(t *testing.T) {
	t.Parallel()
	for name, values := range matrix {
		for _, m := range lint.All(chartFolder, valuesOf(t, values), "agents", true).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%s: %s", name, m)
			}
		}
	}
}

func TestChart_Lint_MisspelledValue_GoesRed(t *testing.T) {
	t.Parallel()
	found := lint.All(chartFolder, valuesOf(t, agent+"replica: 2\n"), "agents", true)
	if found.HighestSeverity < support.ErrorSev {
		t.Errorf("the linter found %v", found.Messages)
	}
}

func TestChart_Values_RefusedOnes_SayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range refused {
		if _, err := render(t, c.values); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChart_Values_EachIsInTheSchema: neither knows a name that the other does not.
func TestChart_Values_EachIsInTheSchema(t *testing.T) {
	t.Parallel()
	loaded := loadChart(t)
	schema := valuesOf(t, string(loaded.Schema))
	known, ok := schema["properties"].(map[string]any)
	if !ok {
		t.Fatal("the schema has no properties")
	}
	for name := range loaded.Values {
		if known[name] == nil {
			t.Errorf("%s is a value, and the schema does not know it", name)
		}
	}
	for name := range known {
		if _, set := loaded.Values[name]; !set && name != chartutil.GlobalKey {
			t.Errorf("%s is in the schema, and values.yaml does not have it", name)
		}
	}
}

func TestChart_Notes_Render(t *testing.T) {
	t.Parallel()
	loaded := loadChart(t)
	for _, text := range []string{agent, "mode: service\naccess: {clientCASecret: authorities}\n"} {
		values, err := chartutil.ToRenderValues(loaded, valuesOf(t, text), chartutil.ReleaseOptions{Name: "weather", Namespace: "agents"}, chartutil.DefaultCapabilities.Copy())
		if err != nil {
			t.Fatal(err)
		}
		files, err := engine.Engine{Strict: true}.Render(loaded, values)
		if err != nil {
			t.Fatal(err)
		}
		if notes := files[filepath.Join(loaded.Name(), "templates", "NOTES.txt")]; !strings.Contains(notes, "weather-palimpsest") {
			t.Errorf("the notes are %q", notes)
		}
	}
}

// observed are the files of deploy that the chart takes along, by the value that asks for them. A chart sees its own folder alone, so there
// each is a link.
var observed = map[string]string{
	"rules":     "prometheus/palimpsest.rules.yaml",
	"dashboard": "grafana/palimpsest.json",
}

func TestChart_Observed_IsTakenAlong(t *testing.T) {
	t.Parallel()
	for value, name := range observed {
		values := "mode: service\nmonitoring: {" + value + ": {enabled: true}}\n"
		content, err := os.ReadFile(filepath.Join("../../deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(chartFolder, "files", filepath.Base(name))
		if taken, err := os.ReadFile(link); err != nil || string(taken) != string(content) {
			t.Fatalf("%s is not deploy/%s (%v): ln -s ../../../%s %s", link, name, err, name, link)
		}
		rendered, err := render(t, values)
		if err != nil {
			t.Fatal(err)
		}
		if body := strings.TrimSpace(string(content)); !strings.Contains(unindented(rendered), unindented(body)) {
			t.Errorf("what monitoring.%s renders does not hold deploy/%s:\n%s", value, name, rendered)
		}
		for decoder := yaml.NewDecoder(strings.NewReader(rendered)); ; {
			var object map[string]any
			if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func unindented(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// plainManifests are the files of deploy/kubernetes.
func plainManifests(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../deploy/kubernetes/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	all := map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(content)
	}
	return all
}

// manifests are all that can be applied: plain ones, and the chart under each of the matrix's values.
func manifests(t *testing.T) map[string]string {
	t.Helper()
	all := plainManifests(t)
	for name, values := range matrix {
		rendered, err := render(t, values)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all["chart, "+name] = rendered
	}
	return all
}

// TestChart_LongRelease_LeavesRoomForTheNamesOfPods: a label of a StatefulSet's pods is its name with eleven characters more, and at most 63.
func TestChart_LongRelease_LeavesRoomForTheNamesOfPods(t *testing.T) {
	t.Parallel()
	rendered, err := renderAs(t, strings.Repeat("r", 53), "mode: service\n")
	if err != nil {
		t.Fatal(err)
	}
	for decoder := yaml.NewDecoder(strings.NewReader(rendered)); ; {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if n := len(object.Metadata.Name); n > 52 && object.Kind == "StatefulSet" {
			t.Errorf("the %s has a name of %d characters", object.Kind, n)
		}
	}
}
