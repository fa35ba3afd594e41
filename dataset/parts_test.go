package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/block"
	"halfspace/dataset/internal/parquet/page"
	"halfspace/schema"
)

const (
	partsRows = 25_000 // seven blocks of 300 columns, none of which ends where a row group does
	partsCols = 300
)

// partsTable makes columns of three kinds and a label, with something wrong in some of the rows.
func partsTable(classes []string, wrong map[int]float32) arrow.Record {
	rng := rand.New(rand.NewPCG(1, 7))
	var fields []arrow.Field
	var cols []arrow.Array
	for c := range partsCols {
		var col arrow.Array
		switch c % 3 {
		case 0:
			b := array.NewFloat32Builder(memory.DefaultAllocator)
			for r := range partsRows {
				if v, bad := wrong[r]; bad && c == 6 {
					b.Append(v)
				} else {
					b.Append(float32(rng.NormFloat64()))
				}
			}
			col = b.NewArray()
		case 1:
			b := array.NewFloat64Builder(memory.DefaultAllocator)
			for range partsRows {
				if b.Append(rng.NormFloat64()); rng.IntN(20) == 0 && c%2 == 0 {
					b.AppendNull()
					break
				}
			}
			for b.Len() < partsRows {
				b.Append(rng.Float64())
			}
			col = b.NewArray()
		default:
			b := array.NewInt32Builder(memory.DefaultAllocator)
			for range partsRows {
				b.Append(rng.Int32N(50))
			}
			col = b.NewArray()
		}
		fields, cols = append(fields, arrow.Field{Name: fmt.Sprint("x", c), Type: col.DataType(), Nullable: true}), append(cols, col)
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for r := range partsRows {
		b.Append(classes[min(r*len(classes)/partsRows, rng.IntN(len(classes)))]) // the last one appears late
	}
	fields = append(fields, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String})
	return array.NewRecord(arrow.NewSchema(fields, nil), append(cols, b.NewArray()), partsRows)
}

// TestParts loads a file in parts of one worker each: blocks, classes and notes are those of one worker for all.
func TestParts(t *testing.T) {
	tables, counts := [][]string{{"yes", "no"}, {"c", "b", "a"}}, []int{1, 2, 3, 8}
	if testing.Short() {
		tables, counts = tables[:1], counts[:2]
	}
	for _, classes := range tables {
		rec := partsTable(classes, nil)
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, rec, 1900, parquet.WithDataPageSize(3000), parquet.WithCompression(compress.Codecs.Snappy))
		var want []*block.Block
		var spec *schema.Spec
		var notes []string
		for _, workers := range counts {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			var warnings []string
			last := int64(0)
			opt := Options{Label: "y", Workers: workers, Nulls: schema.NullsZero, Warn: func(s string) { warnings = append(warnings, s) }}
			opt.Progress = func(_ Pass, rows, total int64) {
				if rows < last || total != partsRows {
					t.Errorf("%d workers: %d of %d rows after %d", workers, rows, total, last)
				}
				last = rows
			}
			in, err := open(context.Background(), []string{path}, opt, mem)
			if err != nil {
				t.Fatal(err)
			}
			if parts, _ := in.parts(context.Background(), in.Rows(), page.NewPool(mem)); (workers == 2 || workers == 3) != (len(parts) > 1) {
				t.Fatalf("%d workers: %d parts", workers, len(parts))
			}
			d, err := in.Load(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			mem.AssertSize(t, 0)
			if last != partsRows {
				t.Errorf("%d workers: the progress ends at %d rows", workers, last)
			}
			if blocks := blocksOf(t, d); workers == 1 {
				want, spec, notes = blocks, d.Spec(), warnings
			} else if err := sameBlocks(blocks, want); err != nil {
				t.Errorf("%d workers: %v", workers, err)
			}
			if got := d.Spec(); !reflect.DeepEqual(got, spec) {
				t.Errorf("%d workers: the classes are %v, the positive one is %d, want %v, %d, or columns differ", workers, got.Classes,
					got.Positive, spec.Classes, spec.Positive)
			}
			if !slices.Equal(warnings, notes) {
				t.Errorf("%d workers warn of %q, one of %q", workers, warnings, notes)
			}
		}
	}
}

// TestPartsErrors names the first wrong row, whichever part it is in.
func TestPartsErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("TestParts runs the same code")
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, wrong := range []map[int]float32{{5000: nan, 24_000: inf}, {24_999: nan}, {4096: inf, 4095: inf, 12_288: nan}} {
		rec := partsTable([]string{"no", "yes"}, wrong)
		dir := t.TempDir()
		path := filepath.Join(dir, "a.parquet")
		writeFile(t, path, rec, 1900)
		first := partsRows
		for r := range wrong {
			first = min(first, r)
		}
		var features []string
		for c := 0; c < partsCols; c += 3 {
			features = append(features, fmt.Sprint("x", c), fmt.Sprint("x", c+2)) // the others have nulls
		}
		for _, workers := range []int{1, 2, 3} {
			_, err := Load(context.Background(), []string{path}, Options{Label: "y", Features: features, Workers: workers})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`column "x6", row %d: `, first)) {
				t.Errorf("%d workers: %v, want row %d", workers, err, first)
			}
		}
	}
}
