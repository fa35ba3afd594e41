package block

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"halfspace/kernel"
	"halfspace/schema"
)

// sparseRows returns the same few values in dense and in sparse rows.
func sparseRows(rows, cols int) (dense, sparse *Data) {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	spec := &schema.Spec{Classes: make([]schema.Class, 2)}
	for c := range cols {
		spec.Features = append(spec.Features, fmt.Sprint(c))
	}
	d, s := New(0, rows, cols), NewSparse(0, 0, 0, cols)
	row := NewSparse(0, 1, 0, cols)
	for r := range rows {
		row.Clear(int64(r))
		for c := rng.IntN(cols); c < cols; c += 1 + rng.IntN(cols) {
			v := []float32{1, -2.5, float32(math.Copysign(0, -1)), float32(rng.NormFloat64())}[rng.IntN(4)]
			d.X[r*d.Stride+c] = v
			row.Sparse.Idx, row.Sparse.Val = append(row.Sparse.Idx, uint32(c)), append(row.Sparse.Val, v)
		}
		row.Sparse.Ptr = append(row.Sparse.Ptr, int64(len(row.Sparse.Idx)))
		d.Y[r] = float32(2*rng.IntN(2) - 1)
		row.Y = append(row.Y, d.Y[r])
		s.AppendRow(row, 0)
	}
	return NewData(spec, []*Block{d}), NewData(spec, []*Block{s})
}

// TestSparseFingerprint: sparse rows have the fingerprint of the same dense rows, whatever their width, and also if they
// store zeros. A value that moves changes it.
func TestSparseFingerprint(t *testing.T) {
	for _, cols := range []int{3, 1024, 1025, 3000} {
		dense, sparse := sparseRows(500, cols)
		want := fingerprint(t, dense, 2)
		if got := fingerprint(t, sparse, 2); got != want {
			t.Errorf("%d columns: %s of sparse rows, %s of dense ones", cols, got, want)
		}
		s := sparse.blocks[0].Sparse
		r := slices.IndexFunc(s.Ptr, func(p int64) bool { return p > 1 }) - 1
		last := s.Ptr[r+1] - 1 // in the row
		zeros := kernel.SparseRows{Ptr: slices.Clone(s.Ptr), Idx: slices.Clone(s.Idx), Val: slices.Clone(s.Val)}
		if c := s.Idx[last]; int(c) < cols-1 {
			zeros.Idx, zeros.Val = slices.Insert(zeros.Idx, int(last)+1, c+1), slices.Insert(zeros.Val, int(last)+1, 0)
			for i := r + 1; i < len(zeros.Ptr); i++ {
				zeros.Ptr[i]++
			}
			b := *sparse.blocks[0]
			b.Sparse = &zeros
			if got := fingerprint(t, NewData(sparse.spec, []*Block{&b}), 2); got != want {
				t.Errorf("%d columns: %s with a stored zero, want %s", cols, got, want)
			}
		}
		s.Ptr[r+1]--                                        // the row's last value becomes one of the next row
		if fingerprint(t, AssumeValid(sparse), 1) == want { // unchecked, since columns may not ascend now
			t.Errorf("%d columns: the fingerprint doesn't show that a value moved to another row", cols)
		}
	}
}

// TestHeld: the memory of sparse rows is that of their elements.
func TestHeld(t *testing.T) {
	dense, sparse := sparseRows(300, 200)
	elements := int64(len(sparse.blocks[0].Sparse.Idx))
	if got, want := MemoryBytes(sparse, false), 300*(8+4)+elements*8; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got, want := MemoryBytes(dense, true), Bytes(300, 200, true); got != want {
		t.Errorf("dense: %d bytes, want %d", got, want)
	}
}

// TestSliceInto: a block that is used again for other rows, in another form too, holds these rows, and the sliced blocks stay the same.
func TestSliceInto(t *testing.T) {
	dense, sparse := sparseRows(60, 9)
	wide := sparse.blocks[0].Clone()
	var s Block
	for lo := range 50 {
		for _, b := range []*Block{dense.blocks[0], sparse.blocks[0]} {
			b.SliceInto(&s, lo, lo+10)
			if !reflect.DeepEqual(&s, b.Slice(lo, lo+10)) {
				t.Fatalf("rows %d to %d: %+v", lo, lo+10, s)
			}
		}
		sparse.blocks[0].SliceInto(&s, lo, lo+10)
	}
	if !reflect.DeepEqual(wide.Sparse, sparse.blocks[0].Sparse) {
		t.Error("the block changed")
	}
	if n := testing.AllocsPerRun(10, func() { sparse.blocks[0].SliceInto(&s, 3, 5) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
