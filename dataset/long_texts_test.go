package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/schema"
)

// TestLongTexts: a text of more than schema.MaxText bytes is neither a category nor a label, and the error says in which row it stands.
func TestLongTexts(t *testing.T) {
	longest := strings.Repeat("a", schema.MaxText)
	for _, c := range []struct {
		label string
		opt   Options
		want  string
	}{
		{"y", Options{Label: "y", Categorical: "onehot"}, `DIR/a.csv: column "text", row 1: a text of 16385 bytes, and a category has at most 16384: ` +
			`leave it out with --exclude, or use --categorical hash:BITS`},
		{"text", Options{Label: "text"}, `DIR/a.csv: column "text", row 1: a text of 16385 bytes, and a label has at most 16384: choose another column with --label`},
		{"y", Options{Label: "y", Categorical: "hash:4"}, ""},
	} {
		for size, want := range map[string]string{longest + "b": c.want, longest[1:] + "b": ""} {
			path := textFile(t, "a.csv", fmt.Sprintf("x,text,y\n1,%s,0\n2,%s,1\n", longest, size))
			_, err := Load(context.Background(), []string{path}, c.opt)
			if want != "" {
				wantError(t, err, filepath.Dir(path), want)
			} else if err != nil {
				t.Errorf("%s as the label, %d bytes: %v", c.label, len(size), err)
			}
		}
	}
}

// TestLongNames: the names of all features have at most schema.MaxNames bytes: those of the categories of many columns, and those of a
// column with a long name. The second would take 256 MiB.
func TestLongNames(t *testing.T) {
	const columns, rows = 5, 500
	var fields []arrow.Field
	var texts []arrow.Array
	for c := range columns {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for r := range rows {
			b.Append(fmt.Sprint(r, strings.Repeat("a", schema.MaxText-10)))
		}
		fields, texts = append(fields, arrow.Field{Name: fmt.Sprint("t", c), Type: b.Type()}), append(texts, b.NewArray())
	}
	_, err := fromRecord(t, array.NewRecord(arrow.NewSchema(fields, nil), texts, rows), 100, Options{Categorical: "onehot"})
	wantError(t, err, "", `column "t0": the categories of all columns have over 32.0 MiB, those of this one the most: leave it out with --exclude, or use --categorical hash:BITS`)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	name := strings.Repeat("n", 4096)
	_, err = fromRecord(t, record(t, field(name, arrow.BinaryTypes.String, `["a"]`)), 1, Options{Categorical: "hash:16"})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.HasPrefix(err.Error(), "the names of 65536 features, 65536 of them from column ") || after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("error %.200v, %d bytes", err, after.TotalAlloc-before.TotalAlloc)
	}
}

// TestKeptTexts: the texts that Scan hands on with a block have at most 32 MiB, however many come in a record.
func TestKeptTexts(t *testing.T) {
	const rows, size, most = 1000, 40 << 10, 32 << 20
	fields := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, fields)
	for i := range rows {
		b.Field(0).(*array.Float32Builder).Append(float32(i))
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat(string(rune('a'+i%26)), size))
	}
	path := filepath.Join(t.TempDir(), "a.arrow")
	w, err := Create(path, fields, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = Scan(context.Background(), []string{path}, Options{Features: []string{"x"}, Keep: []string{"text"}},
		func(_ *schema.Spec, b *block.Block, kept arrow.Record) error {
			texts := kept.Column(0).(*array.String)
			if n := len(texts.ValueBytes()); n > most {
				t.Errorf("%d bytes of text in a block of %d rows", n, b.Len())
			}
			for i := range b.Len() {
				if v := texts.Value(i); b.X[i*b.Stride] != float32(seen) || len(v) != size || v[0] != byte('a'+seen%26) {
					t.Fatalf("row %d is wrong", seen)
				}
				seen++
			}
			return nil
		})
	if err != nil || seen != rows {
		t.Fatalf("%d rows, error %v", seen, err)
	}
}
