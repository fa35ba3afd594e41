package export

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/schema"
)

const sourceRows = 50

// text returns what a function writes for a model.
func text(t *testing.T, write func(io.Writer, *model.Model, string) error, m *model.Model, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b, m, name))
	if err := write(broken{}, m, name); !errors.Is(err, errBroken) {
		t.Errorf("error %v of a writer that fails", err)
	}
	return b.Bytes()
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// rowsText returns the rows of all samples, a line for each row.
func rowsText(all []sample) []byte {
	var b bytes.Buffer
	for _, s := range all {
		for _, row := range s.rows {
			for _, v := range row {
				fmt.Fprint(&b, strconv.FormatFloat(v, 'g', -1, 64), " ")
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// check compares lines of a class and its scores with package predict.
func check(t *testing.T, all []sample, out []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(all)*sourceRows {
		t.Fatalf("%d lines for %d rows", len(lines), len(all)*sourceRows)
	}
	for i, line := range lines {
		s, r := &all[i/sourceRows], i%sourceRows
		fields := strings.Fields(line)
		class := require.Value(strconv.Atoi(fields[0]))(t)
		scores := make([]float64, len(fields)-1)
		for k := range scores {
			scores[k] = require.Value(strconv.ParseFloat(fields[k+1], 64))(t)
		}
		if len(scores) != len(s.m.Weights) {
			t.Fatalf("%s: %d scores", s.name, len(scores))
		}
		s.compare(t, r, scores, class, 0x1p-24)
	}
}

// TestC compiles the C of every sample as C99, strictly, and holds its scores against those of package predict.
func TestC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("missing: a C compiler")
	}
	all, dir := samples(t, sourceRows), t.TempDir()
	var main bytes.Buffer
	main.WriteString("#include <stdio.h>\n#include <string.h>\n")
	for _, s := range all {
		put(t, filepath.Join(dir, s.name+".c"), text(t, WriteC, s.m, s.name))
		fmt.Fprintf(&main, "#include \"%s.c\"\n", s.name)
	}
	main.WriteString("int main(void)\n{\n    double x[7], s[3];\n    int r, i;\n")
	for _, s := range all {
		get, n := fmt.Sprintf("s[0] = %s_score(x)", s.name), len(s.m.Weights)
		if n > 1 {
			get = fmt.Sprintf("%s_scores(x, s)", s.name)
		}
		for k, c := range s.m.Classes {
			fmt.Fprintf(&main, "    static const char c%s_%d[] = {%s 0};\n", s.name, k, bytesOf(c.Text))
			fmt.Fprintf(&main, "    if (strcmp(%s_classes[%d], c%s_%d) != 0)\n        return 1;\n", s.name, k, s.name, k)
		}
		fmt.Fprintf(&main, "    for (r = 0; r < %d; r++) {\n        for (i = 0; i < 7; i++)\n            if (scanf(\"%%lf\", &x[i]) != 1)\n                return 2;\n", sourceRows)
		fmt.Fprintf(&main, "        %s;\n        printf(\"%%d\", %s_predict(x));\n        for (i = 0; i < %d; i++)\n            printf(\" %%.17g\", s[i]);\n        puts(\"\");\n    }\n", get, s.name, n)
	}
	main.WriteString("    return 0;\n}\n")
	put(t, filepath.Join(dir, "main.c"), main.Bytes())
	program := filepath.Join(dir, "main")
	if out, err := exec.Command(cc, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-o", program, filepath.Join(dir, "main.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check(t, all, run(t, all, program))
}

// TestCPlusPlus: a C++ compiler takes the C, and another file of the program sees its classes.
func TestCPlusPlus(t *testing.T) {
	cc, err := exec.LookPath("c++")
	if err != nil {
		t.Skip("missing: a C++ compiler")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "m.cc"), text(t, WriteC, samples(t, 1)[1].m, "m"))
	put(t, filepath.Join(dir, "main.cc"), []byte("extern const char *const m_classes[];\nint main() { return m_classes[0][0] == '-' ? 0 : 1; }\n"))
	program := filepath.Join(dir, "main")
	args := []string{"-Wall", "-Wextra", "-Werror", "-o", program, filepath.Join(dir, "main.cc"), filepath.Join(dir, "m.cc")}
	for _, p := range preparedSamples(t, "people", "places") {
		file := filepath.Join(dir, p.name+".cc")
		put(t, file, text(t, WriteC, p.m, p.name))
		args = append(args, file)
	}
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := exec.Command(program).Run(); err != nil {
		t.Error(err)
	}
}

// bytesOf returns the bytes of a text as numbers with commas behind.
func bytesOf(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, "(char)%d,", c)
	}
	return b.String()
}

// run returns what a program prints for the rows of samples.
func run(t *testing.T, all []sample, program string) []byte {
	t.Helper()
	c := exec.Command(program)
	c.Stdin = bytes.NewReader(rowsText(all))
	out := require.Value(c.Output())(t)
	return out
}

