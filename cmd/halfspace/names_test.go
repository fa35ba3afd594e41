package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"halfspace/internal/require"
)

// names are the names that the repository has. A name in a comment or a document that is none of them is dead.
type names struct {
	used     map[string]map[string]bool // words of the code by folder, words of its strings among them; all words under ""
	members  map[string]map[string]bool // what each package declares: functions, types, methods, fields, constants, variables
	exported map[string]bool            // the exported ones of members
	external map[string]bool            // last elements of the import paths of other modules' packages
	files    map[string]bool            // files and folders, without the folders that have them
}

var (
	wordOf     = regexp.MustCompile(`[\p{L}\p{N}_]+`)
	address    = regexp.MustCompile(`https?://\S+`)
	innerUpper = regexp.MustCompile(`^\pL.*(?:\p{Ll}\p{N}*\p{Lu}|\p{Lu}{2}\p{Ll}{2})`)
	selector   = regexp.MustCompile(`\b([A-Za-z_]\w*)\.([A-Z]\w*)\b`)
	called     = regexp.MustCompile(`\b([A-Za-z_]\w*)\(\)`)
	fileName   = regexp.MustCompile(`[\w-]*\w\.(?:go|py|md|txtar)\b|\w+_\w+\.s\b`)
	firstWord  = regexp.MustCompile(`^(?:(?:An?|The) )?([\p{L}\p{N}_]+)`)
	version    = regexp.MustCompile(`/v\d+$`)
	prefix     = regexp.MustCompile(`^"([a-z]\w*): `)
)

// proper are names of the world that are written like identifiers.
var proper = wordSet(`KiB MiB GiB NaN macOS JavaScript NumPy PyPI DuckDB OpenBLAS MinIO GitHub DevTools arXiv
	DeCoste LeCun LeVeque McDonald McMahan McNeil McSherry AdaAlter SplitMix64 TwoSum newGLMNET`)

// foreign are names of other programs, formats and data sets.
var foreign = wordSet(`GroupKFold GroupShuffleSplit TimeSeriesSplit BernoulliNB LinearDiscriminantAnalysis LogisticRegressionCV
	OneVsRestClassifier PassiveAggressiveClassifier SGDClassifier SimpleImputer ColumnTransformer PowerShell CycloneDX
	AttributeProto GraphProto NodeProto TensorProto ValueInfoProto
	BodyCompression DictionaryBatch FloatingPoint RecordBatch PageHeader PageType
	CreditCard HeartDisease MLDataR OncoDataSets ResumeNames RotterdamBreastCancer_df TitanicSurvival carData`)

func wordSet(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

func newNames() *names {
	return &names{used: map[string]map[string]bool{"": {}}, members: map[string]map[string]bool{}, exported: map[string]bool{},
		external: map[string]bool{}, files: map[string]bool{}}
}

// addPath adds a file of the repository.
func (n *names) addPath(name string) {
	for _, part := range strings.Split(name, "/") {
		n.files[part] = true
	}
	n.addWords(path.Dir(name), name)
}

// addWords adds the words of a text of a folder.
func (n *names) addWords(folder, text string) {
	if n.used[folder] == nil {
		n.used[folder] = map[string]bool{}
	}
	for _, w := range wordOf.FindAllString(text, -1) {
		n.used[folder][w], n.used[""][w] = true, true
	}
}

// addSource adds a file of Go code.
func (n *names) addSource(s source) {
	folder := path.Dir(s.name)
	n.addPath(s.name)
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			n.addWords(folder, node.Name)
		case *ast.BasicLit:
			if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
				n.addWords(folder, text)
			}
		case *ast.ImportSpec:
			if p, _ := strconv.Unquote(node.Path.Value); !strings.HasPrefix(p, module) {
				n.external[path.Base(version.ReplaceAllString(p, ""))] = true
			}
		case *ast.CommentGroup:
			return false
		}
		return true
	})
	pkg := strings.TrimSuffix(s.file.Name.Name, "_test")
	if n.members[pkg] == nil {
		n.members[pkg] = map[string]bool{}
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			n.addMembers(pkg, node.Name)
			return false
		case *ast.TypeSpec:
			n.addMembers(pkg, node.Name)
		case *ast.ValueSpec:
			n.addMembers(pkg, node.Names...)
		case *ast.Field:
			n.addMembers(pkg, node.Names...)
		}
		return true
	})
}

func (n *names) addMembers(pkg string, all ...*ast.Ident) {
	for _, ident := range all {
		n.members[pkg][ident.Name] = true
		if ident.IsExported() {
			n.exported[ident.Name] = true
		}
	}
}

