package words

import (
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"halfspace/kernel/f64"
	"halfspace/schema"
)

// Bucket returns the bucket of a word.
func Bucket(word []byte, bits int) int { return int(xxh3.Hash(word) & (1<<bits - 1)) }

// An Index finds the features of buckets. Goroutines may share it.
type Index struct {
	of       *schema.Words
	features []int32 // of each bucket, or -1; nil: the bucket is the feature
}

// NewIndex returns the index of a column.
func NewIndex(of *schema.Words) *Index {
	x := &Index{of: of}
	if of.AllBuckets {
		return x
	}
	x.features = slices.Repeat([]int32{-1}, 1<<of.Bits)
	for i, b := range of.Buckets {
		x.features[b] = int32(i)
	}
	return x
}

// A Maker makes the features of texts. It isn't safe for concurrent use.
type Maker struct {
	*Index
	splitter *Splitter
	counts   []uint32 // of each feature, in the text
	found    []int32  // the features of the text
	wide     []float64
	values   []float32
}

// NewMaker returns a Maker.
func (x *Index) NewMaker() *Maker {
	return &Maker{Index: x, splitter: NewSplitter(), counts: make([]uint32, x.of.Width())}
}

// Features returns the features of a text that aren't 0, ascending, and their values: (1 + ln count) x weight, divided by the root of
// the sum of their squares, in float64 and in the order of the features, rounded to float32. The slices are valid until the next call.
func (m *Maker) Features(text string) (features []int32, values []float32) {
	m.found = m.found[:0]
	mask, index := uint64(1)<<m.of.Bits-1, m.features
	m.splitter.Each(text, m.of.Form, func(word []byte) {
		f := int32(xxh3.Hash(word) & mask)
		if index != nil {
			if f = index[f]; f < 0 {
				return
			}
		}
		if m.counts[f] == 0 {
			m.found = append(m.found, f)
		}
		if m.counts[f] < math.MaxUint32 {
			m.counts[f]++
		}
	})
	slices.Sort(m.found)
	m.wide, m.values = slices.Grow(m.wide[:0], len(m.found)), slices.Grow(m.values[:0], len(m.found))
	sum := 0.0
	for _, f := range m.found {
		v := 1 + Logarithm(m.counts[f])
		if m.of.Weights != nil {
			v = float64(v * m.of.Weights[f])
		}
		m.counts[f] = 0
		m.wide = append(m.wide, v)
		sum += float64(v * v)
	}
	length := math.Sqrt(sum)
	for _, v := range m.wide {
		m.values = append(m.values, float32(v/length))
	}
	return m.found, m.values
}

// Logarithm returns the natural logarithm of the first 8 binary digits of a count of 1 or more. Counts up to 255 have no further digits.
func Logarithm(count uint32) float64 {
	more := max(bits.Len32(count)-8, 0)
	if more == 0 {
		return logarithms[count]
	}
	return logarithms[count>>more] + float64(float64(more)*math.Ln2)
}

// Weights returns the inverse document frequencies of features, ln((1+rows)/(1+n)) + 1, with the same bits on every
// computer. n are the numbers of rows that have the feature.
func Weights(rows int64, n []int64) []float64 {
	all := make([]float64, len(n))
	of := naturalLogarithm(float64(1 + rows))
	for i, k := range n {
		all[i] = max(1, of-naturalLogarithm(float64(1+k))+1)
	}
	return all
}

// naturalLogarithm returns ln v for v of 1 or more.
func naturalLogarithm(v float64) float64 {
	m, e := math.Frexp(v) // v = m 2^e, and m-1 is exact
	logs := []float64{m - 1}
	f64.Log1p(logs, logs)
	return logs[0] + float64(float64(e)*math.Ln2)
}
