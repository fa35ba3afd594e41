package block

import (
	"context"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/zeebo/xxh3"

	"halfspace/kernel"
)

// Fingerprint is a fast hash over the values of the rows and their labels, in row order. It depends on nothing else:
// not on files, their format or how they were read.
//
// Each run hashes to XXH3-64 of its labels' bytes, seeded with XXH3-64 of its rows' bytes (little-endian, padding
// included); the fingerprint is the XXH3-64 of the runs' hashes in row order, after the number of columns.
func Fingerprint[T kernel.Float](ctx context.Context, src Source[T], workers int) (string, error) {
	all := xxh3.New()
	var word [8]byte
	add := func(h uint64) {
		binary.LittleEndian.PutUint64(word[:], h)
		all.Write(word[:])
	}
	add(uint64(src.Spec().Cols()))
	err := ReduceRuns(ctx, src, workers, func(r Run[T]) uint64 {
		var rows uint64
		if r.Sparse == nil {
			rows = xxh3.Hash(littleEndian(r.X))
		} else {
			rows = hashSparse(r.Sparse)
		}
		return xxh3.HashSeed(littleEndian(r.Y), rows)
	}, add)
	return fmt.Sprintf("xxh3:%016x", all.Sum64()), err
}

func hashSparse[T kernel.Float](s *kernel.SparseRows[T]) uint64 {
	h := uint64(0)
	for r := range len(s.Ptr) - 1 {
		idx, val := s.Row(r)
		h = xxh3.HashSeed(littleEndian(idx), h)
		h = xxh3.HashSeed(littleEndian(val), h)
	}
	return h
}

// littleEndian returns the bytes of s, without a copy where the machine keeps them in that order.
func littleEndian[E float32 | float64 | uint32](s []E) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(E(0))))
	}
	b, err := binary.Append(nil, binary.LittleEndian, s)
	if err != nil {
		panic("block: " + err.Error())
	}
	return b
}
