package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"halfspace/dataset"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
)

const root = "../.."

// documents returns the text of each document by its path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() && strings.HasPrefix(name, ".") && name != "." || name == "tmp" {
			return fs.SkipDir
		}
		if path.Ext(name) == ".md" && (path.Dir(name) == "." || strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "examples/")) {
			all[name] = read(t, name)
		}
		return err
	})
	if err != nil || len(all) < 20 {
		t.Fatalf("found %d documents: %v", len(all), err)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// TestSizes: the pages that a reader sees first stay short.
func TestSizes(t *testing.T) {
	for name, most := range map[string]int{"README.md": 7_000, "ARCHITECTURE.md": 14_000} {
		if n := utf8.RuneCountInString(read(t, name)); n > most {
			t.Errorf("%s has %d characters, more than %d", name, n, most)
		}
	}
}

var (
	code    = regexp.MustCompile("(?ms)^```.*?^```")
	span    = regexp.MustCompile("`([^`\n]+)`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// anchors returns the anchors that the headings of a document have on GitHub.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		slug := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(slug, " ", "-"))
	}
	return all
}

// TestLinks follows the links between documents, and to headings in them.
func TestLinks(t *testing.T) {
	all := documents(t)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1]+m[2], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if !exists(to) {
				t.Errorf("%s links to %s, which doesn't exist", name, to)
			} else if anchor != "" && !slices.Contains(anchors(all[to]), anchor) {
				t.Errorf("%s links to #%s of %s, which has %q", name, anchor, to, anchors(all[to]))
			}
		}
	}
}

// TestPrograms: programs in documents are parts of the files that the comment before them names, whose tests run them.
func TestPrograms(t *testing.T) {
	named := regexp.MustCompile("(?ms)(^<!-- file: (\\S+) -->\n)?^```(go|python)\n(.*?)^```")
	found := 0
	for name, text := range documents(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			found++
			if m[2] == "" {
				t.Errorf("%s has a program without <!-- file: ... --> before it:\n%s", name, m[4])
			} else if !strings.Contains(read(t, m[2]), m[4]) {
				t.Errorf("%s shows other lines than %s:\n%s", name, m[2], m[4])
			}
		}
	}
	if found < 3 {
		t.Errorf("the documents show %d programs", found)
	}
}

