package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A chunkWriter writes a column chunk as the format's specification says, in ways that choices name. It shares no code
// with the reader.
type chunkWriter struct {
	rng      *rand.Rand
	typ      Type
	width    int // of FixedBytes
	maxDef   int
	listDef  int
	encoding Encoding
	codec    Codec
	v2       bool
	plainV2  bool // pages of the second version aren't compressed
	crc      bool
	msb      bool // levels in the deprecated encoding
	rows     int  // about so many in a page
	mixed    bool // some pages are PLAIN beside a dictionary
	goesOn   bool // the first value of a page may begin like the last of the page before (PARQUET-246)

	last         []byte // value in deltaByteArray
	out          []byte
	dict         [][]byte
	uncompressed int64
}

// An entry is what stands at one place of the levels: a value, nil where there is none.
type entry struct {
	rep, def int
	value    []byte
}

// write writes the entries and returns the chunk.
func (w *chunkWriter) write(entries []entry) Chunk {
	if w.encoding == plainDictionary || w.encoding == rleDictionary {
		w.makeDictionary(entries)
	}
	rows := 0
	for _, e := range entries {
		if e.rep == 0 {
			rows++
		}
	}
	for rest := entries; len(rest) > 0; {
		n := min(len(rest), 1+w.rng.IntN(2*w.rows))
		for w.v2 && n < len(rest) && rest[n].rep != 0 { // such pages begin with a row
			n++
		}
		encoding := w.encoding
		if w.mixed && w.dict != nil && w.rng.IntN(3) == 0 {
			w.encoding = plain
		}
		w.dataPage(rest[:n])
		w.encoding = encoding
		rest = rest[n:]
	}
	return Chunk{Type: w.typ, Width: w.width, MaxDef: w.maxDef, ListDef: w.listDef, Codec: w.codec, Size: int64(len(w.out)),
		Uncompressed: w.uncompressed, Rows: int64(rows), Values: int64(len(entries))}
}

func (w *chunkWriter) makeDictionary(entries []entry) {
	have := map[string]bool{}
	for _, e := range entries {
		if e.value != nil && !have[string(e.value)] {
			have[string(e.value)] = true
			w.dict = append(w.dict, e.value)
		}
	}
	w.page(dictionaryPage, nil, encodePlain(w.typ, w.dict), field(7, thriftStruct, fields(
		field(1, thriftInt32, zigzag(len(w.dict))), field(2, thriftInt32, zigzag(int(plainDictionary))),
		field(3, thriftFalse, nil))))
}

func (w *chunkWriter) dataPage(entries []entry) {
	var reps, defs []uint32
	var values [][]byte
	nulls, rows := 0, 0
	for _, e := range entries {
		reps, defs = append(reps, uint32(e.rep)), append(defs, uint32(e.def))
		if e.value != nil {
			values = append(values, e.value)
		} else {
			nulls++
		}
		if e.rep == 0 {
			rows++
		}
	}
	var levels [2][]byte
	for i, l := range [][]uint32{reps, defs} {
		most := []int{min(w.listDef, 1), w.maxDef}[i]
		switch {
		case most == 0:
		case w.msb && !w.v2:
			levels[i] = encodeMSB(l, bits.Len(uint(most)))
		case w.v2:
			levels[i] = encodeRuns(w.rng, l, bits.Len(uint(most)))
		default:
			levels[i] = prefix(encodeRuns(w.rng, l, bits.Len(uint(most))))
		}
	}
	body := w.encode(values)
	e := zigzag(int(w.encoding))
	if w.v2 {
		compressed := byte(thriftTrue)
		if w.plainV2 {
			compressed = thriftFalse
		}
		w.page(dataPageV2, append(levels[0], levels[1]...), body, field(8, thriftStruct, fields(
			field(1, thriftInt32, zigzag(len(entries))), field(2, thriftInt32, zigzag(nulls)), field(3, thriftInt32, zigzag(rows)),
			field(4, thriftInt32, e), field(5, thriftInt32, zigzag(len(levels[1]))), field(6, thriftInt32, zigzag(len(levels[0]))),
			field(7, compressed, nil))))
		return
	}
	l := zigzag(int(rle))
	if w.msb {
		l = zigzag(int(bitPacked))
	}
	w.page(dataPage, nil, bytes.Join([][]byte{levels[0], levels[1], body}, nil), field(5, thriftStruct, fields(
		field(1, thriftInt32, zigzag(len(entries))), field(2, thriftInt32, e), field(3, thriftInt32, l), field(4, thriftInt32, l),
		field(5, thriftStruct, fields(field(1, thriftBinary, append(zigzag(-3)[:0], 3, 'a', 'b', 'c')))))))
}

