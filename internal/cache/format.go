// Package cache keeps the blocks of a data set in a file.
//
// The blocks are decoded once, and can then be read in any order.
//
// # Format
//
// A file has these sections:
//
//   - prefix: 18 bytes "halfspace-cache/5\n" and 6 zeros; the length of the header and its XXH3-64, as little-endian
//     uint64; 24 zeros.
//   - header: at byte 64, a JSON object (the type header), then zeros up to a multiple of 4,096.
//   - blocks: about 2 MiB each; each block begins at a multiple of 4,096. A block of dense rows has the rows in their
//     layout in memory, padding included, then their labels, then, if the header's spec says that rows are weighted,
//     their weights as float64. If the header says that rows are sparse, the file has groups of 512 rows instead of
//     blocks, one after another without padding. A group has the number of elements of each row and the columns of the
//     elements, as uint32, then the values of the elements, the labels and the weights.
//   - table: begins at a multiple of 4,096, or after the last group if rows are sparse. It is uint64 numbers in the
//     machine's byte order: the checksum of each group of 512 rows; if rows are sparse, the number of elements of each
//     group; the length of the warnings; the XXH3-64 of the warnings; the XXH3-64 of the table up to here.
//   - warnings: a JSON array of strings. They are the warnings about the data from the time when the file was written.
//   - if rows are sparse, the offset of the table, as uint64 in the machine's byte order.
//
// The checksum of a group of dense rows is the XXH3-64 of its labels' bytes, seeded with the XXH3-64 of its rows'
// bytes. If rows are weighted, it is the XXH3-64 of the weights' bytes, seeded with the checksum of labels and rows.
// The checksum of a group of sparse rows is the XXH3-64 of its last piece: the XXH3-64 of each piece (counts,
// columns, values, labels, weights if rows are weighted) is seeded with the XXH3-64 of the piece before it.
//
// Numbers in blocks have the machine's byte order, which the header names: a cache file is for the machine that wrote
// it.
//
// # Promises
//
// A file is written under another name in the same folder, synced and renamed, so that a complete file exists or
// none. Open accepts a file only for the same options and sources, and reads all of it once to verify it. Each group
// is verified again whenever it is read. Files are read with pread instead of being mapped into memory: if a mapped
// file is cut short, the process that reads it is killed. The pages of a mapped file also count as memory of the process.
package cache

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"

	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/kernel"
	"halfspace/schema"
)

const (
	family         = "halfspace-cache/" // the first bytes of every version
	magic          = family + "5\n"
	prefixBytes    = 64        // bytes before the header
	pageBytes      = 4096      // blocks of dense rows and the table begin at multiples of it
	maxHeaderBytes = 256 << 20 // maximum number of bytes of the header, and of the warnings
)

// A Key identifies the data and options from which the blocks were made. A cache file is used only for an equal key.
type Key struct {
	Options json.RawMessage `json:"options"` // the options that affect the blocks, as the reader of the sources encodes them
	Sources []Source        `json:"sources"` // in the order of their rows
}

// A Source is the state of a file at the time when it was read.
type Source struct {
	Path       string `json:"path"` // absolute
	Size       int64  `json:"size"`
	ModifiedAt int64  `json:"modified"` // nanoseconds since 1970
	State
}

// State distinguishes a file from another file of the same size and modification time. It is 0 on systems that report
// neither number.
type State struct {
	Inode     uint64 `json:"inode,omitempty"`   // number of the file in its file system, or hash of an object's version
	ChangedAt int64  `json:"changed,omitempty"` // nanoseconds since 1970; only the system can set it
}

// SourceOf returns the Source of the file with an absolute path, or of the object with a URL.
func SourceOf(path string, info os.FileInfo) Source {
	state := stateOf(info)
	if v := files.VersionOf(info); v != "" {
		state.Inode = xxh3.HashString(string(v))
	}
	return Source{path, info.Size(), info.ModTime().UnixNano(), state}
}

