package cli

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"halfspace/internal/parallel"
	"halfspace/internal/require"
)

var updateDocs = flag.Bool("update-docs", false, "write into the documents what their commands print now")

// repository is the repository's folder.
var repository = filepath.Join("..", "..", "..")

// documents returns the paths of the documents whose commands are run.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", filepath.Join("examples", "README.md")}
	err := fs.WalkDir(os.DirFS(repository), "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			files = append(files, filepath.FromSlash(path))
		}
		return err
	})
	require.NoError(t, err)
	return files
}

// TestDocuments runs the commands of each document in their order, in a folder beside the examples.
//
// A block "console" has lines that begin with "$ ", each followed by what the command prints. A line "..." stands for any lines, and a
// command without output is only run. A line that ends in <<'END' goes on to the line END. Times, sizes of memory and what else depends on the computer are not compared. A block "sh" has
// commands alone. A picture that a command draws must be the one that the document shows under its name. A program in Python is written to the file that the line before it names. Commands of make and go are not run here: their targets and packages must exist.
func TestDocuments(t *testing.T) {
	if parallel.RaceEnabled {
		t.Skip("the race detector sees the same commands in other tests")
	}
	for _, name := range documents(t) {
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(repository, name)
			text := read(t, path)
			d := &document{t: t, dir: shell(t)}
			updated := d.run(text)
			d.pictures(filepath.Dir(path), text)
			if updated != text {
				require.NoError(t, os.WriteFile(path, []byte(updated), 0o600))
			}
		})
	}
}

type document struct {
	t   *testing.T
	dir string
}

// run runs the blocks of a document and returns the document with the outputs that -update-docs puts into it.
func (d *document) run(text string) string {
	var out []string
	language, body := "", []string(nil)
	open := false
	for _, line := range strings.Split(text, "\n") {
		switch fence, ok := strings.CutPrefix(line, "```"); {
		case !ok && open:
			body = append(body, line)
			continue
		case ok && !open:
			open, language, body = true, fence, nil
		case ok:
			if file, ok := strings.CutPrefix(out[len(out)-2], "<!-- file: "); ok && language == "python" {
				d.write(filepath.Base(strings.TrimSuffix(file, " -->")), body)
			}
			out = append(out, d.block(language, body)...)
			open = false
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// picture finds the pictures that a document shows.
var picture = regexp.MustCompile(`!\[[^]]*\]\(([^)]*\.svg)\)`)

// pictures compares the pictures of a document with those that its commands wrote under the same names.
func (d *document) pictures(dir, text string) {
	for _, m := range picture.FindAllStringSubmatch(text, -1) {
		shown := filepath.Join(dir, filepath.FromSlash(m[1]))
		drawn, err := os.ReadFile(filepath.Join(d.dir, filepath.Base(shown)))
		switch {
		case err != nil: // no command of the document draws it
		case *updateDocs:
			if err := os.WriteFile(shown, drawn, 0o600); err != nil {
				d.t.Error(err)
			}
		case read(d.t, shown) != string(drawn):
			d.t.Errorf("%s isn't what the commands draw: run the tests with -update-docs", shown)
		}
	}
}

// write writes the lines of a program that the document shows, for later commands.
func (d *document) write(name string, lines []string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// block runs a block of code and returns its lines.
func (d *document) block(language string, lines []string) []string {
	d.t.Helper()
	switch language {
	case "console":
		return d.console(lines)
	case "sh":
		for _, command := range join(lines) {
			if command != "" && !strings.HasPrefix(command, "#") {
				d.command(command)
			}
		}
	case "text", "go", "python", "json", "mermaid":
		for _, line := range lines {
			if strings.HasPrefix(strings.TrimPrefix(line, "$ "), "halfspace ") {
				d.t.Errorf("a block of %s has a command, which nobody runs: %s", language, line)
			}
		}
	default:
		d.t.Errorf("a block of the language %q: name it sh, console, go, python, json or text", language)
	}
	return lines
}

// join puts lines that end in a backslash together with the next ones.
func join(lines []string) []string {
	return strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), "\\\n", ""), "\n")
}

// console runs the commands of a block and compares what they print.
func (d *document) console(lines []string) []string {
	d.t.Helper()
	var kept []string
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "$ ") {
			d.t.Errorf("a block of console begins with output: %s", lines[i])
			return lines
		}
		first := i
		for strings.HasSuffix(lines[i], "\\") {
			i++
		}
		if strings.HasSuffix(lines[i], "<<'END'") {
			i += slices.Index(lines[i:], "END")
		}
		i++
		kept = append(kept, lines[first:i]...)
		expected := i
		for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
			i++
		}
		command := strings.Join(join(lines[first:expected]), "\n")
		got := d.command(strings.TrimPrefix(command, "$ "))
		want := lines[expected:i]
		if len(want) > 0 && !same(want, got) {
			if *updateDocs {
				want = elide(want, got)
			} else {
				d.t.Errorf("%s\nprints\n%s\nnot\n%s", command, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		kept = append(kept, want...)
	}
	return kept
}

// command runs a line of the shell, which must succeed, and returns the lines that it prints.
func (d *document) command(line string) []string {
	d.t.Helper()
	switch strings.Fields(line)[0] {
	case "make", "go", "git":
		checkTool(d.t, line)
		return nil
	}
	if _, err := exec.LookPath("python3"); err != nil && strings.HasPrefix(line, "python3 ") {
		d.t.Skip("missing: python3")
	}
	if require.Small() { // half a million rows show nothing that fewer don't
		line = strings.ReplaceAll(line, "--rows 500000 ", "--rows 20000 ")
	}
	cmd := exec.Command("bash", "-e", "-c", line)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(d.dir, "bin")+":"+os.Getenv("PATH"), "HALFSPACE_ISA=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Errorf("%s: %v\n%s", line, err, out)
	}
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n")
}

