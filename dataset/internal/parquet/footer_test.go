package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"halfspace/internal/require"
)

// listOf is a list of structs.
func listOf(structs ...[]byte) []byte {
	head := binary.AppendUvarint([]byte{0xf0 | thriftStruct}, uint64(len(structs)))
	return append(head, bytes.Join(structs, nil)...)
}

func textBytes(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

// footerFields are those of a footer of three columns, of which two are in a group, and so many row groups, with numbers
// that follow from those of the column and of the row group.
func footerFields(groups int) [][]byte {
	element := func(name string, children int) []byte {
		if children > 0 {
			return fields(field(4, thriftBinary, textBytes(name)), field(5, thriftInt32, zigzag(children)))
		}
		return fields(field(1, thriftInt32, zigzag(int(Double))), field(3, thriftInt32, zigzag(1)), field(4, thriftBinary, textBytes(name)),
			field(10, thriftStruct, fields(field(5, thriftStruct, fields(field(1, thriftInt32, zigzag(2)))))))
	}
	var all [][]byte
	for g := range groups {
		var columns [][]byte
		for c := range 3 {
			n := func(i int) []byte { return zigzag(1000*g + 10*c + i) }
			metadata := fields(field(1, thriftInt32, zigzag(5)), field(2, thriftList, append([]byte{3<<4 | thriftInt32}, 6, 0, 6)),
				field(3, thriftList, append([]byte{1<<4 | thriftBinary}, textBytes("path")...)), field(4, thriftInt32, zigzag(c)),
				field(5, thriftInt64, n(5)), field(6, thriftInt64, n(6)), field(7, thriftInt64, n(7)),
				field(8, thriftList, listOf(fields(field(1, thriftBinary, textBytes("k"))))), field(9, thriftInt64, n(9)),
				field(11, thriftInt64, n(11)), field(12, thriftStruct, fields(field(1, thriftBinary, textBytes("max")),
					field(3, thriftInt64, n(3)))), field(13, thriftList, listOf(fields(field(3, thriftInt32, zigzag(1))))))
			parts := [][]byte{field(2, thriftInt64, n(2)), field(3, thriftStruct, metadata)}
			if g == 7 && c == 2 {
				parts = append([][]byte{field(1, thriftBinary, textBytes("other.parquet"))}, append(parts, field(8, thriftStruct, fields()))...)
			}
			columns = append(columns, fields(parts...))
		}
		all = append(all, fields(field(1, thriftList, listOf(columns...)), field(2, thriftInt64, zigzag(0)),
			field(3, thriftInt64, zigzag(g)), field(4, thriftList, listOf(fields(field(1, thriftInt32, zigzag(0)))))))
	}
	return [][]byte{field(1, thriftInt32, zigzag(1)), field(2, thriftList, listOf(element("root", 2), element("a", 0),
		element("g", 2), element("b", 0), element("c", 0))), field(3, thriftInt64, zigzag(groups*(groups-1)/2)),
		field(4, thriftList, listOf(all...)), field(5, thriftList, listOf(fields(field(1, thriftBinary, textBytes("key")),
			field(2, thriftBinary, textBytes("value"))), fields(field(1, thriftBinary, textBytes("lone"))))), field(6, thriftBinary, textBytes("a test"))}
}

// readFooter reads bytes as a footer.
func readFooter(footer []byte) (*Footer, error) {
	file := append([]byte("PAR1"), footer...)
	file = append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
	return ReadFooter(bytes.NewReader(file), int64(len(file)))
}

// TestFooter reads footers within a window of the file and across many.
func TestFooter(t *testing.T) {
	for _, groups := range []int{0, 10, 3000} {
		data := fields(footerFields(groups)...)
		if groups == 3000 && len(data) < 4*windowBytes {
			t.Fatalf("%d bytes", len(data))
		}
		f := require.Value(readFooter(data))(t)
		if f.Columns != 3 || f.Rows != int64(groups*(groups-1)/2) || f.CreatedBy != "a test" {
			t.Errorf("%d columns, %d rows, by %s", f.Columns, f.Rows, f.CreatedBy)
		}
		g := 0
		for got, err := range f.Groups([]int{2, 0}) {
			require.NoError(t, err)
			for k, c := range []int{2, 0} {
				n := int64(1000*g + 10*c)
				want := ColumnChunk{Codec: Codec(c), Values: n + 5, Uncompressed: n + 6, Stored: n + 7, Data: n + 9, Dictionary: n + 11,
					Nulls: n + 3, Encodings: []Encoding{rle, plain}}
				if g == 7 && c == 2 {
					want.File, want.Encrypted = "other.parquet", true
				}
				if fmt.Sprint(got.Chunks[k]) != fmt.Sprint(want) {
					t.Fatalf("row group %d, column %d: %+v, want %+v", g, c, got.Chunks[k], want)
				}
			}
			if got.Rows != int64(g) || got.Columns != 3 {
				t.Fatalf("row group %d: %d rows of %d columns", g, got.Rows, got.Columns)
			}
			g++
		}
		if g != groups {
			t.Errorf("%d of %d row groups", g, groups)
		}
		var texts [][2]string
		for text, err := range f.Texts(12) {
			require.NoError(t, err)
			texts = append(texts, text)
		}
		if !slices.Equal(texts, [][2]string{{"key", "value"}, {"lone", ""}}) {
			t.Errorf("texts %q", texts)
		}
		var err error
		for _, err = range f.Texts(11) {
		}
		wantError(t, "long texts", err, "its key-value metadata is too long")
		// Other readers see the same columns.
		parts := 0
		for schema, err := range f.Schemas() {
			require.NoError(t, err)
			parts++
			if f, err := readFooter(schema); err != nil || f.Columns != 3 || f.Rows != 0 {
				t.Fatalf("%+v, %v", f, err)
			}
		}
		if parts != 1 {
			t.Errorf("%d parts", parts)
		}
	}
}

// TestSchemas: the parts of a schema have all of its columns, and begin where a top-level column does.
func TestSchemas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 14))
	var elements [][]byte
	columns := 0
	var group func(children, depth int)
	group = func(children, depth int) {
		elements = append(elements, fields(field(4, thriftBinary, textBytes(fmt.Sprint("g", len(elements)))), field(5, thriftInt32, zigzag(children))))
		for range children {
			if depth < 5 && rng.IntN(8) == 0 {
				group(1+rng.IntN(4), depth+1)
				continue
			}
			columns++
			elements = append(elements, fields(field(1, thriftInt32, zigzag(1)), field(4, thriftBinary, textBytes("c"))))
		}
	}
	group(5000, 0)
	f, err := readFooter(fields(field(1, thriftInt32, zigzag(1)), field(2, thriftList, listOf(elements...)), field(3, thriftInt64, zigzag(0)),
		field(4, thriftList, listOf())))
	if err != nil || f.Columns != columns {
		t.Fatalf("%d of %d columns, %v", f.Columns, columns, err)
	}
	have, parts := 0, 0
	for schema, err := range f.Schemas() {
		part, again := readFooter(schema)
		if err != nil || again != nil {
			t.Fatal(err, again)
		}
		if len(part.schema) != 1 || part.schema[0].elements > partElements+20 {
			t.Errorf("parts %v of a part", part.schema)
		}
		have, parts = have+part.Columns, parts+1
	}
	if have != columns || parts < 4 {
		t.Errorf("%d of %d columns in %d parts", have, columns, parts)
	}
}

