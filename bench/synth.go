package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/schema"
)

const maxMargin = 1e6

// Synthetic says which data set to make. Exactly one of Margin, Noise and Conjunction is above zero:
//
// Margin: the features are standard normal. Then every row is moved by Margin away from the hyperplane w.x = 0, along
// the unit vector w, so that |w.x| >= Margin. The label is the sign of w.x.
//
// Noise: the features are standard normal. The label is the sign of w.x, and the opposite with probability Noise.
//
// Conjunction: the features are -1 or +1 with equal probability. The label is +1 if all of Truth.Literals, Conjunction
// of them, are satisfied. About half of the rows are positive.
//
// The same options give the same rows on every machine, for any number of goroutines. Each chunk of 4,096 rows has its
// own PCG. All arithmetic is exact, or IEEE 754 defines its rounding.
type Synthetic struct {
	Rows        int64 // 1 or more
	Features    int   // 1 to schema.MaxFeatures
	Margin      float64
	Noise       float64
	Conjunction int
	Seed        uint64

	Compression  string // for Parquet, see dataset.WriterOptions
	RowGroupRows int64  // for Parquet, see dataset.WriterOptions
}

// Truth is the model from which a data set was made. The file's metadata has it as JSON, under the key MetadataKey.
type Truth struct {
	Kind     string    `json:"kind"` // "margin", "noise" or "conjunction"
	Seed     uint64    `json:"seed"`
	Margin   float64   `json:"margin,omitempty"`
	Noise    float64   `json:"noise,omitempty"`
	Weights  []float64 `json:"weights,omitempty"`  // w, of length 1; no bias
	Literals []Literal `json:"literals,omitempty"` // the literals of the conjunction
}

// A Literal is satisfied if the feature has the value.
type Literal struct {
	Feature int  `json:"feature"` // number of the feature: 3 for x3
	Value   int8 `json:"value"`   // -1 or +1
}

// MetadataKey is the key of the Truth in a Parquet file's metadata.
const MetadataKey = "halfspace.truth"

// Truth returns the model from which the data set of these options is made. It returns an error if an option can't be
// used.
func (o Synthetic) Truth() (Truth, error) {
	g, err := newGenerator(o)
	if err != nil {
		return Truth{}, err
	}
	return g.truth, nil
}

// Validate returns an error if an option can't be used.
func (o Synthetic) Validate() error {
	kinds := 0
	for _, v := range []float64{o.Margin, o.Noise, float64(o.Conjunction)} {
		if v != 0 {
			kinds++
		}
	}
	switch {
	case o.Rows < 1:
		return fmt.Errorf("rows is %d: use 1 or more", o.Rows)
	case o.Features < 1 || o.Features > schema.MaxFeatures:
		return fmt.Errorf("features is %d: use 1 to %d", o.Features, schema.MaxFeatures)
	case kinds != 1:
		return errors.New("choose one kind of data: give a margin, a noise or a conjunction above 0, and only one of them")
	case !(o.Margin >= 0 && o.Margin <= maxMargin):
		return fmt.Errorf("margin is %v: use a distance above 0 and up to %v", o.Margin, float64(maxMargin))
	case !(o.Noise >= 0 && o.Noise <= 1):
		return fmt.Errorf("noise is %v: use a probability above 0 and up to 1", o.Noise)
	case o.Conjunction < 0 || o.Conjunction > o.Features:
		return fmt.Errorf("conjunction is %d: use 1 to %d variables, the number of features", o.Conjunction, o.Features)
	}
	return nil
}

// Names returns the names of n features: x0, x1 and so on.
func Names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "x" + strconv.Itoa(i)
	}
	return names
}

