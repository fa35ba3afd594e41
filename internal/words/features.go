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
func Bucket(word []byte, bits int) uint32 { return uint32(xxh3.Hash(word) & (1<<bits - 1)) }

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
	found    []uint32 // the features of the words
	wide     []float64
	values   []float32
}

// NewMaker returns a Maker.
func (x *Index) NewMaker() *Maker {
	return &Maker{Index: x, splitter: NewSplitter()}
}

// Features returns the features of a text that aren't 0, ascending, and their values: (1 + ln count) x weight, divided by the root of
// the sum of their squares, in float64 and in the order of the features, rounded to float32. The slices are valid until the next call.
func (m *Maker) Features(text string) (features []uint32, values []float32) {
	return m.FeaturesOf(m.splitter.Tokens(text, m.of))
}

// FeaturesOf is Features for the tokens of a text.
func (m *Maker) FeaturesOf(tokens []Token) (features []uint32, values []float32) {
	m.found, m.wide, m.values = m.found[:0], m.wide[:0], m.values[:0]
	sum := 0.0
	for i := 0; i < len(tokens); {
		b, count := tokens[i].Bucket(), uint32(tokens[i]&mostCount)
		for i++; i < len(tokens) && tokens[i].Bucket() == b; i++ {
			count += uint32(tokens[i] & mostCount)
		}
		f := int32(b)
		if m.features != nil {
			f = m.features[b] // features are in the order of their buckets
		}
		if f < 0 {
			continue
		}
		v := 1.0
		if count > 1 {
			v = 1 + Logarithm(count)
		}
		if m.of.Weights != nil {
			v = float64(v * m.of.Weights[f])
		}
		m.found, m.wide = append(m.found, uint32(f)), append(m.wide, v)
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