// TestGo builds the Go package of every sample and holds its scores against those of package predict.
func TestGo(t *testing.T) {
	if require.Small() {
		t.Skip("builds a program")
	}
	all, dir := samples(t, sourceRows), t.TempDir()
	put(t, filepath.Join(dir, "go.mod"), []byte("module models\n\ngo 1.26\n"))
	var imports, body strings.Builder
	for _, s := range all {
		put(t, filepath.Join(dir, s.name, s.name+".go"), text(t, WriteGo, s.m, s.name))
		fmt.Fprintf(&imports, "\t%q\n", "models/"+s.name)
		get := fmt.Sprintf("[]float64{%s.Score(x)}", s.name)
		if len(s.m.Weights) > 1 {
			get = fmt.Sprintf("all(%s.Scores(x))", s.name)
		}
		fmt.Fprintf(&body, "\tfor range %d {\n\t\tx := read()\n\t\tfmt.Print(%s.Predict(x))\n\t\tfor _, v := range %s {\n\t\t\tfmt.Print(\" \", v)\n\t\t}\n\t\tfmt.Println()\n\t}\n", sourceRows, s.name, get)
		for k, c := range s.m.Classes {
			fmt.Fprintf(&body, "\tif %s.Classes[%d] != %+q {\n\t\tpanic(%q)\n\t}\n", s.name, k, c.Text, s.name)
		}
	}
	put(t, filepath.Join(dir, "main.go"), []byte("package main\n\nimport (\n\t\"bufio\"\n\t\"fmt\"\n\t\"os\"\n"+imports.String()+")\n\nvar in = bufio.NewReader(os.Stdin)\n\n"+
		"func all(s [3]float64) []float64 { return s[:] }\n\nfunc read() []float64 {\n\tx := make([]float64, 7)\n\tfor i := range x {\n\t\tif _, err := fmt.Fscan(in, &x[i]); err != nil {\n\t\t\tpanic(err)\n\t\t}\n\t}\n\treturn x\n}\n\nfunc main() {\n"+body.String()+"}\n"))
	program := filepath.Join(dir, "program")
	c := exec.Command("go", "build", "-o", program, ".")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check(t, all, run(t, all, program))
}

// TestGoIsFormatted: the Go of every sample has the form that gofmt gives, and types that fit.
func TestGoIsFormatted(t *testing.T) {
	for _, s := range samples(t, 1) {
		got := text(t, WriteGo, s.m, s.name)
		want, err := format.Source(got)
		if err != nil {
			t.Fatalf("%s: %v\n%s", s.name, err, got)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: gofmt makes of it\n%s", s.name, want)
		}
		set := token.NewFileSet()
		f := require.Value(parser.ParseFile(set, s.name+".go", got, 0))(t)
		check := types.Config{Error: func(err error) {
			if !strings.Contains(err.Error(), "could not import") { // the types of imported packages are not at hand
				t.Error(err)
			}
		}}
		_, _ = check.Check(s.name, set, []*ast.File{f}, nil)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"": "model", "a-b.c": "a_b_c", "7": "model_7", "_x": "x", "größe": "gr__e", "__": "model"} {
		if got := identifier(name); got != want {
			t.Errorf("identifier(%q) is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"func": "model_func", "main": "model_main", "Iris": "iris"} {
		if got := text(t, WriteGo, samples(t, 1)[0].m, name); !bytes.Contains(got, []byte("\npackage "+want+"\n")) {
			t.Errorf("%q is not the package %s:\n%s", name, want, got)
		}
	}
}

// TestCMacros: columns named as keywords and as macros of the headers give members that compile, as GNU's C and as C99.
func TestCMacros(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("missing: a C compiler")
	}
	dir := t.TempDir()
	headers := filepath.Join(dir, "headers.h")
	put(t, headers, []byte("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"))
	names := []string{"typeof", "double", "asm", "inline"}
	for line := range strings.Lines(string(require.Value(exec.Command(cc, "-std=gnu11", "-dM", "-E", headers).Output())(t))) {
		name, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#define ")), " ")
		if !strings.HasPrefix(name, "_") && !strings.Contains(name, "(") {
			names = append(names, name)
		}
	}
	columns := []schema.Column{{Name: "c", Kind: schema.OneHotColumn, Categories: []string{"a"}}}
	for _, name := range names {
		columns = append(columns, schema.Column{Name: name, Kind: schema.NumberColumn})
	}
	spec := &schema.Spec{Label: "y", Bias: true, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)},
		Preprocessing: &schema.Preprocessing{Nulls: schema.NullsZero, Columns: columns}}
	for i := range columns {
		spec.Features = append(spec.Features, spec.Preprocessing.FeatureName(i))
	}
	m := model.New(spec, make([]float32, len(columns)+1))
	file := filepath.Join(dir, "m.c")
	put(t, file, text(t, WriteC, m, "m"))
	for _, std := range []string{"gnu11", "c99"} {
		if out, err := exec.Command(cc, "-std="+std, "-Werror", "-c", "-o", filepath.Join(dir, "m.o"), file).CombinedOutput(); err != nil {
			t.Errorf("%s, %d names: %v: %.1500s", std, len(names), err, out)
		}
	}
}
