package dataset

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/writer"
)

// wideRecord returns rows with a number, a text of up to most bytes, and two lists.
func wideRecord(rows, most int) arrow.Record {
	number := arrow.PrimitiveTypes.Float64
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: number},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "list", Type: arrow.ListOf(number), Nullable: true},
		{Name: "pair", Type: arrow.FixedSizeListOf(2, number)}}, nil))
	defer b.Release()
	list, pair := b.Field(2).(*array.ListBuilder), b.Field(3).(*array.FixedSizeListBuilder)
	for r := range rows {
		x := float64(r)
		b.Field(0).(*array.Float64Builder).Append(x)
		if text := b.Field(1).(*array.StringBuilder); r%7 == 3 {
			text.AppendNull()
		} else {
			text.Append(strings.Repeat("t", r*31%most))
		}
		if list.Append(r%5 != 2); r%5 != 2 {
			list.ValueBuilder().(*array.Float64Builder).AppendValues(make([]float64, r%4), nil)
		}
		pair.Append(true)
		pair.ValueBuilder().(*array.Float64Builder).AppendValues([]float64{x, -x}, nil)
	}
	return b.NewRecord()
}

// writeCut writes records in groups of at most so many bytes.
func writeCut(t *testing.T, path string, bytes int64, recs ...arrow.Record) {
	t.Helper()
	w, err := Create(path, recs[0].Schema(), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	switch e := w.enc.(type) {
	case *writer.Parquet:
		e.Groups.MaxBytes = bytes
	case writer.IPC:
		e.MaxBytes = bytes
		w.enc = e
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// groupsOf returns how many rows the row groups or the records of a file have.
func groupsOf(t *testing.T, path string) (rows []int64) {
	t.Helper()
	if strings.HasSuffix(path, ".parquet") {
		info, err := Inspect(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range info.RowGroups {
			rows = append(rows, g.Rows)
		}
		return rows
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.NumRecords() {
		rec, err := r.Record(i)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, rec.NumRows())
	}
	return rows
}

// TestGroupBytes: groups are as large as their bytes allow, whatever records the rows come in, and hold what was written.
func TestGroupBytes(t *testing.T) {
	const rows, most, bound = 1000, 300, 5000
	rec := wideRecord(rows, most)
	defer rec.Release()
	size := func(lo, hi int) (n int64) { // by the definition: 4 bytes for each text and list, and what is in them
		for r := lo; r < hi; r++ {
			from, to := rec.Column(2).(*array.List).ValueOffsets(r)
			n += 8 + 4 + int64(rec.Column(1).(*array.String).ValueLen(r)) + 4 + 8*(to-from) + 4 + 16
		}
		return n
	}
	want := []int64{}
	for lo, hi := 0, 0; hi < rows; lo = hi {
		for hi = lo + 1; hi < rows && size(lo, hi+1) <= bound; hi++ {
		}
		want = append(want, int64(hi-lo))
	}
	if len(want) < 30 || slices.Max(want) < 20 {
		t.Fatalf("groups of %d rows say little", want)
	}
	cuts := []arrow.Record{rec.NewSlice(0, 1), rec.NewSlice(1, 1), rec.NewSlice(1, 700), rec.NewSlice(700, rows)}
	dir := t.TempDir()
	for _, ext := range []string{"parquet", "arrow"} {
		whole, parts := filepath.Join(dir, "whole."+ext), filepath.Join(dir, "parts."+ext)
		writeCut(t, whole, bound, rec)
		writeCut(t, parts, bound, cuts...)
		if got := groupsOf(t, whole); !slices.Equal(got, want) {
			t.Errorf("%s: groups of %d rows, not %d", ext, got, want)
		}
		for _, path := range []string{whole, parts} {
			back, err := table(t, Options{}, path)
			if err != nil {
				t.Fatal(err)
			}
			if got := tableTexts(back); !slices.Equal(got, rowTexts(rec)) {
				t.Errorf("%s: %d rows aren't those that were written", path, len(got))
			}
			back.Release()
		}
	}
	one, _ := os.ReadFile(filepath.Join(dir, "whole.parquet"))
	several, _ := os.ReadFile(filepath.Join(dir, "parts.parquet"))
	if len(one) == 0 || !bytes.Equal(one, several) {
		t.Errorf("%d and %d bytes of the same rows", len(one), len(several))
	}
	huge := filepath.Join(dir, "huge.parquet")
	writeCut(t, huge, 1, cuts[2])
	if got := groupsOf(t, huge); len(got) != 699 || slices.Max(got) != 1 {
		t.Errorf("%d groups of up to %d rows, where none fits", len(got), slices.Max(got))
	}
	for _, c := range cuts {
		c.Release()
	}
}

// TestDefaultGroupBytes: rows of 4 KiB make groups of 64 MiB, also where a Parquet or Arrow file came in one group.
func TestDefaultGroupBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("160 MiB of text")
	}
	const rows, width = 40_000, 4 << 10
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	for r := range rows {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("%0*d", width, r))
	}
	rec := b.NewRecord()
	defer rec.Release()
	dir := t.TempDir()
	source := filepath.Join(dir, "a.parquet")
	writeFile(t, source, rec, rows)
	const group = GroupBytes / (width + 4)
	for _, name := range []string{"b.parquet", "c.arrow"} {
		path := filepath.Join(dir, name)
		if n, err := Convert(context.Background(), []string{source}, path, Options{Workers: 1}, WriterOptions{RowGroupRows: rows}); err != nil || n != rows {
			t.Fatal(n, err)
		}
		groups := groupsOf(t, path)
		if slices.Max(groups) > group || name == "b.parquet" && !slices.Equal(groups, []int64{group, group, rows - 2*group}) {
			t.Errorf("%s: groups of %d rows, and %d are 64 MiB", name, groups, group)
		}
	}
}

// tableTexts returns the values of a table as rowTexts does.
func tableTexts(t arrow.Table) (all []string) {
	r := array.NewTableReader(t, 0)
	defer r.Release()
	for r.Next() {
		all = append(all, rowTexts(r.Record())...)
	}
	return all
}