// hasPrefix tells whether an exported name begins with a text.
func (n *names) hasPrefix(text string) bool {
	for name := range n.exported {
		if strings.HasPrefix(name, text) {
			return true
		}
	}
	return false
}

// has tells whether code of a folder uses a name, or a package of the module exports it.
func (n *names) has(folder, name string) bool {
	return n.used[folder][name] || n.exported[name] || folder == "" && n.exported["Benchmark"+name]
}

// dead returns the names in a comment that don't exist. Folder "" is for documents, which may name what any folder has.
func (n *names) dead(folder, text string) (all []string) {
	text = address.ReplaceAllString(text, "")
	text = selector.ReplaceAllStringFunc(text, func(s string) string {
		if pkg, _, _ := strings.Cut(s, "."); n.external[pkg] && n.members[pkg] == nil {
			return "" // of another module
		}
		return s
	})
	for _, w := range wordOf.FindAllString(text, -1) {
		if innerUpper.MatchString(w) && !n.has(folder, w) && !proper[w] && !foreign[w] {
			all = append(all, w)
		}
	}
	for _, m := range selector.FindAllStringSubmatch(text, -1) {
		known := n.has(folder, m[1]) && n.has(folder, m[2])
		if members := n.members[m[1]]; members != nil {
			known = members[m[2]] || n.external[m[1]]
		}
		if !known {
			all = append(all, m[0])
		}
	}
	for _, m := range called.FindAllStringSubmatch(text, -1) {
		if !n.has(folder, m[1]) {
			all = append(all, m[0])
		}
	}
	if folder != "" {
		for _, m := range fileName.FindAllString(text, -1) {
			if !n.files[m] {
				all = append(all, m)
			}
		}
	}
	return all
}

// A finding is a comment or a text with a dead name.
type finding struct {
	at   token.Pos
	what string
}

// check returns what is wrong with the names of a file of Go code.
func (n *names) check(s source) (all []finding) {
	for _, group := range s.file.Comments {
		for _, name := range n.dead(path.Dir(s.name), group.Text()) {
			all = append(all, finding{group.Pos(), "a comment names " + name + ", which doesn't exist"})
		}
	}
	for _, doc := range misnamed(s.file) {
		all = append(all, finding{doc.Pos(), fmt.Sprintf("the comment of another name begins with %.30q", doc.Text())})
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
			ast.Inspect(call, func(node ast.Node) bool {
				if text, ok := node.(*ast.BasicLit); ok {
					if m := prefix.FindStringSubmatch(text.Value); m != nil && m[1] != s.file.Name.Name && s.file.Name.Name != "main" {
						all = append(all, finding{text.Pos(), fmt.Sprintf("a panic of package %s says it is of %s", s.file.Name.Name, m[1])})
					}
				}
				return true
			})
		}
		return true
	})
	return all
}

// misnamed returns the doc comments of a file that begin with another name than the declared one. Examples, and the words of
// scripts, have comments of their own form.
func misnamed(f *ast.File) (all []*ast.CommentGroup) {
	add := func(doc *ast.CommentGroup, must bool, declared ...*ast.Ident) {
		if !begins(doc.Text(), must, declared) {
			all = append(all, doc)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !strings.HasPrefix(d.Name.Name, "Example") && !strings.HasPrefix(d.Name.Name, "script") {
				add(d.Doc, true, d.Name)
			}
		case *ast.GenDecl:
			var idents []*ast.Ident
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					idents = append(idents, spec.Name)
					add(spec.Doc, true, spec.Name)
				case *ast.ValueSpec:
					idents = append(idents, spec.Names...)
					add(spec.Doc, false, spec.Names...)
				}
			}
			add(d.Doc, d.Tok == token.TYPE, idents...)
		}
	}
	return all
}

// begins tells whether a doc comment begins with a declared name. If it needn't, it may also begin as a sentence does.
func begins(doc string, must bool, declared []*ast.Ident) bool {
	m := firstWord.FindStringSubmatch(doc)
	if m == nil {
		return true
	}
	for _, ident := range declared {
		if ident.Name == m[1] {
			return true
		}
		must = must || strings.EqualFold(ident.Name, m[1])
	}
	r, _ := utf8.DecodeRuneInString(doc)
	return !must && unicode.IsUpper(r) && !innerUpper.MatchString(m[1])
}

