package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"halfspace/dataset/internal/column"
	ipcfile "halfspace/dataset/internal/ipc"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/internal/require"
)

// Pieces of footers in Thrift's compact protocol, as little of each as there need be. A struct ends with 0.

// thriftList is a list of n elements of a type, of which some may be there.
func thriftList(kind byte, n int, elements ...[]byte) []byte {
	return append(binary.AppendUvarint([]byte{0xf0 | kind}, uint64(n)), bytes.Join(elements, nil)...)
}

// schemaGroup is the schema element of a group that claims so many columns, schemaColumn that of a column of float64.
func schemaGroup(name string, columns int) []byte {
	group := append(binary.AppendUvarint([]byte{0x48}, uint64(len(name))), name...)
	return append(binary.AppendVarint(append(group, 0x15), int64(columns)), 0)
}

func schemaColumn(name string) []byte {
	column := append(binary.AppendUvarint([]byte{0x15, 10, 0x38}, uint64(len(name))), name...)
	return append(column, 0)
}

// footer has fields 1 to 4 of a file's metadata, and then more of them.
func footer(schema []byte, rows int64, groups []byte, more ...byte) []byte {
	f := append([]byte{0x15, 2, 0x19}, schema...)
	f = append(binary.AppendVarint(append(f, 0x16), rows), 0x19)
	return append(append(append(f, groups...), more...), 0)
}

// emptyGroup is a row group of one column without rows.
var emptyGroup = []byte{0x19, 0x1c, // columns
	0x26, 8, 0x1c, // file_offset and meta_data
	0x15, 10, 0x19, 0x15, 0, 0x19, 0x18, 1, 'x', 0x15, 0, 0x16, 0, 0x16, 0, 0x16, 0, 0x26, 8, 0, 0,
	0x16, 0, 0x16, 0, 0} // total_byte_size and num_rows

