package helm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// validator holds manifests against Kubernetes' schemas, offline. scripts/setup-deploy.sh installs it.
const validator = "../../bin/deploy-venv/bin/kubernetes-validate"

// validate writes manifests into a folder and asks the validator about all of them at once.
func validate(t *testing.T, all map[string]string) (said string, err error) {
	t.Helper()
	if _, err := os.Stat(validator); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("kubernetes-validate is not installed: %v", err)
		}
		t.Skipf("kubernetes-validate is not installed: %v", err)
	}
	folder := t.TempDir()
	arguments := []string{"--strict", "--kubernetes-version", "1.37"}
	for name, content := range all {
		path := filepath.Join(folder, name+".yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, path)
	}
	output, err := exec.Command(validator, arguments...).CombinedOutput()
	return string(output), err
}

func TestManifests_Schemas_KnowEveryField(t *testing.T) {
	t.Parallel()
	all, documents := map[string]string{}, 0
	for name, content := range manifests(t) {
		var known []string
		for _, document := range split(content) {
			if !strings.Contains(document, "apiVersion: monitoring.coreos.com/") { // no part of Kubernetes
				known = append(known, document)
			}
		}
		documents += len(known)
		all[name] = strings.Join(known, "\n---\n")
	}
	said, err := validate(t, all)
	if err != nil || strings.Count(said, " passed ") != documents {
		t.Errorf("of %d documents: %v\n%s", documents, err, said)
	}
}

func split(content string) (documents []string) {
	for _, document := range strings.Split(content, "\n---\n") {
		if strings.Contains(document, "apiVersion:") {
			documents = append(documents, strings.TrimPrefix(document, "---\n"))
		}
	}
	return documents
}

func TestManifests_MisspelledField_GoesRed(t *testing.T) {
	t.Parallel()
	rendered, err := render(t, "mode: service\n")
	if err != nil {
		t.Fatal(err)
	}
	plain := plainManifests(t)
	for name, c := range map[string][3]string{
		"a probe":           {plain["socket.yaml"], "startupProbe:", "startupProb:"},
		"a capability":      {plain["loopback.yaml"], "capabilities:", "capability:"},
		"a policy":          {plain["service.yaml"], "policyTypes:", "policyType:"},
		"a projected token": {plain["client.yaml"], "projected:", "projection:"},
		"a rendered one":    {rendered, "readOnlyRootFilesystem:", "readOnlyRootFileSystem:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := strings.Replace(c[0], c[1], c[2], 1)
			if broken == c[0] {
				t.Fatalf("%s is not there", c[1])
			}
			said, err := validate(t, map[string]string{"broken": broken})
			if err == nil || !strings.Contains(said, strings.TrimSuffix(c[2], ":")) {
				t.Errorf("%v, saying:\n%s", err, said)
			}
		})
	}
}

// container is as much of one as these tests ask about.
type container struct {
	Name            string
	Args            []string
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	Resources struct{ Requests, Limits map[string]string }
}

// pod is as much of one as these tests ask about.
type pod struct {
	AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	InitContainers []container `yaml:"initContainers"`
	Containers     []container
}

// podsOf are the pods that manifests make.
func podsOf(t *testing.T, content string) (pods []pod) {
	t.Helper()
	for decoder := yaml.NewDecoder(strings.NewReader(content)); ; {
		var object struct {
			Kind string
			Spec struct {
				Template struct{ Spec pod }
			}
		}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return pods
		}
		if err != nil {
			t.Fatal(err)
		}
		if object.Kind == "StatefulSet" || object.Kind == "Deployment" {
			pods = append(pods, object.Spec.Template.Spec)
		}
	}
}

// shutdownSeconds is what the sidecar takes to end, at most.
const shutdownSeconds = 10

