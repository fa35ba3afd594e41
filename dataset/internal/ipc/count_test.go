package ipc

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/internal/source"
	"halfspace/dataset/internal/writer"
	"halfspace/internal/require"
)

// claimedAndRead returns the rows that the messages of data claim, and the rows that a reader finds. err is the reader's.
func claimedAndRead(t *testing.T, path string, data []byte) (claimed, read int64, err error) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, data, 0o600))
	file := require.Value(source.NewFile(t.Context(), path, nil, 0))(t)
	r, err := openRecords(file, memory.DefaultAllocator, 64<<20)
	if err != nil {
		return -1, 0, err
	}
	defer r.release()
	claimed = r.messages.claimedRows()
	all := &column.Roles{Columns: column.FieldColumns(r.Schema())}
	for {
		b, err := column.NextRecord(t.Context(), r, all)
		if b == nil {
			return claimed, read, err
		}
		read += b.Rows
		b.Release()
	}
}

// randomRecords returns records of 0 to 99 rows, with dictionaries that grow in a stream, and the number of rows.
func randomRecords(t testing.TB, rng *rand.Rand) (data []byte, rows int64) {
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}, {Name: "v", Type: dict}, {Name: "w", Type: dict}}, nil)
	opts := append([]ipc.Option{ipc.WithSchema(schema), ipc.WithDictionaryDeltas(rng.IntN(2) == 0)},
		[][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}}[rng.IntN(3)]...)
	var out bytes.Buffer
	var w interface {
		io.Closer
		Write(arrow.Record) error
	} = ipc.NewWriter(&out, opts...)
	words, most := 1, 5 // in the dictionary
	if rng.IntN(2) == 0 {
		most = 1 // the dictionary of a file stays
		w = require.Value(ipc.NewFileWriter(&writer.Counted{Writer: &out}, opts...))(t)
	}
	for range rng.IntN(5) {
		n := rng.IntN(100) * rng.IntN(2)
		indices := array.NewInt8Builder(memory.DefaultAllocator)
		x := array.NewFloat32Builder(memory.DefaultAllocator)
		for range n {
			x.Append(rng.Float32())
			indices.Append(int8(rng.IntN(words)))
		}
		values := array.NewStringBuilder(memory.DefaultAllocator)
		values.AppendValues([]string{"a", "b", "c", "d", "e"}[:words], nil)
		texts := array.NewDictionaryArray(dict, indices.NewArray(), values.NewArray())
		require.NoError(t, w.Write(array.NewRecord(schema, []arrow.Array{x.NewArray(), texts, texts}, int64(n))))
		rows, words = rows+int64(n), min(most, words+rng.IntN(2))
	}
	require.NoError(t, w.Close())
	return out.Bytes(), rows
}

// TestClaimedRows: the messages claim the rows that reading finds, and cut data claims none.
func TestClaimedRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	rng := rand.New(rand.NewPCG(3, 4))
	for range 25 {
		data, rows := randomRecords(t, rng)
		if claimed, read, err := claimedAndRead(t, path, data); claimed != rows || read != rows || err != nil {
			t.Errorf("%d rows are claimed and %d read of %d, error %v", claimed, read, rows, err)
		}
		for n := rng.IntN(90) + 1; n < len(data); n += 90 {
			if claimed, _, _ := claimedAndRead(t, path, data[:n]); claimed != -1 {
				t.Errorf("%d of %d bytes claim %d rows", n, len(data), claimed)
			}
		}
	}
}

// ofLength returns data whose records of rows rows claim another number.
func ofLength(data []byte, rows, claim int64) []byte {
	data = slices.Clone(data)
	for at := 0; at+8 < len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		if size == 0 {
			break
		}
		meta := data[at+8:][:size]
		if kind, record, _ := headerOf(meta); kind == messageRecord && rowsOf(meta) == rows {
			binary.LittleEndian.PutUint64(meta[int(record.Pos)+int(record.Offset(recordLengthSlot)):], uint64(claim))
		}
		at += 8 + size + int(ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)).BodyLen())
	}
	return data
}