// TestUnknownTypes: columns of logical types that Arrow doesn't know have no type and the name of the logical type,
// and the columns beside them stay as they are. The number of the field with the logical type is written as a distance
// and in full.
func TestUnknownTypes(t *testing.T) {
	logical := func(id int, inner ...[]byte) []byte {
		return append(append([]byte{thriftStruct}, zigzag(id)...), append(fields(inner...),
			0)...) // ids from 64 on take two bytes
	}
	unit := func(unit int) []byte {
		return fields(field(1, thriftTrue, nil), field(2, thriftStruct, fields(field(unit, thriftStruct, fields()))))
	}
	type typed struct {
		physical Type
		logical  []byte
		desc     string // of the column; "number" if its type is known
	}
	columns := []typed{{Bytes, logical(1), "string"}, {Bytes, logical(16, field(1, thriftByte, []byte{1})), "variant"},
		{Bytes, logical(17, field(1, thriftBinary, textBytes("EPSG:4326"))), "geometry"},
		{Bytes, logical(18), "geography"}, {Int32, logical(2555, field(7, thriftStruct, fields(field(1, thriftInt32,
			zigzag(3))))), "logical type 2555"}, {Double, nil, "float64"}, {Int64, []byte{0}, "an unknown logical type"},
		{Int64, append(append([]byte{thriftStruct}, zigzag(8)...), append(unit(2), 0)...), "timestamp[us, tz=UTC]"}, {Int64,
			append(append([]byte{thriftStruct}, zigzag(8)...), append(unit(4), 0)...), "a time of an unknown unit"},
		{Bytes, logical(5, field(1, thriftInt32, zigzag(1)), field(2, thriftInt32, zigzag(9))), "decimal(9, 1)"}, {Int32,
			logical(6), "date32"}}
	for _, short := range []bool{false, true} {
		element := func(name string, c typed) []byte {
			all := fields(field(1, thriftInt32, zigzag(int(c.physical))), field(3, thriftInt32, zigzag(0)), field(4,
				thriftBinary, textBytes(name)))
			head := []byte{thriftStruct, 20}
			if short { // the field before is number 4
				head = []byte{(10-4)<<4 | thriftStruct}
			}
			if c.logical == nil {
				return all
			}
			return append(append(append(all[:len(all)-1], head...), c.logical...), 0)
		}
		group := func(name string, children int, c typed) []byte {
			all := fields(field(3, thriftInt32, zigzag(0)), field(4, thriftBinary, textBytes(name)), field(5, thriftInt32,
				zigzag(children)))
			if c.logical == nil {
				return all
			}
			return append(append(append(all[:len(all)-1], thriftStruct, 20), c.logical...), 0)
		}
		var elements [][]byte
		for i, c := range columns {
			elements = append(elements, element(fmt.Sprint("c", i), c))
		}
		elements = append(elements, group("v", 2, columns[1]), element("metadata", typed{Bytes, nil, ""}), element("value",
			typed{Bytes, nil, ""}), group("s", 2, typed{}), element("x", columns[5]), element("g", columns[2]), element("last",
			columns[5]))
		root := group("root", len(columns)+3, typed{})
		f, err := readFooter(fields(field(1, thriftInt32, zigzag(1)), field(2, thriftList, listOf(append([][]byte{root},
			elements...)...)), field(3, thriftInt64, zigzag(0)), field(4, thriftList, listOf())))
		require.NoError(t, err)
		cols := require.Value((&Metadata{Footer: f}).TopColumns())(t)
		var got, want []string
		for _, c := range cols {
			got = append(got, fmt.Sprint(c.Name, " ", c.Desc, " ", c.Type != nil))
		}
		for i, c := range columns {
			want = append(want, fmt.Sprintf("c%d %s %t", i, c.desc, i == 0 || i == 5 || i == 7 || i >= 9))
		}
		if want = append(want, "v variant false", "s struct false", "last float64 true"); !slices.Equal(got, want) {
			t.Errorf("short %t: %q, want %q", short, got, want)
		}
	}
}