func TestManifests_Pods_AreConfined(t *testing.T) {
	t.Parallel()
	for name, content := range manifests(t) {
		pods := podsOf(t, content)
		if len(pods) == 0 {
			t.Errorf("%s makes no pod", name)
		}
		for _, p := range pods {
			if p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
				t.Errorf("%s: the pod gets a token of the Kubernetes API", name)
			}
			if !p.SecurityContext.RunAsNonRoot || p.SecurityContext.SeccompProfile.Type != "RuntimeDefault" {
				t.Errorf("%s: the pod is %+v", name, p.SecurityContext)
			}
			for _, c := range slices.Concat(p.InitContainers, p.Containers) {
				for _, fault := range confinement(c) {
					t.Errorf("%s: container %s %s", name, c.Name, fault)
				}
				if c.Name == "palimpsest" && p.TerminationGracePeriodSeconds <= shutdownSeconds {
					t.Errorf("%s: %d seconds are no more than the sidecar may take", name, p.TerminationGracePeriodSeconds)
				}
			}
		}
	}
}

func confinement(c container) (faults []string) {
	s := c.SecurityContext
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
		faults = append(faults, "may gain privileges")
	}
	if !s.ReadOnlyRootFilesystem {
		faults = append(faults, "may write to its root")
	}
	if !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		faults = append(faults, "keeps capabilities")
	}
	if c.Name == "palimpsest" && (c.Resources.Requests["memory"] == "" || c.Resources.Limits["memory"] == "") {
		faults = append(faults, "has no request or no limit of memory")
	}
	return faults
}

func TestConfinement_LooseContainer_GoesRed(t *testing.T) {
	t.Parallel()
	if faults := confinement(container{Name: "palimpsest"}); len(faults) != 4 {
		t.Errorf("found %q", faults)
	}
}

// sidecar is the real binary: one that is built already, or built here, once.
var sidecar = sync.OnceValues(func() (string, error) {
	if binary := os.Getenv("PALIMPSEST_TEST_SIDECAR"); binary != "" {
		return binary, nil
	}
	binary, err := filepath.Abs("../../bin/deploy-sidecar")
	if err != nil {
		return "", err
	}
	output, err := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-o", binary, "./cmd/sidecar").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the sidecar: %w\n%s", err, output)
	}
	return binary, nil
})

// check lets the real binary read arguments of serve, and say what is wrong with them.
func check(t *testing.T, arguments []string) error {
	t.Helper()
	binary, err := sidecar()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, append([]string{"config", "print"}, arguments...)...)
	command.Env = []string{}
	var complaint bytes.Buffer
	command.Stderr = &complaint
	if err := command.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, &complaint)
	}
	return nil
}

func TestManifests_Arguments_AreTakenByTheBinary(t *testing.T) {
	t.Parallel()
	checked := 0
	for name, content := range manifests(t) {
		for _, p := range podsOf(t, content) {
			for _, c := range slices.Concat(p.InitContainers, p.Containers) {
				if c.Name != "palimpsest" {
					continue
				}
				checked++
				if c.Args[0] != "serve" {
					t.Errorf("%s runs %q", name, c.Args[0])
				}
				if err := check(t, c.Args[1:]); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no sidecar was found in the manifests")
	}
}

func TestManifests_WrongArgument_GoesRed(t *testing.T) {
	t.Parallel()
	for _, argument := range []string{"--max-store-sise=1GiB", "--max-store-size=1Gi", "--listen=:7171"} {
		if err := check(t, []string{argument}); err == nil {
			t.Errorf("%s was taken", argument)
		}
	}
}

// TestManifests_OperationsListener_IsForScrapersAlone: one that others reach has a network policy.
func TestManifests_OperationsListener_IsForScrapersAlone(t *testing.T) {
	t.Parallel()
	for name, content := range manifests(t) {
		opens, closed := strings.Contains(content, "--ops=:"), strings.Contains(content, "{port: ops}")
		if wanted := opens && !strings.Contains(name, "no network policy"); closed != wanted {
			t.Errorf("%s: a policy for the operations listener: %v, want %v", name, closed, wanted)
		}
	}
}
