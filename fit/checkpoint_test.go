package fit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/checkpoint"
	"halfspace/fit"
	"halfspace/internal/race"
	"halfspace/internal/testrows"
	"halfspace/model"
)

// A fuse is a context that ends when it was asked for its error so many times.
type fuse struct {
	context.Context
	left  atomic.Int64
	asked atomic.Int64
	done  chan struct{}
	end   sync.Once
}

func newFuse(ctx context.Context, left int64) *fuse {
	f := &fuse{Context: ctx, done: make(chan struct{})}
	f.left.Store(left)
	return f
}

func (f *fuse) Done() <-chan struct{} { return f.done }

func (f *fuse) Err() error {
	if f.asked.Add(1); f.left.Add(-1) >= 0 {
		return nil
	}
	f.end.Do(func() { close(f.done) })
	return context.Canceled
}

// resumes are trainings that are stopped and go on: a learner, its options, and the classes of the rows.
var resumes = []struct {
	learner, options string
	classes          int
}{
	{"perceptron", "", 2},
	{"perceptron", "margin=1 l2=0.01", 2},
	{"perceptron", "", 3},
	{"perceptron", "max-updates=3000", 2},
	{"pocket", "pocket=exact", 2},
	{"pocket", "pocket=ratchet", 2},
	{"pocket", "pocket=epoch early-stop=2", 2},
	{"averaged", "", 2},
	{"averaged", "l2=0.01", 3},
	{"averaged", "multiclass=ovr", 3},
	{"voted", "max-updates=700", 2},
	{"perceptron", "shards=2 mix=mistakes", 3},
	{"pocket", "shards=2 early-stop=2", 2},
	{"averaged", "shards=2 l2=0.01", 2},
	{"passive-aggressive", "shards=2 mix=mistakes", 3},
	{"adagrad", "shards=2", 2},
	{"logistic", "solver=sgd shards=2", 2},
	{"passive-aggressive", "", 2},
	{"passive-aggressive", "", 3},
	{"ftrl", "l1=0.1 l2=1", 2},
	{"adagrad", "eta=0.3", 3},
	{"averaged", "grid=eta epochs=2", 2},
}

var allStorages = flag.Bool("storages", false, "resume each training with rows in every storage")

// TestResume: a training that is stopped at random moments, and goes on each time, gives the same model and the same sums of the weights
// as one that isn't stopped.
func TestResume(t *testing.T) {
	const rows = 5000
	for i, c := range resumes {
		for j, order := range []string{"cyclic", "shuffle", "fixed-shuffle", "random"} {
			if race.Enabled && (i+j)%4 > 0 {
				continue // goroutines read windows and save states alike for all learners, and some learner has each order
			}
			t.Run(fmt.Sprintf("%s_%s_%d_%s", c.learner, strings.ReplaceAll(c.options, " ", "_"), c.classes, order), func(t *testing.T) {
				t.Parallel()
				options := strings.Fields(c.options + " epochs=4 order=" + order)
				small, wide := noise(rows, 5, c.classes), noise(rows, 40, c.classes)
				storages := []func(){
					func() { resumed(t, small, c.learner, options) },
					func() { resumed(t, testrows.Sparse(small), c.learner, options) },
					func() {
						weight := func(r int) float64 { return float64(r%3) / 2 }
						resumed(t, testrows.Weighted(small, weight), c.learner, options)
					},
					func() { resumed(t, wide, c.learner, options) },
					func() {
						if order == "cyclic" && !strings.Contains(c.options, "shards") {
							resumed(t, testrows.Stream{Data: wide}, c.learner, options)
							return
						}
						file, err := cache.Temporary(t.Context(), block.Source(wide), nil)
						if err != nil {
							t.Fatal(err)
						}
						defer file.Close()
						resumed(t, file, c.learner, options)
					},
				}
				for k, one := range storages {
					if (i+j+k)%len(storages) == 0 || *allStorages {
						one()
					}
				}
			})
		}
	}
}

