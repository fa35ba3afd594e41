package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/zeebo/xxh3"

	"halfspace/schema"
)

// TestCross: a cross of columns has the bucket of their texts with a byte 0xFF between, in files of every format, dense and sparse,
// with few bits and with many. Missing values are those of its columns.
func TestCross(t *testing.T) {
	ctx, p, dir := context.Background(), arrow.PrimitiveTypes, t.TempDir()
	texts, numbers := []string{"a", "b", "ab", "b", "a", "ü"}, []string{"10", "1", "0", "1", "10", "7"}
	path := file1(t, dir, "a.parquet", field("c", arrow.BinaryTypes.String, `["a", "b", "ab", "b", "a", "ü"]`), field("n", p.Int64, "[10, 1, 0, 1, 10, 7]"),
		field("x", p.Float32, "[1, 0, 2, 0, 3, 0]"), field("y", p.Int8, "[0, 1, 0, 1, 0, 1]"))
	files := []string{path, filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.arrow")}
	for _, out := range files[1:] {
		if _, err := Convert(ctx, []string{path}, out, Options{}, WriterOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for bits, cross := range map[int]string{5: "c,n=hash:5", 20: "c,n", 24: "c,n=hash:24"} {
		buckets := make([]int, len(texts))
		for i := range texts {
			buckets[i] = int(xxh3.HashString(texts[i]+"\xff"+numbers[i]) % (1 << bits))
		}
		for _, file := range files {
			var specs []*schema.Spec
			for _, storage := range []Storage{Dense, Sparse} {
				opt := Options{Label: "y", Cross: []string{cross}, Exclude: []string{"n"}, Storage: storage}
				for len(specs) < 3 { // the second time for a model
					data, err := Load(ctx, []string{file}, opt)
					if err != nil {
						t.Fatalf("%s, %s: %v", file, cross, err)
					}
					spec, blocks := data.Spec(), blocksOf(t, data)
					if err := spec.Preprocessing.Check(spec.Features); err != nil {
						t.Fatal(err)
					}
					if storage == Sparse {
						blocks = denseOf(t, blocks)
					}
					for r := range texts {
						want := fmt.Sprintf("c*n#hash:%d[%d]", bits, buckets[r])
						row := blocks[0].X[r*blocks[0].Stride:][:len(spec.Features)]
						ones := 0
						for i, v := range row[1:] {
							if v != 0 {
								ones++
								if v != 1 || spec.Features[1+i] != want {
									t.Errorf("%s, %s, %s, row %d: %v of %s, want %s", file, cross, storage, r, v, spec.Features[1+i], want)
								}
							}
						}
						if ones != 1 || spec.Features[0] != "x" {
							t.Errorf("%s, %s, %s, row %d: %d ones", file, cross, storage, r, ones)
						}
					}
					specs = append(specs, spec)
					opt = Options{Label: "y", Spec: spec, Storage: storage}
					if len(specs)%2 == 0 {
						break
					}
				}
			}
			if !slices.Equal(specs[0].Features, specs[2].Features) {
				t.Errorf("%s, %s: features differ", file, cross)
			}
		}
	}
}

// TestCrossErrors: what can't be crossed is an error that names the column.
func TestCrossErrors(t *testing.T) {
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	fields := []testField{field("c", s, `["a", "b", null]`), field("d", s, `["a", "b", "c"]`), field("v", arrow.ListOf(p.Int8), "[[1], [2], [3]]"), field("y", p.Int8, "[0, 1, 0]")}
	for cross, want := range map[string]string{
		"c":           `cross is "c": use COLUMN,COLUMN or COLUMN,COLUMN=hash:BITS, with BITS from 1 to 24`,
		"c,d=hash:25": `cross is "c,d=hash:25": use COLUMN,COLUMN or COLUMN,COLUMN=hash:BITS, with BITS from 1 to 24`,
		"c,":          `cross is "c,": use COLUMN,COLUMN or COLUMN,COLUMN=hash:BITS, with BITS from 1 to 24`,
		"d,y":         `column "y" is the label: leave it out of --cross`,
		"d,d":         `column "d" is crossed with itself: name it once in --cross`,
		"d,v":         `column "v" is list, but categories are text, numbers or booleans: leave it out of --cross`,
		"d,z":         `no column "z" (columns: c, d, v, y)`,
		"d,c":         `column "d*c", row 2: null (leave the pair out of --cross, or use --nulls drop, zero or mean)`,
		"d,c=hash:4":  `column "d*c", row 2: null (leave the pair out of --cross, or use --nulls drop, zero or mean)`,
		`"d,e",c`:     `no column "d,e" (columns: c, d, v, y)`,
	} {
		dir := t.TempDir()
		path := file1(t, dir, "a.parquet", fields...)
		_, err := Load(context.Background(), []string{path}, Options{Label: "y", Cross: []string{cross}, Features: []string{"v"}})
		wantError(t, err, dir, "DIR/a.parquet: "+want)
		if rows, err := Load(context.Background(), []string{path}, Options{Label: "y", Cross: []string{"d,c"}, Nulls: schema.NullsDrop}); err != nil || rows.Rows() != 2 {
			t.Errorf("rows with a missing part stay: error %v", err)
		}
	}
}

// TestCrossOfNumbered: the one column of svmlight features that have no names can't be crossed.
func TestCrossOfNumbered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "far.svm")
	if err := os.WriteFile(path, []byte("1 2:1 2000000:1\n0 1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), []string{path}, Options{Storage: Auto, Cross: []string{"f,label"}})
	if err == nil || !strings.Contains(err.Error(), "leave it out of --cross") {
		t.Errorf("error %v", err)
	}
}