// SyntheticRows returns the rows that Write writes as a data set in memory, with a bias. It panics if Write would return an
// error about the options.
func SyntheticRows(opt Synthetic) *block.Data {
	g, err := newGenerator(opt)
	if err != nil {
		panic("bench: " + err.Error())
	}
	spec := &schema.Spec{Features: Names(opt.Features), Bias: true, Label: "label",
		Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	var blocks []*block.Block
	size := int64(block.Rows(spec.Cols()))
	for first := int64(0); first < opt.Rows; first += size {
		blocks = append(blocks, block.New(first, int(min(size, opt.Rows-first)), spec.Cols()))
	}
	err = g.chunks(context.Background(), 0, opt.Rows, func(row int64, x []float32, y int8) {
		b := blocks[row/size]
		r := int(row % size)
		dst := b.X[r*b.Stride : (r+1)*b.Stride]
		for j, v := range x {
			dst[j] = float32(v)
		}
		dst[len(x)] = 1
		b.Y[r] = float32(y)
	})
	if err != nil {
		panic("bench: " + err.Error())
	}
	return block.NewData(spec, blocks)
}

// A generator makes the rows of one data set.
type generator struct {
	opt   Synthetic
	truth Truth
}

// newGenerator draws the truth from PCG(seed, 2^64-1). No chunk uses that stream.
func newGenerator(opt Synthetic) (*generator, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	src := rand.NewPCG(opt.Seed, math.MaxUint64)
	t := Truth{Seed: opt.Seed, Margin: opt.Margin, Noise: opt.Noise}
	switch {
	case opt.Conjunction > 0:
		t.Kind = "conjunction"
		t.Literals = literals(src, opt.Features, opt.Conjunction)
	case opt.Margin > 0:
		t.Kind = "margin"
		t.Weights = unitVector(src, opt.Features)
	default:
		t.Kind = "noise"
		t.Weights = unitVector(src, opt.Features)
	}
	return &generator{opt, t}, nil
}

func (g *generator) metadata() (map[string]string, error) {
	truth, err := json.Marshal(g.truth)
	return map[string]string{MetadataKey: string(truth)}, err
}

// unitVector draws a vector of n elements and length 1.
func unitVector(src *rand.PCG, n int) []float64 {
	w := make([]float64, n)
	sum := 0.0
	for sum == 0 {
		for i := range w {
			w[i] = float64(normalNumber(src))
			sum += float64(w[i] * w[i])
		}
	}
	norm := math.Sqrt(sum)
	for i := range w {
		w[i] /= norm
	}
	return w
}

// literals draws k of n variables by a Fisher-Yates shuffle that stops after k steps, and a value for each.
func literals(src *rand.PCG, n, k int) []Literal {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var all []Literal
	for i := range k {
		j, _ := bits.Mul64(src.Uint64(), uint64(n-i))
		order[i], order[i+int(j)] = order[i+int(j)], order[i]
		all = append(all, Literal{order[i], sign(src.Uint64()>>63 == 1)})
	}
	return all
}

// chunks makes rows first to last-1, on as many goroutines as can run at once. first must be the first row of a chunk. chunks
// calls put once for each row, in any order and on any goroutine. put may only read x, and only until it returns.
func (g *generator) chunks(ctx context.Context, first, last int64, put func(row int64, x []float32, y int8)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for chunk := first; chunk < last; chunk += block.ChunkRows {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			src := rand.NewPCG(g.opt.Seed, uint64(chunk/block.ChunkRows))
			x, scratch := make([]float32, g.opt.Features), make([]float32, g.opt.Features)
			for row := chunk; row < min(last, chunk+block.ChunkRows) && ctx.Err() == nil; row++ {
				put(row, x, g.row(src, x, scratch))
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// row draws the next row into x and returns its label. It may write to scratch, which has x's length.
func (g *generator) row(src *rand.PCG, x, scratch []float32) int8 {
	if g.opt.Conjunction > 0 {
		return g.conjunctionRow(src, x)
	}
	for j := range x {
		x[j] = normalNumber(src)
	}
	positive := dot(g.truth.Weights, x) > 0
	if g.opt.Margin > 0 {
		push(x, scratch, g.truth.Weights, float64(sign(positive)), g.opt.Margin)
	} else if float64(src.Uint64()>>11)/(1<<53) < g.opt.Noise {
		positive = !positive
	}
	return sign(positive)
}

// push moves x by margin along w, or against w if side is -1. It moves x farther if rounding to float32 would make the
// margin too small. It adds more to the margin than any order of summing w.x in float64 can lose. y has x's length.
func push(x, y []float32, w []float64, side, margin float64) {
	slack := (1 + margin) / (1 << 26)
	need := margin + slack
	for extra := 0.0; ; extra = max(slack, 2*extra) {
		step := side * (need + extra)
		for j, v := range x {
			y[j] = float32(float64(v) + float64(step*w[j]))
		}
		if side*dot(w, y) >= need {
			copy(x, y)
			return
		}
	}
}

// conjunctionRow makes the row positive or negative with equal probability. For a negative row it draws the literals'
// variables until one is violated. For a positive row it sets them all.
func (g *generator) conjunctionRow(src *rand.PCG, x []float32) int8 {
	word := uint64(0)
	for j := range x {
		if j%64 == 0 {
			word = src.Uint64()
		}
		x[j] = float32(sign(word>>(j%64)&1 == 1))
	}
	positive := src.Uint64()>>63 == 1
	if positive {
		for _, l := range g.truth.Literals {
			x[l.Feature] = float32(l.Value)
		}
	}
	for !positive && isSatisfied(g.truth.Literals, x) {
		for _, l := range g.truth.Literals {
			x[l.Feature] = float32(sign(src.Uint64()>>63 == 1))
		}
	}
	return sign(positive)
}

func isSatisfied(all []Literal, x []float32) bool {
	for _, l := range all {
		if x[l.Feature] != float32(l.Value) {
			return false
		}
	}
	return true
}

// normalNumber draws an approximately standard normal number: the sum of twelve uniform numbers of 16 bits each, less
// its mean, in units of 2^-16. Its variance is 1 - 2^-32, it lies between -6 and 6, and float32 holds it exactly. Other
// methods need a logarithm or an exponential, whose last bit differs between architectures.
func normalNumber(src *rand.PCG) float32 {
	const halves = 0x0000ffff0000ffff // two 16-bit numbers with room for carries
	a, b, c := src.Uint64(), src.Uint64(), src.Uint64()
	sum := a&halves + a>>16&halves + b&halves + b>>16&halves + c&halves + c>>16&halves
	return float32(int32(sum>>32)+int32(sum&math.MaxUint32)-6*math.MaxUint16) / (1 << 16)
}

// dot returns w.x, summed from the first element to the last. The conversion keeps compilers from fusing products with
// sums.
func dot(w []float64, x []float32) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(w[j] * float64(v))
	}
	return sum
}

func sign(positive bool) int8 {
	if positive {
		return 1
	}
	return -1
}
