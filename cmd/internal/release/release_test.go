package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"halfspace/cmd/internal/cli"
	"halfspace/cmd/internal/console"
	"halfspace/internal/require"
)

const root = "../../.."

// TestRelease: two runs write the same bytes. An archive has the program with the right to run, and the sums are those of the files.
func TestRelease(t *testing.T) {
	program := require.Value(os.ReadFile(require.Value(os.Executable())(t)))(t) // any program of Go
	binaries := t.TempDir()
	for _, name := range []string{"linux/arm64/halfspace", "windows/amd64/halfspace.exe"} {
		path := filepath.Join(binaries, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, program, 0o600))
	}
	var first map[string]string
	for range 2 {
		r := release{root: root, binaries: binaries, out: t.TempDir(), time: time.Unix(1e9, 0).UTC()}
		require.NoError(t, os.WriteFile(filepath.Join(r.out, "a.whl"), []byte("a wheel"), 0o600))
		require.NoError(t, r.write())
		all := map[string]string{}
		for _, e := range require.Value(os.ReadDir(r.out))(t) {
			all[e.Name()] = string(require.Value(os.ReadFile(filepath.Join(r.out, e.Name())))(t))
		}
		if first == nil {
			first = all
			checkArchive(t, all["halfspace_"+console.Number+"_linux_arm64.tar.gz"], program)
			sums := exec.Command("sha256sum", "-c", "--strict", "SHA256SUMS")
			if sums.Dir = r.out; len(all) != 5 || strings.Count(all["SHA256SUMS"], "\n") != 4 {
				t.Errorf("%d files, sums\n%s", len(all), all["SHA256SUMS"])
			} else if _, err := exec.LookPath("sha256sum"); err == nil {
				require.NoError(t, sums.Run())
			}
		} else if fmt.Sprint(all) != fmt.Sprint(first) {
			t.Error("the second run wrote other bytes than the first")
		}
	}
	if err := (&release{root: root, binaries: t.TempDir(), out: t.TempDir()}).write(); err == nil {
		t.Error("a release without binaries gives no error")
	}
}

func checkArchive(t *testing.T, archive string, program []byte) {
	t.Helper()
	z := require.Value(gzip.NewReader(strings.NewReader(archive)))(t)
	var names []string
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		_, name, _ := strings.Cut(h.Name, "/")
		names = append(names, name)
		text := require.Value(io.ReadAll(files))(t)
		if is := name == "halfspace"; is != (h.Mode == 0o755) || is && !bytes.Equal(text, program) || h.Uid != 0 || h.ModTime.Unix() != 1e9 {
			t.Errorf("%s: mode %o, owner %d, time %v", name, h.Mode, h.Uid, h.ModTime)
		}
		if len(text) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	for _, want := range []string{"LICENSE", "LICENSES-of-modules.txt", "README.md", "CHANGELOG.md", "man/halfspace.1", "man/halfspace-train.1",
		"completions/halfspace.bash", "completions/_halfspace", "completions/halfspace.fish", "completions/halfspace.ps1"} {
		if !slices.Contains(names, want) {
			t.Errorf("the archive lacks %s: %q", want, names)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("the names are not sorted: %q", names)
	}
}

// TestBill: the bill of materials names the modules of a program with their versions.
func TestBill(t *testing.T) {
	var b bill
	require.NoError(t, json.Unmarshal(require.Value(billOfMaterials([]string{require.Value(os.Executable())(t)}))(t), &b))
	found := false
	for _, c := range b.Components {
		found = found || c.Name == "github.com/spf13/cobra" && strings.HasPrefix(c.Version, "v") && c.PURL == "pkg:golang/"+c.Name+"@"+c.Version
	}
	if !found || b.Format != "CycloneDX" || b.Metadata.Component.Version != console.Number {
		t.Errorf("%+v", b)
	}
}

// TestVersion: the version of the command is that of the Python package and of the newest section of the changelog.
func TestVersion(t *testing.T) {
	for path, pattern := range map[string]string{"python/halfspace/__init__.py": `(?m)^__version__ = "(.*)"$`, "CHANGELOG.md": `(?m)^## (\d\S*)`} {
		text := require.Value(os.ReadFile(filepath.Join(root, path)))(t)
		if found := regexp.MustCompile(pattern).FindSubmatch(text); found == nil || string(found[1]) != console.Number {
			t.Errorf("%s has the version %q, the command %s", path, found, console.Number)
		}
	}
}

// TestManPages: no line of a man page begins with a request that the text did not mean, and man finds nothing wrong.
func TestManPages(t *testing.T) {
	requests := regexp.MustCompile(`^\.(TH|SH|TP|B|nf|fi)\b`)
	for _, f := range manPages(cli.Command()) {
		for l := range strings.Lines(string(f.text)) {
			if (strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'")) && !requests.MatchString(l) {
				t.Errorf("%s: %s", f.name, l)
			}
		}
		if _, err := exec.LookPath("groff"); err != nil {
			continue
		}
		check := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z")
		check.Stdin = bytes.NewReader(f.text)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", f.name, err, out)
		}
	}
}