// TestCutFooter cuts a footer at every byte, and lets a field of it out.
func TestCutFooter(t *testing.T) {
	parts := footerFields(2)
	data := fields(parts...)
	for i := range data {
		if _, err := readFooter(data[:i]); err == nil {
			t.Errorf("%d of %d bytes pass", i, len(data))
		}
	}
	for i := 1; i < 4; i++ {
		_, err := readFooter(fields(slices.Delete(slices.Clone(parts), i, i+1)...))
		wantError(t, fmt.Sprint("without field ", i+1), err, "its footer lacks the schema, the rows or the row groups")
	}
}

// absurdFields returns fields of the given number that claim size bytes or elements, and have none.
func absurdFields(id int, size uint64) map[string][]byte {
	claim := func(head ...byte) []byte { return binary.AppendUvarint(head, size) }
	return map[string][]byte{
		"text":              field(id, thriftBinary, claim()),
		"list of booleans":  field(id, thriftList, claim(0xf0|thriftTrue)),
		"list of bytes":     field(id, thriftList, claim(0xf0|thriftByte)),
		"list of texts":     field(id, thriftList, claim(0xf0|thriftBinary)),
		"list of structs":   field(id, thriftList, claim(0xf0|thriftStruct)),
		"set of doubles":    field(id, thriftSet, claim(0xf0|thriftDouble)),
		"map of texts":      field(id, thriftMap, append(claim(), thriftBinary<<4|thriftBinary)),
		"text in a struct":  field(id, thriftStruct, append([]byte{0x10 | thriftBinary}, claim()...)),
		"list of lists":     field(id, thriftList, append([]byte{0x10 | thriftList}, claim(0xf0|thriftList)...)),
		"list in a map":     field(id, thriftMap, append([]byte{1, thriftByte<<4 | thriftList, 0}, claim(0xf0|thriftInt64)...)),
		"list of no values": field(id, thriftList, claim(0xf0)),
	}
}

