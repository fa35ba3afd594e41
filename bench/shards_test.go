package bench

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/require"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

var shardsTable = flag.String("shards", "", "a file that TestShards writes what it measures to; it takes real data sets and minutes then")

// TestShards compares the ways on made rows. After one pass the last weights of both mixes are the same bytes, since every shard
// began with zeros. With one shard all ways give the serial weights. After some passes the errors on held-out rows are in the
// paper's order: iterative mix, one-shot mix, single shard. With -shards it measures real sets, times and instructions
// instead, and writes tables.
func TestShards(t *testing.T) {
	if *shardsTable != "" {
		writeShards(t)
		return
	}
	s := planted(26_000, 60, 0.1).split(t, 0, false, 1)
	if s.shards != 4 {
		t.Fatalf("%d rows take %d shards", s.learn.Rows(), s.shards)
	}
	once := iterative.learn(t, s.learn, 4, learner.Last, 1)
	if !slices.Equal(oneShot.learn(t, s.learn, 4, learner.Last, 1), once) || slices.Equal(serial.learn(t, s.learn, 4, learner.Last, 1), once) {
		t.Error("after one pass the mixes differ, or are the serial weights")
	}
	for _, form := range forms {
		want := serial.learn(t, s.learn, 1, form, 3)
		for _, w := range []way{oneShot, iterative, single} {
			if !slices.Equal(w.learn(t, s.learn, 1, form, 3), want) {
				t.Errorf("%s: %s of one shard differs from serial learning", form, w)
			}
		}
		var shares []float64
		for _, w := range []way{iterative, oneShot, single} {
			shares = append(shares, wrongShare(t, s.held, w.learn(t, s.learn, 4, form, 8)))
		}
		if !slices.IsSorted(shares) {
			t.Errorf("%s: errors of the iterative mix, the one-shot mix and a single shard: %.2f %%", form, shares)
		}
	}
}

// A way is a way to learn from rows that are cut into shards (McDonald, Hall and Mann 2010, sections 4 and 5).
type way string

const (
	serial    way = "serial"        // one path over all rows
	iterative way = "iterative mix" // each shard makes a pass from the mixed weights, and all are mixed
	oneShot   way = "one-shot mix"  // each shard makes all passes alone, and all are mixed once
	single    way = "single shard"  // one path over the rows of the first shard
)

var ways = []way{serial, iterative, oneShot, single}

// learn returns the weights that a way learns in some passes over the rows, in file order.
func (w way) learn(t *testing.T, rows *block.Data, shards int, form learner.Form, passes int64) []float32 {
	opt := perceptron.Settings{Options: perceptron.Options{Epochs: passes, Form: form}}
	if w == serial || w == iterative {
		if w == iterative {
			opt.Shards = int64(shards)
		}
		return trained(t, rows, opt).Weights
	}
	dealt := dealInOrder(t, rows, shards)
	if w == single {
		dealt = dealt[:1]
	}
	var mixed []float32
	sums := make([]float64, rows.Spec().Cols())
	for _, shard := range dealt {
		for i, v := range trained(t, shard, opt).Weights {
			sums[i] += float64(v)
		}
	}
	for _, sum := range sums {
		mixed = append(mixed, float32(sum/float64(len(dealt))))
	}
	return mixed
}

// dealInOrder returns the shards of rows in file order: of n chunks, shard s gets the chunks s*n/shards to (s+1)*n/shards-1.
func dealInOrder(t *testing.T, rows *block.Data, shards int) (dealt []block.Source) {
	var chunks []*block.Block
	for b, err := range rows.Blocks(context.Background()) {
		require.NoError(t, err)
		for lo := 0; lo < b.Len(); lo += block.ChunkRows {
			chunks = append(chunks, b.Slice(lo, min(b.Len(), lo+block.ChunkRows)))
		}
	}
	for s := range shards {
		var own []*block.Block
		for i, chunk := range chunks[s*len(chunks)/shards : (s+1)*len(chunks)/shards] {
			b := *chunk
			b.First = int64(i) * block.ChunkRows
			own = append(own, &b)
		}
		dealt = append(dealt, block.NewData(rows.Spec(), own))
	}
	return dealt
}

func trained(t *testing.T, rows block.Source, opt perceptron.Settings) *learner.Result {
	r, err := perceptron.Train(context.Background(), rows, opt)
	require.NoError(t, err)
	return r
}

// wrongShare returns the share of rows that weights are wrong for, in percent.
func wrongShare(t *testing.T, rows *block.Data, weights []float32) float64 {
	r := learner.Result{Weights: weights}
	require.NoError(t, learner.Evaluate(context.Background(), rows, 2, &r))
	return 100 * float64(r.Errors) / float64(rows.Rows())
}

// A split is rows to learn from and rows held out.
type split struct {
	learn, held *block.Data
	shards      int // the largest power of 2, up to 16, that the runs to learn from suffice for
}

// flatRows is rows of one length, one after another, the bias among the features.
type flatRows struct {
	width int
	x     []float32
	y     []int
}

// add appends the rows of data. Its labels must be whole numbers.
func (f *flatRows) add(t *testing.T, data *block.Data) {
	for b, err := range data.Blocks(context.Background()) {
		require.NoError(t, err)
		row := block.Alloc[float32](b.Stride)
		for r := range b.Len() {
			clear(row)
			b.Axpy(row, 1, r)
			f.x, f.y = append(f.x, row[:f.width]...), append(f.y, int(b.Y[r]))
		}
	}
}

