package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
)

// A Footer is the end of a Parquet file, which describes its columns and the places of their values. ReadFooter
// checks every claim in the footer against the bytes of the file. The schema, row groups and texts stay in the file
// until they are requested.
type Footer struct {
	Columns   int // number of leaf columns
	Rows      int64
	CreatedBy string
	Ordered   bool // each column has the order of its type, so that ColumnChunk.Min and Max are bounds

	// Unknown has the names of the logical types that are unknown to the readers of the schema: for a leaf column, or for
	// the first leaf column of a group that has such a type. A name is "" if the type is nested in a top-level column.
	Unknown map[int]string

	src           io.ReaderAt
	end           int64
	schema        []schemaPart
	hidden        []int64 // offsets behind the heads of the fields with unknown logical types, in ascending order
	groups, texts int64   // offsets of these lists in the file; 0: there is none
}

// A schemaPart is consecutive top-level columns with everything in them.
type schemaPart struct {
	at, end           int64 // offsets in the file
	columns, elements int
}

// Limits of a schema. Other readers allocate a kilobyte for each element, recurse into groups, and build the path of
// each column.
const (
	maxSchema  = 64 << 20 // in bytes
	maxColumns = 1 << 19
	maxGroups  = 64 // number of groups around a column
	maxPaths   = 64 << 20
	// partElements is the number of elements at which a part ends. The elements of its last column may exceed it.
	partElements = 1 << 10
	// maxElements is the largest number of elements of a part: a single column may nest groups without limit.
	maxElements = 1 << 16
)

// maxText is the largest number of bytes that are read of a name or a similar text.
const maxText = 4 << 10

// errFooter is the error if a footer isn't a Thrift structure.
var errFooter = errors.New("its footer is damaged")

// ReadFooter reads the footer of a file of size bytes. The file ends with the footer's length and four more bytes.
func ReadFooter(src io.ReaderAt, size int64) (*Footer, error) {
	var tail [8]byte
	if err := readAt(src, tail[:], size-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-8 {
		return nil, fmt.Errorf("a footer of %d bytes, but the file has %d", length, size)
	}
	const absent = math.MinInt64
	f := &Footer{Rows: absent, src: src, end: size - 8}
	t := newThrift(src, f.end-length, f.end)
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList && f.schema == nil:
			f.readSchema(t)
		case id == 3:
			return t.int64(kind, &f.Rows)
		case id == 4 && kind == thriftList:
			f.groups = t.place()
			t.groups(&Group{}, nil, func() bool { return true })
		case id == 5 && kind == thriftList:
			f.texts = t.place()
			t.skipList(thriftStruct)
		case id == 6 && kind == thriftBinary:
			f.CreatedBy = t.text(maxText)
		case id == 7 && kind == thriftList:
			f.Ordered = t.ordered()
		default:
			return false
		}
		return true
	})
	if t.err == nil && (f.schema == nil || f.Rows == absent || f.groups == 0) {
		t.err = errors.New("its footer lacks the schema, the rows or the row groups")
	}
	return f, t.footerError()
}

// footerError returns the error of reading a footer.
func (t *thrift) footerError() error {
	switch t.err {
	case errThrift:
		return errFooter
	case errTruncated:
		return errors.New("its footer ends too early")
	}
	return t.err
}

// readSchema checks the elements of the schema and records their places.
func (f *Footer) readSchema(t *thrift) {
	first := t.place()
	f.schema = []schemaPart{}
	f.checkSchema(t)
	if size := t.place() - first; size > maxSchema {
		t.fail(fmt.Errorf("a schema of %d bytes, more than %d", size, maxSchema))
	}
}

// Schemas yields footers without rows for other readers. Each has some of the file's top-level columns, with about a
// thousand elements. So a reader can free the memory for one footer before it reads the next. Schemas ends after an
// error.
func (f *Footer) Schemas() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, p := range f.schema {
			// Fields 1 and 2: version 1, and a list of the root and its elements.
			schema := binary.AppendUvarint([]byte{0x15, 2, 0x19, 0xf0 | thriftStruct}, uint64(1+p.elements))
			schema = append(binary.AppendVarint(append(schema, "\x48\x04root\x15"...), int64(p.columns)), 0)
			head := len(schema)
			schema = append(schema, make([]byte, p.end-p.at)...)
			if err := readAt(f.src, schema[head:], p.at); err != nil {
				yield(nil, err)
				return
			}
			f.hide(schema[head:], p.at)
			// Fields 3, 4 and 7: no rows, no row groups, no orders of columns.
			if !yield(append(schema, "\x16\x00\x19\x0c\x39\x0c\x00"...), nil) {
				return
			}
		}
	}
}

