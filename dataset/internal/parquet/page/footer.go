package page

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// A Footer is the end of a Parquet file, which says what its columns are and where their values lie. Every claim in it is
// held against the bytes that are there. The schema, row groups and texts stay in the file until they are asked for.
type Footer struct {
	Columns   int // leaf columns
	Rows      int64
	CreatedBy string

	src           io.ReaderAt
	end           int64
	schema        []schemaPart
	groups, texts int64 // where these lists are in the file; 0: nowhere
}

// A schemaPart is top-level columns that follow each other, with what is in them.
type schemaPart struct {
	at, end           int64 // in the file
	columns, elements int
}

// What a schema may have: other readers make a kilobyte of each element, recurse into groups, and put together the path of
// each column.
const (
	maxSchema  = 64 << 20 // bytes
	maxColumns = 1 << 19
	maxGroups  = 64 // around a column
	maxPaths   = 64 << 20
	// partElements is how many elements a part has, but for the last of its columns.
	partElements = 1 << 10
	// maxElements is the most elements of a part: a single column may nest groups without end.
	maxElements = 1 << 16
)

// maxText is how many bytes of a text that names something are read.
const maxText = 4 << 10

// errFooter is what is wrong with a footer that isn't a structure of Thrift's.
var errFooter = errors.New("its footer is damaged")

// ReadFooter reads the footer of a file of so many bytes, which ends with the footer's length and four more bytes.
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

// footerError is the error of a footer.
func (t *thrift) footerError() error {
	switch t.err {
	case errThrift:
		return errFooter
	case errTruncated:
		return errors.New("its footer ends too early")
	}
	return t.err
}

// readSchema checks the elements of the schema and notes where they are.
func (f *Footer) readSchema(t *thrift) {
	first := t.place()
	f.schema = []schemaPart{}
	f.checkSchema(t)
	if size := t.place() - first; size > maxSchema {
		t.fail(fmt.Errorf("a schema of %d bytes, more than %d", size, maxSchema))
	}
}

// Schemas yields footers for other readers, which have no rows. Each has some of the file's top-level columns, about a
// thousand. So what a reader makes of them can be freed before the next are read. After an error nothing more comes.
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
			// Fields 3, 4 and 7: no rows, no row groups, no orders of columns.
			if !yield(append(schema, "\x16\x00\x19\x0c\x39\x0c\x00"...), nil) {
				return
			}
		}
	}
}

// addElement adds an element of the schema, of a top-level column or in one, to the parts.
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

// A schemaGroup is a group whose columns follow.
type schemaGroup struct {
	left int64 // columns and groups in it, without those in these
	path int64 // bytes of its name behind those of the groups around it
}

// checkSchema reads the elements of a schema: groups of groups and columns, each before what is in it.
func (f *Footer) checkSchema(t *thrift) {
	n, _ := t.list()
	if n == 0 {
		t.fail(errors.New("its footer has no schema"))
	}
	var open []schemaGroup
	paths := int64(0)
	for i := uint64(0); i < n && t.err == nil; i++ {
		at := t.place()
		children, path := t.schemaElement()
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

// schemaElement reads an element of a schema, and returns how many elements are in it and the bytes of its name.
func (t *thrift) schemaElement() (children, name int64) {
	var typ, in int32
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1:
			return t.int32(kind, &typ)
		case id == 4 && kind == thriftBinary:
			size := t.uvarint()
			t.discard(size)
			name = int64(size)
			return true
		case id == 5:
			return t.int32(kind, &in)
		}
		return false
	})
	if typ < 0 || int(typ) >= len(typeNames) {
		t.fail(fmt.Errorf("a column of type %d, which there is not", typ))
	}
	return int64(in), name + 1
}

// A Group is what a footer says of a row group.
type Group struct {
	Rows    int64
	Columns int           // as many as the schema has, or the group is damaged
	Chunks  []ColumnChunk // of the columns asked for, if it isn't

	other ColumnChunk // one that isn't
}

// A ColumnChunk is what a footer says of a column in a row group. What it leaves out is -1.
type ColumnChunk struct {
	Codec                Codec
	Values               int64
	Stored, Uncompressed int64 // bytes of its pages in the file, and decompressed
	Data, Dictionary     int64 // where in the file the first data page and the dictionary are
	Nulls                int64
	Encodings            []Encoding
	Encrypted            bool
	File                 string // that it is in; "": this one
}

// Groups yields the row groups in order, with the chunks of some columns, of which none comes twice. A group is valid until
// the next one. After an error nothing more comes.
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

// groups reads row groups one after the other to g, with the chunks of the columns that have a place. It calls read for
// each until that returns false. It returns the number of the last one.
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

// group reads a row group. Lists are taken to have elements of the type that they should have, as other readers do.
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
		case (id == 8 || id == 13) && kind == thriftList: // texts, and how many pages have an encoding
			t.skipList(thriftStruct)
		case id == 12 && kind == thriftStruct:
			t.fields(func(id int16, kind byte) bool { return id == 3 && t.int64(kind, &c.Nulls) })
		case id == 4:
			return t.int32(kind, (*int32)(&c.Codec))
		default:
			return id > 0 && int(id) < len(numbers) && numbers[id] != nil && t.int64(kind, numbers[id])
		}
		return true
	})
}

// encodings reads a list of encodings, each of which is kept once.
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

// Texts yields the keys and values that the writer added. They take at most limit bytes together; more are an error, after
// which nothing more comes.
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
