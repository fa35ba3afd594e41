package lake

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// rowsOf returns the rows below last of a set.
func rowsOf(set *source.Removed, last int64) (rows []int64) {
	at := int64(0)
	for from, to := range set.Kept(0, last) {
		for ; at < from; at++ {
			rows = append(rows, at)
		}
		at = to
	}
	for ; at < last; at++ {
		rows = append(rows, at)
	}
	return rows
}

// TestProtocolVectors: the examples of the protocol at github.com/delta-io/delta, "Deletion Vectors", of the tests of delta-kernel-rs,
// and of rfc.zeromq.org/spec/32. The inline example of the protocol is in the form of an older version, which is refused.
func TestProtocolVectors(t *testing.T) {
	if b := require.Value(z85("HelloWorld"))(t); string(b) != "\x86\x4f\xd2\x6f\xb5\x59\xf7\x5b" {
		t.Errorf("%x", b)
	}
	of := &vectorFiles{dir: "mytable"}
	inline := deltaVector{
		StorageType:    "i",
		PathOrInlineDv: "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
		SizeInBytes:    44,
		Cardinality:    6,
	}
	if got := rowsOf(require.Value(of.rows(&inline))(t), 100); !slices.Equal(got, []int64{3, 4, 7, 11, 18, 29}) {
		t.Errorf("rows %v", got)
	}
	old := deltaVector{
		StorageType:    "i",
		PathOrInlineDv: "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
		SizeInBytes:    40,
		Cardinality:    6,
	}
	if _, err := of.rows(&old); err == nil || !strings.Contains(err.Error(), "a form of older versions") {
		t.Errorf("error %v", err)
	}
	file := require.Value(of.file(&deltaVector{StorageType: "u", PathOrInlineDv: "ab^-aqEH.-t@S}K{vb[*k^"}))(t)
	if want := "mytable/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"; file != want {
		t.Errorf("%s, want %s", file, want)
	}
	for _, c := range []deltaVector{{"i", inline.PathOrInlineDv[1:], nil, 44, 6}, {"i", inline.PathOrInlineDv, nil, 45, 6}, {"i", inline.PathOrInlineDv, nil, 44, 5},
		{"i", "~" + inline.PathOrInlineDv[1:], nil, 44, 6}, {"u", "short", nil, 44, 6}, {"x", inline.PathOrInlineDv, nil, 44, 6}, {"i", inline.PathOrInlineDv, nil, -1, 6}, {"i", inline.PathOrInlineDv, nil, 1 << 40, 6}} {
		if _, err := of.rows(&c); !errors.Is(err, errVector) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

// encode returns a set of rows as a deletion vector, with containers of runs if runs is true, else of lists and bitmaps.
func encode(rows []int64, runs bool) []byte {
	b := binary.LittleEndian.AppendUint32(nil, vectorMagic)
	by := map[int64]map[int64][]uint16{}
	for _, row := range rows {
		high, key := row>>32, row>>16&0xffff
		if by[high] == nil {
			by[high] = map[int64][]uint16{}
		}
		by[high][key] = append(by[high][key], uint16(row))
	}
	sorted := func(m map[int64][]uint16) (keys []int64) {
		for k := range m {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return keys
	}
	var highs []int64
	for high := range by {
		highs = append(highs, high)
	}
	slices.Sort(highs)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(highs)))
	for _, high := range highs {
		b = binary.LittleEndian.AppendUint32(b, uint32(high))
		keys := sorted(by[high])
		if runs {
			b = binary.LittleEndian.AppendUint32(b, withRuns|uint32(len(keys)-1)<<16)
			b = append(b, slices.Repeat([]byte{0xff}, (len(keys)+7)/8)...)
		} else {
			b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, noRuns), uint32(len(keys)))
		}
		for _, key := range keys {
			b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, uint16(key)), uint16(len(by[high][key])-1))
		}
		if !runs || len(keys) >= 4 {
			b = append(b, make([]byte, 4*len(keys))...)
		}
		for _, key := range keys {
			b = appendContainer(b, by[high][key], runs)
		}
	}
	return b
}

func appendContainer(b []byte, low []uint16, runs bool) []byte {
	switch {
	case runs:
		var all [][2]uint16
		for _, v := range low {
			if n := len(all); n > 0 && int(all[n-1][0])+int(all[n-1][1])+1 == int(v) {
				all[n-1][1]++
			} else {
				all = append(all, [2]uint16{v, 0})
			}
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(len(all)))
		for _, run := range all {
			b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, run[0]), run[1])
		}
	case len(low) <= 4096:
		for _, v := range low {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
	default:
		var many [1024]uint64
		for _, v := range low {
			many[v/64] |= 1 << (v % 64)
		}
		for _, w := range many {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	return b
}

// TestVectors: a deletion vector has the rows that it was made of, in each kind of container. A flipped bit or a cut is an error, or
// leaves the number of the rows as it was.
func TestVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, share := range []float64{0.0001, 0.01, 0.3, 0.99, 1} {
		for _, runs := range []bool{false, true} {
			var rows []int64
			for row := range int64(400_000) {
				if r.Float64() < share && row/50_000%2 == 0 {
					rows = append(rows, row)
				}
			}
			b := encode(rows, runs)
			set, err := vectorOf(b, int64(len(rows)))
			if err != nil || !slices.Equal(rowsOf(set, 400_000), rows) {
				t.Fatalf("share %v, runs %v: error %v, %d rows of %d", share, runs, err, set.Len(), len(rows))
			}
			for range 200 {
				bad := slices.Clone(b)
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				if set, err := vectorOf(bad, int64(len(rows))); err == nil && set.Len() != int64(len(rows)) ||
					err != nil && !errors.Is(err, errVector) {
					t.Fatalf("a flipped bit: error %v", err)
				}
				if _, err := vectorOf(b[:r.IntN(len(b))], int64(len(rows))); !errors.Is(err, errVector) {
					t.Fatalf("a cut: error %v", err)
				}
				framed := binary.BigEndian.AppendUint32(
					append(binary.BigEndian.AppendUint32(nil, uint32(len(bad))), bad...),
					crc32.ChecksumIEEE(b),
				)
				if _, err := framedVector(framed, int64(len(rows))); !errors.Is(err, errVector) {
					t.Fatalf("a wrong checksum: error %v", err)
				}
			}
		}
	}
	if set := require.Value(vectorOf(encode([]int64{7, 1<<32 + 9}, false), 2))(t); set.Last() != 1<<32+9 {
		t.Errorf("last row %d", set.Last())
	}
}

func FuzzVector(f *testing.F) {
	f.Add(encode([]int64{1, 2, 70_000, 1 << 33}, false))
	f.Add(encode([]int64{1, 2, 3, 4, 70_000, 70_001}, true))
	f.Fuzz(func(t *testing.T, b []byte) {
		for cardinality := range int64(8) {
			if set, err := vectorOf(b, cardinality); err == nil && set.Len() != cardinality {
				t.Fatal(set.Len())
			}
		}
	})
}