// hide renames the fields with unknown logical types in the bytes of a part of the schema, which begins at an offset
// in the file. Their number becomes 11: field 10 is the last one that other readers know, so that they skip it.
func (f *Footer) hide(part []byte, at int64) {
	first, _ := slices.BinarySearch(f.hidden, at)
	for _, place := range f.hidden[first:] {
		switch i := place - at - 1; {
		case i < 0:
		case i >= int64(len(part)):
			return
		case part[i]&15 == thriftStruct: // the head has the distance to the number of the field before
			part[i] += 0x10
		default: // the number itself, in zigzag form
			part[i] += 2
		}
	}
}

// addElement adds an element of the schema to the parts. top is true if the element is a top-level column.
func (f *Footer) addElement(top bool, at, end int64) {
	if n := len(f.schema); n == 0 || top && f.schema[n-1].elements >= partElements {
		f.schema = append(f.schema, schemaPart{at: at})
	}
	last := &f.schema[len(f.schema)-1]
	if last.elements++; top {
		last.columns++
	}
	last.end = end
}

// A schemaGroup is a group some of whose columns and groups weren't read yet.
type schemaGroup struct {
	left int64 // number of columns and groups directly in the group that weren't read yet
	path int64 // bytes of its name and of the names of the groups around it
}

// checkSchema reads the elements of a schema: groups of groups and columns, each group before its elements.
func (f *Footer) checkSchema(t *thrift) {
	n, _ := t.list()
	if n == 0 {
		t.fail(errors.New("its footer has no schema"))
	}
	var open []schemaGroup
	paths := int64(0)
	for i := uint64(0); i < n && t.err == nil; i++ {
		at := t.place()
		e := t.schemaElement()
		children, path := e.children, e.name
		switch {
		case i > 0 && len(open) == 0:
			t.fail(fmt.Errorf("a schema of %d elements, of which %d belong to no group", n, n-i))
			return
		case children < 0 || uint64(children) > n-1-i:
			t.fail(fmt.Errorf("a schema with a group of %d columns, of which %d are there", children, n-1-i))
			return
		}
		if i > 0 {
			f.addElement(len(open) == 1, at, t.place())
			last := &open[len(open)-1]
			last.left--
			path += last.path
		}
		if e.unknown != "" {
			f.hidden = append(f.hidden, e.place)
			f.addUnknown(e.unknown, len(open) == 1)
		}
		if children > 0 {
			open = append(open, schemaGroup{children, path})
		} else if i > 0 {
			f.Columns++
			paths += path
		}
		for len(open) > 0 && open[len(open)-1].left == 0 {
			open = open[:len(open)-1]
		}
		switch {
		case len(open) > maxGroups:
			t.fail(fmt.Errorf("a schema of more than %d groups in groups", maxGroups))
		case f.Columns > maxColumns:
			t.fail(fmt.Errorf("a schema of more than %d columns", maxColumns))
		case len(f.schema) > 0 && f.schema[len(f.schema)-1].elements > maxElements:
			t.fail(fmt.Errorf("a schema with a column of more than %d groups and columns", maxElements))
		case paths > maxPaths:
			t.fail(fmt.Errorf("a schema whose columns have names of more than %d bytes together", maxPaths))
		}
	}
	if len(open) > 0 {
		t.fail(errors.New("a schema with a group that lacks columns"))
	}
}

// addUnknown records that the next column, or the group that begins with it, has an unknown logical type.
func (f *Footer) addUnknown(name string, top bool) {
	if f.Unknown == nil {
		f.Unknown = map[int]string{}
	}
	if !top {
		name = ""
	}
	if _, is := f.Unknown[f.Columns]; !is {
		f.Unknown[f.Columns] = name
	}
}

// A schemaElement is a group or a column of a schema.
type schemaElement struct {
	children int64
	name     int64  // bytes of its name, and one more
	unknown  string // name of a logical type that other readers don't know; "": they know it
	place    int64  // offset in the file behind the head of the field with the logical type
}