// TestUnbelieved: rows are counted by reading them if a claim is negative, overflows, or is large for the size of a file, and if
// there are many messages.
func TestUnbelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	var out bytes.Buffer
	rec := datatest.Record(t, datatest.Values("x", arrow.PrimitiveTypes.Int8, "[1, 2, 3]"))
	w := ipc.NewWriter(&out, ipc.WithSchema(rec.Schema()))
	ends := []int{0}
	for range 2 {
		require.NoError(t, w.Write(rec))
		ends = append(ends, out.Len())
	}
	require.NoError(t, w.Close())
	data := out.Bytes()
	most := maxRowsPerByte * int64(len(data))
	for claim, want := range map[int64]int64{2: 4, most / 2: most, most/2 + 1: -1, 1 << 62: -1, math.MaxInt64: -1} {
		if got, _, err := claimedAndRead(t, path, ofLength(data, 3, claim)); got != want || err == nil {
			t.Errorf("two records of %d rows: %d are believed, want %d, error %v", claim, got, want, err)
		}
	}
	for _, claim := range []int64{-1, math.MinInt64} { // Arrow's reader counts the values of a column then
		if got, read, err := claimedAndRead(t, path, ofLength(data, 3, claim)); got != -1 || read != 6 || err != nil {
			t.Errorf("two records of %d rows: %d are believed, and %d read, error %v", claim, got, read, err)
		}
	}
	second := data[ends[1]:ends[2]]
	for messages, want := range map[int]int64{maxMessages - 2: 3 * (maxMessages - 2), maxMessages - 1: -1} { // the schema and the end are messages
		many := slices.Concat(data[:ends[1]], bytes.Repeat(second, messages-1), data[ends[2]:])
		require.NoError(t, os.WriteFile(path, many, 0o600))
		r := require.Value(openRecords(require.Value(source.NewFile(t.Context(), path, nil, 0))(t), memory.DefaultAllocator, 0))(t)
		if got := r.messages.claimedRows(); got != want {
			t.Errorf("%d records: %d rows are believed, want %d", messages, got, want)
		}
		r.release()
	}
}

// TestBackwards: a body of a negative size, which would lead back to an earlier message, isn't believed.
func TestBackwards(t *testing.T) {
	const slotBody = 10 // of Message
	var out bytes.Buffer
	rec := datatest.Record(t, datatest.Values("x", arrow.PrimitiveTypes.Int8, "[1, 2, 3]"))
	w := ipc.NewWriter(&out, ipc.WithSchema(rec.Schema()))
	require.NoError(t, w.Write(rec))
	headBytes := func(message []byte) int { return 8 + int(binary.LittleEndian.Uint32(message[4:])) }
	schema := out.Bytes()[:headBytes(out.Bytes())]
	record := out.Bytes()[len(schema):]
	head := headBytes(record)
	withBody := func(size int) []byte {
		message := slices.Clone(record)
		meta := message[8:head]
		root := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
		binary.LittleEndian.PutUint64(meta[int(root.Pos)+int(root.Offset(slotBody)):], uint64(size))
		return message
	}
	end := []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}
	path := filepath.Join(t.TempDir(), "a.arrow")
	for size, want := range map[int]int64{len(record) - head: 6, -(head + len(end)): -1} {
		data := slices.Concat(schema, withBody(len(record)-head+len(end)), end, withBody(size), end)
		if got, _, err := claimedAndRead(t, path, data); got != want || want < 0 && err == nil {
			t.Errorf("a body of %d bytes: %d rows are believed, want %d, error %v", size, got, want, err)
		}
	}
}

// FuzzClaimedRows: data that can be read has the rows that its messages claim.
func FuzzClaimedRows(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 8 {
		data, _ := randomRecords(f, rng)
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "a.arrow")
	f.Fuzz(func(t *testing.T, data []byte) {
		if claimed, read, err := claimedAndRead(t, path, data); err == nil && claimed >= 0 && claimed != read {
			t.Errorf("%d rows are claimed and %d read", claimed, read)
		}
	})
}
