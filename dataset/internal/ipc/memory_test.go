package ipc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"halfspace/dataset"
	"halfspace/dataset/internal/column"
	ipcfile "halfspace/dataset/internal/ipc"
	"halfspace/dataset/internal/source"
	"halfspace/internal/parallel"
	"halfspace/internal/require"
)

// largeRecord writes a stream with one record of so many zeros, a hole in the file, and the mark that ends it. The message of a
// record of 8 numbers is changed for that: Arrow would want the numbers in memory.
func largeRecord(t *testing.T, path string, rows int64) {
	t.Helper()
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)))
	head := stream.Len
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(make([]float64, 8), nil)
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil), []arrow.Array{b.NewArray()}, 8)
	require.NoError(t, w.Write(rec))
	bytesOf := stream.Bytes()
	schema := 8 + int(binary.LittleEndian.Uint32(bytesOf[4:])) // bytes of the message before
	size := int(binary.LittleEndian.Uint32(bytesOf[schema+4:]))
	meta := bytesOf[schema+8:][:size]
	if head() != schema+8+size+64 {
		t.Fatalf("%d bytes, and the messages have %d, %d and 64", head(), schema, 8+size)
	}
	root := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	var record flatbuffers.Table
	root.Union(&record, flatbuffers.UOffsetT(root.Offset(ipcfile.SlotHeader)))
	const slotBody, slotLength, slotNodes = 10, 4, 6
	put := func(at flatbuffers.UOffsetT, want, v int64) {
		t.Helper()
		if got := root.GetInt64(at); got != want {
			t.Fatalf("%d where %d should be", got, want)
		}
		binary.LittleEndian.PutUint64(meta[at:], uint64(v))
	}
	put(root.Pos+flatbuffers.UOffsetT(root.Offset(slotBody)), 64, 8*rows)
	put(record.Pos+flatbuffers.UOffsetT(record.Offset(slotLength)), 8, rows)
	put(record.Vector(flatbuffers.UOffsetT(record.Offset(slotNodes))), 8, rows)
	put(record.Vector(flatbuffers.UOffsetT(record.Offset(ipcfile.SlotBuffers)))+16+8, 64, 8*rows)
	f := require.Value(os.Create(path))(t)
	defer f.Close()
	require.Value(f.Write(bytesOf[:schema+8+size]))(t)
	require.Value(f.WriteAt([]byte("\xff\xff\xff\xff\x00\x00\x00\x00"), int64(schema+8+size)+8*rows))(t)
}

// TestLargeBody: a record of any size is read within the memory that there is, and one that is larger is no damage.
func TestLargeBody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.arrow")
	const rows = 135_000_000 // 1.006 GiB
	largeRecord(t, path, rows)
	_, _, err := dataset.Inspect(context.Background(), path, dataset.Options{Memory: 1 << 30})
	if want := path + ": a record and the dictionaries take at least 1.0 GiB of memory, and the limit is 1.0 GiB: give more with Memory, or " +
		"write smaller records"; err == nil || err.Error() != want || !errors.Is(err, dataset.ErrMemory) {
		t.Errorf("within 1 GiB: error %v, want %s", err, want)
	}
	if !require.Small() && !parallel.RaceEnabled && column.AvailableMemory() > 8<<30 {
		if _, info, err := dataset.Inspect(context.Background(), path, dataset.Options{Memory: 3 << 30}); err != nil || info.Rows != rows {
			t.Errorf("within 3 GiB: %v, error %v", info, err)
		}
	}
	require.NoError(t, os.Truncate(path, 1<<20))
	_, _, err = dataset.Inspect(context.Background(), path, dataset.Options{Memory: 3 << 30})
	if !errors.Is(err, dataset.ErrDamaged) || !strings.Contains(err.Error(), "the data is truncated") {
		t.Errorf("cut: error %v", err)
	}
}

// TestRecordInMemory: of a record, its message and the arrays made of it must fit, and dictionaries beside them.
func TestRecordInMemory(t *testing.T) {
	const rows = 100_000
	path := filepath.Join(t.TempDir(), "a.arrow")
	largeRecord(t, path, rows)
	for most, fits := range map[int64]bool{8 * rows: false, 2*8*rows - 1: false, 2 * 8 * rows: true} {
		got := int64(0)
		s := require.Value(source.NewFile(context.Background(), path, nil, 0))(t)
		roles := &column.Roles{Columns: []column.Column{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, Label: -1, Weight: -1}
		var err error
		for b, bad := range ipcfile.BatchesOf(context.Background(), s, roles, memory.DefaultAllocator, most) {
			if err = bad; err == nil {
				if got += b.Rows; b.Rows > column.MaxBatchRows {
					t.Errorf("a batch of %d rows", b.Rows)
				}
				b.Release()
			}
		}
		if fits && (err != nil || got != rows) || !fits && (err == nil || !strings.Contains(err.Error(), "give more with Memory")) {
			t.Errorf("within %d bytes: %d rows, error %v", most, got, err)
		}
	}
}

// TestDictionariesInMemory: dictionaries that replace each other are counted once, those that grow by what they have.
func TestDictionariesInMemory(t *testing.T) {
	m := &ipcfile.Messages{Most: 1000, Dictionaries: map[int64]int64{}}
	for range 9 {
		m.Taken = 300
		m.Keep(7, false)
		m.Taken = 0
	}
	if m.Left() != 700 {
		t.Errorf("%d bytes are left beside a dictionary of 300", m.Left())
	}
	m.Taken = 200
	m.Keep(7, true)
	m.Keep(8, false)
	if m.Taken = 0; m.Left() != 300 {
		t.Errorf("%d bytes are left beside dictionaries of 500 and 200", m.Left())
	}
}

// TestWindow: a few bytes of Zstandard that ask for a window of 512 MiB are refused by the limit on memory, before there is room
// for it.
func TestWindow(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(make([]float64, 5000), nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithZstd())
	require.NoError(t, w.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, 5000)))
	require.NoError(t, w.Close())
	// Of a single segment, whose length takes 2 bytes: those of a window and of no dictionary stand there instead.
	sound, large := out.Bytes(), "\x28\xb5\x2f\xfd\x05\x98\x00"
	at := bytes.Index(sound, []byte(large[:4]))
	if at < 0 || sound[at+4] != 0x64 {
		t.Fatal("no such frame")
	}
	changed := strings.Replace(string(sound), string(sound[at:at+len(large)]), large, 1)
	for text, want := range map[string]error{string(sound): nil, changed: dataset.ErrMemory} {
		path := filepath.Join(t.TempDir(), "a.arrow")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := dataset.Load(context.Background(), path, dataset.Options{Memory: 64 << 20})
		if !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}