// masks find what differs from run to run and from computer to computer.
var masks = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`^(\s*)(ran on|time)\s.*`), "$1$2"},
	{regexp.MustCompile(`[\d.,]+ (s|ms|KiB|MiB|GiB|bytes)\b`), "# $1"},
	{regexp.MustCompile(`(\s+\d+\.\d{3}){2}$`), " #"},                             // the seconds of compare
	{regexp.MustCompile(`"(\w*seconds|load|train|total)": ?[\d.e-]+`), `"$1": #`}, // of --json
	{regexp.MustCompile(`"(isa|workers|peak_rss_bytes)": ?[^,}]+`), `"$1": #`},
	{regexp.MustCompile(`\s+`), " "}, // the widths of columns
}

func mask(line string) string {
	for _, m := range masks {
		line = m.find.ReplaceAllString(line, m.with)
	}
	return strings.TrimSpace(line)
}

// same tells whether lines are those that a document shows, of which "..." stands for any.
func same(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "..." {
		for i := range len(got) + 1 {
			if same(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && mask(want[0]) == mask(got[0]) && same(want[1:], got[1:])
}

// elide leaves out of got as many lines as a line "..." in want does.
func elide(want, got []string) []string {
	at := slices.IndexFunc(want, func(line string) bool { return strings.TrimSpace(line) == "..." })
	if at < 0 || len(got) < len(want) {
		return got
	}
	return slices.Concat(got[:at], want[at:at+1], got[len(got)-(len(want)-at-1):])
}

// inline finds commands and options between backticks in a document's sentences.
var inline = regexp.MustCompile("`([^`\n]+)`")

// TestDocumentOptions finds commands and options that documents name between backticks and the program doesn't have.
func TestDocumentOptions(t *testing.T) {
	root := (&call{}).root()
	flags := map[string]bool{"--help": true, "--help-all": true, "--version": true, "--priority": true}
	verbs := map[string]*cobra.Command{"help": root, "completion": root}
	for _, cmd := range root.Commands() {
		verbs[cmd.Name()] = cmd
		for word := range strings.FieldsSeq(cmd.Flags().FlagUsages()) {
			flags[strings.Trim(word, ",")] = true
		}
	}
	flags["--quiet"] = true // of every verb, and before it
	found := 0
	for _, name := range documents(t) {
		if name == "docs/distributed.md" {
			continue // its options are Beam's too
		}
		text := blocks.ReplaceAllString(read(t, filepath.Join(repository, name)), "")
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			if len(words) == 0 {
				continue
			}
			if words[0] == "make" || words[0] == "go" {
				checkTool(t, m[1])
				continue
			}
			if words[0] == "halfspace" && len(words) > 1 && verbs[words[1]] == nil && words[1] != "COMMAND" {
				t.Errorf("%s names `%s`, which is no command", name, m[1])
			}
			for _, word := range words {
				option, _, _ := strings.Cut(word, "=")
				if strings.HasPrefix(option, "--") && strings.Trim(option, "-") != "" {
					found++
					if !flags[option] {
						t.Errorf("%s names the option %s, which no command has", name, option)
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("the documents name %d options", found)
	}
}

var blocks = regexp.MustCompile("(?ms)^```.*?^```")

// checkTool checks that the target of a command of make exists, and the packages, tests and benchmarks of a command of go.
func checkTool(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(strings.Trim(line, "()"))
	if len(words) < 2 {
		return
	}
	if words[0] == "make" {
		makefile := read(t, filepath.Join(repository, "Makefile"))
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(words[1]) + `:`).MatchString(makefile) {
			t.Errorf("%s: there is no such target", line)
		}
		return
	}
	var tests []string
	for i, word := range words {
		if folder, ok := strings.CutPrefix(word, "./"); ok && folder != "..." {
			files, err := filepath.Glob(filepath.Join(repository, strings.TrimSuffix(folder, "/..."), "*.go"))
			if err != nil || files == nil {
				t.Errorf("%s: there is no package %s", line, word)
			}
			var source bytes.Buffer
			for _, file := range files {
				source.WriteString(read(t, file))
			}
			for _, name := range tests {
				if !regexp.MustCompile(`func (Benchmark|Test|Fuzz)\w*`+strings.TrimPrefix(name, "Test")).Match(source.Bytes()) && name != "." {
					t.Errorf("%s: %s has no such test or benchmark", line, word)
				}
			}
		}
		if i > 0 && (words[i-1] == "-bench" || words[i-1] == "-run" || words[i-1] == "-fuzz") {
			tests = append(tests, strings.Trim(word, "'^$"))
		}
	}
}
