package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// licensesFile has the licences that the command prints.
const licensesFile = "cmd/internal/cli/licenses.txt"

// released are the systems that have an archive: see RELEASE_SYSTEMS in the Makefile.
var released = []system{{"linux", "amd64", ""}, {"linux", "arm64", ""}, {"darwin", "amd64", ""}, {"darwin", "arm64", ""},
	{"windows", "amd64", ""}, {"windows", "arm64", ""}}

// TestLicenses: the licences that the command prints are those of Go and of every module whose code is in the command on some system.
func TestLicenses(t *testing.T) {
	text, err := licenses(released)
	require.NoError(t, err)
	path := filepath.Join(root, licensesFile)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	if read(t, licensesFile) != text {
		t.Error(licensesFile + " lacks a licence of what is linked, or has another: write it with go test ./cmd/halfspace -update")
	}
}

// TestLicensesFinds: a module without a licence is an error. The licence may be a section of the readme, or lie beside a package.
func TestLicensesFinds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("README.md", "# m\nLicence? Later.\n")
	write("a/b/b.go", "package b\n")
	if _, err := noticesOf(dir, []string{filepath.Join(dir, "a", "b")}); err == nil {
		t.Error("a module without a licence gives no error")
	}
	write("README.md", "# m\n\n## MIT License\n\nAs is.\n")
	found := require.Value(noticesOf(dir, []string{filepath.Join(dir, "a", "b")}))(t)
	write("a/LICENSE", "of a")
	write("c/LICENSE", "of c, which is not linked")
	write("NOTICE", "of all")
	more := require.Value(noticesOf(dir, []string{filepath.Join(dir, "a", "b")}))(t)
	if got := fmt.Sprint(found, more); got != "[## MIT License\n\nAs is.] [of a of all]" {
		t.Errorf("found %q", got)
	}
}

// linkedModule is a module that has packages in the command.
type linkedModule struct {
	dir      string
	packages []string // their folders
}

// linkedModules returns, by path and version, the modules that are linked into the command on some of the systems, and Go's library.
func linkedModules(systems []system) (map[string]*linkedModule, error) {
	home, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	modules := map[string]*linkedModule{"Go's standard library": {dir: strings.TrimSpace(string(home))}}
	for _, s := range systems {
		packages, err := list(s, root, "./cmd/halfspace")
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if p.Module == nil || p.Module.Main {
				continue
			}
			name := p.Module.Path + " " + p.Module.Version
			if modules[name] == nil {
				modules[name] = &linkedModule{dir: p.Module.Dir}
			}
			modules[name].packages = append(modules[name].packages, p.Dir)
		}
	}
	return modules, nil
}

// licenses returns the notices of the modules that are linked into the command on some of the systems.
func licenses(systems []system) (string, error) {
	modules, err := linkedModules(systems)
	if err != nil {
		return "", err
	}
	users := map[string][]string{} // names of modules by the text of a notice
	for name, m := range modules {
		texts, err := noticesOf(m.dir, m.packages)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		for _, text := range texts {
			users[text] = append(users[text], name)
		}
	}
	var sections []string
	for text, names := range users {
		slices.Sort(names)
		sections = append(sections, strings.Join(names, "\n")+"\n\n"+text+"\n")
	}
	slices.Sort(sections)
	const rule = "\n================================================================================\n"
	return "Halfspace has code of the modules below. A line names a module, and its notice follows.\n" + rule + strings.Join(sections, rule), nil
}

var (
	noticeName    = regexp.MustCompile(`(?i)^(licen[sc]e|notice|copying|patents)(\.txt|\.md)?$`)
	readmeLicense = regexp.MustCompile(`(?ims)^#* *[a-z ]*licen[sc]e *$.*`)
)

// noticesOf returns the texts of the notices in the folders of some packages, and in the folders above, up to that of the module. Without
// one in the module's folder, it returns the section of the readme that has the licence.
func noticesOf(module string, packages []string) (texts []string, err error) {
	folders := map[string]bool{module: true}
	for _, dir := range packages {
		for ; len(dir) > len(module); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if noticeName.MatchString(f.Name()) && !f.IsDir() {
				text, err := os.ReadFile(filepath.Join(dir, f.Name()))
				if err != nil {
					return nil, err
				}
				texts = append(texts, plainText(text))
			}
		}
	}
	if len(texts) == 0 {
		readme, _ := os.ReadFile(filepath.Join(module, "README.md"))
		section := readmeLicense.Find(readme)
		if section == nil {
			return nil, errors.New("no licence found: add the rule where it is to noticesOf")
		}
		texts = append(texts, plainText(section))
	}
	slices.Sort(texts)
	return slices.Compact(texts), nil
}

// plainText returns a text without carriage returns, and without blanks at the ends of lines and of the text.
func plainText(text []byte) string {
	lines := strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
