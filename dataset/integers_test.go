package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	textfile "halfspace/dataset/internal/text"
	"halfspace/schema"
)

// TestIntegersAsNumbers: up to 2^53 the blocks are those of the same numbers with a fraction behind them, which are read
// as float64.
func TestIntegersAsNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var whole, fractions strings.Builder
	for _, s := range []*strings.Builder{&whole, &fractions} {
		s.WriteString("a,b,c,y\n")
	}
	for r := range 3 * block.RunRows {
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
		fmt.Fprintf(&fractions, "%s.0,%s,%s.0,%d.0\n", cells[0], cells[1], cells[2], r%2)
	}
	paths := []string{textFile(t, "a.csv", whole.String()), textFile(t, "b.csv", fractions.String())}
	for _, opt := range []Options{{Nulls: schema.NullsZero}, {Nulls: schema.NullsMean, Standardize: true}, {Nulls: schema.NullsDrop}} {
		opt.Label = "y"
		sameLoads[float32](t, opt, paths)
	}
	if all, err := table(t, Options{}, paths[0]); err != nil || all.Schema().Field(0).Type.ID() != arrow.INT64 {
		t.Errorf("%v, error %v", all, err)
	}
}

// sameLoads loads two files and compares all of what they are as blocks.
func sameLoads[T float32 | float64](t *testing.T, opt Options, paths []string) {
	t.Helper()
	a, errA := Load(context.Background(), paths[:1], opt)
	b, errB := Load(context.Background(), paths[1:], opt)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if err := sameBlocks(blocksOf(t, a), blocksOf(t, b)); err != nil {
		t.Errorf("%+v: %v", opt, err)
	}
	if !reflect.DeepEqual(a.Spec(), b.Spec()) {
		t.Errorf("Spec %+v, want %+v", a.Spec(), b.Spec())
	}
}

// TestLateFraction: a column whose first rows are integers has a fraction beyond the sample. As a feature and as a label
// it is what it is; where it is handed on, all of it is float64.
func TestLateFraction(t *testing.T) {
	const head = "v,id,x,y\n"
	rows := strings.Repeat(".5,9007199254740993,3,1\n", textfile.SampleBytes/22)
	path := textFile(t, "a.csv", head+rows+".5,7,2.5,0\n.5,8,4,1\n")
	d, err := Load(context.Background(), []string{path}, Options{Label: "y", Features: []string{"x"}, NoBias: true})
	if err != nil {
		t.Fatal(err)
	}
	got, y := rowsOf(t, d)
	if n := len(got); fmt.Sprint(got[n-3:], y[n-3:], got[0]) != "[[3] [2.5] [4]] [1 -1 1] [3]" {
		t.Errorf("rows end with %v, %v", got[n-3:], y[n-3:])
	}
	second := textFile(t, "b.csv", head+".5,1,0.5,0\n")
	for _, paths := range [][]string{{path}, {textFile(t, "c.csv", head+".5,9007199254740993,3,1\n"), second}} {
		out := filepath.Join(t.TempDir(), "a.parquet")
		if _, err := Convert(context.Background(), paths, out, Options{}, WriterOptions{}); err != nil {
			t.Fatal(err)
		}
		all, err := table(t, Options{}, out)
		if err != nil {
			t.Fatal(err)
		}
		text := show(all)
		if !strings.Contains(text, "; id int64 9007199254740993 ") || !strings.Contains(text, "; x float64 3 ") ||
			!strings.Contains(text, "; y int64 1") {
			t.Errorf("converted: %.60s", text)
		}
	}
}

// TestRoundedIntegers: whole numbers that can't stay what they are are told of.
func TestRoundedIntegers(t *testing.T) {
	if testing.Short() {
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
		_, err := Load(context.Background(), []string{textFile(t, "a.csv", c.text)}, Options{Warn: func(s string) {
			if strings.Contains(s, "whole numbers") {
				notes = append(notes, s)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		want := "[]"
		if c.want != "" {
			want = fmt.Sprintf("[column %q: whole numbers beyond 2^53 are rounded, since not all are 64-bit integers]", c.want)
		}
		if fmt.Sprint(notes) != want {
			t.Errorf("...%q: notes %s, want %s", c.text[max(0, len(c.text)-30):], notes, want)
		}
	}
}
