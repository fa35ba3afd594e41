package parquet

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A Reader is a cursor over the rows of a column chunk. It isn't safe for concurrent use.
type Reader struct {
	// Convert, unless nil, gets the n values of a dictionary. It may return other values, which replace the
	// dictionary, or nil to keep it. It is only called for values of a fixed length that aren't elements of lists. The
	// values that it returns may have another length. It is called before the first value is looked up, so the
	// dictionary may have values that don't occur in the column.
	Convert func(values *Buffer, n int) (made *Buffer)

	src  io.ReaderAt
	c    Chunk
	pool *Pool

	next, end int64 // offset of the next page's header, and end of the chunk
	page      int   // number of the data page, -1 before the first
	seen      int64 // number of values in the pages so far
	rows      int64 // number of rows that were returned or skipped
	skipping  int64 // number of rows to skip in whole pages
	dict      *dictionary
	last      []byte    // the last value of the page before, for deltaByteArray
	head      [256]byte // memory for most headers

	// State of the current data page.
	left       int // number of values whose levels weren't read yet
	count      int // number of values, nulls included
	encoding   Encoding
	reps, defs runs
	body       body
	fixed      fixedDecoder // decoder of the page's values; fixed and bytes are nil until values are requested
	bytes      bytesDecoder

	mask   []uint32 // definition levels, at most maskLevels
	levels listLevels
}

// maskLevels is the number of levels that are decoded at a time.
const maskLevels = 1 << 10

// claimSlack is the number of bytes by which a page may be longer than the whole chunk according to the metadata:
// some writers state wrong sizes.
const claimSlack = 1 << 20

// maxHeader is the largest number of bytes of a page's header, which may hold statistics.
const maxHeader = 16 << 20

// NewReader returns a Reader before the first row of c, which uses memory of pool.
func NewReader(src io.ReaderAt, c Chunk, pool *Pool) *Reader {
	r := &Reader{src: src, c: c, pool: pool, next: c.Offset, end: c.Offset + c.Size, page: -1}
	switch {
	case c.ListDef > 0:
		r.levels.reps, r.levels.defs = make([]uint32, maskLevels), make([]uint32, maskLevels)
	case c.MaxDef > 0:
		r.mask = make([]uint32, max(1, min(c.Values, maskLevels)))
	}
	return r
}

// Close releases the reader's memory, except the values that it returned.
func (r *Reader) Close() {
	r.endPage()
	if r.dict != nil {
		r.dict.data.Release()
		r.dict = nil
	}
}

// Read returns the next n rows, or the rows that are left if they are fewer. If their values are long, it returns
// fewer, but at least one row. After the last row it checks that the chunk has no more rows.
func (r *Reader) Read(ctx context.Context, n int) (*Values, error) {
	v := &Values{}
	var err error
	switch {
	case r.c.ListDef > 0:
		err = r.readLists(ctx, v, n)
	case r.c.width() == 0:
		err = r.readBytes(ctx, v, n)
	default:
		err = r.readFixed(ctx, v, n)
	}
	if err == nil {
		if r.rows += int64(v.Rows); r.rows == r.c.Rows {
			err = r.finish(ctx)
		}
	}
	if err != nil {
		v.Release()
		return nil, r.inPage(err)
	}
	return v, nil
}

// inPage adds the number of the page to an error, unless the error is located.
func (r *Reader) inPage(err error) error {
	if errors.As(err, new(located)) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return located{fmt.Errorf("page %d: %w", max(0, r.page), err)}
}

// located is an error that states its place.
type located struct{ error }

func (l located) Unwrap() error { return l.error }

// finish returns an error if there are values after the last row.
func (r *Reader) finish(ctx context.Context) error {
	more := r.left > 0 || r.levels.left() > 0
	for !more && r.next < r.end-r.c.Padding {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, n, err := r.header()
		if err != nil || int64(h.stored) > r.end-r.next-n {
			break // not a page: unused bytes
		}
		more = (h.kind == dataPage || h.kind == dataPageV2) && h.values > 0
		r.next += n + int64(h.stored)
	}
	if more {
		return located{fmt.Errorf("more than %d rows", r.c.Rows)}
	}
	return nil
}

