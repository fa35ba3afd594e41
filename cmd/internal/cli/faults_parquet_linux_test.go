package cli

import (
	"bytes"
	"encoding/binary"
	"io"
)

// The physical types of Parquet that the faults have (parquet.thrift, Type).
const (
	typeInt64     = 2
	typeDouble    = 5
	typeByteArray = 6
)

// The encodings and page types of Parquet that the faults have (parquet.thrift, Encoding and PageType).
const (
	plain         = 0
	rle           = 3
	rleDictionary = 8

	dataPage       = 0
	dictionaryPage = 2
)

// A page is a page of a column chunk, compressed by Zstandard.
type page struct {
	kind, encoding int
	values         int // number of values that the header claims
	body           frame
}

// A column is a column of the file. Every row group contains its pages once.
type column struct {
	name     string
	physical int
	text     bool
	list     bool // a list of required elements, in the format's three levels
	values   int  // values of the column chunk
	pages    []page
}

// writeParquet writes a file with that many row groups of rows rows, all with the same pages.
func writeParquet(w io.Writer, groups, rows int, columns ...column) error {
	out := &bytes.Buffer{}
	at := int64(0)
	flush := func() error {
		at += int64(out.Len())
		_, err := out.WriteTo(w)
		return err
	}
	out.WriteString("PAR1")
	var rowGroups [][]byte
	for range groups {
		var chunks [][]byte
		for _, c := range columns {
			if err := flush(); err != nil {
				return err
			}
			chunks = append(chunks, c.write(out, at))
		}
		var g thrift
		g.list(1, thriftStruct, chunks)
		g.i64(2, 1)
		g.i64(3, int64(rows))
		rowGroups = append(rowGroups, g.end())
	}
	var f thrift
	f.i32(1, 2)
	f.list(2, thriftStruct, schemaOf(columns))
	f.i64(3, int64(groups)*int64(rows))
	f.list(4, thriftStruct, rowGroups)
	footer := f.end()
	out.Write(footer)
	binary.Write(out, binary.LittleEndian, uint32(len(footer)))
	out.WriteString("PAR1")
	return flush()
}

// write writes the column's pages, which begin at offset at of the file, and returns the metadata of the column chunk.
func (c *column) write(out *bytes.Buffer, at int64) []byte {
	begin, dictionary, data := out.Len(), int64(-1), int64(-1)
	uncompressed := 0
	for _, p := range c.pages {
		place := at + int64(out.Len()-begin)
		var h thrift
		h.i32(1, p.kind)
		h.i32(2, p.body.size)
		h.i32(3, len(p.body.bytes))
		var of thrift
		of.i32(1, p.values)
		of.i32(2, p.encoding)
		if p.kind == dictionaryPage {
			dictionary = place
			h.thrift(7, of.end())
		} else {
			if data < 0 {
				data = place
			}
			of.i32(3, rle)
			of.i32(4, rle)
			h.thrift(5, of.end())
		}
		header := h.end()
		out.Write(header)
		out.Write(p.body.bytes)
		uncompressed += len(header) + p.body.size
	}
	path := [][]byte{thriftText(c.name)}
	if c.list {
		path = append(path, thriftText("list"), thriftText("element"))
	}
	const zstd = 6
	var m thrift
	m.i32(1, c.physical)
	m.list(2, thriftInt, [][]byte{{plain}, {rle << 1}, {rleDictionary << 1}})
	m.list(3, thriftBinary, path)
	m.i32(4, zstd)
	m.i64(5, int64(c.values))
	m.i64(6, int64(uncompressed))
	m.i64(7, int64(out.Len()-begin))
	m.i64(9, data)
	if dictionary >= 0 {
		m.i64(11, dictionary)
	}
	var chunk thrift
	chunk.i64(2, at)
	chunk.thrift(3, m.end())
	return chunk.end()
}

// schemaOf returns the elements of the schema: the root, and the elements of each column.
func schemaOf(columns []column) (elements [][]byte) {
	const required, repeated, utf8, list = 0, 2, 0, 3
	var root thrift
	root.text(4, "schema")
	root.i32(5, len(columns))
	elements = append(elements, root.end())
	for _, c := range columns {
		name := c.name
		if c.list {
			var outer, inner thrift
			outer.i32(3, required)
			outer.text(4, name)
			outer.i32(5, 1)
			outer.i32(6, list)
			inner.i32(3, repeated)
			inner.text(4, "list")
			inner.i32(5, 1)
			elements = append(elements, outer.end(), inner.end())
			name = "element"
		}
		var leaf thrift
		leaf.i32(1, c.physical)
		leaf.i32(3, required)
		leaf.text(4, name)
		if c.text {
			leaf.i32(6, utf8)
		}
		elements = append(elements, leaf.end())
	}
	return elements
}

// The element types of Thrift's compact protocol.
const (
	thriftInt    = 5
	thriftLong   = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// A thrift is a struct in Thrift's compact protocol. Its fields must be written in ascending order.
type thrift struct {
	bytes []byte
	last  int
}

func (o *thrift) field(id int, kind byte) {
	o.bytes = append(o.bytes, byte(id-o.last)<<4|kind)
	o.last = id
}

func (o *thrift) i32(id, v int) {
	o.field(id, thriftInt)
	o.bytes = binary.AppendVarint(o.bytes, int64(v))
}

func (o *thrift) i64(id int, v int64) {
	o.field(id, thriftLong)
	o.bytes = binary.AppendVarint(o.bytes, v)
}

func (o *thrift) text(id int, s string) {
	o.field(id, thriftBinary)
	o.bytes = append(o.bytes, thriftText(s)...)
}

func (o *thrift) thrift(id int, b []byte) {
	o.field(id, thriftStruct)
	o.bytes = append(o.bytes, b...)
}

func (o *thrift) list(id int, kind byte, elements [][]byte) {
	o.field(id, thriftList)
	o.bytes = append(o.bytes, 0xf0|kind)
	o.bytes = binary.AppendUvarint(o.bytes, uint64(len(elements)))
	o.bytes = append(o.bytes, bytes.Join(elements, nil)...)
}

func (o *thrift) end() []byte { return append(o.bytes, 0) }

func thriftText(s string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(s))), s...)
}
