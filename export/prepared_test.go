package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"go/format"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/predict"
	"halfspace/schema"
)

const preparedRows = 1000

// A prepared table is a model whose features --prepare auto made, with other rows of the same columns.
type prepared struct {
	sample
	columns []string
	values  [][]any // of each row and column: float64, string, or nil for a missing value
	layouts []string
	scores  [][]float64 // by package predict
	classes []int
}

// A preparedColumn returns a random value; known is false if it may be one that the training rows don't have.
type preparedColumn struct {
	name   string
	missed float64 // share of missing values
	layout string  // of a date
	typ    string  // that --type names; "": none
	value  func(rng *rand.Rand, known bool) any
}

func number0(v float64) any { return math.Round(v*1e4) / 1e4 }

func oneOf(rng *rand.Rand, known bool, list ...string) any {
	if !known && rng.IntN(6) == 0 {
		return "new" + strconv.Itoa(rng.IntN(9))
	}
	return list[rng.IntN(len(list))]
}

// oddText returns one of the texts, or a text of parts of numbers.
func oddText(rng *rand.Rand, texts []require.WrittenText) string {
	if rng.IntN(2) == 0 {
		return texts[rng.IntN(len(texts))].Text
	}
	parts := []string{"1", "23", "456", "789", "0", ",", ".", "-", "(", ")", " ", "'", "%", "€", "k", "M", "e-2", "+",
		"\u00a0", "\u202f", "\u2212", "\u2019"}
	text := parts[rng.IntN(5)]
	for range rng.IntN(5) {
		if part := parts[rng.IntN(len(parts))]; rng.IntN(3) > 0 {
			text += part
		} else {
			text = part + text
		}
	}
	return text
}

func preparedTables(t *testing.T) map[string][]preparedColumn {
	odd := require.WrittenTexts(t, "../schema/testdata/written.json")
	date := func(layout string, seconds int64) func(*rand.Rand, bool) any {
		return func(rng *rand.Rand, _ bool) any {
			t := (rng.Int64N(20e8) - 5e8) / seconds * seconds
			return timeText(t, layout)
		}
	}
	return map[string][]preparedColumn{
		"people": {
			{name: "age */", missed: 0.1, value: func(rng *rand.Rand, _ bool) any { return number0(40 + 15*rng.NormFloat64()) }},
			{name: "height", value: func(rng *rand.Rand, _ bool) any { return number0(rng.NormFloat64()) }},
			{name: "sex", missed: 0.05, value: func(rng *rand.Rand, known bool) any { return oneOf(rng, known, "female", "male", "\"größer\" ??/\\") }},
			{name: "int", missed: 0.02, value: func(rng *rand.Rand, known bool) any {
				if !known && rng.IntN(3) == 0 {
					return oneOf(rng, known, "true", "F", "y ", "off", "on")
				}
				return oneOf(rng, known, "Yes", "no", " NO")
			}},
			{name: "price", missed: 0.03, value: func(rng *rand.Rand, known bool) any {
				if !known && rng.IntN(2) == 0 {
					return oddText(rng, odd)
				}
				return oneOf(rng, known, fmt.Sprintf("$%d,%03d.%02d", rng.IntN(900), rng.IntN(1000), rng.IntN(100)), fmt.Sprintf("-%d € ", rng.IntN(1000)), fmt.Sprintf("%d.5 %%", rng.IntN(100)), "1.5e3", "+.25")
			}},
			{name: "preis", missed: 0.03, value: func(rng *rand.Rand, known bool) any {
				if !known && rng.IntN(2) == 0 {
					return strings.NewReplacer(",", ".", ".", ",").Replace(oddText(rng, odd))
				}
				return oneOf(rng, known, fmt.Sprintf("%d.%03d,%02d €", 1+rng.IntN(900), rng.IntN(1000), rng.IntN(100)), fmt.Sprintf("%d,5", rng.IntN(100)), "1.234.567")
			}},
		},
		"texts": wordColumns(),
		"places": {
			{name: "when", missed: 0.04, value: date("2006-01-02 15:04:05", 60)},
			{name: "7 day", layout: "2.1.2006", missed: 0.3, value: date("2.1.2006", 86400)},
			{name: "city", missed: 0.02, value: func(rng *rand.Rand, known bool) any {
				n := 200
				if !known {
					n = 260
				}
				i := rng.IntN(n)
				return "city" + strings.Repeat("-", i*i%1500) + strconv.Itoa(i)
			}},
			{name: "X", value: func(rng *rand.Rand, known bool) any { return oneOf(rng, known, "a", "b", "ä") }},
			{name: "x", value: func(rng *rand.Rand, _ bool) any { return number0(rng.NormFloat64()) }},
		},
	}
}