// header reads the next page's header, and returns its length too. It doesn't keep the memory of a long header.
func (r *Reader) header() (header, int64, error) {
	most := min(r.end-r.next, maxHeader)
	for size := min(most, int64(len(r.head))); ; size = min(most, 8*size) {
		buf := r.head[:min(size, int64(len(r.head)))]
		if int64(len(buf)) < size {
			buf = make([]byte, size)
		}
		if err := readAt(r.src, buf, r.next); err != nil {
			return header{}, 0, err
		}
		h, n, err := parseHeader(buf)
		switch {
		case err == errTruncated && size < most:
			continue
		case err == errTruncated && most == maxHeader:
			err = fmt.Errorf("its header is longer than %d bytes", maxHeader)
		}
		return h, int64(n), err
	}
}

// nextPage begins the next data page that has values.
func (r *Reader) nextPage(ctx context.Context) error {
	r.endPage()
	for r.left == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.next >= r.end || r.seen == r.c.Values {
			return located{fmt.Errorf("%d of %d values", r.seen, r.c.Values)}
		}
		h, n, err := r.header()
		if err != nil {
			r.page++
			return err
		}
		at := r.next + n
		if h.kind == dataPage || h.kind == dataPageV2 {
			r.page++
		}
		switch {
		case int64(h.stored) > r.end-at:
			return fmt.Errorf("%d bytes where there are %d", h.stored, r.end-at)
		case int64(h.uncompressed) > r.c.Uncompressed+claimSlack:
			return fmt.Errorf("%d bytes decompressed, and %d in all of the pages", h.uncompressed, r.c.Uncompressed)
		}
		r.next = at + int64(h.stored)
		switch h.kind {
		case dictionaryPage:
			if err := r.readDictionary(h, at); err != nil {
				return located{fmt.Errorf("dictionary page: %w", err)}
			}
		case dataPage, dataPageV2:
			if int64(h.values) > r.c.Values-r.seen {
				return located{fmt.Errorf("more than %d values", r.c.Values)}
			}
			// A page in deltaByteArray isn't skipped: the first value of the next page may share a prefix with its last
			// value.
			if n := int64(h.values); n <= r.skipping && h.encoding != deltaByteArray {
				r.skipping -= n
				r.rows += n
				r.seen += n
				continue
			}
			if err := r.begin(h, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// endPage releases the page.
func (r *Reader) endPage() {
	if d, ok := r.bytes.(*deltaBytes); ok {
		r.last = d.value
	}
	if d, ok := r.fixed.(*fixedDeltaBytes); ok {
		r.last = d.value
	}
	r.body.data.Release()
	r.body.stored.Release()
	r.body, r.fixed, r.bytes = body{}, nil, nil
}

// load reads the stored bytes of a page and checks their checksum.
func (r *Reader) load(h header, at int64) (*Buffer, error) {
	b, err := r.pool.page(int(h.stored))
	if err != nil {
		return nil, err
	}
	err = readAt(r.src, b.Bytes, at)
	if err == nil && h.hasCRC && crc32.ChecksumIEEE(b.Bytes) != uint32(h.crc) {
		err = errors.New("its checksum is wrong")
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// begin makes a data page the current page.
func (r *Reader) begin(h header, at int64) error {
	r.seen += int64(h.values)
	r.count, r.left, r.encoding = int(h.values), int(h.values), h.encoding
	if r.count == 0 {
		return nil
	}
	r.body = body{src: r.src, at: at, end: at + int64(h.stored)}
	compressed := r.c.Codec != Uncompressed && !(h.kind == dataPageV2 && h.plain)
	if compressed || h.hasCRC {
		b, err := r.load(h, at)
		if err != nil {
			return err
		}
		r.body.data = b
	}
	if h.kind == dataPage {
		if compressed {
			if err := r.decompress(int(h.uncompressed)); err != nil {
				return err
			}
		}
		return r.levelsV1(h)
	}
	return r.levelsV2(h, compressed)
}

// decompress replaces the rest of the page by the size bytes that it decompresses to.
func (r *Reader) decompress(size int) error {
	b := &r.body
	data, err := r.c.Codec.decompress(r.pool, b.data.Bytes[b.from:], size)
	if err != nil {
		return err
	}
	if b.from > 0 {
		b.stored = b.data // levels are read from it
	} else {
		b.data.Release()
	}
	b.data, b.from = data, 0
	return nil
}

// open creates the decoder of the page's values.
func (r *Reader) open() error {
	if r.fixed != nil || r.bytes != nil {
		return nil
	}
	w := r.c.width()
	if r.encoding == plain && w > 0 && r.c.Type != Boolean && r.body.data == nil && r.c.ListDef == 0 &&
		(r.c.MaxDef == 0 || r.defs.repeats(r.left, uint32(r.c.MaxDef))) {
		r.fixed = &plainFile{r.src, r.body.at, r.body.end, w}
		return nil
	}
	data, err := r.body.load(r.pool)
	if err != nil {
		return err
	}
	if w == 0 {
		r.bytes, err = r.openBytes(data)
	} else {
		r.fixed, err = r.openFixed(data, w)
	}
	if err != nil {
		r.bytes, r.fixed = nil, nil // they may hold a nil pointer
	}
	return err
}

func (r *Reader) openFixed(data []byte, w int) (fixedDecoder, error) {
	t := r.c.Type
	switch {
	case r.encoding == plain && t == Boolean:
		return &booleans{runs: runs{width: 1, packed: data, count: min(8*len(data), r.count)}}, nil
	case r.encoding == plain:
		return &plainFixed{r.body.data, r.body.from, w}, nil
	case r.encoding == rle && t == Boolean:
		data, err := r.body.takePrefixed()
		return &booleans{runs: runs{data: data, width: 1}}, err
	case r.encoding == plainDictionary || r.encoding == rleDictionary:
		indices, err := r.indices(data)
		return &fixedIndices{runs: indices, dict: r.dict, width: r.width()}, err
	case r.encoding == deltaBinaryPacked && (t == Int32 || t == Int64):
		d, err := newDeltas(data, r.count)
		if err != nil {
			return nil, err
		}
		return &fixedDeltas{deltas: *d, width: w}, nil
	case r.encoding == deltaByteArray && t == FixedBytes:
		d, err := newDeltaBytes(data, r.count, r.last)
		return &fixedDeltaBytes{d, w}, err
	case r.encoding == byteStreamSplit && t != Boolean && t != Int96:
		return newSplitBytes(data, w)
	}
	return nil, r.errEncoding()
}

func (r *Reader) openBytes(data []byte) (bytesDecoder, error) {
	switch r.encoding {
	case plain:
		return &plainBytes{data}, nil
	case plainDictionary, rleDictionary:
		indices, err := r.indices(data)
		return &bytesIndices{runs: indices, dict: r.dict}, err
	case deltaLengthBytes:
		return newDeltaLengths(data, r.count)
	case deltaByteArray:
		return newDeltaBytes(data, r.count, r.last)
	}
	return nil, r.errEncoding()
}

func (r *Reader) errEncoding() error {
	return Unsupported(fmt.Sprintf("values of type %s in encoding %d can't be read: write the column with PLAIN or "+
		"dictionary encoding", r.c.Type, r.encoding))
}

// indices reads the width of all indices, which the first byte states.
func (r *Reader) indices(data []byte) (runs, error) {
	switch {
	case r.dict == nil:
		return runs{}, errors.New("no dictionary")
	case len(data) == 0 || data[0] > 32:
		return runs{}, errors.New("no width of dictionary indices")
	}
	return runs{data: data[1:], width: int(data[0])}, nil
}
