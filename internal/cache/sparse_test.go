package cache

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"halfspace/internal/require"
	"halfspace/kernel"
)

// TestSparseDamage changes bytes everywhere behind the header of a file of sparse rows, and cuts it at many places.
func TestSparseDamage(t *testing.T) {
	path, k := filepath.Join(t.TempDir(), "c"), key("o")
	f := mustWrite(t, path, k, randomSparse(1200, 30, true))
	whole, l := require.Value(os.ReadFile(path))(t), f.layout
	for at := l.first; at < int64(len(whole)); at += 97 {
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		mustBeStale(t, fmt.Sprint("byte ", at), path, k, bad, false)
	}
	for at := l.end; at < int64(len(whole)); at++ {
		bad := slices.Clone(whole)
		bad[at] ^= 1
		mustBeStale(t, fmt.Sprint("byte ", at, " of the table"), path, k, bad, false)
	}
	for cut := l.first; cut < int64(len(whole)); cut += 499 {
		mustBeStale(t, fmt.Sprint("cut at ", cut), path, k, whole[:cut], false)
	}
	mustBeStale(t, "longer", path, k, append(slices.Clone(whole), 0), false)
}

// TestSparseHostile: a file whose checksums are right, and whose sizes or columns are not, is damaged. Nothing is allocated
// for what it claims.
func TestSparseHostile(t *testing.T) {
	path, k := filepath.Join(t.TempDir(), "c"), key("o")
	data := randomSparse(1200, 30, false)
	f := mustWrite(t, path, k, data)
	whole, l := require.Value(os.ReadFile(path))(t), f.layout
	table := func(change func(elements []uint64)) []byte {
		bad := slices.Clone(whole)
		words := make([]uint64, l.words()+2)
		copy(bytesOf(words), bad[l.end:])
		change(words[l.groups():l.words()])
		copy(bad[l.end:], bytesOf(endTable(words[:l.words()], nil)))
		return bad
	}
	mustOpen := table(func([]uint64) {})
	if !slices.Equal(mustOpen, whole) {
		t.Fatal("the table that changes nothing changes the file")
	}
	for what, change := range map[string]func(n []uint64){
		"more elements":               func(n []uint64) { n[0]++ },
		"elements of another group":   func(n []uint64) { n[0]--; n[1]++ },
		"elements up to the last bit": func(n []uint64) { n[1] = math.MaxUint64 },
		"elements that overflow":      func(n []uint64) { n[0], n[1] = 1<<61, 1<<63 },
		"a terabyte":                  func(n []uint64) { n[2] = 1 << 37 },
		"none":                        func(n []uint64) { clear(n) },
	} {
		mustBeStale(t, what, path, k, table(change), false)
	}
	for _, at := range []uint64{0, 1, uint64(l.first), uint64(l.end) - 8, uint64(l.end) + 8, uint64(len(whole)), 1 << 40, math.MaxInt64, math.MaxUint64} {
		bad := slices.Clone(whole)
		binary.NativeEndian.PutUint64(bad[len(bad)-8:], at)
		mustBeStale(t, fmt.Sprint("a table at ", at), path, k, bad, false)
	}
	for what, change := range map[string]func(s *kernel.SparseRows){
		"a column beyond the features": func(s *kernel.SparseRows) { s.Idx[0] = 31 },
		"the greatest column":          func(s *kernel.SparseRows) { s.Idx[len(s.Idx)-1] = math.MaxUint32 },
		"a column twice":               func(s *kernel.SparseRows) { s.Ptr[1] = s.Ptr[2] },
	} {
		bad := randomSparse(1200, 30, false)
		for b := range bad.Blocks(ctx) {
			change(b.Sparse)
		}
		mustWrite(t, path, k, bad)
		mustBeStale(t, what, path, k, require.Value(os.ReadFile(path))(t), false)
	}
	// The rows of a group have other elements than the table says, under a right checksum.
	for b := range data.Blocks(ctx) {
		c := groupOf(b.Slice(0, kernel.GroupRows))
		c.counts[0]++
		bad := slices.Clone(whole)
		copy(bad[l.first:], bytesOf(c.counts))
		words := make([]uint64, l.words())
		copy(bytesOf(words), bad[l.end:])
		words[0] = c.sum()
		copy(bad[l.end:], bytesOf(endTable(words, nil)))
		mustBeStale(t, "more elements in a row", path, k, bad, false)
	}
}