// schemaElement reads an element of a schema.
func (t *thrift) schemaElement() (e schemaElement) {
	var typ, in int32
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1:
			return t.int32(kind, &typ)
		case id == 4 && kind == thriftBinary:
			size := t.uvarint()
			t.discard(size)
			e.name = int64(size)
		case id == 5:
			return t.int32(kind, &in)
		case id == 10 && kind == thriftStruct:
			e.place = t.place()
			e.unknown = t.unknownType()
		default:
			return false
		}
		return true
	})
	if typ < 0 || int(typ) >= len(typeNames) {
		t.fail(fmt.Errorf("a column of type %d, which there is not", typ))
	}
	e.children, e.name = int64(in), e.name+1
	return e
}

// logicalTypes are the numbers of the logical types that Arrow knows in the format's union of logical types.
var logicalTypes = []int16{1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15}

// newTypes are the names of the format's other logical types.
var newTypes = map[int16]string{16: "variant", 17: "geometry", 18: "geography"}

// unknownType reads a logical type. It returns the type's name if Arrow doesn't know it, otherwise "".
func (t *thrift) unknownType() (name string) {
	name = "an unknown logical type"
	t.fields(func(id int16, kind byte) bool {
		switch {
		case !slices.Contains(logicalTypes, id):
			name = cmp.Or(newTypes[id], fmt.Sprintf("logical type %d", id))
			return false
		case (id == 7 || id == 8) && kind == thriftStruct: // times and timestamps
			name = t.unknownUnit()
			return true
		}
		name = ""
		return false
	})
	return name
}

// unknownUnit reads a time or a timestamp. It returns a name if its unit isn't milliseconds, microseconds or
// nanoseconds.
func (t *thrift) unknownUnit() (name string) {
	name = "a time of an unknown unit"
	t.fields(func(id int16, kind byte) bool {
		if id != 2 || kind != thriftStruct {
			return false
		}
		t.fields(func(unit int16, _ byte) bool {
			if unit >= 1 && unit <= 3 {
				name = ""
			}
			return false
		})
		return true
	})
	return name
}

// A Group is a row group as the footer describes it.
type Group struct {
	Rows    int64
	Columns int           // number of columns; if it isn't the number in the schema, the group is damaged
	Chunks  []ColumnChunk // chunks of the requested columns, unless the group is damaged

	other ColumnChunk // memory for a chunk that wasn't requested
}

// A ColumnChunk is a column of a row group as the footer describes it. A number that the footer leaves out is -1.
type ColumnChunk struct {
	Codec                Codec
	Values               int64
	Stored, Uncompressed int64 // bytes of its pages in the file, and decompressed
	Data, Dictionary     int64 // offsets of the first data page and of the dictionary in the file
	Nulls                int64
	Min, Max             []byte // bounds of the values, as PLAIN encodes them; nil: unknown
	Encodings            []Encoding
	Encrypted            bool
	File                 string // file that contains the chunk; "": this file
}

// Groups yields the row groups in order, with the chunks of the given columns, which must differ. A group is valid
// until the next one is requested. Groups ends after an error.
func (f *Footer) Groups(columns []int) iter.Seq2[*Group, error] {
	return func(yield func(*Group, error) bool) {
		place := make(map[uint64]int, len(columns))
		for k, c := range columns {
			place[uint64(c)] = k
		}
		group := &Group{Chunks: make([]ColumnChunk, len(columns))}
		t := newThrift(f.src, f.groups, f.end)
		if g := t.groups(group, place, func() bool { return yield(group, nil) }); t.err != nil {
			yield(nil, fmt.Errorf("row group %d: %w", g, t.footerError()))
		}
	}
}

// groups reads row groups into g, one after the other, with the chunks of the columns that have a place. It calls
// read for each group until read returns false. It returns the number of the last group.
func (t *thrift) groups(g *Group, place map[uint64]int, read func() bool) (number int) {
	n, _ := t.list()
	for ; number < int(n); number++ {
		t.group(g, place)
		if t.err != nil || !read() {
			break
		}
	}
	return number
}