// take returns the rows with some numbers.
func (f *flatRows) take(t *testing.T, rows []int) *block.Data {
	x, y := make([]float32, 0, len(rows)*f.width), make([]int, 0, len(rows))
	for _, r := range rows {
		x, y = append(x, f.x[r*f.width:(r+1)*f.width]...), append(y, f.y[r])
	}
	data, err := block.FromFlat(x, f.width, y, block.RowOptions{NoBias: true})
	require.NoError(t, err)
	return data
}

// all returns all rows, in their order.
func (f *flatRows) all(t *testing.T) *block.Data {
	order := make([]int, len(f.y))
	for i := range order {
		order[i] = i
	}
	return f.take(t, order)
}

// split holds out the last rows, or a quarter drawn at random if held is 0. The seed permutes the others. If they stay in order, it
// draws the quarter.
func (f *flatRows) split(t *testing.T, held int, inOrder bool, seed uint64) split {
	n, draw := len(f.y), uint64(0)
	if inOrder {
		draw = seed
	}
	order := rand.New(rand.NewPCG(1, draw)).Perm(n)
	if held > 0 {
		slices.Sort(order)
	} else {
		held = n / 4
	}
	learn := order[:n-held]
	if inOrder {
		slices.Sort(learn)
	} else {
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(learn), func(i, j int) { learn[i], learn[j] = learn[j], learn[i] })
	}
	s := split{f.take(t, learn), f.take(t, order[n-held:]), 1}
	for s.shards < 16 && 2*s.shards*block.ChunkRows <= n-held+block.ChunkRows-1 {
		s.shards *= 2
	}
	return s
}

// planted returns rows of normal features, of which a plane separates the classes but for a share of wrong labels.
func planted(rows, width int, wrong float64) *flatRows {
	rng := rand.New(rand.NewPCG(5, 0))
	f, plane := &flatRows{width: width}, make([]float64, width)
	for i := range plane {
		plane[i] = rng.NormFloat64()
	}
	for range rows {
		z := 0.0
		for _, p := range plane {
			v := rng.NormFloat64()
			f.x, z = append(f.x, float32(v)), z+float64(v*p)
		}
		y := 1
		if (z > 0) == (rng.Float64() < wrong) {
			y = -1
		}
		f.y = append(f.y, y)
	}
	return f
}

// A realSet is a data set that stands beside the repository.
type realSet struct {
	name     string
	held     int                  // rows at the end, which are published to be held out; 0: none
	positive func(label int) bool // tells the classes apart
	inOrder  bool                 // leaves the rows to learn from in the order of the file
	load     []func() (*block.Data, error)
}

func realSets() []realSet {
	const shared = "../../shared/data/"
	type load = func() (*block.Data, error)
	positive := func(label int) bool { return label > 0 }
	file := func(name, class string, opt dataset.Options) []load {
		return []load{func() (*block.Data, error) { return loadClasses(shared+name, class, opt) }}
	}
	last := dataset.Options{Label: "last", Standardize: true}
	onehot := dataset.Options{Label: "last", Standardize: true, Categorical: "onehot"}
	return []realSet{
		{"a9a", 16_281, positive, false, []load{func() (*block.Data, error) {
			in, err := dataset.Open(context.Background(), []string{shared + "a9a.svm.gz", shared + "a9a.test.svm.gz"}, dataset.Options{Label: "label"})
			if err != nil {
				return nil, err
			}
			return in.Load(context.Background())
		}}},
		{"bank-marketing", 0, positive, false, file("bank-marketing.csv.gz", "", onehot)},
		{"bank-marketing in its order", 0, positive, true, file("bank-marketing.csv.gz", "", onehot)},
		{"KDD Cup 1999", 0, positive, false, file("kddcup99-10percent.csv.gz", "normal.", onehot)},
		{"KDD Cup 1999 in its order", 0, positive, true, file("kddcup99-10percent.csv.gz", "normal.", onehot)},
		{"letter, A to M against N to Z", 0, func(label int) bool { return label < 13 }, false, file("letter.csv.gz", "", last)},
		{"magic04", 0, positive, false, file("magic04.csv.gz", "", last)},
		{"magic04 in its order", 0, positive, true, file("magic04.csv.gz", "", last)},
		{"MNIST, odd against even", 10_000, func(label int) bool { return label%2 == 1 }, false, []load{
			func() (*block.Data, error) { return mnist(shared+"mnist", "train", 60_000) },
			func() (*block.Data, error) { return mnist(shared+"mnist", "test", 10_000) },
		}},
	}
}

// loadReal returns the rows of a set with labels of -1 and 1. It skips the test where the set is missing.
func loadReal(t *testing.T, set realSet) *flatRows {
	f := &flatRows{}
	for _, load := range set.load {
		data, err := load()
		if err != nil {
			t.Skipf("SKIPPED: %s: its files are not beside the checkout: %v", set.name, err)
		}
		f.width = data.Spec().Cols()
		f.add(t, data)
	}
	for r, label := range f.y {
		if f.y[r] = -1; set.positive(label) {
			f.y[r] = 1
		}
	}
	return f
}