func timeText(seconds int64, layout string) string { return time.Unix(seconds, 0).UTC().Format(layout) }

// preparedSamples returns tables with random weights. Every other is standardized, and from the third on they have three classes.
func preparedSamples(t *testing.T, names ...string) (all []prepared) {
	t.Helper()
	tables := preparedTables(t)
	tables["dates"] = slices.DeleteFunc(slices.Clone(tables["places"]), func(c preparedColumn) bool { return c.name == "city" })
	for i, name := range names {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		columns := tables[name]
		p := prepared{sample: sample{name: name + strconv.Itoa(i)}}
		known, classes := p.table(rng, columns, 3000, true), []string{"no", "yes", "maybe"}[:2+min(1, i/2)]
		dir := t.TempDir()
		train, test := filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv")
		put(t, train, csvOf(columns, known, classes))
		p.values = p.table(rng, columns, preparedRows, false)
		put(t, test, csvOf(columns, p.values, nil))
		opt := dataset.Options{Label: "y", Prepare: true, Standardize: i%2 == 0}
		for _, c := range columns {
			if c.typ != "" {
				opt.Types = append(opt.Types, c.name+"="+c.typ)
			}
		}
		data := require.Value(dataset.Load(context.Background(), train, opt))(t)
		spec := data.Spec()
		weights := make([]float32, spec.Vectors()*spec.Cols())
		for k := range weights {
			weights[k] = float32(rng.NormFloat64())
		}
		p.m = model.New(spec, weights)
		p.m.Algorithm = "logistic"
		if len(classes) > 2 {
			p.m.Options.Multiclass = model.Joint
		}
		p.scan(t, test)
		all = append(all, p)
	}
	return all
}

// table returns random values.
func (p *prepared) table(rng *rand.Rand, columns []preparedColumn, rows int, known bool) (values [][]any) {
	p.columns, p.layouts = nil, nil
	for _, c := range columns {
		p.columns, p.layouts = append(p.columns, c.name), append(p.layouts, c.layout)
	}
	for range rows {
		row := make([]any, len(columns))
		for k, c := range columns {
			if rng.Float64() >= c.missed {
				row[k] = c.value(rng, known)
			}
		}
		values = append(values, row)
	}
	return values
}

