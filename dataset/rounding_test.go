package dataset

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/float16"

	"halfspace/dataset/internal/frame"
)

// TestRounding: that numbers are narrowed is told where whole numbers become others, and where the last digits are much of a column's range; not
// of fractions, of which a part in 2^24 is lost.
func TestRounding(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	const n = 2_000
	values := map[string]func(i int) string{
		"fraction": func(i int) string { return fmt.Sprint(float64(i%97) / 10) },
		"price":    func(i int) string { return fmt.Sprint(100 + float64(i%89)/100) },
		"large":    func(i int) string { return fmt.Sprint(1e9 * (float64(i%83) + 0.123456789123)) },
		"sorted":   func(i int) string { return fmt.Sprint(float64(i) / n * 3) },
		"seconds":  func(i int) string { return fmt.Sprint(1700000000 + i) },
		"far":      func(i int) string { return fmt.Sprint(1e6 + float64(i%71)/1000) },
		"whole":    func(i int) string { return fmt.Sprint(16777216 + float64(i%61)) },
	}
	types := map[string]arrow.DataType{"seconds": p.Int64}
	var fields []testField
	var names []string
	text := make([]strings.Builder, n)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all := make([]string, n)
		for i := range all {
			all[i] = values[name](i)
			fmt.Fprintf(&text[i], "%s,", all[i])
		}
		typ := types[name]
		if typ == nil {
			typ = p.Float64
		}
		fields, names = append(fields, field(name, typ, "["+strings.Join(all, ",")+"]")), append(names, name)
	}
	lines := strings.Join(names, ",") + ",y\n"
	for i := range text {
		lines += text[i].String() + fmt.Sprintln(i%2)
	}
	csv := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(csv, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	want := `columns "far", "seconds", "whole": float32 can't hold every value exactly, they are rounded (use --standardize, which subtracts the mean before it rounds)`
	for _, path := range []string{file1(t, dir, "a.parquet", fields...), csv} {
		for _, standardize := range []bool{false, true} {
			var notes []string
			opt := Options{Exclude: []string{"[y]*"}, Standardize: standardize, Warn: func(s string) {
				if strings.Contains(s, "exactly") {
					notes = append(notes, s)
				}
			}}
			if path != csv {
				opt.Exclude = nil
			}
			if _, err := Load(context.Background(), []string{path}, opt); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(notes, "\n"); standardize && got != "" || !standardize && got != want {
				t.Errorf("%s, standardized: %v: %s", path, standardize, got)
			}
		}
	}
	svm := textFile(t, "a.svm", "1 1:0.1 2:16777217\n0 1:0.7 2:3\n")
	var notes []string
	if _, err := Load(context.Background(), []string{svm}, Options{Label: "label", Warn: func(s string) { notes = append(notes, s) }}); err != nil ||
		len(notes) != 1 || !strings.HasPrefix(notes[0], `column "f2": float32`) {
		t.Errorf("svmlight: %q, %v", notes, err)
	}
}

// TestHalfFloat compares every half-precision number with its definition.
func TestHalfFloat(t *testing.T) {
	for b := range 1 << 16 {
		want := math.Ldexp(float64(b&0x3ff|0x400), b>>10&0x1f-25)
		switch {
		case b>>10&0x1f == 0:
			want = math.Ldexp(float64(b&0x3ff), -24)
		case b&0x7fff == 0x7c00:
			want = math.Inf(1)
		case b&0x7c00 == 0x7c00:
			want = math.NaN()
		}
		if b>>15 != 0 {
			want = -want
		}
		got := frame.HalfFloat(float16.FromBits(uint16(b)))
		if math.Float32bits(got) != math.Float32bits(float32(want)) && !(math.IsNaN(want) && got != got) {
			t.Fatalf("%#04x is %v, want %v", b, got, want)
		}
	}
}

func TestFinite(t *testing.T) {
	testFinite(t, math.MaxFloat32, math.Float32frombits(1))

}

func testFinite(t *testing.T, most, least float32) {
	inf := most * 2
	for n := range 20 {
		x := make([]float32, n)
		for i := range x {
			x[i] = []float32{0, -1, most, -most, least, -least}[i%6]
		}
		if !frame.Finite(x) {
			t.Errorf("%v is finite", x)
		}
		for i := range x {
			for _, bad := range []float32{inf, -inf, inf - inf, -(inf - inf)} {
				was := x[i]
				x[i] = bad
				if frame.Finite(x) {
					t.Errorf("%v at %d of %d is not finite", bad, i, n)
				}
				x[i] = was
			}
		}
	}
}
