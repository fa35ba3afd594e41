package train

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestDataProfile holds the figures of a profile against their definitions, in a chunk and a part of the next.
func TestDataProfile(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i, classes := range []int{2, 2, 3, 4} {
		spec := &schema.Spec{Features: []string{"a", "b"}, Classes: make([]schema.Class, classes), Positive: []int{0, schema.FirstClass}[i%2]}
		for i := range spec.Classes {
			spec.Classes[i] = schema.IntClass(int64(i))
		}
		b := block.New(0, block.ChunkRows+3000, 2)
		counts, changes, last := make([]int64, classes), int64(0), -1
		mean, values := [2]float64{}, [2][]float64{}
		for r := range b.Len() {
			c := rng.IntN(classes)
			if b.Y[r] = float32(c); classes == 2 {
				b.Y[r] = map[bool]float32{true: 1, false: -1}[c == spec.PositiveClass()]
			}
			counts[c]++
			if last >= 0 && last != c {
				changes++
			}
			last = c
			for i := range mean {
				v := 1e6 + math.Pow(100, float64(i))*rng.NormFloat64()
				b.X[r*b.Stride+i] = float32(v)
				v = float64(float32(v))
				if r < block.ChunkRows { // the first chunk has these figures
					values[i], mean[i] = append(values[i], v), mean[i]+v/block.ChunkRows
				}
			}
		}
		s, err := NewDataProfile(t.Context(), block.NewData(spec, []*block.Block{b}))
		require.NoError(t, err)
		if !reflect.DeepEqual(s.Counts, counts) || s.Changes != changes {
			t.Errorf("%d classes: counts %v, %d changes; want %v, %d", classes, s.Counts, s.Changes, counts, changes)
		}
		var deviation [2]float64
		for i := range values {
			for _, v := range values[i] {
				deviation[i] += (v - mean[i]) * (v - mean[i]) / block.ChunkRows
			}
		}
		want := math.Sqrt(deviation[1] / deviation[0])
		if large, small, ratio := s.ExtremeScales(); large != 1 || small != 0 || math.Abs(ratio/want-1) > 1e-9 {
			t.Errorf("the deviations of %d and %d have the ratio %v, want %v", large, small, ratio, want)
		}
	}
}

// TestDataProfileWithoutLabels: the pass that a cluster makes takes rows without labels, which the learner then
// refuses.
func TestDataProfileWithoutLabels(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a"}, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	b := block.New(0, 10, 1)
	b.Y = nil
	src := block.Source(block.NewData(spec, []*block.Block{b}))
	s := newDataProfile(spec)
	s.add(profileChunk(src, struct{}{})(block.Chunk{Block: b}))
	if s.Changes != 0 || s.Counts[0]+s.Counts[1] != 0 {
		t.Errorf("profile %+v of rows without labels", s)
	}
}
