// Release writes the archives of a release from commands that were built for several systems.
//
// Usage: go run ./cmd/internal/release -binaries FOLDER -out FOLDER -time SECONDS
//
// The folder of binaries has GOOS/GOARCH/halfspace, or halfspace.exe. Each becomes an archive with the licenses, man pages and
// completions. The files of the folder -out, also those that lay there before, are listed in SHA256SUMS. The same input gives the
// same bytes.
package main

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"halfspace/cmd/internal/cli"
	"halfspace/cmd/internal/console"
)

func main() {
	binaries := flag.String("binaries", "", "folder of the commands, as GOOS/GOARCH/halfspace")
	out := flag.String("out", "", "folder for the archives")
	seconds := flag.Int64("time", 0, "time of the files in the archives, in seconds since 1970")
	flag.Parse()
	r := release{root: ".", binaries: *binaries, out: *out, time: time.Unix(*seconds, 0).UTC()}
	if err := r.write(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release says where its files are, and the time that archives give to all files.
type release struct {
	root     string // the repository
	binaries string
	out      string
	time     time.Time
}

// write writes an archive for each binary, the list of linked modules, and the sums of all files.
func (r *release) write() error {
	programs, err := filepath.Glob(filepath.Join(r.binaries, "*", "*", "halfspace*"))
	if err != nil || len(programs) == 0 {
		return cmp.Or(err, fmt.Errorf("%s has no GOOS/GOARCH/halfspace: build the commands first", r.binaries))
	}
	slices.Sort(programs)
	common, err := r.common()
	if err != nil {
		return err
	}
	for _, program := range programs {
		if err := r.archive(program, common); err != nil {
			return err
		}
	}
	bill, err := billOfMaterials(programs)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "halfspace_"+console.Number+"_sbom.cdx.json"), bill, 0o644); err != nil {
		return err
	}
	return r.sums()
}

// common returns the files of every archive: documents, licenses, man pages and completions.
func (r *release) common() (files []file, err error) {
	for name, path := range map[string]string{"LICENSE": "LICENSE", "README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md",
		"LICENSES-of-modules.txt": "cmd/internal/cli/licenses.txt"} {
		text, err := os.ReadFile(filepath.Join(r.root, path))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, text: text})
	}
	root := cli.Command()
	files = append(files, manPages(root)...)
	completions, err := completions(root)
	return append(files, completions...), err
}

// archive writes the archive of one program: a .zip for Windows, a .tar.gz for other systems.
func (r *release) archive(program string, common []file) error {
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	arch := filepath.Base(filepath.Dir(program))
	goos := filepath.Base(filepath.Dir(filepath.Dir(program)))
	files := append([]file{{name: filepath.Base(program), text: text, isProgram: true}}, common...)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	name, write := fmt.Sprintf("halfspace_%s_%s_%s", console.Number, goos, arch), tarGz
	extension := ".tar.gz"
	if goos == "windows" {
		write, extension = zipped, ".zip"
	}
	bytes, err := write(name, files, r.time)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+extension), bytes, 0o644)
}

// sums writes SHA256SUMS, as sha256sum -c reads it.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	const name = "SHA256SUMS"
	var lines strings.Builder
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, name), []byte(lines.String()), 0o644)
}