// lineComments are what begins a comment in files by their extension.
var lineComments = map[string]string{".s": "//", ".c": "//", ".h": "//", ".mjs": "//", ".py": "#", ".sh": "#", ".toml": "#"}

// A remark is the comment in a line of a file that isn't Go code.
type remark struct {
	file    string
	number  int
	comment string
}

// namesOf returns the names of the repository, and the comments of its other files.
func namesOf(t *testing.T) (n *names, lines []remark) {
	t.Helper()
	n = newNames()
	for _, s := range require.Value(allSources())(t) {
		n.addSource(s)
	}
	for name, err := range files() {
		require.NoError(t, err)
		n.addPath(name)
		folder, ext := path.Dir(name), path.Ext(name)
		if begin := lineComments[ext]; begin != "" {
			number := 0
			for text := range strings.Lines(read(t, name)) {
				number++
				code, comment, _ := strings.Cut(text, begin)
				n.addWords(folder, code)
				lines = append(lines, remark{name, number, comment})
			}
		} else if slices.Contains([]string{".txtar", ".css", ".json", ".txt"}, ext) {
			n.addWords(folder, read(t, name))
		}
	}
	return n, lines
}

// TestDeadNames: every identifier in a comment or a document exists. The changelog may tell of identifiers that are gone.
func TestDeadNames(t *testing.T) {
	n, lines := namesOf(t)
	for _, s := range require.Value(allSources())(t) {
		for _, f := range n.check(s) {
			t.Errorf("%s: %s", positions.Position(f.at), f.what)
		}
	}
	for _, l := range lines {
		for _, name := range n.dead(path.Dir(l.file), l.comment) {
			t.Errorf("%s:%d: a comment names %s, which doesn't exist", l.file, l.number, name)
		}
	}
	all := documents(t)
	delete(all, "CHANGELOG.md")
	all["asm/README.md"] = read(t, "asm/README.md")
	for file, text := range all {
		for _, name := range n.dead("", code.ReplaceAllString(text, "")) {
			t.Errorf("%s names %s, which doesn't exist", file, name)
		}
	}
	for _, test := range regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`).FindAllString(read(t, "Makefile"), -1) {
		if !n.hasPrefix(test) {
			t.Errorf("Makefile names %s, which doesn't exist", test)
		}
	}
	if len(lines) < 5000 || len(n.used[""]) < 10_000 {
		t.Errorf("%d lines and %d words were read", len(lines), len(n.used[""]))
	}
}

// TestDeadNamesFound: each kind of dead name is found, and a living one isn't.
func TestDeadNamesFound(t *testing.T) {
	parse := func(name, text string) source {
		return source{name, text, require.Value(parser.ParseFile(positions, name, text, parser.ParseComments))(t)}
	}
	n := newNames()
	n.addSource(parse("fit/fit.go", "package fit\n\nimport \"io\"\n\ntype Learner struct{ Rows int }\n\nfunc Evaluate(someRows io.Reader) {}\n"))
	for text, want := range map[string]string{
		"// Run calls Learner.Rows, fit.Evaluate, io.Writer, Run() in fit.go.\nfunc Run() {}": "",
		"// Run is SparseRows.\nfunc Run() {}":                                                "SparseRows",
		"// Run is BenchmarkRun.\nfunc Run() {}":                                              "BenchmarkRun",
		"// Run is someRows, a name of another folder.\nfunc Run() {}":                        "someRows",
		"// Run is fit.Learn.\nfunc Run() {}":                                                 "fit.Learn",
		"// Run is gone.Learn.\nfunc Run() {}":                                                "gone.Learn",
		"// Run is Learner.Columns.\nfunc Run() {}":                                           "Learner.Columns",
		"// Run calls learn().\nfunc Run() {}":                                                "learn()",
		"// Run is in learn.go.\nfunc Run() {}":                                               "learn.go",
		"// Learn learns.\nfunc Run() {}":                                                     "Learn learns",
		"// A Fit is a run.\ntype Run struct{}":                                               "A Fit",
		"// most is a bound.\nconst mostRuns = 1":                                             "most is",
		"// The bounds of runs.\nconst (\n\tmostRuns = 1\n)":                                  "",
		"func run() { panic(\"run: no rows\") }":                                              "",
		"func run() { panic(\"fit: no rows\") }":                                              "says it is of fit",
	} {
		s := parse("run/run.go", "package run\n\n"+text+"\n")
		n.addSource(s)
		got := n.check(s)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0].what, want)) {
			t.Errorf("%q: found %v", text, got)
		}
	}
}