// page writes a page: a head that is never compressed, and a body.
func (w *chunkWriter) page(kind int, head, body, part []byte) {
	size := len(head) + len(body)
	stored := body
	if !w.plainV2 || kind != dataPageV2 {
		stored = compressBody(w.codec, body)
	}
	stored = append(bytes.Clone(head), stored...)
	parts := [][]byte{field(1, thriftInt32, zigzag(kind)), field(2, thriftInt32, zigzag(size)),
		field(3, thriftInt32, zigzag(len(stored)))}
	if w.crc {
		parts = append(parts, field(4, thriftInt32, zigzag(int(int32(crc32.ChecksumIEEE(stored))))))
	}
	w.out = append(append(w.out, fields(append(parts, part)...)...), stored...)
	w.uncompressed += int64(size)
}

var (
	gzipWriter    = gzip.NewWriter(nil)
	brotliWriter  = brotli.NewWriterLevel(nil, 1)
	zstdWriter, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
)

func compressBody(c Codec, data []byte) []byte {
	var buf bytes.Buffer
	switch c {
	case Snappy:
		return s2.EncodeSnappy(nil, data)
	case Gzip: // in two members
		for _, part := range [][]byte{data[:len(data)/2], data[len(data)/2:]} {
			gzipWriter.Reset(&buf)
			gzipWriter.Write(part)
			gzipWriter.Close()
		}
	case Brotli:
		brotliWriter.Reset(&buf)
		brotliWriter.Write(data)
		brotliWriter.Close()
	case Zstd:
		return zstdWriter.EncodeAll(data, nil)
	case LZ4Raw:
		return lz4Block(data)
	case LZ4: // in two blocks
		for _, part := range [][]byte{data[:len(data)/2], data[len(data)/2:]} {
			z := lz4Block(part)
			buf.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
			buf.Write(binary.BigEndian.AppendUint32(nil, uint32(len(z))))
			buf.Write(z)
		}
	default:
		return data
	}
	return buf.Bytes()
}

func lz4Block(data []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(data))+16)
	n, _ := lz4.CompressBlock(data, out, nil)
	if n > 0 {
		return out[:n]
	}
	// What doesn't compress is one run of literals.
	if len(data) < 15 {
		return append([]byte{byte(len(data)) << 4}, data...)
	}
	out = []byte{0xf0}
	rest := len(data) - 15
	for ; rest >= 255; rest -= 255 {
		out = append(out, 255)
	}
	return append(append(out, byte(rest)), data...)
}

// Thrift: a field is its number, its type and its bytes.

func field(id int, kind byte, data []byte) []byte { return append([]byte{byte(id), kind}, data...) }

// fields puts together fields in ascending order.
func fields(list ...[]byte) []byte {
	var out []byte
	last := 0
	for _, f := range list {
		id, kind := int(f[0]), f[1]
		if d := id - last; d > 0 && d < 16 {
			out = append(out, byte(d)<<4|kind)
		} else {
			out = append(append(out, kind), zigzag(id)...)
		}
		out, last = append(out, f[2:]...), id
	}
	return append(out, 0)
}

func zigzag(v int) []byte { return binary.AppendVarint(nil, int64(v)) }

func prefix(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// A heap is an allocator that knows how much is allocated.
type heap struct{ now, most int }

func (h *heap) Allocate(n int) []byte {
	h.now += n
	h.most = max(h.most, h.now)
	return make([]byte, n)
}

func (h *heap) Free(b []byte) { h.now -= len(b) }

func (h *heap) check(t testing.TB) {
	t.Helper()
	if h.now != 0 {
		t.Errorf("%d bytes are left", h.now)
	}
}

// checkedPool returns a pool whose memory must be free at the end of the test.
func checkedPool(t testing.TB) (*heap, *Pool) {
	mem := &heap{}
	pool := NewPool(mem)
	t.Cleanup(func() {
		pool.Close()
		mem.check(t)
	})
	return mem, pool
}
