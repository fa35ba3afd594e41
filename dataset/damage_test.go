package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/dataset/internal/column"
	pages "halfspace/dataset/internal/parquet"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// smallFile is a file of a few columns of most types, small enough to damage every byte of it.
func smallFile(tb testing.TB, nullable bool, opts ...parquet.WriterProperty) []byte {
	p := arrow.PrimitiveTypes
	fields := []testField{field("x", p.Float32, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"), field("i", p.Int32, "[7, 7, 7, 8, 8, 8, 9, 9, 9, 9]"),
		field("b", arrow.FixedWidthTypes.Boolean, "[true, false, true, true, false, false, true, false, true, true]"),
		field("y", arrow.BinaryTypes.String, `["no", "yes", "no", "no", "no", "yes", "yes", "no", "no", "yes"]`),
		field("l", arrow.ListOf(p.Float32), "[[1, 2], [], [3], [4, 5], [6], [7, 8, 9], [1], [2], [], [3]]")}
	for i := range fields {
		fields[i].Nullable = nullable
	}
	path := filepath.Join(tb.TempDir(), "a.parquet")
	writeFile(tb, path, record(tb, fields...), 5, opts...)
	data := require.Value(os.ReadFile(path))(tb)
	return data
}

// smallLists is a small file of sparse lists.
func smallLists(tb testing.TB) []byte {
	path := filepath.Join(tb.TempDir(), "a.parquet")
	writeFile(tb, path, record(tb, field("y", arrow.PrimitiveTypes.Int8, "[1, 0, 1]"), field("l", arrow.PrimitiveTypes.Int8, "[1, 2, 3]"),
		field("p", pairType(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float32), `[[{"index": 2, "value": 1}, {"index": 0, "value": 2}], [], null]`),
		field("v", vectorType(), `[{"type": 0, "size": 4, "indices": [0, 3], "values": [1, 2]}, null, {"type": 1, "size": null, "indices": null, "values": [1, 2, 0, 3]}]`)),
		2, parquet.WithStats(false), parquet.WithDictionaryDefault(false))
	data := require.Value(os.ReadFile(path))(tb)
	return data
}

// smallFiles are small files of several encodings and compressions.
func smallFiles(tb testing.TB) map[string][]byte {
	return map[string][]byte{
		"lists":       smallLists(tb),
		"dictionary":  smallFile(tb, false, parquet.WithStats(false)),
		"v2 nullable": smallFile(tb, true, parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithStats(false)),
		"plain snappy": smallFile(tb, true, parquet.WithDictionaryDefault(false), parquet.WithStats(false),
			parquet.WithCompression(compress.Codecs.Snappy)),
		"delta": smallFile(tb, false, parquet.WithDictionaryDefault(false), parquet.WithStats(false),
			parquet.WithEncodingFor("i", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("b", parquet.Encodings.RLE),
			parquet.WithEncodingFor("y", parquet.Encodings.DeltaByteArray)),
	}
}

// TestDamage changes bytes of small files, and cuts them at random lengths: reading them ends, with all rows or an
// error of one line, and leaves no memory behind.
func TestDamage(t *testing.T) {
	if require.Small() {
		t.Skip("reads some thousands of damaged files, each by itself")
	}
	for name, data := range smallFiles(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.parquet")
			require.NoError(t, tryRead(path, data, "l"))
			for i := rand.IntN(4); i < len(data); i += 1 + rand.IntN(5) { // a third of the bytes, others in each run: all take a minute
				bad := bytes.Clone(data)
				bad[i] ^= []byte{0x01, 0x80, 0xff, 0x10}[rand.IntN(4)]
				if err := tryRead(path, bad, "l"); err != nil && !errors.As(err, new(expected)) {
					t.Errorf("byte %d changed to %#x: %v", i, bad[i], err)
				}
				if rand.IntN(5) == 0 {
					if err := tryRead(path, data[:i], "l"); !errors.As(err, new(expected)) {
						t.Errorf("cut after %d bytes: %v", i, err)
					}
				}
			}
		})
	}
}