// parquetOf puts a footer at the end of a file.
func parquetOf(footer []byte) []byte {
	data := append([]byte("PAR1"), footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

// TestHostileFooters reads footers that claim what isn't there or have others recurse, in a process of its own: a process
// that runs out of memory or of stack ends.
func TestHostileFooters(t *testing.T) {
	if require.Small() {
		t.Skip("bounds the memory of a process, to which the race detector adds its own")
	}
	const thriftStruct = 12
	none := thriftList(thriftStruct, 0)
	one := thriftList(thriftStruct, 2, schemaGroup("root", 1), schemaColumn("x"))
	long := strings.Repeat("n", 1<<20)
	columns := func(n int) [][]byte { return slices.Repeat([][]byte{schemaColumn("x")}, n) }
	for name, c := range map[string]struct {
		footer []byte
		want   string // of each error
	}{
		"children": {footer(thriftList(thriftStruct, 2, schemaGroup("root", 1<<31-1), schemaColumn("x")), 0, none),
			"a schema with a group of 2147483647 columns, of which 1 are there"},
		"negative children": {footer(thriftList(thriftStruct, 2, schemaGroup("root", -1), schemaColumn("x")), 0, none),
			"a schema with a group of -1 columns, of which 1 are there"},
		"nested groups": {footer(thriftList(thriftStruct, 6e6+1, append(slices.Repeat([][]byte{schemaGroup("", 1)}, 6e6),
			schemaColumn("x"))...), 0, none), "a schema of more than 64 groups in groups"},
		"wide groups": {footer(thriftList(thriftStruct, 201, append(slices.Repeat([][]byte{schemaGroup("g", 1<<24)}, 200),
			schemaColumn("x"))...), 0, none), "a schema with a group of 16777216 columns, of which 200 are there"},
		"overlapping groups": {footer(thriftList(thriftStruct, 5, schemaGroup("root", 1), schemaGroup("g", 2), schemaGroup("h", 2),
			schemaColumn("x"), schemaColumn("x")), 0, none), "a schema with a group that lacks columns"},
		"columns in no group": {footer(thriftList(thriftStruct, 3, schemaGroup("root", 1), schemaColumn("x"), schemaColumn("y")), 0, none),
			"a schema of 3 elements, of which 1 belong to no group"},
		"schema":    {footer(thriftList(thriftStruct, 90e6), 0, none), "its footer ends too early"},
		"no schema": {footer(none, 0, none), "its footer has no schema"},
		"long paths": {footer(thriftList(thriftStruct, 10_002, append([][]byte{schemaGroup("root", 1), schemaGroup(long, 10_000)},
			columns(10_000)...)...), 0, none), "a schema whose columns have names of more than 67108864 bytes together"},
		"columns": {footer(thriftList(thriftStruct, 1<<19+2, append([][]byte{schemaGroup("root", 1<<19+1)}, columns(1<<19+1)...)...), 0, none),
			"a schema of more than 524288 columns"},
		"groups in a column": {footer(thriftList(thriftStruct, 2+50*30_000, append([][]byte{schemaGroup("root", 1), schemaGroup("g", 30_000)},
			slices.Repeat(append(slices.Repeat([][]byte{schemaGroup("", 1)}, 49), schemaColumn("")), 30_000)...)...), 0, none),
			"a schema with a column of more than 65536 groups and columns"},
		"100,000 columns": {footer(thriftList(thriftStruct, 1e5+1, append([][]byte{schemaGroup("root", 1e5)},
			slices.Repeat([][]byte{schemaColumn("x.y")}, 1e5)...)...), 0, none),
			"100000 columns are named"},
		"type": {footer(thriftList(thriftStruct, 2, schemaGroup("root", 1), []byte{0x15, 100, 0x38, 1, 'x', 0}), 0, none),
			"a column of type 50, which there is not"},
		"row groups":           {footer(one, 5, thriftList(thriftStruct, 90e6)), "its footer ends too early"},
		"columns of row group": {footer(one, 5, thriftList(thriftStruct, 1, append([]byte{0x19}, thriftList(thriftStruct, 90e6)...))), "its footer ends too early"},
		"columns of nothing": {footer(one, 5, thriftList(thriftStruct, 1, append([]byte{0x19}, thriftList(thriftStruct, 1<<20, make([]byte, 1<<20))...),
			[]byte{0x26, 10, 0})), "row group 0 has 1048576 columns, but the schema 1"},
		"empty row groups": {footer(one, 0, thriftList(thriftStruct, 300_000, slices.Repeat([][]byte{emptyGroup}, 300_000)...)),
			"no rows: name a file that has some"},
		"texts":         {footer(one, 0, none, append([]byte{0x19}, thriftList(thriftStruct, 90e6)...)...), "its footer ends too early"},
		"nested Thrift": {footer(one, 0, none, bytes.Repeat([]byte{0x6c}, 30<<20)...), "its footer is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.parquet")
			require.NoError(t, os.WriteFile(path, parquetOf(c.footer), 0o666))
			out, err := readInChild(t.Context(), path)
			if err != nil {
				t.Fatalf("%v: %s", err, out[:min(len(out), 1000)])
			}
			_, load, _ := strings.Cut(out, "load: ")
			load, _, _ = strings.Cut(load, "\n")
			if !strings.Contains(load, c.want) || !strings.HasPrefix(load, "error: "+path) {
				t.Errorf("load: %s, want %s", load, c.want)
			}
			_, peak, _ := strings.Cut(out, "peak: ")
			var mib int
			if _, err := fmt.Sscan(peak, &mib); err != nil || mib > 192 { // 120 to 152 were seen
				t.Errorf("%d MiB", mib)
			}
		})
	}
}

