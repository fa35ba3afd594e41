package perceptron

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train"
)

// dense returns rows of features and labels as a data set, with a bias column.
func dense[T kernel.Float](x [][]float64, y []float64) *block.Data[T] {
	spec := &schema.Spec{Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	for c := range x[0] {
		spec.Features = append(spec.Features, fmt.Sprintf("x%d", c))
	}
	cols, per := spec.Cols(), block.Rows[T](spec.Cols())
	var blocks []*block.Block[T]
	for first := 0; first < len(x); first += per {
		b := block.New[T](int64(first), min(per, len(x)-first), cols)
		for r := range b.Len() {
			row := b.X[r*b.Stride:]
			for c, v := range x[first+r] {
				row[c] = T(v)
			}
			row[cols-1] = 1
			b.Y[r] = T(y[first+r])
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

// sparse returns the same rows in CSR form.
func sparse[T kernel.Float](d *block.Data[T]) *block.Data[T] {
	var blocks []*block.Block[T]
	for b := range d.Blocks(context.Background()) {
		s := &kernel.SparseRows[T]{Ptr: []int64{0}}
		for r := range b.Len() {
			for c, v := range b.X[r*b.Stride : r*b.Stride+b.Cols] {
				if v != 0 {
					s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
				}
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		blocks = append(blocks, &block.Block[T]{First: b.First, Cols: b.Cols, Stride: b.Stride, Sparse: s, Y: b.Y, W: b.W})
	}
	return block.NewData(d.Spec(), blocks)
}

// A stream yields the blocks of a data set in memory that it overwrites, as a source that reads a file would.
type stream[T kernel.Float] struct{ *block.Data[T] }

func (s stream[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		for b, err := range s.Data.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			c := *b
			c.X, c.Y, c.W = slices.Clone(b.X), slices.Clone(b.Y), slices.Clone(b.W)
			goOn := yield(&c, nil)
			for i := range c.X {
				c.X[i] = T(math.NaN())
			}
			clear(c.Y)
			clear(c.W)
			if !goOn {
				return
			}
		}
	}
}

// noisy returns n rows of d features whose labels follow a random plane except for a share of flips. Values are
// integers, so that every sum is exact, if whole is set.
func noisy(n, d int, flips float64, whole bool, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	truth := make([]float64, d)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	for range n {
		row, s := make([]float64, d), 0.3
		for i := range row {
			row[i] = rng.NormFloat64()
			if whole {
				row[i] = math.Round(3 * row[i])
			}
			s += row[i] * truth[i]
		}
		label := math.Copysign(1, s)
		if rng.Float64() < flips {
			label = -label
		}
		x, y = append(x, row), append(y, label)
	}
	return x, y
}

func mustTrain[T kernel.Float](t *testing.T, src block.Source[T], opt Options) *train.Result[T] {
	t.Helper()
	r, err := Train(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTextbook is the example of the text books: three points in the plane, seven updates (Li Hang, "Statistical
// Learning Methods", 2012, example 2.1).
func TestTextbook(t *testing.T) {
	d := dense[float32]([][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1})
	r := mustTrain(t, d, Options{})
	if !slices.Equal(r.Weights, []float32{1, 1, -3}) || r.Updates != 7 || !r.Converged || r.Errors != 0 || r.Loss != 0 {
		t.Errorf("got %+v, want weights 1, 1, bias -3 after 7 updates", r)
	}
	if r.Radius != math.Sqrt(26) || r.Norm != math.Sqrt(11) {
		t.Errorf("radius %v and norm %v, want the roots of 26 and 11", r.Radius, r.Norm)
	}
}

// TestPocketConverged: weights without errors are converged only where no row calls for an update: a row of class -1 and score 0 is right,
// and does.
func TestPocketConverged(t *testing.T) {
	found := map[bool]int{}
	for _, x := range [][][]float64{{{1}, {0}}, {{1}, {-1}}, {{2}, {1}}} {
		d := dense[float32](x, []float64{1, -1})
		for _, mode := range pocket.Modes {
			for _, order := range train.Orders {
				r := mustTrain(t, d, Options{Options: train.Options{Order: order}, Pocket: mode})
				w := append(slices.Clone(r.Weights), make([]float32, kernel.Stride[float32](2)-2)...)
				quiet := newLiteral(d).verified(w)
				if found[quiet]++; r.Errors != 0 || r.Converged != quiet {
					t.Errorf("rows %v, %s, %s: weights %v, %d errors, converged %v", x, mode, order, r.Weights, r.Errors, r.Converged)
				}
			}
		}
	}
	if found[true] == 0 || found[false] == 0 {
		t.Errorf("%v: one of the two was never seen", found)
	}
}

// literal is the algorithm of the papers, one row at a time in the given order, and the pocket that judges weights on all
// rows, or those of validation.
type literal[T kernel.Float] struct {
	x            [][]T
	y            []T
	weights      []float64 // nil: all are 1
	validation   *literal[T]
	mode         pocket.Mode
	margin       T
	w, best      []T
	fewest       float64
	updates      int64
	visits       int64
	kept, quiet  int64
	l2           float64
	features     int
	run, longest int64 // rows in a row that were right: with w, and with best when it was judged (Gallant's ratchet)

	voters []T     // w after each update
	counts []int64 // and for how many visits it stood

	sum, change []float64 // over the visits: of w after each, and of the magnitudes of what updates changed

	// Of best, as measure finds it.
	measured         bool
	errorsOf         int64
	lossOf, marginOf float64
}

func newLiteral[T kernel.Float](d *block.Data[T]) *literal[T] {
	l := &literal[T]{}
	for b := range d.Blocks(context.Background()) {
		for r := range b.Len() {
			l.x = append(l.x, b.X[r*b.Stride:(r+1)*b.Stride])
		}
		l.y, l.weights = append(l.y, b.Y...), append(l.weights, b.W...)
	}
	l.w = make([]T, len(l.x[0]))
	l.sum, l.change = make([]float64, len(l.w)), make([]float64, len(l.w))
	return l
}

// errors counts the errors of w on the rows.
func (l *literal[T]) errors(w []T) (n int64) {
	for i, x := range l.x {
		if (kernel.Dot(x, w) > 0) != (l.y[i] > 0) {
			n++
		}
	}
	return n
}

// measure measures best, once the training has ended.
func (l *literal[T]) measure() {
	if !l.measured {
		l.measured, l.errorsOf = true, l.errors(l.best)
		l.lossOf, l.marginOf = l.loss(l.best)
	}
}

// weight returns the weight of row i.
func (l *literal[T]) weight(i int) float64 {
	if l.weights == nil {
		return 1
	}
	return l.weights[i]
}

// wrong sums up the weights of the errors of w, run by run.
func (l *literal[T]) wrong(w []T) (sum float64) {
	for lo := 0; lo < len(l.x); lo += block.RunRows {
		run := 0.0
		for i := lo; i < min(len(l.x), lo+block.RunRows); i++ {
			if (kernel.Dot(l.x[i], w) > 0) != (l.y[i] > 0) {
				run += l.weight(i)
			}
		}
		sum += run
	}
	return sum
}

// start puts the initial zeros in the pocket.
func (l *literal[T]) start(mode pocket.Mode, validation *literal[T]) {
	if l.mode, l.validation = mode, validation; validation == nil {
		l.validation = l
	}
	l.best, l.fewest = slices.Clone(l.w), l.validation.wrong(l.w)
}

// judge keeps the weights if they are better.
func (l *literal[T]) judge() {
	if n := l.validation.wrong(l.w); n < l.fewest {
		l.best, l.fewest, l.kept, l.longest = slices.Clone(l.w), n, l.updates, l.run
	}
}

// over tells whether nothing can be better than what the pocket holds.
func (l *literal[T]) over() bool { return l.mode != "" && l.fewest == 0 }

// outvoted counts the rows whose label has fewer votes than the other one, or as many if it is +1.
func (l *literal[T]) outvoted() (n int64) {
	for i, x := range l.x {
		votes := int64(0)
		for k, count := range l.counts {
			if kernel.Dot(l.voters[k*len(x):(k+1)*len(x)], x) > 0 {
				votes += count
			} else {
				votes -= count
			}
		}
		if (votes > 0) != (l.y[i] > 0) {
			n++
		}
	}
	return n
}

// loss returns the perceptron's loss of w, and the margin of w, 0 if it doesn't separate the rows.
func (l *literal[T]) loss(w []T) (loss, margin float64) {
	margin, square := math.Inf(1), 0.0
	for i, x := range l.x {
		m := float64(l.y[i]) * float64(kernel.Dot(x, w))
		loss += max(0, -m) * l.weight(i)
		margin = min(margin, m)
	}
	for _, v := range w {
		square += float64(v) * float64(v)
	}
	return loss, max(0, margin) / max(math.Sqrt(square), math.SmallestNonzeroFloat64)
}

// visit tells whether the training goes on.
func (l *literal[T]) visit(i int, eta T, maxUpdates int64) bool {
	l.visits++
	l.quiet++
	wrong := l.y[i]*kernel.Dot(l.x[i], l.w) <= l.margin && l.weight(i) > 0
	if wrong {
		kernel.Axpy(l.w, T(float64(eta*l.y[i])*l.weight(i)), l.x[i])
		l.voters, l.counts = append(l.voters, l.w...), append(l.counts, 0)
		l.updates++
		l.quiet, l.run = 0, 0
		for c, v := range l.x[i] {
			l.change[c] += math.Abs(float64(eta) * float64(v) * l.weight(i))
		}
	} else {
		l.run++
	}
	if len(l.counts) > 0 {
		l.counts[len(l.counts)-1]++
	}
	for c, v := range l.w {
		l.sum[c] += float64(v)
	}
	if wrong && l.mode == pocket.Exact || !wrong && l.mode == pocket.Ratchet && l.run > l.longest {
		l.judge()
	}
	return (maxUpdates == 0 || l.updates != maxUpdates) && !l.over()
}

// documented makes the permutation of an epoch as its documentation says, all at once.
func documented(n int, seed, epoch uint64) []uint32 {
	rng := rand.NewPCG(seed, epoch)
	fisherYates := func(s []uint32) {
		for i := len(s) - 1; i > 0; i-- {
			j := train.Draw(rng, uint64(i)+1)
			s[i], s[j] = s[j], s[i]
		}
	}
	var chunks []uint32
	for c := range (n + 511) / 512 {
		chunks = append(chunks, uint32(c))
	}
	if len(chunks) > 8 {
		fisherYates(chunks)
	}
	var order []uint32
	for window := range slices.Chunk(chunks, 8) {
		start := len(order)
		for _, c := range window {
			for r := 512 * c; r < min(uint32(n), 512*c+512); r++ {
				order = append(order, r)
			}
		}
		fisherYates(order[start:])
	}
	return order
}

// visited returns the rows that an epoch visits.
func visited(n int, order train.Order, seed, epoch uint64) []uint32 {
	rows := documented(n, seed, epoch)
	switch order {
	case train.Cyclic:
		for i := range rows {
			rows[i] = uint32(i)
		}
	case train.FixedShuffle:
		rows = documented(n, seed, 0)
	case train.Random:
		rng := rand.NewPCG(seed, epoch)
		for i := range rows {
			rows[i] = uint32(train.Draw(rng, uint64(n)))
		}
	}
	return rows
}

// train follows an order for some epochs, with its stopping rule, and judges the last weights of an epoch.
func (l *literal[T]) train(order train.Order, seed uint64, epochs int, eta T, maxUpdates int64) (converged bool) {
	if !l.over() {
		converged = l.walk(order, seed, epochs, eta, maxUpdates)
		if l.mode == pocket.Epoch {
			l.judge()
		}
	}
	if l.over() {
		return l.validation == l && l.verified(l.best)
	}
	return converged
}

func (l *literal[T]) walk(order train.Order, seed uint64, epochs int, eta T, maxUpdates int64) (converged bool) {
	n := len(l.x)
	for e := range epochs {
		rows := visited(n, order, seed, uint64(e))
		before := l.updates
		for _, i := range rows {
			if !l.visit(int(i), eta, maxUpdates) {
				return false
			}
			if order == train.Shuffle || l.quiet < int64(n) {
				continue
			}
			if order == train.Random && !l.verified(l.w) {
				l.quiet = 0
				continue
			}
			return true
		}
		if order == train.Shuffle && l.updates == before {
			if l.mode == pocket.Epoch {
				l.judge()
			}
			return true
		}
		if l.l2 > 0 {
			for c := range l.w[:l.features] {
				l.w[c] *= T(1 / (1 + float64(float64(eta)*l.l2)))
			}
			l.quiet = 0
		}
		if l.mode == pocket.Epoch {
			l.judge()
		}
		if l.over() {
			return false
		}
	}
	return false
}

// verified tells whether no row calls for an update of weights.
func (l *literal[T]) verified(w []T) bool {
	for i, x := range l.x {
		if l.y[i]*kernel.Dot(x, w) <= l.margin && l.weight(i) > 0 {
			return false
		}
	}
	return true
}

// inCache returns the rows in a cache file.
func inCache[T kernel.Float](t *testing.T, d *block.Data[T]) *cache.File[T] {
	t.Helper()
	f, err := cache.Temporary(context.Background(), t.TempDir(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestLiteral holds every order, with and without the pocket, against the literal algorithm, on data in memory, sparse,
// streamed and in a cache file, for several numbers of workers and every instruction set.
func TestLiteral(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	levels := kernel.Levels()
	if testing.Short() {
		levels = levels[len(levels)-1:]
	}
	testLiteral[float32](t, best, levels)
	if !testing.Short() {
		testLiteral[float64](t, best, levels)
	}
}

// testLiteral runs the literal algorithm on the best level alone: it takes the longest.
func testLiteral[T kernel.Float](t *testing.T, best kernel.Level, levels []kernel.Level) {
	for i, c := range []struct {
		rows, d    int
		flips      float64
		whole      bool
		epochs     int
		eta        float64
		maxUpdates int64
		pocket     bool
		margin     float64
		weighted   bool
		l2         float64
	}{
		{rows: 60, d: 3, epochs: 40, eta: 1, l2: 0.25},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 0.5, l2: 1},
		{rows: 5000, d: 12, flips: 0.02, epochs: 3, eta: 1, l2: 0.1, weighted: true, margin: 1},
		{rows: 60, d: 3, epochs: 40, eta: 1, weighted: true},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 0.5, pocket: true, weighted: true},
		{rows: 5000, d: 5, flips: 0.1, epochs: 2, eta: 1, maxUpdates: 150, pocket: true, weighted: true},
		{rows: 9000, d: 3, whole: true, epochs: 3, eta: 1, maxUpdates: 777, margin: 2, weighted: true},
		{rows: 60, d: 3, epochs: 40, eta: 1, whole: true, margin: 3},
		{rows: 60, d: 3, epochs: 10, eta: 0.5, margin: 0.1, pocket: true},
		{rows: 900, d: 40, flips: 0.1, epochs: 3, eta: 1, maxUpdates: 400, margin: 30},
		{rows: 60, d: 3, epochs: 40, eta: 1},
		{rows: 60, d: 3, epochs: 40, eta: 1, pocket: true},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 0.3},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 1, pocket: true},
		{rows: 300, d: 40, flips: 0.05, epochs: 3, eta: 1, maxUpdates: 97, pocket: true},
		{rows: 5000, d: 5, flips: 0.1, epochs: 2, eta: 1, maxUpdates: 150, pocket: true},
		{rows: 5000, d: 12, flips: 0.02, epochs: 3, eta: 1},
		{rows: 9000, d: 2, whole: true, epochs: 4, eta: 1, maxUpdates: 777},
		{rows: 700, d: 6, flips: 0.1, epochs: 3, eta: 1, maxUpdates: 61},
		{rows: 5000, d: 6, flips: 0.1, epochs: 3, eta: 1, maxUpdates: 900},
		{rows: 1, d: 1, epochs: 2, eta: 1}, // converges on the last visit
		{rows: 4097, d: 70, whole: true, epochs: 20, eta: 1},
		{rows: 9000, d: 300, flips: 0.1, epochs: 2, eta: 1, maxUpdates: 1200}, // in three blocks
		{rows: 20000, d: 2, epochs: 2, eta: 1, whole: true},                   // in five windows
	} {
		if testing.Short() && c.rows > 1000 && (c.maxUpdates == 0 || c.d > 100 || c.pocket) {
			continue
		}
		if _, double := any(T(0)).(float64); double && c.rows > 1000 && i%3 > 0 { // float32 has them all
			continue
		}
		x, y := noisy(c.rows, c.d, c.flips, c.whole, uint64(i))
		data := dense[T](x, y)
		if c.weighted {
			data = testrows.Weighted(data, quarters)
		}
		cached := inCache(t, data)
		modes := []pocket.Mode{""}
		if c.pocket {
			modes = pocket.Modes
		}
		for k := range len(modes) * len(train.Orders) {
			mode, order := modes[k/len(train.Orders)], train.Orders[k%len(train.Orders)]
			opt := Options{Options: train.Options{Order: order, Epochs: int64(c.epochs), Eta: c.eta, MaxUpdates: c.maxUpdates, Seed: 5}, Pocket: mode, Margin: c.margin, L2: c.l2}
			want := newLiteral(data)
			want.margin, want.l2, want.features = T(c.margin), c.l2, c.d
			want.start(mode, nil)
			converged := want.train(order, 5, c.epochs, T(c.eta), c.maxUpdates)
			if c.maxUpdates > 0 && c.flips > 0 && want.updates != c.maxUpdates {
				t.Fatalf("problem %d, order %s: %d updates never reach the limit of %d", i, order, want.updates, c.maxUpdates)
			}
			if !c.pocket {
				want.best = want.w
			}
			want.measure()                                                          // on the best level
			vote := mode == "" && c.l2 == 0 && c.rows*len(want.counts) <= 1_000_000 // it takes long
			outvoted := int64(-1)
			if vote && c.rows*len(want.counts) < 100_000 {
				outvoted = want.outvoted()
			}
			sources := map[string]block.Source[T]{"memory": data, "sparse": sparse(data), "cache": cached}
			if order == train.Cyclic {
				sources["stream"] = stream[T]{data}
			}
			for _, level := range levels {
				kernel.Use(level)
				what := fmt.Sprintf("%s problem %d, order %s, pocket %s", level, i, order, mode)
				workers := []int{1, 2, 3, 8}
				if level != best || testing.Short() {
					workers = []int{3}
				}
				testSources(t, what, sources, workers, opt, want, converged)
				if vote {
					testVotes(t, what, sources, opt, want, converged, outvoted)
				}
				if mode == "" {
					opt := opt
					opt.Form = train.Averaged
					testAverage(t, what+", averaged", sources, opt, want, converged, c.whole)
				}
			}
			kernel.Use(best)
		}
	}
}

// testSources holds the training from every source, by so many workers each, against the literal one.
func testSources[T kernel.Float](t *testing.T, what string, sources map[string]block.Source[T], workers []int, opt Options, want *literal[T],
	converged bool) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
	for name, src := range sources {
		for _, opt.Workers = range workers {
			got := mustTrain(t, src, opt)
			what := fmt.Sprintf("%s, %s, %d workers", what, name, opt.Workers)
			compareLiteral(t, what, got, want, converged)
			if !near(got.Loss, want.lossOf) || !near(got.Margin, want.marginOf) {
				t.Fatalf("%s: loss %v and margin %v, want %v and %v", what, got.Loss, got.Margin, want.lossOf, want.marginOf)
			}
		}
	}
}

// testVotes holds the voters from every source against the literal algorithm's weights, and how many rows they outvote unless that is
// below 0.
func testVotes[T kernel.Float](t *testing.T, what string, sources map[string]block.Source[T], opt Options, want *literal[T], converged bool, outvoted int64) {
	t.Helper()
	opt.Form = train.Voted
	for name, src := range sources {
		opt.Workers = opt.Workers%3 + 1
		got := mustTrain(t, src, opt)
		if !slices.Equal(got.Voters, want.voters) || !slices.Equal(got.Counts, want.counts) || got.Converged != converged {
			t.Fatalf("%s, %s: the voters differ from the literal ones", what, name)
		}
		if outvoted >= 0 && got.Errors != outvoted {
			t.Fatalf("%s, %s: %d rows are outvoted, want %d", what, name, got.Errors, outvoted)
		}
	}
}

// quarters are weights whose sums are exact, some of them 0.
func quarters(r int) float64 { return float64(r*7%11) / 4 }

// testAverage holds the averaged perceptron from every source against the running mean of the literal algorithm's weights: they
// are the same where every sum is exact, and else as near as roundings allow.
func testAverage[T kernel.Float](t *testing.T, what string, sources map[string]block.Source[T], opt Options, want *literal[T],
	converged, exact bool) {
	t.Helper()
	var first []T
	errors := int64(0)
	for name, src := range sources {
		opt.Workers = opt.Workers%3 + 1
		got := mustTrain(t, src, opt)
		if first == nil {
			first = got.Weights
			errors = want.errors(append(slices.Clone(first), make([]T, len(want.w)-len(first))...))
		}
		if got.Visits != want.visits || got.Updates != want.updates || got.Converged != converged || !slices.Equal(got.Weights, first) {
			t.Fatalf("%s, %s: got %+v, want %d visits, %d updates, converged %v, weights %v", what, name, got, want.visits, want.updates,
				converged, first)
		}
		if got.Errors != errors {
			t.Fatalf("%s, %s: %d errors, its weights make %d", what, name, got.Errors, errors)
		}
	}
	eps := 0x1p-24
	if unsafe.Sizeof(T(0)) == 8 {
		eps = 0x1p-52
	}
	for c, v := range first {
		// The sum of a span rounds once for each of its updates, of which each is counted spanVisits times at most.
		mean, visits := want.sum[c]/float64(want.visits), float64(want.visits)
		bound := eps*math.Abs(mean) + eps*float64(min(want.updates, 2*spanVisits)+3)*2*spanVisits*want.change[c]/visits
		if exact && unsafe.Sizeof(T(0)) == 8 {
			bound = 0
		}
		if !(math.Abs(float64(v)-mean) <= bound) {
			t.Fatalf("%s: weight %d is %v, the running mean %v, further than %v", what, c, v, mean, bound)
		}
	}
}

// compareLiteral holds a result against the literal algorithm's.
func compareLiteral[T kernel.Float](t *testing.T, what string, got *train.Result[T], want *literal[T], converged bool) {
	t.Helper()
	want.measure()
	if !slices.Equal(got.Weights, want.best[:len(got.Weights)]) || got.Updates != want.updates || got.Errors != want.errorsOf ||
		got.Visits != want.visits || got.Converged != converged || got.Kept != want.kept {
		t.Fatalf("%s: got %+v, want w=%v, %d updates, %d visits, %d errors, converged %v, kept %d",
			what, got, want.best, want.updates, want.visits, want.errorsOf, converged, want.kept)
	}
	if want.mode == "" {
		return
	}
	last := got.Curve[0]
	if last.Update != 0 || last.Visits != 0 {
		t.Fatalf("%s: the curve begins with %+v, not with the initial zeros", what, last)
	}
	for _, p := range got.Curve[1:] {
		if want.pointWeight(p) >= want.pointWeight(last) || p.Update <= last.Update || p.Visits <= last.Visits || p.Seconds < last.Seconds {
			t.Fatalf("%s: after %+v the curve has %+v", what, last, p)
		}
		last = p
	}
	if last.Update != want.kept || want.pointWeight(last) != want.fewest {
		t.Fatalf("%s: the curve ends with %+v, but %v errors are those of update %d", what, last, want.fewest, want.kept)
	}
}

// pointWeight returns what the wrong rows at a point of the curve weigh.
func (l *literal[T]) pointWeight(p pocket.Point) float64 {
	if l.validation.weights == nil && p.Weight == 0 {
		return float64(p.Errors)
	}
	return p.Weight
}

// TestPocketSeeds holds every mode against the literal algorithm on thousands of small problems with many ties, half of which
// are judged on other rows.
func TestPocketSeeds(t *testing.T) {
	seeds := uint64(4000)
	if testing.Short() {
		seeds = 400
	}
	validated := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(21, seed))
		x, y := noisy(2+rng.IntN(40), 1+rng.IntN(4), rng.Float64()/3, true, seed)
		data := dense[float32](x, y)
		weighted := seed%4 == 0
		if weighted {
			data = testrows.Weighted(data, quarters)
		}
		opt := Options{Options: train.Options{Order: train.Orders[rng.IntN(4)], Epochs: int64(1 + rng.IntN(10)), Eta: 1, Seed: seed,
			Workers: 1 + rng.IntN(3)}, Pocket: pocket.Modes[rng.IntN(3)]}
		if rng.IntN(2) == 0 {
			opt.MaxUpdates = int64(1 + rng.IntN(100))
		}
		var validation block.Source[float32]
		var judges *literal[float32]
		if rng.IntN(2) == 0 {
			x, y := noisy(1+rng.IntN(40), len(x[0]), rng.Float64()/3, true, seed)
			other := dense[float32](x, y)
			if weighted {
				other = testrows.Weighted(other, func(r int) float64 { return quarters(r + 5) })
			}
			validation, judges = other, newLiteral(other)
		}
		want := newLiteral(data)
		want.start(opt.Pocket, judges)
		converged := want.train(opt.Order, seed, int(opt.Epochs), 1, opt.MaxUpdates)
		got, err := TrainValidated(context.Background(), data, validation, opt)
		if err != nil {
			t.Fatal(err)
		}
		compareLiteral(t, fmt.Sprintf("seed %d, %+v, validation %v", seed, opt, judges != nil), got, want, converged)
		if judges != nil && got.Errors != got.Curve[len(got.Curve)-1].Errors {
			validated++
		}
	}
	if validated < int(seeds)/8 {
		t.Errorf("only %d results tell the rows of the validation from the others", validated)
	}
}

// TestOptimum: on draws with replacement the pocket reaches the fewest errors that a plane can make, with ratchet and without
// (Muselli, "On convergence properties of pocket algorithm", 1997). Enumeration finds them: planes with small whole numbers
// divide the points -1, 0, 1 in the plane in every way that lines can.
func TestOptimum(t *testing.T) {
	separable := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(31, seed))
		var x [][]float64
		var y []float64
		for range 3 + rng.IntN(10) {
			x = append(x, []float64{float64(rng.IntN(3) - 1), float64(rng.IntN(3) - 1)})
			y = append(y, float64(2*rng.IntN(2)-1))
		}
		data := dense[float32](x, y)
		fewest := newLiteral(data).fewestByEnumeration(6)
		if fewest == 0 {
			separable++
		}
		for _, mode := range []pocket.Mode{pocket.Exact, pocket.Ratchet} {
			r := mustTrain(t, data, Options{Options: train.Options{Order: train.Random, Epochs: 2000, Seed: seed}, Pocket: mode})
			if r.Errors != fewest {
				t.Errorf("problem %d, %s: %d errors after %d updates, the fewest are %d", seed, mode, r.Errors, r.Updates, fewest)
			}
		}
	}
	if separable > 50 {
		t.Errorf("%d problems are separable, which the perceptron alone solves", separable)
	}
}

// fewestByEnumeration returns the fewest errors of all weights, two and a bias, that are whole numbers up to most.
func (l *literal[T]) fewestByEnumeration(most int) int64 {
	fewest, w := int64(len(l.x)), make([]T, len(l.w))
	for a := -most; a <= most; a++ {
		for b := -most; b <= most; b++ {
			for bias := -2*most - 1; bias <= 2*most+1; bias++ {
				w[0], w[1], w[2] = T(a), T(b), T(bias)
				fewest = min(fewest, l.errors(w))
			}
		}
	}
	return fewest
}

// TestPermutation holds the permutation made a window at a time, on this goroutine or on another, against the documented
// one; every row appears once.
func TestPermutation(t *testing.T) {
	for _, n := range []int{1, 2, 511, 512, 4095, 4096, 4097, 5000, 40960, 100001} {
		want := documented(n, 3, 2)
		for _, ahead := range []bool{false, true} {
			var got []uint32
			err := train.NewPermutation(n, 3, 2).Each(context.Background(), ahead, func(k int, rows []uint32) error {
				got = append(got, rows...)
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("n=%d ahead=%v: not the documented permutation (error %v)", n, ahead, err)
			}
		}
		slices.Sort(want)
		for i, r := range want {
			if int(r) != i {
				t.Fatalf("n=%d: row %d is missing or repeated", n, i)
			}
		}
	}
}

// TestUpdateBound checks Novikoff's theorem (1962) on data of known margin: at most R^2/rho^2 updates, whatever the
// order and the seed.
func TestUpdateBound(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		x, y := noisy(2000, 6, 0, false, seed)
		d := dense[float64](x, y)
		rho := margin(d, seed)
		for _, order := range train.Orders {
			r := mustTrain(t, d, Options{Options: train.Options{Order: order, Epochs: 100000, Seed: seed}})
			if bound := r.Radius * r.Radius / (rho * rho); !r.Converged || float64(r.Updates) > bound {
				t.Errorf("seed %d, order %s: %d updates, converged %v, bound %v", seed, order, r.Updates, r.Converged, bound)
			}
		}
	}
}

// margin returns the margin of the data about the plane that noisy drew for the seed.
func margin(d *block.Data[float64], seed uint64) float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	u := make([]float64, d.Spec().Cols())
	norm := 0.3 * 0.3
	for i := range u[:len(u)-1] {
		u[i] = rng.NormFloat64()
		norm += u[i] * u[i]
	}
	u[len(u)-1] = 0.3
	rho := math.Inf(1)
	for b := range d.Blocks(context.Background()) {
		for r := range b.Len() {
			s := 0.0
			for i, v := range u {
				s += v * b.X[r*b.Stride+i]
			}
			rho = min(rho, b.Y[r]*s/math.Sqrt(norm))
		}
	}
	return rho
}

// TestConjunctions learns conjunctions of k literals over d variables of -1 and +1. The weights 1 for each literal and
// the bias -(k-1) separate them with margin 1, their norm is k^2-k+1 and R^2 is d+1, so that there are at most
// (d+1)(k^2-k+1) updates.
func TestConjunctions(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, d := range []int{4, 10, 50} {
		for k := 1; k <= 4; k++ {
			var x [][]float64
			var y []float64
			for range 3000 {
				row, label := make([]float64, d), 1.0
				for i := range row {
					row[i] = float64(2*rng.IntN(2) - 1)
					if i < k && rng.IntN(2) == 0 {
						row[i] = 1
					}
				}
				for _, v := range row[:k] {
					label = min(label, v)
				}
				x, y = append(x, row), append(y, label)
			}
			for _, order := range train.Orders {
				r := mustTrain(t, dense[float32](x, y), Options{Options: train.Options{Order: order, Epochs: 10000}})
				if bound := int64((d + 1) * (k*k - k + 1)); !r.Converged || r.Updates > bound || r.Updates == 0 {
					t.Errorf("d=%d k=%d order %s: %d updates, converged %v, bound %d", d, k, order, r.Updates, r.Converged, bound)
				}
			}
		}
	}
}

func TestPocketNeverWorse(t *testing.T) {
	x, y := noisy(400, 5, 0.15, false, 1)
	d := dense[float32](x, y)
	last := int64(len(y))
	for n := int64(1); n < 200; n += 7 {
		r := mustTrain(t, d, Options{Options: train.Options{Order: train.Random, MaxUpdates: n, Seed: 2}, Pocket: pocket.Exact})
		if r.Errors > last {
			t.Errorf("after %d updates the pocket makes %d errors, after fewer updates it made %d", n, r.Errors, last)
		}
		last = r.Errors
	}
	if plain := mustTrain(t, d, Options{Options: train.Options{Epochs: 1}}); last >= plain.Errors {
		t.Errorf("the pocket makes %d errors, the last weights of an epoch %d", last, plain.Errors)
	}
}

// TestMargin: on separable rows, the updates keep within (R^2 + 2 margin/eta)/rho^2, and the weights have at least the margin
// rho/(2 + eta R^2/margin), the larger the margin asked for, the nearer to half of rho.
func TestMargin(t *testing.T) {
	for seed := range uint64(10) {
		var x [][]float64
		var y []float64
		all, labels := noisy(100, 3, 0, false, seed)
		for i := range all {
			if margin(dense[float64](all[i:i+1], labels[i:i+1]), seed) > 0.3 {
				x, y = append(x, all[i]), append(y, labels[i])
			}
		}
		d := dense[float64](x, y)
		rho := margin(d, seed)
		for _, m := range []float64{0.01, 1, 20} {
			for _, order := range train.Orders {
				r := mustTrain(t, d, Options{Options: train.Options{Order: order, Epochs: 1e5, Eta: 0.5, Seed: seed}, Margin: m})
				square := r.Radius * r.Radius
				if bound := (square + 2*m/0.5) / (rho * rho); !r.Converged || float64(r.Updates) > bound {
					t.Errorf("seed %d, margin %v, %s: %d updates, at most %v are possible; converged %v", seed, m, order, r.Updates, bound, r.Converged)
				}
				if least := rho / (2 + 0.5*square/m); r.Margin < least || r.Margin*r.Norm <= m {
					t.Errorf("seed %d, margin %v, %s: the weights have %v with norm %v, %v is the least", seed, m, order, r.Margin, r.Norm, least)
				}
			}
		}
	}
}

// TestEarlyStop holds the epoch where the training ends, and what is kept, against trainings of one epoch more each.
func TestEarlyStop(t *testing.T) {
	x, y := noisy(600, 20, 0.1, false, 4)
	d, other := dense[float32](x[:400], y[:400]), dense[float32](x[400:], y[400:])
	validated := func(opt Options) *train.Result[float32] {
		r, err := TrainValidated(context.Background(), d, other, opt)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	stopped := 0
	for k := range 24 {
		opt := Options{Options: train.Options{Order: train.Orders[k%4], Epochs: 30, Seed: uint64(k)}, Form: train.Forms[k/4%2]}
		if k%3 == 0 && opt.Form == train.Last {
			opt.Pocket = pocket.Modes[k/3%3]
		}
		opt.EarlyStop = int64(1 + k/8)
		got := validated(opt)
		plain := opt
		plain.EarlyStop = 0
		stale, found, want := int64(0), 1, got
		for plain.Epochs = 1; plain.Epochs <= opt.Epochs && stale < opt.EarlyStop; plain.Epochs++ {
			want = validated(plain)
			stale++
			if n := len(want.Curve); n > found {
				found, stale = n, 0
			}
		}
		if stale == opt.EarlyStop {
			stopped++
		}
		if got.Epochs != want.Epochs || got.Kept != want.Kept || len(got.Curve) != len(want.Curve) || got.Converged ||
			opt.Form == train.Last && !slices.Equal(got.Weights, want.Weights) {
			t.Errorf("case %d: ended after %d epochs with update %d, %d points; want %d, %d, %d", k, got.Epochs, got.Kept, len(got.Curve),
				want.Epochs, want.Kept, len(want.Curve))
		}
	}
	if stopped < 20 {
		t.Errorf("%d of 24 trainings stopped early", stopped)
	}
}

func TestProgress(t *testing.T) {
	x, y := noisy(500, 4, 0.1, false, 1)
	var seen []train.Progress
	opt := Options{Options: train.Options{Epochs: 3, Progress: func(p train.Progress) { seen = append(seen, p) }}, Pocket: pocket.Exact}
	r := mustTrain(t, dense[float32](x, y), opt)
	epochs := map[int64]bool{}
	for _, p := range seen {
		epochs[p.Epoch] = true
	}
	last := seen[len(seen)-1]
	if len(epochs) != 4 || last.Epoch != 3 || last.Visits != r.Visits || last.Updates != r.Updates || last.Best < r.Errors {
		t.Errorf("progress %+v, result %+v", seen, r)
	}
}

func TestErrors(t *testing.T) {
	x, y := noisy(10000, 4, 0.1, false, 1)
	d := dense[float32](x, y)
	huge := dense[float32]([][]float64{{3e38, -3e38}, {3e38, 3e38}}, []float64{1, 1}) // the second row scores inf - inf
	try := func(src block.Source[float32], opt train.Options) func() error {
		return func() error { _, err := Train(context.Background(), src, Options{Options: opt}); return err }
	}
	unlabelled := dense[float32](x[:10], y[:10])
	for b := range unlabelled.Blocks(context.Background()) {
		b.Y = nil
	}
	three := dense[float32](x[:10], y[:10])
	three.Spec().Classes = append(three.Spec().Classes, schema.IntClass(2))
	numbers := dense[float32](x[:10], make([]float64, 10))
	numbers.Spec().Classes = three.Spec().Classes
	for want, run := range map[string]func() error{
		"have no labels": try(unlabelled, train.Options{}),
		"no labels:":     try(unlabelled, train.Options{Order: train.Shuffle}),
		"labels other than the class numbers 0 to 2": try(three, train.Options{}),
		"3 classes (-1, 1, 2), training takes two": func() error {
			_, err := Train(context.Background(), numbers, Options{Pocket: pocket.Exact})
			return err
		},
		"too small": try(d, train.Options{Eta: 1e-60}),
		"use one of": func() error {
			_, err := Train(context.Background(), d, Options{Options: train.Options{Order: "up"}})
			return err
		},
		"above 0": func() error {
			_, err := Train(context.Background(), d, Options{Options: train.Options{Eta: 1.5}})
			return err
		},
		"no rows": func() error {
			_, err := Train(context.Background(), block.NewData[float32](d.Spec(), nil), Options{})
			return err
		},
		"too large": try(huge, train.Options{}),
		`unknown pocket "trousers": use one of [exact ratchet epoch]`: func() error {
			_, err := Train(context.Background(), d, Options{Pocket: "trousers"})
			return err
		},
		"there are 2 rows of 3 columns to validate 5 columns on": func() error {
			_, err := TrainValidated(context.Background(), d, huge, Options{Pocket: pocket.Exact})
			return err
		},
		"margin is -1": func() error { _, err := Train(context.Background(), d, Options{Margin: -1}); return err },
		"out of the range of float32": func() error {
			_, err := Train(context.Background(), d, Options{Margin: 1e300})
			return err
		},
		"early-stop needs a pocket": func() error { _, err := Train(context.Background(), d, Options{EarlyStop: 2}); return err },
		"early-stop is -2":          func() error { _, err := Train(context.Background(), d, Options{EarlyStop: -2}); return err },
		"as many as 64 MiB hold: end": func() error {
			row := make([]float64, 60000)
			row[0] = 1
			d := dense[float32]([][]float64{row, row}, []float64{1, -1}) // which update at every visit
			_, err := Train(context.Background(), d, Options{Options: train.Options{Epochs: 1000}, Form: train.Voted})
			return err
		},
		"either vote or are judged": func() error {
			_, err := TrainValidated(context.Background(), d, d, Options{Form: train.Voted})
			return err
		},
		"either averaged or judged": func() error {
			_, err := Train(context.Background(), d, Options{Form: train.Averaged, Pocket: pocket.Exact})
			return err
		},
		"in memory or": func() error {
			_, err := Train(context.Background(), stream[float32]{d}, Options{Options: train.Options{Order: train.Shuffle}})
			return err
		},
	} {
		if err := run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	x, y := noisy(10000, 4, 0.1, false, 1)
	for _, order := range train.Orders {
		ctx, cancel := context.WithCancel(context.Background())
		opt := Options{Options: train.Options{Order: order, Epochs: 1 << 40, Progress: func(train.Progress) { cancel() }}}
		if _, err := Train(ctx, dense[float32](x, y), opt); !errors.Is(err, context.Canceled) {
			t.Errorf("order %s: error %v after the context was cancelled", order, err)
		}
	}
}
