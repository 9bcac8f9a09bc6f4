package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mostAdapterLines is what an adapter in Java has at most, beside the files that read and write a framework's messages and tools.
const mostAdapterLines = 80

// TestAdapters_Java_PlaySideBySide builds the adapters for frameworks in Java as they are packed, and plays each framework with its own model
// classes, with and without the adapter, against the fakes: adapters/java/Sides*.java. The programs of their READMEs run too.
func TestAdapters_Java_PlaySideBySide(t *testing.T) {
	t.Parallel()
	need(t, "javac", "mvn")
	built := t.TempDir()
	if output, err := exec.Command("../../clients/java/build.sh", javaVersion, built, "langchain4j", "spring_ai").CombinedOutput(); err != nil {
		t.Logf("%s", output)
		lacking(t, "the jars could not be built (is the network there?)")
	}
	client := filepath.Join(built, "palimpsest-context-"+strings.TrimPrefix(javaVersion, "v"))
	libraries := javaLibraries(t, client+".pom")
	for name, adapter := range map[string]struct{ framework, file string }{
		"langchain4j": {"LangChain4j", "PalimpsestChat.java"},
		"spring_ai":   {"SpringAi", "PalimpsestAdvisor.java"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectLines(t, filepath.Join("../../clients/adapters", name, "src/main/java/io/github/palimpsest_context", name, adapter.file), mostAdapterLines)
			jar := filepath.Join(built, "palimpsest-context-"+strings.ReplaceAll(name, "_", "-")+"-"+strings.TrimPrefix(javaVersion, "v")+".jar")
			framework := javaLibraries(t, filepath.Join("adapters/java", name+".xml"))
			path := strings.Join([]string{jar, client + ".jar", filepath.Join(libraries, "*"), filepath.Join(framework, "*")}, string(os.PathListSeparator))
			classes := t.TempDir()
			run(t, exec.Command("javac", "-J"+briefJVM, "-parameters", "-Xlint:all,-classfile,-processing", "-Werror", "-encoding", "UTF-8", "-cp", path, "-d", classes,
				"adapters/java/Side.java", "adapters/java/Rows.java", "adapters/java/Sides"+adapter.framework+".java", "adapters/java/Readme"+adapter.framework+".java"))
			for _, program := range []string{"Readme", "Sides"} {
				provider := startFakes(t)
				java := exec.Command("java", briefJVM, "-Dfile.encoding=UTF-8", "-cp", classes+string(os.PathListSeparator)+path, program+adapter.framework)
				java.Env = append(os.Environ(), "FAKES="+provider, "OPENAI_BASE_URL="+provider+"/v1", "PALIMPSEST_BINARY="+sidecar)
				t.Log(run(t, java))
			}
		})
	}
}
