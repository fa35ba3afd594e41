package dataset

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/schema"
)

// TestStandardize compares features with a plain computation in two passes, and with each other for all ways to read the
// same rows.
func TestStandardize(t *testing.T) {
	const rows = 20_001
	for _, nulls := range []schema.Nulls{schema.NullsError, schema.NullsDrop, schema.NullsZero, schema.NullsMean} {
		rate := 0.01
		if nulls == schema.NullsError {
			rate = 0
		}
		g := newGappyTable(t, rows, rate, 0, nulls == schema.NullsDrop)
		var want [][]float64 // the columns, filled in
		for f := range g.values {
			var column []float64
			for r, v := range g.values[f] {
				gone := math.IsNaN(g.label[r])
				for _, other := range g.values {
					gone = gone || math.IsNaN(other[r]) && nulls == schema.NullsDrop
				}
				switch {
				case gone:
					continue
				case math.IsNaN(v) && nulls == schema.NullsMean:
					v = mean(g.values[f])
				case math.IsNaN(v):
					v = 0
				}
				column = append(column, v)
			}
			want = append(want, column)
		}
		spec := checkStandardized(t, g, nulls, want)
		for f := range want {
			mean, deviation := twoPasses(want[f])
			c := spec.Preprocessing.Columns[f]
			if math.Abs(c.Center[0]-mean) > 1e-12*(math.Abs(mean)+deviation) || math.Abs(c.Scale[0]-deviation) > 1e-12*deviation {
				t.Errorf("%s: feature %d is centered by %v and scaled by %v, want %v and %v", nulls, f, c.Center[0], c.Scale[0], mean,
					deviation)
			}
		}
	}
}

func twoPasses(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)))
}

// checkStandardized loads a table in every way and compares the features with (x - mean) / deviation of want.
func checkStandardized(t *testing.T, g *gappyTable, nulls schema.Nulls, want [][]float64) *schema.Spec {
	t.Helper()
	spec := checkEveryWay(t, g, Options{Label: "label", Nulls: nulls, Standardize: true}, nil)
	opt := Options{Label: "label", Nulls: nulls, Standardize: true}
	d, err := fromRecord(t, g.rec, 5000, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := rowsOf(t, d)
	if len(got) != len(want[0]) {
		t.Fatalf("%s: %d rows, want %d", nulls, len(got), len(want[0]))
	}
	for f, column := range want {
		mean, deviation := twoPasses(column)
		for r, v := range column {
			z := (v - mean) / deviation
			// half a unit in the last place of float32, and the rounding of the moments
			if math.Abs(float64(got[r][f])-z) > 0x1p-24*math.Abs(z)*1.01+1e-11 {
				t.Fatalf("%s: feature %d of row %d is %v, want %v", nulls, f, r, got[r][f], z)
			}
		}
	}
	return spec
}

// TestStandardizeLists standardizes the elements of lists, missing ones among them, also where none comes before the
// second batch.
func TestStandardizeLists(t *testing.T) {
	p := arrow.PrimitiveTypes
	b := array.NewListBuilder(memory.DefaultAllocator, p.Float64)
	var flat [2][]float64
	for r := range 10_000 {
		b.Append(r >= 5000)
		for k := range flat {
			v := 0.0
			if r >= 5000 {
				v = float64(r*(k+1)%17*(4*k+1)) + 0.25
				b.ValueBuilder().(*array.Float64Builder).Append(v)
			}
			flat[k] = append(flat[k], v)
		}
	}
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "emb", Type: b.Type(), Nullable: true}}, nil),
		[]arrow.Array{b.NewArray()}, 10_000)
	var first []*block.Block
	for _, size := range []int64{10_000, 1000, 4096, 5000} {
		d, err := fromRecord(t, rec, size, Options{Nulls: schema.NullsZero, Standardize: true})
		if err != nil {
			t.Fatal(err)
		}
		c := d.Spec().Preprocessing.Columns[0]
		for k, column := range flat {
			mean, deviation := twoPasses(column)
			if math.Abs(c.Center[k]-mean) > 1e-13*mean || math.Abs(c.Scale[k]-deviation) > 1e-13*deviation {
				t.Errorf("records of %d rows: element %d by %v and %v, want %v and %v", size, k, c.Center[k], c.Scale[k], mean, deviation)
			}
		}
		if first == nil {
			first = blocksOf(t, d)
			rows, _ := rowsOf(t, d)
			for k, column := range flat {
				for r, v := range column {
					if want := float32((v - c.Center[k]) / c.Scale[k]); rows[r][k] != want {
						t.Fatalf("element %d of row %d is %v, want %v", k, r, rows[r][k], want)
					}
				}
			}
		}
		if err := sameBlocks(blocksOf(t, d), first); err != nil {
			t.Errorf("records of %d rows: %v", size, err)
		}
	}
}

// TestStandardizeSpecial has columns without a deviation, and numbers that can't be standardized.
func TestStandardizeSpecial(t *testing.T) {
	p := arrow.PrimitiveTypes
	rec := record(t, field("constant", p.Float64, "[0.1, 0.1, 0.1]"), field("flag", arrow.FixedWidthTypes.Boolean, "[true, false, false]"),
		field("huge", p.Float64, "[1e300, 2e300, 3e300]"), field("odd", p.Int64, "[9007199254740993, 1, 2]"))
	var notes []string
	d, err := fromRecord(t, rec, 3, Options{Standardize: true, Exclude: []string{"huge"}, NoBias: true,
		Warn: func(s string) { notes = append(notes, s) }})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := rowsOf(t, d)
	if rows[0][0] != 0 || rows[2][0] != 0 || d.Spec().Preprocessing.Columns[0].Scale[0] != 1 || rows[0][1] != float32(math.Sqrt2) {
		t.Errorf("rows %v, %+v", rows, d.Spec().Preprocessing)
	}
	if want := `[column "odd": float64 can't hold every value exactly, they are rounded]`; fmt.Sprint(notes) != want {
		t.Errorf("notes %s, want %s", notes, want)
	}
	_, err = fromRecord(t, rec, 3, Options{Standardize: true})
	wantError(t, err, "", `column "huge": its numbers are too large for a standard deviation: leave it out with --exclude`)
	_, err = fromRecord(t, record(t, field("constant", p.Float64, "[0.1, 1e300]")), 3, Options{Spec: d.Spec()})
	wantError(t, err, "", `no column "flag" (columns: constant)`)
	spec := &schema.Spec{Features: []string{"x"}, Preprocessing: &schema.Preprocessing{Columns: []schema.Column{{Name: "x",
		Kind: schema.NumberColumn, Center: []float64{0}, Scale: []float64{1}}}}}
	_, err = fromRecord(t, record(t, field("x", p.Float64, "[0.1, 1e300]")), 2, Options{Spec: spec})
	wantError(t, err, "", `column "x", row 1: 1e+300 is too far from the mean of the training rows: correct the value`)
	_, err = fromRecord(t, record(t, field("x", p.Float64, "[1, 2, null]")), 3, Options{Standardize: true})
	wantError(t, err, "", `column "x", row 2: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`)
}