// TestResumeSolvers is TestResume of learners that solve for an optimum.
func TestResumeSolvers(t *testing.T) {
	for i, c := range []struct {
		learner, options  string
		features, classes int
	}{
		{"lda", "", 5, 3},
		{"logistic", "", 5, 2},
		{"logistic", "l2=0", 12, 2},
		{"logistic", "", 7, 3},
		{"logistic", "multiclass=ovr", 7, 3},
		{"logistic", "solver=newton l2=0.001", 30, 2},
		{"logistic", "solver=lbfgs", 30, 2},
		{"logistic", "solver=lbfgs l2=0", 5, 2},
		{"logistic", "solver=lbfgs l2=0.01", 7, 3},
		{"logistic", "solver=truncated l2=0.01", 60, 2},
		{"logistic", "solver=sgd epochs=9", 7, 2},
		{"logistic", "solver=sgd epochs=9 order=shuffle", 7, 3},
		{"logistic", "l1=3", 9, 2},
		{"logistic", "grid=l2", 5, 3},
		{"svm", "path=5 l1=1", 6, 2},
		{"svm", "l1=3", 9, 2},
		{"svm", "", 300, 2},
		{"svm", "loss=hinge l2=0.1", 300, 2},
		{"svm", "", 9, 2},
		{"svm", "l2=0.001", 40, 2},
		{"svm", "", 7, 3},
		{"svm", "loss=hinge", 9, 2},
		{"svm", "loss=hinge l2=0.01", 30, 2},
		{"svm", "loss=hinge multiclass=joint epochs=30", 7, 3},
		{"svm", "loss=hinge epochs=12", 16_400, 2},
		{"logistic", "solver=sgd epochs=9", 16_400, 2},
		{"logistic", "solver=lbfgs epochs=20", 16_400, 2},
		{"logistic", "l1=0.1", 16_400, 2},
		{"svm", "l1=0.01 nonnegative=true epochs=30", 16_400, 2},
	} {
		if race.Enabled && c.features == 300 {
			continue // takes minutes there, and 16,400 columns take the same path
		}
		t.Run(fmt.Sprintf("%s_%s_%d", c.learner, strings.ReplaceAll(c.options, " ", "_"), c.classes), func(t *testing.T) {
			t.Parallel()
			options, rows := strings.Fields(c.options), 1500
			if c.features > 1000 {
				resumed(t, testrows.Sparse(noise(40, c.features, c.classes)), c.learner, options)
				return
			}
			small, exact := noise(rows, c.features, c.classes), noise(6*rows, c.features, c.classes)
			if resumed(t, testrows.Sparse(small), c.learner, options); i%2 == 0 || *allStorages {
				resumed(t, small, c.learner, options)
			}
			if *allStorages && c.features < 10 { // enough for a sample, and for few rows near their kinks
				resumed(t, noise(70_000, c.features, c.classes), c.learner, options)
			}
			if i%2 == 1 || *allStorages {
				resumed(t, exact, c.learner, options)
			}
			if strings.Contains(c.options, "order") {
				return
			}
			if i%3 == 0 || *allStorages {
				resumed(t, testrows.Stream{Data: small}, c.learner, options)
			}
		})
	}
}

// noise returns rows of random features, some of them 0, whose classes no planes separate.
func noise(rows, features, classes int) *block.Data {
	d := testrows.RandomClasses(rows, features, classes, 0.2)
	if classes > 2 {
		return d
	}
	var x [][]float64
	var y []float64
	for b := range d.Blocks(context.Background()) {
		for r, label := range b.Y {
			row := make([]float64, features)
			for c := range row {
				if row[c] = float64(b.X[r*b.Stride+c]); row[c] < -0.8 {
					row[c] = 0
				}
			}
			x, y = append(x, row), append(y, 2*float64(label)-1)
		}
	}
	return testrows.Dense(x, y, true)
}

