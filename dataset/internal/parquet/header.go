package parquet

import (
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

// A header is the part of Thrift's PageHeader that is necessary for reading the values of a page.
type header struct {
	kind         int32
	uncompressed int32 // bytes
	stored       int32 // bytes in the file, without the header
	crc          int32
	hasCRC       bool
	described    bool // the header has the part for its kind of page

	values         int32 // number of values, nulls included
	encoding       Encoding
	defs, reps     Encoding // encodings of the levels of a first-version page
	defLen, repLen int32    // bytes of the levels of a second-version page
	plain          bool     // a second-version page that isn't compressed although the column is
}

var (
	errHeader    = errors.New("its header is no page header")
	errTruncated = errors.New("its header ends too early")
)

// parseHeader reads a page header from the beginning of data and returns its length. If data ends before the header
// does, the error is errTruncated.
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
	case t.err == errThrift:
		return h, 0, errHeader
	case t.err != nil:
		return h, 0, t.err
	case h.kind < 0 || h.uncompressed < 0 || h.stored < 0 || h.values < 0 || h.defLen < 0 || h.repLen < 0:
		return h, 0, fmt.Errorf("its header has negative numbers (kind %d, %d values, %d bytes)", h.kind, h.values, h.stored)
	case !h.described && h.kind != indexPage && h.kind <= dataPageV2:
		return h, 0, errHeader
	}
	return h, len(data) - len(t.data), nil
}

// kindOf maps the fields of the header to the kinds of pages that they describe.
var kindOf = map[int16]int32{5: dataPage, 7: dictionaryPage, 8: dataPageV2}

// describe reads the part of a header that describes its kind of page.
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
