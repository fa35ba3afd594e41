package block

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// Fingerprint returns a fast hash of the values of the rows, their labels and their weights, in row order. It depends
// only on those values: the files, their format and the way they were read don't matter.
//
// The fingerprint is the XXH3-64 of the number of columns, followed by the hash of each chunk in row order. The hash of
// a chunk is computed as follows:
//
//   - rows: the XXH3-64 of the bytes of the chunk's rows. Up to 1,024 columns, the bytes of a row are all its float32
//     values, padding included. Above 1,024 columns they are the number of the row's elements that aren't 0, then the
//     columns of these elements, both as 32-bit numbers, then the values of these elements; -0 counts as an element.
//   - labels: the XXH3-64 of the labels' bytes, seeded with the hash of the rows.
//   - weights: if a row of the chunk has a weight other than 1, the XXH3-64 of the weights' bytes, seeded with the hash of
//     the labels.
//
// All numbers are little-endian.
func Fingerprint(ctx context.Context, src Source, workers int) (string, error) {
	return FingerprintOf(src.Spec().Cols(), func(add func(hash uint64)) error { return ReduceChunks(ctx, src, workers, HashChunk, add) })
}

// FingerprintOf returns the fingerprint of rows of cols columns. reduce calls add with the HashChunk of each chunk in row
// order.
func FingerprintOf(cols int, reduce func(add func(hash uint64)) error) (string, error) {
	all := xxh3.New()
	add := func(hash uint64) { all.Write(binary.LittleEndian.AppendUint64(nil, hash)) }
	add(uint64(cols))
	err := reduce(add)
	return fmt.Sprintf("xxh3:%016x", all.Sum64()), err
}

// HashChunk returns the hash of a chunk as Fingerprint defines it.
func HashChunk(r Chunk) uint64 {
	rows := xxh3.New()
	switch {
	case r.Cols > mostHashedColumns:
		r.elements(rows.Write)
	case r.Sparse == nil:
		rows.Write(LittleEndian(r.X))
	default:
		row := make([]float32, r.Stride)
		for i := range r.Len() {
			r.Row(i, row)
			rows.Write(LittleEndian(row))
		}
	}
	sum := xxh3.HashSeed(LittleEndian(r.Y), rows.Sum64())
	if slices.ContainsFunc(r.W, func(w float64) bool { return w != 1 }) {
		sum = xxh3.HashSeed(LittleEndian(r.W), sum)
	}
	return sum
}

// ChunkSums returns the SHA-256 of each chunk of src, in row order. Dense and sparse storage of the same rows give the
// same sums. The hashed bytes of a chunk are a byte 0, the rows, their labels, and their weights as 64-bit numbers. The
// bytes of a row are the number of its elements that aren't 0, then the columns of these elements, both as 32-bit
// numbers, then the values of these elements; -0 counts as an element. All numbers are little-endian. ChunkSums uses up
// to workers goroutines.
func ChunkSums(ctx context.Context, src Source, workers int) (sums [][sha256.Size]byte, err error) {
	err = ReduceChunks(ctx, src, workers, func(r Chunk) (sum [sha256.Size]byte) {
		h, weights := sha256.New(), r.W
		if weights == nil {
			weights = slices.Repeat([]float64{1}, r.Len())
		}
		h.Write([]byte{0})
		r.elements(h.Write)
		h.Write(LittleEndian(r.Y))
		h.Write(LittleEndian(weights))
		h.Sum(sum[:0])
		return sum
	}, func(sum [sha256.Size]byte) { sums = append(sums, sum) })
	return sums, err
}

// mostHashedColumns is the largest number of columns for which Fingerprint hashes every value of a row, zeros included.
const mostHashedColumns = 1024

// elements writes, for each row, the number of elements that aren't 0, their columns and their values. See
// Fingerprint.
func (b *Block) elements(write func([]byte) (int, error)) {
	var columns, own []uint32
	var values []float32
	for r := range b.Len() {
		var row []float32
		if b.Sparse != nil {
			own, row = b.Sparse.Row(r)
		} else {
			row = b.X[r*b.Stride:][:b.Cols]
		}
		columns, values = slices.Grow(columns[:0], len(row))[:len(row)], slices.Grow(values[:0], len(row))[:len(row)]
		n := 0
		for c, v := range row { // without a branch: a zero is overwritten
			columns[n], values[n] = uint32(c), v
			if b.Sparse != nil {
				columns[n] = own[c]
			}
			if math.Float32bits(v) != 0 {
				n++
			}
		}
		columns, values = columns[:n], values[:n]
		write(LittleEndian([]uint32{uint32(len(columns))}))
		write(LittleEndian(columns))
		write(LittleEndian(values))
	}
}

// LittleEndian returns the bytes of s in little-endian order. On a little-endian machine the result shares memory
// with s.
func LittleEndian[E float32 | float64 | uint32](s []E) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(E(0))))
	}
	b, err := binary.Append(nil, binary.LittleEndian, s)
	if err != nil {
		panic("block: " + err.Error())
	}
	return b
}