// resumed learns at once, and then with stops, and compares.
func resumed(t *testing.T, src block.Source, name string, options []string) {
	t.Helper()
	learn := func(ctx context.Context, run *checkpoint.Run) ([]byte, string, error) {
		learner, opt := fit.Describe(name), fit.Options{Checkpoint: run, Receipt: new(model.Receipt)}
		settings := learner.New()
		settings.Shared().Workers = 1 + rand.IntN(3)
		path := set(t, learner, settings, &opt, options)
		l := fit.New(learner, settings)
		if path > 0 {
			p, err := fit.FollowPath(ctx, src, l, path, fit.CV{Folds: 3, Score: fit.ByAUC}, opt)
			if err != nil {
				return nil, "", err
			}
			opt.Path, l = p, p.Best(l)
		}
		f, err := fit.Learn(ctx, src, l, opt)
		if err != nil {
			return nil, "", err
		}
		var file bytes.Buffer
		if _, err := f.Model.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		sums, err := json.Marshal(opt.Receipt.Epochs)
		if err != nil {
			t.Fatal(err)
		}
		return file.Bytes(), string(sums), nil
	}
	whole := newFuse(t.Context(), 1<<62)
	want, sums, err := learn(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, stops := t.TempDir(), 0
	for {
		most := whole.asked.Load() * 5 / 4
		if stops > 8 {
			most = 1 << 40
		}
		run, err := checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Epochs: rand.Int64N(3), Every: time.Duration(1+rand.IntN(3)) * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		ctx := newFuse(t.Context(), rand.Int64N(most))
		got, trail, err := learn(ctx, run)
		run.Close()
		if err != nil {
			if ctx.left.Load() >= 0 {
				t.Fatalf("%T, after %d stops: %v", src, stops, err)
			}
			stops++
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%T, after %d stops: another model", src, stops)
			t.Logf("got %s\nwant %s", got, want)
		}
		if trail != sums {
			t.Errorf("%T, after %d stops: other sums of the weights", src, stops)
		}
		if files, _ := filepath.Glob(dir + "/*"); len(files) > 2 {
			t.Errorf("%q", files)
		}
		os.RemoveAll(dir)
		return
	}
}

// slow is a file that takes longer to read from than checkpoints are apart.
type slow struct{ block.Seekable }

func (s slow) ReadRows(rows []uint32, to *block.Block) error {
	time.Sleep(2 * time.Millisecond)
	return s.Seekable.ReadRows(rows, to)
}

func (s slow) ReadChunk(c int, to *block.Block) error {
	time.Sleep(time.Millisecond)
	return s.Seekable.ReadChunk(c, to)
}

// TestPauses: shards make their epochs even where a checkpoint is due again before their passes have gone on.
func TestPauses(t *testing.T) {
	t.Parallel()
	file, err := cache.Temporary(t.Context(), block.Source(noise(2*block.RunRows, 5, 2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, name := range []string{"averaged", "passive-aggressive"} {
		for _, order := range []string{"shuffle", "random"} {
			run, err := checkpoint.Open(checkpoint.Options{Dir: t.TempDir(), Every: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			learner, opt := fit.Describe(name), fit.Options{Checkpoint: run}
			settings := learner.New()
			settings.Shared().Workers = 2
			set(t, learner, settings, &opt, []string{"shards=2", "epochs=1", "order=" + order})
			if _, err := fit.Learn(newFuse(t.Context(), 1e5), block.Source(slow{file}), fit.New(learner, settings), opt); err != nil {
				t.Errorf("%s in order %s: %v", name, order, err)
			}
			run.Close()
		}
	}
}

// TestResumeDependent is TestResume of logistic regression without a penalty, with a column twice: its weights are found without one of
// the two.
func TestResumeDependent(t *testing.T) {
	var x [][]float64
	var y []float64
	for b := range noise(300, 4, 2).Blocks(t.Context()) {
		for r, label := range b.Y {
			row := testrows.Float64s(b.X[r*b.Stride:][:4])
			x, y = append(x, append(row, row[1])), append(y, float64(label))
		}
	}
	for _, solver := range []string{"newton", "lbfgs"} {
		resumed(t, testrows.Dense(x, y, true), "logistic", []string{"l2=0", "solver=" + solver})
	}
}

// TestResumeValidated: a training that had rows to validate on doesn't go on without them.
func TestResumeValidated(t *testing.T) {
	learner, rows := fit.Describe("averaged"), noise(50, 3, 2)
	dir := t.TempDir()
	for _, validation := range []block.Source{rows, nil} {
		run, err := checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		_, err = fit.LearnValidated(t.Context(), rows, validation, fit.New(learner, learner.New()), fit.Options{Checkpoint: run})
		switch {
		case validation != nil && err == nil:
			err = run.Finish()
		case validation == nil && err != nil && strings.Contains(err.Error(), "rows to validate on is none"):
			err = nil
		case err == nil:
			t.Error("the training goes on without its rows to validate on")
		}
		if err != nil {
			t.Error(err)
		}
		run.Close()
	}
}