// group reads a row group. Like other readers, it assumes that the elements of a list have the type of the format.
func (t *thrift) group(g *Group, place map[uint64]int) {
	g.Rows, g.Columns = -1, 0
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			n, _ := t.list()
			g.Columns = int(n)
			for c := uint64(0); c < n && t.err == nil; c++ {
				if k, ok := place[c]; ok {
					t.chunk(&g.Chunks[k])
				} else {
					t.chunk(&g.other)
				}
			}
			return true
		case id == 3:
			return t.int64(kind, &g.Rows)
		case id == 4 && kind == thriftList: // sorting columns
			t.skipList(thriftStruct)
			return true
		}
		return false
	})
}

func (t *thrift) chunk(c *ColumnChunk) {
	*c = ColumnChunk{Codec: -1, Values: -1, Stored: -1, Uncompressed: -1, Data: -1, Dictionary: -1, Nulls: -1,
		Encodings: c.Encodings[:0]}
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			c.File = t.text(maxText)
			return true
		case id == 3 && kind == thriftStruct:
			t.chunkMetadata(c)
			return true
		case id == 8 || id == 9:
			c.Encrypted = true
		}
		return false
	})
}

func (t *thrift) chunkMetadata(c *ColumnChunk) {
	numbers := [...]*int64{5: &c.Values, 6: &c.Uncompressed, 7: &c.Stored, 9: &c.Data, 11: &c.Dictionary}
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			t.encodings(c)
		case id == 3 && kind == thriftList: // the path
			t.skipList(thriftBinary)
		case (id == 8 || id == 13) && kind == thriftList: // key-value metadata, and numbers of pages per encoding
			t.skipList(thriftStruct)
		case id == 12 && kind == thriftStruct:
			t.statistics(c)
		case id == 4:
			return t.int32(kind, (*int32)(&c.Codec))
		default:
			return id > 0 && int(id) < len(numbers) && numbers[id] != nil && t.int64(kind, numbers[id])
		}
		return true
	})
}

// statistics reads the number of nulls and the bounds min_value and max_value. It leaves the deprecated min and max out, whose order
// depends on the writer.
func (t *thrift) statistics(c *ColumnChunk) {
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 3:
			return t.int64(kind, &c.Nulls)
		case id == 5 && kind == thriftBinary:
			c.Max = t.bound()
		case id == 6 && kind == thriftBinary:
			c.Min = t.bound()
		default:
			return false
		}
		return true
	})
}

// ordered reads the orders of columns. It returns true if each is the order of the column's type, the first of a union.
func (t *thrift) ordered() bool {
	n, _ := t.list()
	all := n > 0
	for ; n > 0 && t.err == nil; n-- {
		typed := false
		t.fields(func(id int16, _ byte) bool {
			typed = typed || id == 1
			return false
		})
		all = all && typed
	}
	return all
}

// bound reads a bound, or nil if it is longer than maxText.
func (t *thrift) bound() []byte {
	if text := t.text(maxText + 1); len(text) <= maxText {
		return []byte(text)
	}
	return nil
}

// encodings reads a list of encodings, and keeps each encoding once.
func (t *thrift) encodings(c *ColumnChunk) {
	n, _ := t.list()
	seen := uint64(0)
	for ; n > 0 && t.err == nil; n-- {
		var e int32
		if t.int32(thriftInt32, &e); e < 0 || e > 63 {
			t.fail(fmt.Errorf("encoding %d, which there is not", e))
		} else if seen>>e&1 == 0 {
			c.Encodings = append(c.Encodings, Encoding(e))
		}
		seen |= 1 << (e & 63)
	}
}

// Texts yields the keys and values that the writer added. If they take more than limit bytes together, Texts yields
// an error. It ends after an error.
func (f *Footer) Texts(limit uint64) iter.Seq2[[2]string, error] {
	return func(yield func([2]string, error) bool) {
		if f.texts == 0 {
			return
		}
		t := newThrift(f.src, f.texts, f.end)
		n, _ := t.list()
		for ; n > 0 && t.err == nil; n-- {
			var pair [2]string
			t.fields(func(id int16, kind byte) bool {
				if id != 1 && id != 2 || kind != thriftBinary {
					return false
				}
				pair[id-1] = t.text(limit + 1)
				return true
			})
			if size := uint64(len(pair[0]) + len(pair[1])); size > limit {
				t.fail(errors.New("its key-value metadata is too long"))
			} else if limit -= size; t.err == nil && !yield(pair, nil) {
				return
			}
		}
		if t.err != nil {
			yield([2]string{}, t.footerError())
		}
	}
}