// FuzzFooter reads any bytes as a footer, and has Arrow read its schema: none may panic where nobody recovers, or take more
// memory or time than its bytes allow.
func FuzzFooter(f *testing.F) {
	const thriftStruct = 12
	f.Add(footer(thriftList(thriftStruct, 4, schemaGroup("root", 1), schemaGroup("g", 2), schemaColumn("x"), schemaColumn("y")), 0,
		thriftList(thriftStruct, 2, emptyGroup, emptyGroup)))
	f.Add(footer(thriftList(thriftStruct, 2, schemaGroup("root", 1<<31-1), schemaColumn("x")), 0, thriftList(thriftStruct, 0)))
	for _, lists := range []bool{false, true} {
		data := smallFile(f, lists)
		length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
		f.Add(data[len(data)-8-length : len(data)-8])
	}
	f.Fuzz(func(t *testing.T, footer []byte) {
		data := parquetOf(footer)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := column.Recovered(func() error {
			foot, err := parquetfile.ReadFooter(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return column.Damage(err)
			}
			m := &parquetfile.Metadata{Footer: foot}
			if _, err := m.TopColumns(); err != nil {
				return err
			}
			all := make([]int, m.Columns)
			for i := range all {
				all[i] = i
			}
			for g, err := range m.Groups(all) {
				if err == nil && g.Columns > len(footer) {
					t.Errorf("%d columns in %d bytes", g.Columns, len(footer))
				}
			}
			for range m.Texts(maxTexts) {
			}
			return nil
		})
		if err != nil && !errors.As(err, new(column.Damaged)) {
			t.Errorf("error %v", err)
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > uint64(4<<20+4096*len(footer)) {
			t.Errorf("%d bytes are allocated for %d", grown, len(footer))
		}
	})
}

// TestHostileSchemas reads Arrow schemas whose columns, or whose texts, are all the same table: 4 bytes each, for which Arrow
// makes some hundred.
func TestHostileSchemas(t *testing.T) {
	if require.Small() {
		t.Skip("bounds the memory of a process, to which the race detector adds its own")
	}
	const n = 4_000_000
	for name, of := range map[string]string{"columns": "columns", "columns of a column": "children", "texts": "texts"} {
		b := flatbuffers.NewBuilder(5 * n)
		text := b.CreateString("x")
		b.StartObject(2) // KeyValue
		b.PrependUOffsetTSlot(0, text, 0)
		b.PrependUOffsetTSlot(1, text, 0)
		pair := b.EndObject()
		many := func(table flatbuffers.UOffsetT, n int) flatbuffers.UOffsetT {
			b.StartVector(4, n, 4)
			for range n {
				b.PrependUOffsetT(table)
			}
			return b.EndVector(n)
		}
		field := func(children flatbuffers.UOffsetT) flatbuffers.UOffsetT {
			b.StartObject(1) // FloatingPoint, or Struct
			typ := b.EndObject()
			kind := byte(3)
			if children != 0 {
				kind = 13
			}
			b.StartObject(7)
			b.PrependUOffsetTSlot(0, text, 0)
			b.PrependByteSlot(2, kind, 0)
			b.PrependUOffsetTSlot(3, typ, 0)
			b.PrependUOffsetTSlot(5, children, 0)
			return b.EndObject()
		}
		one, texts := field(0), flatbuffers.UOffsetT(0)
		columns := many(one, 1)
		switch of {
		case "columns":
			columns = many(one, n)
		case "children":
			columns = many(field(many(one, n)), 1)
		case "texts":
			texts = many(pair, n)
		}
		b.StartObject(3) // Schema
		b.PrependUOffsetTSlot(1, columns, 0)
		b.PrependUOffsetTSlot(2, texts, 0)
		schema := b.EndObject()
		b.StartObject(5) // Message
		b.PrependInt16Slot(0, 4, 0)
		b.PrependByteSlot(1, ipcfile.MessageSchema, 0)
		b.PrependUOffsetTSlot(2, schema, 0)
		b.Finish(b.EndObject())
		meta := b.FinishedBytes()
		meta = append(meta, make([]byte, -len(meta)&7)...)
		data := append(binary.LittleEndian.AppendUint32([]byte(ipcfile.ArrowContinuation), uint32(len(meta))), meta...)
		path := filepath.Join(t.TempDir(), "a.arrow")
		require.NoError(t, os.WriteFile(path, append(data, ipcfile.ArrowContinuation+"\x00\x00\x00\x00"...), 0o666))
		out, err := readInChild(t.Context(), path)
		if want := "load: error: " + path + ": the data is damaged (a schema of more than 524288 columns and texts)"; err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: error %v: %s", name, err, out[:min(len(out), 1000)])
		}
	}
}