// TestNames: paths, packages and exported names between backticks exist.
func TestNames(t *testing.T) {
	tops := map[string]bool{}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, e := range entries {
		tops[e.Name()] = true
	}
	known, _ := namesOf(t)
	qualified := regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?$`)
	names := 0
	for name, text := range documents(t) {
		if name == "CHANGELOG.md" {
			continue
		}
		for _, word := range words(text) {
			if q := qualified.FindStringSubmatch(word); q != nil && q[1] != "math" {
				names++
				for _, ident := range q[2:] {
					if ident != "" && !known.members[q[1]][ident] {
						t.Errorf("%s names `%s`, which package %s doesn't have", name, word, q[1])
					}
				}
				continue
			}
			first, _, nested := strings.Cut(word, "/")
			switch {
			case strings.ContainsAny(word, " $<>(") || !tops[first] && !strings.HasSuffix(word, ".go"):
			case strings.Contains(word, "*"):
				if matches, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(word))); matches == nil {
					t.Errorf("%s names `%s`, which matches nothing", name, word)
				}
			case nested || strings.Contains(word, "."):
				names++
				if !exists(word) {
					t.Errorf("%s names `%s`, which doesn't exist", name, word)
				}
			}
		}
	}
	if names < 20 {
		t.Errorf("the documents name %d paths and identifiers", names)
	}
}

// words returns the texts between backticks, a/{b,c} as a/b and a/c.
func words(text string) (all []string) {
	for _, m := range span.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		before, rest, _ := strings.Cut(strings.TrimSuffix(m[1], "/"), "{")
		names, after, _ := strings.Cut(rest, "}")
		for name := range strings.SplitSeq(names, ",") {
			all = append(all, before+name+after)
		}
	}
	return all
}

// TestFormatLists: where a document lists formats from Parquet on, it lists those of dataset.FormatNames in their order.
func TestFormatLists(t *testing.T) {
	names := dataset.FormatNames()
	list := regexp.MustCompile(`Parquet, CSV,[^.:;()|]*`)
	lists := 0
	for name, text := range documents(t) {
		for _, found := range list.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
			lists++
			for _, format := range names {
				if !strings.Contains(found, format) {
					t.Errorf("%s lists formats without %s: %s", name, format, found)
				}
			}
		}
	}
	page := read(t, "docs/guide/formats.md")
	for _, format := range names {
		if !strings.Contains(page, "\n| "+format+" |") {
			t.Errorf("docs/guide/formats.md has no line of %s", format)
		}
	}
	if lists < 4 {
		t.Errorf("the documents have %d lists of formats", lists)
	}
}

// TestPackageTable: the packages of the table in docs/guide/go.md exist.
func TestPackageTable(t *testing.T) {
	_, table, found := strings.Cut(read(t, "docs/guide/go.md"), "| package | use it for |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	packages := 0
	for line := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range span.FindAllStringSubmatch(cell, -1) {
			packages++
			if files, err := filepath.Glob(filepath.Join(root, m[1], "*.go")); err != nil || files == nil {
				t.Errorf("docs/guide/go.md has the package %s, which doesn't exist", m[1])
			}
		}
	}
	if !found || packages < 15 {
		t.Errorf("the table has %d packages", packages)
	}
}

// TestLearnerCount: the number of learners in README.md and CHANGELOG.md is right.
func TestLearnerCount(t *testing.T) {
	n := len(train.Learners)
	if n != 14 || !strings.Contains(read(t, "README.md"), "ranks 12 of the 14") || !strings.Contains(read(t, "CHANGELOG.md"), "Fourteen, with one command") {
		t.Errorf("there are %d learners, and README.md or CHANGELOG.md says otherwise", n)
	}
}

// TestFieldWords: a search for a word of the field finds the page that answers.
func TestFieldWords(t *testing.T) {
	for word, page := range map[string]string{"hyperparameter": "docs/guide/tuning.md", "one-hot": "docs/guide/faq.md", "onehot": "docs/guide/columns.md",
		"tokenize": "docs/guide/faq.md", "imbalanced": "docs/guide/classes.md", "overfit": "docs/guide/output.md", "early stopping": "docs/guide/tuning.md",
		"leakage": "docs/guide/tuning.md", "feature importance": "docs/guide/reports.md", "cross-validat": "docs/guide/tuning.md",
		"calibrat": "docs/guide/evaluate.md", "DataFrame": "README.md", "regression": "README.md", "GPU": "README.md"} {
		if !strings.Contains(strings.ToLower(read(t, page)), strings.ToLower(word)) {
			t.Errorf("%s does not say %q", page, word)
		}
	}
}

// TestWholeSize: the documents for users stay readable as a whole.
func TestWholeSize(t *testing.T) {
	bytes := 0
	for name, text := range documents(t) {
		if name != "ARCHITECTURE.md" && name != "CONTRIBUTING.md" {
			bytes += len(text)
		}
	}
	if most := 280 << 10; bytes > most {
		t.Errorf("the documents have %d bytes, more than %d", bytes, most)
	}
}

// TestTargets: the table of targets of CONTRIBUTING.md is what make help prints.
func TestTargets(t *testing.T) {
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):.*?## (.*)$`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		rows = append(rows, "| `make "+m[1]+"` | "+m[2]+" |\n")
	}
	slices.Sort(rows)
	const head = "`make help` prints this table:\n\n| command | does |\n|---|---|\n"
	text := read(t, "CONTRIBUTING.md")
	before, rest, found := strings.Cut(text, head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends || len(rows) < 20 {
		t.Fatalf("no table of targets, of which the Makefile has %d", len(rows))
	}
	want := before + head + strings.Join(rows, "") + "\n" + after
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, "CONTRIBUTING.md"), []byte(want), 0o600))
	} else if text != want {
		t.Error("CONTRIBUTING.md has other targets than the Makefile: write them with go test ./cmd/halfspace -update")
	}
}

// TestModelKeys: docs/model-file.md names every key of a model file.
func TestModelKeys(t *testing.T) {
	text := read(t, "docs/model-file.md")
	for _, key := range keys(reflect.TypeFor[model.Model](), nil) {
		if !strings.Contains(text, "`"+key+"`") {
			t.Errorf("docs/model-file.md doesn't name the key `%s`", key)
		}
	}
}

// keys appends the JSON keys of a type and of the types in it.
func keys(typ reflect.Type, to []string) []string {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return to
	}
	for i := range typ.NumField() {
		if key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); key != "" && key != "-" {
			to = keys(typ.Field(i).Type, append(to, key))
		}
	}
	return to
}