// TestThriftSizes: a page header, a schema or a footer that claims absurd sizes is refused before they take memory. Readers of Thrift that
// believe them run out of memory (CVE-2026-43868). No other reader of Thrift gets a page header, and none gets a schema before the check.
func TestThriftSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	w := &chunkWriter{rng: rng, typ: Int32, encoding: plain, rows: 1000}
	c := w.write(randomEntries(w, 10))
	_, n, err := parseHeader(w.out)
	require.NoError(t, err)
	for _, size := range []uint64{1 << 20, 1<<31 - 1, 1 << 32, 1<<62 + 1, 1<<64 - 1} {
		for name, f := range absurdFields(15, size) {
			unended := fields(f)
			unended = unended[:len(unended)-1]
			bad := slices.Concat(w.out[:n-1], []byte{unended[0] - 7<<4}, unended[1:], w.out[n:]) // the number is 8 behind the last one
			c.Size = int64(len(bad))
			mem := &heap{}
			took := allocated(func() {
				if _, err := readAll(rng, bad, c, NewPool(mem)); err == nil {
					t.Errorf("a page header with a %s of %d gives no error", name, size)
				}
			})
			if took > 1<<20 || mem.most > 1<<20 {
				t.Errorf("a page header with a %s of %d: %d bytes allocated", name, size, max(took, uint64(mem.most)))
			}
		}
		for name, f := range absurdFields(4, size) {
			element := fields(field(1, thriftInt32, zigzag(int(Double))), field(3, thriftInt32, zigzag(1)), f)
			root := fields(field(4, thriftBinary, textBytes("root")), field(5, thriftInt32, zigzag(1)))
			parts := footerFields(1)
			parts[1] = field(2, thriftList, listOf(root, element[:len(element)-1]))
			for what, footer := range map[string][]byte{"schema": fields(parts...), "footer": fields(append(footerFields(1), absurdFields(15, size)[name])...)} {
				took := allocated(func() {
					if _, err := readFooter(footer); err == nil {
						t.Errorf("a %s with a %s of %d gives no error", what, name, size)
					}
				})
				if took > 1<<20 {
					t.Errorf("a %s with a %s of %d: %d bytes allocated", what, name, size, took)
				}
			}
		}
	}
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
