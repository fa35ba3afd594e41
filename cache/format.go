// Package cache keeps the blocks of a data set in a file, so that they are decoded once and read in any order after.
//
// # Format
//
// A file is
//
//   - 18 bytes "halfspace-cache/5\n" and 6 zeros; the length of the header and its XXH3-64 as little-endian uint64; 24 zeros;
//   - from byte 64 on the header, a JSON object (the type header), and zeros up to a multiple of 4,096;
//   - the blocks, of about 2 MiB, each from a multiple of 4,096 on: the rows as they lie in memory, padding included, then
//     their labels, then, where the header's spec says that they are weighted, their weights as float64. Sparse rows, which
//     the header names, lie in chunks of 512 rows instead, one after another without padding: how many elements each row
//     has and the columns of the elements, as uint32, then the values of the elements, the labels and the weights;
//   - the table, from a multiple of 4,096 on: for each chunk of 512 rows the XXH3-64 of its labels' bytes, seeded with
//     the XXH3-64 of its rows' bytes, and of its weights' bytes, if there are some, seeded with that; the length of the warnings and their XXH3-64; at last the XXH3-64 of the table so
//     far. They are uint64 in the machine's byte order. For sparse rows the table begins right after the last chunk. It has
//     the XXH3-64 of each chunk's pieces, each seeded with that of the piece before it, and then how many elements each
//     chunk has;
//   - the warnings, a JSON array of strings: what was said of the data when the blocks were made, to be said again;
//   - for sparse rows, where the table begins, as uint64 in the machine's byte order.
//
// Numbers in blocks have the machine's byte order, which the header names: a cache is for the machine that made it.
//
// # Promises
//
// A file is written beside its place, synced and renamed, so it is there completely or not at all. Open takes it only
// for the same options and sources, and reads all of it once to verify it. Each chunk is verified again whenever it is
// read. It is read with pread, not mapped: a mapped file that is cut short kills the process that looks at it, and its
// pages count as the process's memory.
package cache

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"unsafe"

	"github.com/zeebo/xxh3"

	"halfspace/block"
	"halfspace/internal/store"
	"halfspace/kernel"
	"halfspace/schema"
)

const (
	family  = "halfspace-cache/" // what every version begins with
	magic   = family + "5\n"
	prefix  = 64        // bytes before the header
	page    = 4096      // that blocks and the table begin at a multiple of
	maxHead = 256 << 20 // bytes of the header, and of the warnings
)

// A Key says what the blocks were made of. A cache serves for an equal key alone.
type Key struct {
	Options json.RawMessage `json:"options"` // what shapes the blocks, as the reader of the sources writes it down
	Sources []Source        `json:"sources"` // in the order of their rows
}

// A Source is a file at the time when it was read.
type Source struct {
	Path     string `json:"path"` // absolute
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	State
}

// State tells a file from another of the same size and time. It is 0 on systems that don't say.
type State struct {
	Inode   uint64 `json:"inode,omitempty"`   // the number of the file in its file system, or a hash of an object's version
	Changed int64  `json:"changed,omitempty"` // nanoseconds since 1970; the system sets it, no program can
}

// SourceOf returns the file at an absolute path, or the object of a URL.
func SourceOf(path string, info os.FileInfo) Source {
	state := stateOf(info)
	if v := store.VersionOf(info); v != "" {
		state.Inode = xxh3.HashString(string(v))
	}
	return Source{path, info.Size(), info.ModTime().UnixNano(), state}
}

// header is what the blocks are.
type header struct {
	Dtype     string       `json:"dtype"`
	ByteOrder string       `json:"byte_order"`
	Rows      int64        `json:"rows"`
	Stride    int          `json:"stride"`
	BlockRows int          `json:"block_rows"` // rows of a block but the last
	ChunkRows int          `json:"chunk_rows"`
	Sparse    bool         `json:"sparse,omitempty"`
	Spec      *schema.Spec `json:"spec"`
	Key       Key          `json:"key"`
}

// newHeader returns the header for that many rows as this program writes it on this machine.
func newHeader(spec *schema.Spec, rows int64, sparse bool, key Key) *header {
	order := "little"
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		order = "big"
	}
	return &header{"float32", order, rows, kernel.Stride(spec.Cols()), blockRows(spec.Cols()),
		kernel.ChunkRows, sparse, spec, key}
}

// blockRows returns the number of rows of a block in a file: runs that make about a quarter of a block in memory, into
// which that divides. Those in flight then share the processor's cache with the rows in use.
func blockRows(cols int) int {
	runs := block.Rows(cols) / block.RunRows
	n := max(1, runs/4)
	for runs%n != 0 {
		n--
	}
	return n * block.RunRows
}

// encode returns the bytes before the first block.
func (h *header) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	var back header
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Spec, h.Spec) {
		return nil, errors.New("the names of features or classes can't be written down: rename those that aren't UTF-8")
	}
	b := make([]byte, align(prefix+int64(len(text))))
	copy(b, magic)
	binary.LittleEndian.PutUint64(b[24:], uint64(len(text)))
	binary.LittleEndian.PutUint64(b[32:], xxh3.Hash(text))
	copy(b[prefix:], text)
	return b, nil
}

// errForeign is about a file that isn't a cache.
var errForeign = errors.New("it is no cache of halfspace, so it isn't replaced: name another file for the cache")