// expected is an error that damage may lead to.
type expected struct{ error }

// tryRead writes data to path and reads it as rows, labels and kept columns, without the excluded columns as features.
func tryRead(path string, data []byte, exclude ...string) error {
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return err
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	d, err1 := load(context.Background(), []string{path}, Options{Label: "y", Exclude: exclude, Workers: 2}, mem)
	rows := int64(0)
	err2 := scan(context.Background(), []string{path}, Options{Keep: []string{"*"}, Exclude: exclude, Workers: 2}, mem,
		func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
			if rec != nil && int64(b.Len()) != rec.NumRows() { // nil where no column can be kept
				return errStop
			}
			rows += int64(b.Len())
			return nil
		})
	in, err3 := openColumns(path)
	if err3 == nil {
		err3 = readColumns(in, 2, mem, func(int, arrow.Array) {})
	}
	switch {
	case mem.CurrentAlloc() != 0:
		return fmt.Errorf("%d bytes are left", mem.CurrentAlloc())
	case errors.Is(err2, errStop) || err1 == nil && err2 == nil && d.Rows() != rows:
		return errors.New("rows are missing")
	}
	for _, err := range []error{err1, err2, err3} {
		if err != nil && (strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), path+": ")) {
			return err
		}
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return expected{err}
	}
	return nil
}

// FuzzLoad reads any bytes as a Parquet file.
func FuzzLoad(f *testing.F) {
	for _, data := range smallFiles(f) {
		f.Add(data)
	}
	corpus, _ := filepath.Glob(filepath.Join("..", "..", "shared", "data", "parquet", "*", "*"))
	for _, path := range corpus { // none where it isn't there
		if data, err := os.ReadFile(path); err == nil && len(data) < 10_000 {
			f.Add(data)
		}
	}
	path := filepath.Join(f.TempDir(), "a.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := tryRead(path, data); err != nil && !errors.As(err, new(expected)) {
			t.Error(err)
		}
	})
}

// TestInspectSums: sizes of row groups whose sum int64 can't hold are damage, and a sum of nulls that int64 can't hold is unknown.
func TestInspectSums(t *testing.T) {
	const most = math.MaxInt64
	for want, chunk := range map[string]pages.ColumnChunk{
		"": {Values: most, Nulls: most},
		`column "x", row group 1: the data up to here has more than 2^63 bytes`: {Values: most, Uncompressed: most},
	} {
		info := &FileInfo{Columns: []ColumnInfo{{Name: "x", Repetition: "repeated"}}}
		err := info.add(&pages.Group{Columns: 1, Chunks: []pages.ColumnChunk{chunk}})
		if err == nil {
			err = info.add(&pages.Group{Columns: 1, Chunks: []pages.ColumnChunk{chunk}})
		}
		if want == "" && (err != nil || info.Columns[0].Nulls != -1) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%+v, error %v, want %q", info, err, want)
		}
	}
	info := &FileInfo{}
	err := cmp.Or(info.add(&pages.Group{Rows: most}), info.add(&pages.Group{Rows: most}))
	if want := "the row groups up to 1 have more than 2^63 rows"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestDamagedRows: an error of rows that can't be decoded names the file and the rows, and says what to do.
func TestDamagedRows(t *testing.T) {
	batches := func(yield func(*column.Batch, error) bool) {
		_ = yield(&column.Batch{File: "a.csv", Rows: 5}, nil) && yield(&column.Batch{File: "a.csv", Rows: 10}, nil)
	}
	err := transform.Each(t.Context(), batches, -1, nil, func(bt *column.Batch, _ int64) error {
		if bt.Rows == 5 {
			return nil
		}
		return errors.New("too short")
	})
	if want := "a.csv: rows 5 to 14: damaged data (too short): write it again"; err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