// csvOf returns values as CSV, with the classes in turn as the column y.
func csvOf(columns []preparedColumn, values [][]any, classes []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	var head []string
	for _, c := range columns {
		head = append(head, c.name)
	}
	if classes != nil {
		head = append(head, "y")
	}
	_ = w.Write(head)
	for i, row := range values {
		var cells []string
		for _, v := range row {
			if v == nil {
				v = ""
			}
			cells = append(cells, fmt.Sprint(v))
		}
		if classes != nil {
			cells = append(cells, classes[i%len(classes)])
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

// scan sets the features of the rows, and holds the scores that a predictor gives the values of a row against those of the file.
func (p *prepared) scan(t *testing.T, path string) {
	t.Helper()
	one, many := require.Value(predict.New(p.m))(t), require.Value(predict.NewScorer(p.m, 1))(t)
	names := one.Columns()
	r := 0
	require.NoError(t, dataset.Scan(context.Background(), []string{path}, dataset.Options{Spec: p.m.Spec()}, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
		scores := require.Value(many.Scores(context.Background(), b))(t)
		for i := range b.Len() {
			var values []any
			for _, name := range names {
				values = append(values, p.values[r][slices.Index(p.columns, name)])
			}
			row := require.Value(one.AppendRow(nil, values...))(t)
			p.rows = append(p.rows, row)
			got := make([]float64, len(scores))
			require.NoError(t, one.Scores(row, got))
			for k := range got {
				if got[k] != float64(scores[k][i]) {
					t.Fatalf("%s, row %d, %q: score %d is %v, in the file %v", p.name, r, values, k, got[k], scores[k][i])
				}
			}
			p.scores = append(p.scores, got)
			p.classes = append(p.classes, schema.FindClass(p.m.Classes, require.Value(one.Class(row))(t).Text))
			r++
		}
		return nil
	}))
	if r != preparedRows {
		t.Fatalf("%d rows", r)
	}
}

// days returns the value of column k as a number of days, or false if it is no date.
func (p *prepared) days(k int, value any) (float64, bool) {
	for _, c := range p.m.Spec().Columns() {
		if c.Name != p.columns[k] || !c.Derive.Dated() {
			continue
		}
		text, is := value.(string)
		if !is {
			return math.NaN(), true
		}
		at, ok := schema.ParseTime(text, p.layouts[k])
		if !ok {
			return math.NaN(), true
		}
		return float64(at.Unix()) / 86400, true
	}
	return 0, false
}

// literal returns a value of column k in a source file.
func (p *prepared) literal(k int, value any, nan, null string, text func(string) string) string {
	v, is := p.days(k, value)
	if s, words := value.(string); words && !is {
		return text(s)
	}
	if n, numeric := value.(float64); numeric {
		v, is = n, true
	}
	switch {
	case value == nil && !is && p.textual(k):
		return null
	case value == nil || v != v:
		return nan
	}
	return number(v)
}

// textual returns true if column k has texts.
func (p *prepared) textual(k int) bool {
	return slices.ContainsFunc(p.m.Spec().Columns(), func(c schema.Column) bool {
		return c.Name == p.columns[k] && (c.Categorical() || c.Derive.Written())
	})
}

// order returns the numbers of the columns of the model among the columns of the table.
func (p *prepared) order(t *testing.T) (order []int) {
	for _, name := range require.Value(predict.New(p.m))(t).Columns() {
		order = append(order, slices.Index(p.columns, name))
	}
	return order
}

// check holds a line for each row, the class and the scores, against package predict.
func (p *prepared) check(t *testing.T, lines []string) {
	t.Helper()
	l := require.Value(newLinear(p.m))(t)
	for r, line := range lines {
		fields := strings.Fields(line)
		scores := make([]float64, len(fields)-1)
		for k := range scores {
			scores[k] = require.Value(strconv.ParseFloat(fields[k+1], 64))(t)
		}
		p.compareTo(t, l, r, scores, require.Value(strconv.Atoi(fields[0]))(t), p.scores[r], p.classes[r], 0x1p-24)
	}
}

// checkAll runs a program, and holds its lines for all tables against package predict.
func checkAll(t *testing.T, all []prepared, program string) {
	t.Helper()
	out := require.Value(exec.Command(program).Output())(t)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(all)*preparedRows {
		t.Fatalf("%d lines", len(lines))
	}
	for i := range all {
		all[i].check(t, lines[i*preparedRows:][:preparedRows])
	}
}

// preparedFiles returns ONNX files with an input for each column, and the rows of their tables.
func preparedFiles(t *testing.T) (all []onnxFile) {
	t.Helper()
	for _, p := range preparedSamples(t, "dates", "people", "people", "dates") {
		var b bytes.Buffer
		require.NoError(t, WriteONNXColumns(&b, p.m))
		f := onnxFile{sample: p.sample, bytes: b.Bytes()}
		order := p.order(t)
		columns := require.Value(fields(p.m, cMember, nil))(t)
		for i, k := range order {
			in := columns[i].inputs[0]
			x := onnxInput{Name: p.columns[k], Columns: 1, Text: in.Categorical(), Double: in.Derive.Dated()}
			for r := range p.rows {
				text, _ := p.values[r][k].(string)
				switch days, dated := p.days(k, p.values[r][k]); {
				case dated:
					text = number(days)
				case !x.Text:
					text = jsNumber(p.rows[r][in.first])
				}
				x.Values = append(x.Values, text)
			}
			f.inputs = append(f.inputs, x)
		}
		all = append(all, f)
	}
	return all
}

// TestPreparedColumns: the tables have columns of each kind that --prepare auto makes.
func TestPreparedColumns(t *testing.T) {
	var all []schema.Column
	for _, p := range preparedSamples(t, "people", "places", "people", "places", "texts") {
		all = append(all, p.m.Spec().Columns()...)
	}
	for _, d := range schema.Derivations {
		if !slices.ContainsFunc(all, func(c schema.Column) bool { return c.Derive == d }) {
			t.Errorf("no column is derived by %q", d)
		}
	}
	for _, kind := range []schema.Kind{schema.NumberColumn, schema.OneHotColumn, schema.HashColumn, schema.WordsColumn} {
		if !slices.ContainsFunc(all, func(c schema.Column) bool { return c.Kind == kind }) {
			t.Errorf("no column is of the kind %s", kind)
		}
	}
}

// TestPreparedC: the C of a model makes the features from the columns as predict does.
func TestPreparedC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("missing: a C compiler")
	}
	all, dir := preparedSamples(t, "people", "places", "people", "places", "texts", "texts"), t.TempDir()
	var main bytes.Buffer
	main.WriteString("#include <stdio.h>\n")
	for _, p := range all {
		put(t, filepath.Join(dir, p.name+".c"), text(t, WriteC, p.m, p.name))
		fmt.Fprintf(&main, "#include \"%s.c\"\nstatic const struct %s_row rows_%s[] = {\n", p.name, p.name, p.name)
		for _, row := range p.values {
			for _, k := range p.order(t) {
				main.WriteString(p.literal(k, row[k], "NAN", "NULL", quoteC) + ", ")
			}
			main.WriteString("\n")
		}
		main.WriteString("};\n")
	}
	main.WriteString("int main(void)\n{\n    static double x[4000];\n    double s[3];\n    int r, i;\n")
	for _, p := range all {
		get, n := fmt.Sprintf("s[0] = %s_score(x)", p.name), len(p.m.Weights)
		if n > 1 {
			get = fmt.Sprintf("%s_scores(x, s)", p.name)
		}
		fmt.Fprintf(&main, "    for (r = 0; r < %d; r++) {\n        %s_features(&rows_%s[r], x);\n", preparedRows, p.name, p.name)
		fmt.Fprintf(&main, "        %s;\n        printf(\"%%d\", %s_predict(x));\n        for (i = 0; i < %d; i++)\n            printf(\" %%.17g\", s[i]);\n        puts(\"\");\n    }\n", get, p.name, n)
	}
	main.WriteString("    return 0;\n}\n")
	put(t, filepath.Join(dir, "main.c"), main.Bytes())
	program := filepath.Join(dir, "main")
	if out, err := exec.Command(cc, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-missing-braces", "-o", program, filepath.Join(dir, "main.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %.4000s", err, out)
	}
	checkAll(t, all, program)
}