// readHeader returns the header of a file of that size, and where the first block begins.
func readHeader(r io.ReaderAt, size int64) (*header, int64, error) {
	var b [prefix]byte
	if _, err := r.ReadAt(b[:min(size, prefix)], 0); err != nil {
		return nil, 0, err
	}
	if string(b[:len(family)]) != family {
		return nil, 0, errForeign
	}
	if string(b[:len(magic)]) != magic {
		return nil, 0, Stale("another version wrote it")
	}
	n, sum := binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])
	if n > maxHead || int64(n) > size-prefix || [6]byte(b[18:]) != [6]byte{} || [24]byte(b[40:]) != [24]byte{} {
		return nil, 0, errDamaged
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, prefix); err != nil {
		return nil, 0, err
	}
	h := new(header)
	if xxh3.Hash(text) != sum || json.Unmarshal(text, h) != nil || h.Spec == nil || !sound(h.Spec) {
		return nil, 0, errDamaged
	}
	if p := h.Spec.PositiveClass(); p < 0 || p >= len(h.Spec.Classes) {
		return nil, 0, errDamaged
	}
	return h, align(prefix + int64(n)), nil
}

// sound tells whether a spec has columns, and no more than rows may have.
func sound(s *schema.Spec) bool {
	if len(s.Features) == 0 && s.Preprocessing != nil {
		return schema.CheckFeatures(nil, s.Label, s.Preprocessing) == nil
	}
	return s.Cols() > 0 && len(s.Features) <= schema.MaxNamed
}

// mismatch says why a cache with that header doesn't serve where one with the header want is needed, or "".
func (h *header) mismatch(want *header) string {
	switch {
	case h.Dtype != want.Dtype || !bytes.Equal(h.Key.Options, want.Key.Options):
		return "it was made with other options"
	case h.ByteOrder != want.ByteOrder || h.ChunkRows != want.ChunkRows || h.BlockRows != want.BlockRows || h.Stride != want.Stride:
		return "it was made for another machine or by another version"
	case len(h.Key.Sources) != len(want.Key.Sources):
		return "it was made of other files"
	}
	for i, s := range h.Key.Sources {
		switch now := want.Key.Sources[i]; {
		case s.Path != now.Path:
			return "it was made of other files"
		case s.Size != now.Size || s.Modified != now.Modified:
			return s.Path + " changed since it was made"
		case s != now:
			return s.Path + " was replaced, or its attributes changed"
		}
	}
	return ""
}

// A layout is where things are in a file.
type layout struct {
	rows      int64
	stride    int
	blockRows int
	size      int   // of an element, in bytes
	weight    int   // of a weight, in bytes; 0 where rows have none
	first     int64 // offset of the first block

	sparse bool
	end    int64   // of sparse rows: where the table begins
	starts []int64 // of sparse rows: where each chunk begins, and where the last one ends
}

func newLayout(h *header, first int64) layout {
	weight := 0
	if h.Spec.Weighted {
		weight = 8
	}
	return layout{rows: h.Rows, stride: h.Stride, blockRows: h.BlockRows, size: 4, weight: weight, first: first, sparse: h.Sparse}
}

func (l *layout) blocks() int {
	return int((l.rows + int64(l.blockRows) - 1) / int64(l.blockRows))
}

func (l *layout) chunks() int { return int((l.rows + kernel.ChunkRows - 1) / kernel.ChunkRows) }

// bytes returns the size of a block of so many rows, up to the next one.
func (l *layout) bytes(rows int) int64 {
	return align(int64(rows) * l.leastRow())
}

// A place is where rows, their labels and their weights are.
type place struct{ x, y, w int64 }

// block returns the number of rows of block i, and where they begin.
func (l *layout) block(i int) (rows int, at place) {
	rows = int(min(int64(l.blockRows), l.rows-int64(i)*int64(l.blockRows)))
	at.x = l.first + int64(i)*l.bytes(l.blockRows)
	at.y = at.x + int64(rows)*int64(l.stride)*int64(l.size)
	at.w = at.y + int64(rows)*int64(l.size)
	return rows, at
}

// row returns where row r is.
func (l *layout) row(r int64) place {
	_, at := l.block(int(r / int64(l.blockRows)))
	return l.after(at, r%int64(l.blockRows))
}

// after returns where the row is that comes n rows after another one of its block.
func (l *layout) after(at place, n int64) place {
	return place{at.x + n*int64(l.stride)*int64(l.size), at.y + n*int64(l.size), at.w + n*int64(l.weight)}
}

// table returns where the table begins.
func (l *layout) table() int64 {
	if l.sparse {
		return l.end
	}
	last := l.blocks() - 1
	rows, at := l.block(last)
	return at.x + l.bytes(rows)
}

// tail returns where the warnings begin.
func (l *layout) tail() int64 { return l.table() + 8*int64(l.words()+3) }

// words returns how many numbers the table has of the chunks.
func (l *layout) words() int {
	if l.sparse {
		return 2 * l.chunks()
	}
	return l.chunks()
}

func align(n int64) int64 { return (n + page - 1) / page * page }

// sum returns the checksum of a chunk.
func sum(c *block.Block) uint64 {
	h := xxh3.HashSeed(bytesOf(c.Y), xxh3.Hash(bytesOf(c.X)))
	if c.W != nil {
		h = xxh3.HashSeed(bytesOf(c.W), h)
	}
	return h
}

// bytesOf returns the memory of s.
func bytesOf[E float32 | float64 | uint32 | uint64](s []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(E))))
}

// endTable appends what follows the numbers of the chunks.
func endTable(chunks []uint64, warnings []byte) []uint64 {
	table := append(chunks, uint64(len(warnings)), xxh3.Hash(warnings))
	return append(table, xxh3.Hash(bytesOf(table)))
}
