package text_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset"
	"halfspace/dataset/internal/datatest"
	textfile "halfspace/dataset/internal/text"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestDistinctCodes reads labels and features that Go programs take for the same numbers: they stay text, each class its own.
func TestDistinctCodes(t *testing.T) {
	path := datatest.TextFile(t, "a.csv", "x,code,y\n1,0x1p3,1_10\n2,8,110\n3,11_0,11_0\n")
	d := require.Value(dataset.Load(t.Context(), path, dataset.Options{Label: "y", Categorical: "onehot"}))(t)
	if got := schema.ListClasses(d.Spec().Classes); got != `"110", "11_0", "1_10"` {
		t.Errorf("the classes are %s", got)
	}
	if got, want := d.Spec().Width(), 4; got != want {
		t.Errorf("there are %d features, want %d: x and one for each code", got, want)
	}
	again := require.Value(dataset.Load(t.Context(), path, dataset.Options{Label: "y", Spec: d.Spec()}))(t)
	if a, b := require.Value(block.Fingerprint(t.Context(), d, 1))(t), require.Value(block.Fingerprint(t.Context(), again, 1))(t); a != b {
		t.Error("other rows for the model")
	}
	out := filepath.Join(t.TempDir(), "b.csv")
	if _, err := dataset.Convert(t.Context(), []string{path}, out, dataset.Options{}, dataset.WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	read, _ := os.ReadFile(path)
	wrote, _ := os.ReadFile(out)
	if string(read) != string(wrote) {
		t.Errorf("convert wrote\n%s\nof\n%s", wrote, read)
	}
}

// TestIntegersAsNumbers: up to 2^53 the blocks are those of the same numbers with a fraction behind them, which are read
// as float64.
func TestIntegersAsNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var whole, fractions strings.Builder
	for _, s := range []*strings.Builder{&whole, &fractions} {
		s.WriteString("a,b,c,y\n")
	}
	for r := range 3 * block.ChunkRows {
		cells := make([]string, 3)
		for i := range cells {
			cells[i] = fmt.Sprint((rng.Int64N(1<<53+1) >> rng.IntN(54)) * int64(1-2*rng.IntN(2)))
		}
		if cells[1] = ""; r%7 > 0 {
			cells[1] = fmt.Sprint(r % 5)
		}
		fmt.Fprintf(&whole, "%s,%s,%s,%d\n", cells[0], cells[1], cells[2], r%2)
		if cells[1] != "" {
			cells[1] += ".0"
		}
		fmt.Fprintf(&fractions, "%s.0,%s,%s.0,%d\n", cells[0], cells[1], cells[2], r%2)
	}
	paths := []string{datatest.TextFile(t, "a.csv", whole.String()), datatest.TextFile(t, "b.csv", fractions.String())}
	for _, opt := range []dataset.Options{{Nulls: schema.NullsZero}, {Nulls: schema.NullsMean, Standardize: true}, {Nulls: schema.NullsDrop}} {
		opt.Label = "y"
		a, b := require.Value(dataset.Load(t.Context(), paths[0], opt))(t), require.Value(dataset.Load(t.Context(), paths[1], opt))(t)
		x, y := require.Value(block.Fingerprint(t.Context(), a, 1))(t), require.Value(block.Fingerprint(t.Context(), b, 1))(t)
		if x != y || !reflect.DeepEqual(a.Spec(), b.Spec()) {
			t.Errorf("%+v: other rows, or Spec %+v, want %+v", opt, a.Spec(), b.Spec())
		}
	}
	if all, err := table(t, dataset.Options{}, paths[0]); err != nil || all.Schema().Field(0).Type.ID() != arrow.INT64 {
		t.Errorf("%v, error %v", all, err)
	}
}

// TestLateFraction: a column whose first rows are integers has a fraction beyond the sample. As a feature and as a label
// it is what it is; where it is handed on, all of it is float64.
func TestLateFraction(t *testing.T) {
	const head = "v,id,x,y\n"
	rows := strings.Repeat(".5,9007199254740993,3,1\n", textfile.SampleBytes/22)
	path := datatest.TextFile(t, "a.csv", head+rows+".5,7,2.5,0\n.5,8,4,1\n")
	d := require.Value(dataset.Load(context.Background(), path, dataset.Options{Label: "y", Features: []string{"x"}, NoBias: true}))(t)
	for b := range d.Blocks(t.Context()) {
		if last := b.Len() - 3; b.First+int64(b.Len()) == d.Rows() && fmt.Sprint(b.X[last*b.Stride], b.X[(last+1)*b.Stride], b.X[(last+2)*b.Stride], b.Y[last:]) != "3 2.5 4 [1 -1 1]" {
			t.Errorf("rows end with %v, %v", b.X[last*b.Stride:], b.Y[last:])
		}
	}
	second := datatest.TextFile(t, "b.csv", head+".5,1,0.5,0\n")
	for _, paths := range [][]string{{path}, {datatest.TextFile(t, "c.csv", head+".5,9007199254740993,3,1\n"), second}} {
		out := filepath.Join(t.TempDir(), "a.parquet")
		if _, err := dataset.Convert(context.Background(), paths, out, dataset.Options{}, dataset.WriterOptions{}); err != nil {
			t.Fatal(err)
		}
		all := require.Value(table(t, dataset.Options{}, out))(t)
		text := datatest.Show(all)
		if !strings.Contains(text, "; id int64 9007199254740993 ") || !strings.Contains(text, "; x float64 3 ") ||
			!strings.Contains(text, "; y int64 1") {
			t.Errorf("converted: %.60s", text)
		}
	}
}

// TestRoundedIntegers: whole numbers that can't stay what they are are told of.
func TestRoundedIntegers(t *testing.T) {
	if require.Small() {
		t.Skip("large files")
	}
	many := strings.Repeat("1,2\n", textfile.SampleBytes/4)
	for _, c := range []struct{ text, want string }{
		{"x,y\n9007199254740993,0\n1,1\n", ""},
		{"x,y\n9007199254740992,0\n1.5,1\n", ""},
		{"x,y\n9007199254740993,0\n1.5,1\n", "x"},
		{"x,y\n18446744073709551615,0\n1,1\n", "x"},
		{"x,y\n100000000000000000000,0\n1,1\n", ""},
		{"x,y\n-0012345678901234567,0\n1.5,1\n", "x"},
		{"x,y\n" + many + "9007199254740993,0\n", ""},
		{"x,y\n" + many + "9007199254740993,0\n0.5,3\n", "x"},
		{"x,y\n" + many + "0.5,0\n9007199254740993,3\n", "x"},
		{"x,y\n" + many + "1,9223372036854775808\n", ""},
		{"x,y\n" + many + "9223372036854775807,9223372036854775809\n", "y"},
	} {
		var notes []string
		_, err := dataset.Load(context.Background(), datatest.TextFile(t, "a.csv", c.text), dataset.Options{Warn: func(s string) {
			if strings.Contains(s, "whole numbers") {
				notes = append(notes, s)
			}
		}})
		require.NoError(t, err)
		want := "[]"
		if c.want != "" {
			want = fmt.Sprintf("[column %q: whole numbers beyond 2^53 are rounded, since not all are 64-bit integers]", c.want)
		}
		if fmt.Sprint(notes) != want {
			t.Errorf("...%q: notes %s, want %s", c.text[max(0, len(c.text)-30):], notes, want)
		}
	}
}