// TestPreparedGo: so does the Go package of a model, which has the form that gofmt gives.
func TestPreparedGo(t *testing.T) {
	all, dir := preparedSamples(t, "people", "places", "people", "places", "texts", "texts"), t.TempDir()
	var imports, body strings.Builder
	for _, p := range all {
		got := text(t, WriteGo, p.m, p.name)
		if want, err := format.Source(got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v; gofmt makes of it\n%s", p.name, err, want)
		}
		put(t, filepath.Join(dir, p.name, p.name+".go"), got)
		fmt.Fprintf(&imports, "\t%q\n", "models/"+p.name)
		fmt.Fprintf(&body, "\tfor _, r := range []%s.Row{\n", p.name)
		for _, row := range p.values {
			body.WriteString("\t\t{")
			for _, k := range p.order(t) {
				body.WriteString(p.literal(k, row[k], "nan", "nil", func(s string) string { return "s(" + strconv.Quote(s) + ")" }) + ", ")
			}
			body.WriteString("},\n")
		}
		get := fmt.Sprintf("[]float64{%s.Score(x)}", p.name)
		if len(p.m.Weights) > 1 {
			get = fmt.Sprintf("all(%s.Scores(x))", p.name)
		}
		fmt.Fprintf(&body, "\t} {\n\t\tx := r.Features()\n\t\tfmt.Print(%s.Predict(x))\n\t\tfor _, v := range %s {\n\t\t\tfmt.Print(\" \", v)\n\t\t}\n\t\tfmt.Println()\n\t}\n", p.name, get)
	}
	if require.Small() {
		t.Skip("builds a program")
	}
	put(t, filepath.Join(dir, "go.mod"), []byte("module models\n\ngo 1.26\n"))
	put(t, filepath.Join(dir, "main.go"), []byte("package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n"+imports.String()+")\n\nvar nan = math.NaN()\n\nfunc s(text string) *string { return &text }\n\n"+
		"func all(s [3]float64) []float64 { return s[:] }\n\nfunc main() {\n"+body.String()+"}\n"))
	program := filepath.Join(dir, "program")
	c := exec.Command("go", "build", "-o", program, ".")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %.4000s", err, out)
	}
	checkAll(t, all, program)
}