// header describes the blocks of a cache file.
type header struct {
	Dtype     string       `json:"dtype"`
	ByteOrder string       `json:"byte_order"`
	Rows      int64        `json:"rows"`
	Stride    int          `json:"stride"`
	BlockRows int          `json:"block_rows"` // rows of each block except the last
	GroupRows int          `json:"chunk_rows"` // the file's name for it is older than the word
	IsSparse  bool         `json:"sparse,omitempty"`
	Spec      *schema.Spec `json:"spec"`
	Key       Key          `json:"key"`
}

// newHeader returns the header that this program writes on this machine for the given number of rows.
func newHeader(spec *schema.Spec, rows int64, sparse bool, key Key) *header {
	order := "little"
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		order = "big"
	}
	return &header{"float32", order, rows, kernel.Stride(spec.Cols()), blockRows(spec.Cols()),
		kernel.GroupRows, sparse, spec, key}
}

// blockRows returns the number of rows of a block in a file: about a quarter of the rows of a block in memory, in
// whole chunks, so that a block in memory is a whole number of blocks in the file. The blocks in flight then fit in the
// processor's cache together with the rows in use.
func blockRows(cols int) int {
	chunks := block.Rows(cols) / block.ChunkRows
	n := max(1, chunks/4)
	for chunks%n != 0 {
		n--
	}
	return n * block.ChunkRows
}

// encode returns the bytes of a file before the first block.
func (h *header) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	var back header
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Spec, h.Spec) {
		return nil, errors.New("the names of features or classes can't be written down: rename those that aren't UTF-8")
	}
	b := make([]byte, align(prefixBytes+int64(len(text))))
	copy(b, magic)
	binary.LittleEndian.PutUint64(b[24:], uint64(len(text)))
	binary.LittleEndian.PutUint64(b[32:], xxh3.Hash(text))
	copy(b[prefixBytes:], text)
	return b, nil
}

// errForeign is the error of a file that isn't a cache file.
var errForeign = errors.New("it is no cache of halfspace, so it isn't replaced: name another file for the cache")

// readHeader returns the header of a file of size bytes, and the offset of the first block.
func readHeader(r io.ReaderAt, size int64) (*header, int64, error) {
	var b [prefixBytes]byte
	if _, err := r.ReadAt(b[:min(size, prefixBytes)], 0); err != nil {
		return nil, 0, err
	}
	if string(b[:len(family)]) != family {
		return nil, 0, errForeign
	}
	if string(b[:len(magic)]) != magic {
		return nil, 0, StaleError("another version wrote it")
	}
	n, sum := binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])
	if n > maxHeaderBytes || int64(n) > size-prefixBytes ||
		[6]byte(b[18:]) != [6]byte{} || [24]byte(b[40:]) != [24]byte{} {
		return nil, 0, errDamaged
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, prefixBytes); err != nil {
		return nil, 0, err
	}
	h := new(header)
	if xxh3.Hash(text) != sum || json.Unmarshal(text, h) != nil || h.Spec == nil || !hasValidColumns(h.Spec) {
		return nil, 0, errDamaged
	}
	if p := h.Spec.PositiveClass(); p < 0 || p >= len(h.Spec.Classes) {
		return nil, 0, errDamaged
	}
	return h, align(prefixBytes + int64(n)), nil
}

// hasValidColumns returns true if the number of columns of a spec is at least 1 and at most the maximum for rows.
func hasValidColumns(s *schema.Spec) bool {
	if len(s.Features) == 0 && s.Preprocessing != nil {
		return schema.CheckFeatures(nil, s.Label, s.Preprocessing) == nil
	}
	return s.Cols() > 0 && len(s.Features) <= schema.MaxNamed
}

// mismatch returns the reason why a cache file with header h can't be used if the header want is required, or "".
func (h *header) mismatch(want *header) string {
	switch {
	case h.Dtype != want.Dtype || !bytes.Equal(h.Key.Options, want.Key.Options):
		return "it was made with other options"
	case h.ByteOrder != want.ByteOrder || h.GroupRows != want.GroupRows || h.BlockRows != want.BlockRows || h.Stride != want.Stride:
		return "it was made for another machine or by another version"
	case !slices.EqualFunc(h.Key.Sources, want.Key.Sources, func(a, b Source) bool { return a.Path == b.Path }):
		return "it was made of other files"
	}
	if changed := FirstChange(h.Key.Sources, want.Key.Sources); changed != "" {
		return changed + " since it was made"
	}
	return ""
}

