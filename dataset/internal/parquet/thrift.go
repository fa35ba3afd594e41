package parquet

import (
	"encoding/binary"
	"errors"
	"io"
)

// thrift reads Thrift's compact protocol from memory, or from a file through a window. After an error, it keeps the
// error and reads zeros.
type thrift struct {
	data  []byte // the next bytes
	err   error
	depth int

	// For a file:
	src     io.ReaderAt
	at, end int64  // offset of the bytes after data, and end of the bytes to read
	window  []byte // the memory of data
}

// Types of the compact protocol. The value of a boolean field is its type.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxDepth is the largest depth of nested structs and lists.
const maxDepth = 16

// windowBytes is the number of bytes of a file that are read at a time.
const windowBytes = 64 << 10

var errThrift = errors.New("no valid Thrift")

// newThrift returns a reader of the bytes of a file from offset at up to, but not including, end.
func newThrift(src io.ReaderAt, at, end int64) *thrift {
	return &thrift{src: src, at: at, end: end, window: make([]byte, min(windowBytes, max(0, end-at)))}
}

// left returns the number of bytes that weren't read yet.
func (t *thrift) left() uint64 { return uint64(len(t.data)) + uint64(t.end-t.at) }

// place returns the offset of the next byte in the file.
func (t *thrift) place() int64 { return t.at - int64(len(t.data)) }

// refill fills the window from the file.
func (t *thrift) refill() {
	n := copy(t.window, t.data)
	more := t.window[n:][:min(int64(len(t.window)-n), t.end-t.at)]
	if err := readAt(t.src, more, t.at); err != nil {
		t.fail(err)
		return
	}
	t.data, t.at = t.window[:n+len(more)], t.at+int64(len(more))
}

// fields calls read with the number and the type of each field of a struct. If read returns false, fields skips the
// field.
func (t *thrift) fields(read func(id int16, kind byte) bool) {
	if t.depth++; t.depth > maxDepth {
		t.fail(errThrift)
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

// int32 reads a 32-bit integer if kind is its type.
func (t *thrift) int32(kind byte, to *int32) bool {
	if kind != thriftInt32 {
		return false
	}
	v := t.varint()
	if *to = int32(v); int64(*to) != v {
		t.fail(errThrift)
	}
	return true
}

// int64 reads a 64-bit integer if kind is its type.
func (t *thrift) int64(kind byte, to *int64) bool {
	if kind == thriftInt64 {
		*to = t.varint()
	}
	return kind == thriftInt64
}

// list reads the head of a list: the number and the type of the elements. Each element takes at least one byte.
func (t *thrift) list() (n uint64, kind byte) {
	b := t.byte()
	if n = uint64(b >> 4); n == 15 {
		n = t.uvarint()
	}
	if n > t.left() {
		t.fail(errTruncated)
		n = 0
	}
	return n, b & 15
}

func (t *thrift) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		t.uvarint()
	case thriftDouble:
		t.discard(8)
	case thriftBinary:
		t.discard(t.uvarint())
	case thriftList, thriftSet:
		n, kind := t.list()
		t.skipAll(n, kind)
	case thriftMap:
		if n := t.uvarint(); n > 0 {
			kinds := t.byte()
			t.skipAll(n, kinds>>4, kinds&15)
		}
	case thriftStruct:
		t.fields(func(int16, byte) bool { return false })
	default:
		t.fail(errThrift)
	}
}

// skipList skips a list whose elements have the given type, whatever type the list states.
func (t *thrift) skipList(kind byte) {
	n, _ := t.list()
	t.skipAll(n, kind)
}

// skipAll skips n elements, each of which has values of the given types. Each value takes at least one byte, also a
// boolean.
func (t *thrift) skipAll(n uint64, kinds ...byte) {
	if t.depth++; t.depth > maxDepth {
		t.fail(errThrift)
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
	if len(t.data) == 0 && t.err == nil && t.at < t.end {
		t.refill()
	}
	if t.err != nil || len(t.data) == 0 {
		t.fail(errTruncated)
		return 0
	}
	b := t.data[0]
	t.data = t.data[1:]
	return b
}

// discard skips n bytes.
func (t *thrift) discard(n uint64) {
	switch {
	case t.err != nil:
	case n > t.left():
		t.fail(errTruncated)
	case n <= uint64(len(t.data)):
		t.data = t.data[n:]
	default:
		t.at += int64(n) - int64(len(t.data))
		t.data = nil
	}
}

// text reads a length and that number of bytes. It returns at most the first most bytes.
func (t *thrift) text(most uint64) string {
	n := t.uvarint()
	if n > t.left() {
		t.fail(errTruncated)
	}
	if t.err != nil {
		return ""
	}
	kept := make([]byte, min(n, most))
	if had := copy(kept, t.data); had < len(kept) {
		if err := readAt(t.src, kept[had:], t.at); err != nil {
			t.fail(err)
		}
	}
	t.discard(n)
	return string(kept)
}

func (t *thrift) uvarint() uint64 {
	if len(t.data) < binary.MaxVarintLen64 && t.err == nil && t.at < t.end {
		t.refill()
	}
	if t.err != nil {
		return 0
	}
	v, n := binary.Uvarint(t.data)
	switch {
	case n == 0:
		t.fail(errTruncated)
		return 0
	case n < 0:
		t.fail(errThrift)
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
