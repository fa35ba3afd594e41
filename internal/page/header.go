package page

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The kinds of pages.
const (
	dataPage = iota
	indexPage
	dictionaryPage
	dataPageV2
)

// A header is what stands before a page: Thrift's PageHeader, as far as it is needed to read values.
type header struct {
	kind         int32
	uncompressed int32 // bytes
	stored       int32 // bytes in the file, the header not counted
	crc          int32
	hasCRC       bool
	described    bool // the part that belongs to the kind is there

	values         int32 // nulls included
	encoding       Encoding
	defs, reps     Encoding // of the levels of a first-version page
	defLen, repLen int32    // bytes of the levels of a second-version page
	plain          bool     // a second-version page that isn't compressed although the column is
}

var (
	errHeader    = errors.New("its header is no page header")
	errTruncated = errors.New("its header ends too early")
)

// parseHeader reads a page header from the beginning of data and returns its length. Where data is only a beginning of
// it the error is errTruncated.
func parseHeader(data []byte) (h header, n int, err error) {
	t := thrift{data: data}
	t.fields(func(id int16, kind byte) bool {
		switch id {
		case 1:
			return t.int32(kind, &h.kind)
		case 2:
			return t.int32(kind, &h.uncompressed)
		case 3:
			return t.int32(kind, &h.stored)
		case 4:
			h.hasCRC = true
			return t.int32(kind, &h.crc)
		case 5, 7, 8:
			if kind != thriftStruct || kindOf[id] != h.kind {
				return false
			}
			h.described = true
			t.describe(id, &h)
			return true
		}
		return false
	})
	switch {
	case t.err != nil:
		return h, 0, t.err
	case h.kind < 0 || h.uncompressed < 0 || h.stored < 0 || h.values < 0 || h.defLen < 0 || h.repLen < 0:
		return h, 0, fmt.Errorf("its header has negative numbers (kind %d, %d values, %d bytes)", h.kind, h.values, h.stored)
	case !h.described && h.kind != indexPage && h.kind <= dataPageV2:
		return h, 0, errHeader
	}
	return h, len(data) - len(t.data), nil
}

// kindOf says what kind of page a part of the header belongs to.
var kindOf = map[int16]int32{5: dataPage, 7: dictionaryPage, 8: dataPageV2}

// describe reads the part of a header that belongs to its kind of page.
func (t *thrift) describe(part int16, h *header) {
	targets := map[int16][]*int32{
		5: {nil, &h.values, (*int32)(&h.encoding), (*int32)(&h.defs), (*int32)(&h.reps)},
		7: {nil, &h.values, (*int32)(&h.encoding)},
		8: {nil, &h.values, nil, nil, (*int32)(&h.encoding), &h.defLen, &h.repLen},
	}[part]
	t.fields(func(id int16, kind byte) bool {
		if part == 8 && id == 7 {
			h.plain = kind == thriftFalse
			return kind == thriftFalse || kind == thriftTrue
		}
		return id > 0 && int(id) < len(targets) && targets[id] != nil && t.int32(kind, targets[id])
	})
}

// thrift reads Thrift's compact protocol. Once something is wrong it stays so, and reads zeros.
type thrift struct {
	data  []byte
	err   error
	depth int
}

// Types of the compact protocol. A boolean is its type.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxDepth bounds the nesting of what is skipped.
const maxDepth = 16

// fields calls read with the number and the type of each field of a struct. A field that read doesn't take is skipped.
func (t *thrift) fields(read func(id int16, kind byte) bool) {
	if t.depth++; t.depth > maxDepth {
		t.fail(errHeader)
	}
	defer func() { t.depth-- }()
	id := int16(0)
	for t.err == nil {
		b := t.byte()
		kind := b & 15
		if kind == 0 {
			return
		}
		if delta := b >> 4; delta != 0 {
			id += int16(delta)
		} else {
			id = int16(t.varint())
		}
		if t.err == nil && !read(id, kind) {
			t.skip(kind)
		}
	}
}

// int32 reads a number of that type, if it is one.
func (t *thrift) int32(kind byte, to *int32) bool {
	if kind != thriftInt32 {
		return false
	}
	v := t.varint()
	if *to = int32(v); int64(*to) != v {
		t.fail(errHeader)
	}
	return true
}

func (t *thrift) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case 4, thriftInt32, thriftInt64:
		t.varint()
	case thriftDouble:
		t.bytes(8)
	case thriftBinary:
		t.bytes(t.uvarint())
	case thriftList, thriftSet:
		size := t.byte()
		n := uint64(size >> 4)
		if n == 15 {
			n = t.uvarint()
		}
		t.skipAll(n, size&15)
	case thriftMap:
		if n := t.uvarint(); n > 0 {
			kinds := t.byte()
			t.skipAll(n, kinds>>4, kinds&15)
		}
	case thriftStruct:
		t.fields(func(int16, byte) bool { return false })
	default:
		t.fail(errHeader)
	}
}

// skipAll skips n elements, each of which has values of the given types. Each takes at least a byte: a boolean does,
// here.
func (t *thrift) skipAll(n uint64, kinds ...byte) {
	if t.depth++; t.depth > maxDepth {
		t.fail(errHeader)
	}
	for ; n > 0 && t.err == nil; n-- {
		for _, k := range kinds {
			if k == thriftTrue || k == thriftFalse {
				k = thriftByte
			}
			t.skip(k)
		}
	}
	t.depth--
}

func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *thrift) byte() byte {
	if b := t.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (t *thrift) bytes(n uint64) []byte {
	if t.err != nil || n > uint64(len(t.data)) {
		t.fail(errTruncated)
		return nil
	}
	b := t.data[:n]
	t.data = t.data[n:]
	return b
}

func (t *thrift) uvarint() uint64 {
	if t.err != nil {
		return 0
	}
	v, n := binary.Uvarint(t.data)
	switch {
	case n == 0:
		t.fail(errTruncated)
		return 0
	case n < 0:
		t.fail(errHeader)
		return 0
	}
	t.data = t.data[n:]
	return v
}

// varint reads a number in zigzag form.
func (t *thrift) varint() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}