// FirstChange tells which of the same files is the first that isn't as it was before, and how. It returns "" if all are.
func FirstChange(before, now []Source) string {
	for i, s := range before {
		switch now := now[i]; {
		case s.Size != now.Size || s.ModifiedAt != now.ModifiedAt:
			return s.Path + " changed"
		case s != now:
			return s.Path + " was replaced, or its attributes changed"
		}
	}
	return ""
}

// A layout gives the offsets of the sections of a file.
type layout struct {
	rows      int64
	stride    int
	blockRows int
	size      int   // of a value, in bytes
	weight    int   // of a weight, in bytes; 0 if rows have no weights
	first     int64 // offset of the first block

	isSparse bool
	end      int64   // for sparse rows: offset of the table
	starts   []int64 // for sparse rows: offset of each group, and of the end of the last group
}

func newLayout(h *header, first int64) layout {
	weight := 0
	if h.Spec.Weighted {
		weight = 8
	}
	return layout{rows: h.Rows, stride: h.Stride, blockRows: h.BlockRows, size: 4, weight: weight, first: first, isSparse: h.IsSparse}
}

func (l *layout) blocks() int {
	return int((l.rows + int64(l.blockRows) - 1) / int64(l.blockRows))
}

func (l *layout) groups() int { return int((l.rows + kernel.GroupRows - 1) / kernel.GroupRows) }

// bytes returns the size of a block of rows rows, including the padding after it.
func (l *layout) bytes(rows int) int64 {
	return align(int64(rows) * l.leastRow())
}

// A place is the offsets of rows, of their labels and of their weights.
type place struct{ x, y, w int64 }

// block returns the number of rows of block i, and its place.
func (l *layout) block(i int) (rows int, at place) {
	rows = int(min(int64(l.blockRows), l.rows-int64(i)*int64(l.blockRows)))
	at.x = l.first + int64(i)*l.bytes(l.blockRows)
	at.y = at.x + int64(rows)*int64(l.stride)*int64(l.size)
	at.w = at.y + int64(rows)*int64(l.size)
	return rows, at
}

// row returns the place of row r.
func (l *layout) row(r int64) place {
	_, at := l.block(int(r / int64(l.blockRows)))
	return l.placeAfter(at, r%int64(l.blockRows))
}

// placeAfter returns the place n rows after the place at, in the same block.
func (l *layout) placeAfter(at place, n int64) place {
	return place{at.x + n*int64(l.stride)*int64(l.size), at.y + n*int64(l.size), at.w + n*int64(l.weight)}
}

// table returns the offset of the table.
func (l *layout) table() int64 {
	if l.isSparse {
		return l.end
	}
	last := l.blocks() - 1
	rows, at := l.block(last)
	return at.x + l.bytes(rows)
}

// tail returns the offset of the warnings.
func (l *layout) tail() int64 { return l.table() + 8*int64(l.words()+3) }

// words returns the number of uint64 that the table has for the groups.
func (l *layout) words() int {
	if l.isSparse {
		return 2 * l.groups()
	}
	return l.groups()
}

func align(n int64) int64 { return (n + pageBytes - 1) / pageBytes * pageBytes }

// sum returns the checksum of a group of dense rows.
func sum(c *block.Block) uint64 {
	h := xxh3.HashSeed(bytesOf(c.Y), xxh3.Hash(bytesOf(c.X)))
	if c.W != nil {
		h = xxh3.HashSeed(bytesOf(c.W), h)
	}
	return h
}

// bytesOf returns the memory of s as bytes.
func bytesOf[E float32 | float64 | uint32 | uint64](s []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(E))))
}

// endTable appends the last three numbers of the table to the numbers of the groups.
func endTable(groups []uint64, warnings []byte) []uint64 {
	table := append(groups, uint64(len(warnings)), xxh3.Hash(warnings))
	return append(table, xxh3.Hash(bytesOf(table)))
}
