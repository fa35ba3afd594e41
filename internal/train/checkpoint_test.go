package train_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// A fuse is a context that ends when it was asked for its error so many times.
type fuse struct {
	context.Context
	callsLeft atomic.Int64
	calls     atomic.Int64
	done      chan struct{}
	end       sync.Once
}

func newFuse(ctx context.Context, left int64) *fuse {
	f := &fuse{Context: ctx, done: make(chan struct{})}
	f.callsLeft.Store(left)
	return f
}

func (f *fuse) Done() <-chan struct{} { return f.done }

func (f *fuse) Err() error {
	if f.calls.Add(1); f.callsLeft.Add(-1) >= 0 {
		return nil
	}
	f.end.Do(func() { close(f.done) })
	return context.Canceled
}

var allForms = flag.Bool("forms", false, "resume each training with rows in every form")

// TestResume: a training that is stopped at random moments, and goes on each time, gives the same model and the same sums of the weights
// as one that isn't stopped. Each training has its rows in one form. HALFSPACE_TEST=full tries every order of visits.
func TestResume(t *testing.T) {
	for k, c := range trainings {
		if c.learner == "separable" {
			continue // it saves nothing
		}
		all := c.inOrders()
		if require.Small() {
			all = all[k%len(all):][:1]
		}
		for j, c := range all {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				forms := c.forms(t, rowSets()[c.rows])
				for i, f := range forms {
					if *allForms || i == (k+j)%len(forms) {
						testResumed(t, c, f)
					}
				}
			})
		}
	}
}

// testResumed learns at once, and then with stops, and compares.
func testResumed(t *testing.T, c training, f form) {
	t.Helper()
	learn := func(ctx context.Context, run *checkpoint.Run) ([]byte, string, error) {
		file, receipt, err := c.learn(ctx, t, f.src, 1+rand.IntN(3), f.memory, run)
		if err != nil {
			return nil, "", err
		}
		sums, err := json.Marshal(receipt.Epochs)
		return file, string(sums), err
	}
	whole := newFuse(t.Context(), 1<<62)
	want, sums, err := learn(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, stops, mostStops := t.TempDir(), 0, 8
	if require.Small() {
		mostStops = 2
	}
	for {
		most := whole.calls.Load() * 5 / 4
		if stops > mostStops {
			most = 1 << 40
		}
		run := require.Value(checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Epochs: rand.Int64N(3), Every: time.Duration(1+rand.IntN(3)) * time.Millisecond}))(t)
		ctx := newFuse(t.Context(), rand.Int64N(most))
		got, trail, err := learn(ctx, run)
		run.Close()
		if err != nil {
			if ctx.callsLeft.Load() >= 0 {
				t.Fatalf("%s, after %d stops: %v", f.name, stops, err)
			}
			stops++
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s, after %d stops: the model is\n%.1000s\nwant\n%.1000s", f.name, stops, got, want)
		}
		if trail != sums {
			t.Errorf("%s, after %d stops: other sums of the weights", f.name, stops)
		}
		if files, _ := filepath.Glob(dir + "/*"); len(files) > 2 {
			t.Errorf("%q", files)
		}
		os.RemoveAll(dir)
		return
	}
}

// slowFile is a file that takes longer to read from than checkpoints are apart.
type slowFile struct{ block.Seekable }

func (s slowFile) ReadRows(rows []uint32, to *block.Block) error {
	time.Sleep(2 * time.Millisecond)
	return s.Seekable.ReadRows(rows, to)
}

func (s slowFile) ReadGroup(c int, to *block.Block) error {
	time.Sleep(time.Millisecond)
	return s.Seekable.ReadGroup(c, to)
}

// TestPauses: shards make their epochs even where a checkpoint is due again before their passes have gone on.
func TestPauses(t *testing.T) {
	t.Parallel()
	file := require.OpenFile(cache.Temporary(t.Context(), noiseRows(2*block.ChunkRows, 5, 2), nil))(t)
	for _, c := range []training{{"", "averaged", "shards=2 epochs=1 order=random"}, {"", "passive-aggressive", "shards=2 epochs=1 order=shuffle"}} {
		run := require.Value(checkpoint.Open(checkpoint.Options{Dir: t.TempDir(), Every: time.Millisecond}))(t)
		if _, _, err := c.learn(newFuse(t.Context(), 1e5), t, block.Source(slowFile{file}), 2, 0, run); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		run.Close()
	}
}

// TestResumeValidated: a training that had rows to validate on doesn't go on without them.
func TestResumeValidated(t *testing.T) {
	learner, rows := train.Describe("averaged"), noiseRows(50, 3, 2)
	dir := t.TempDir()
	for _, validation := range []block.Source{rows, nil} {
		run, err := checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		_, err = (&train.Session{Options: train.Options{Validation: validation}, Rows: rows, Learner: configure(learner, learner.New()), State: run}).Run(t.Context())
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

// TestRunInterrupted: a run that ctx ends leaves a checkpoint that isn't finished. So only a run that resumes may use the folder; it learns
// the model of a run that wasn't interrupted. A finished folder takes another run.
func TestRunInterrupted(t *testing.T) {
	x, y := testproblems.Circle(1000)
	rows, err := block.FromRows(x, y, block.RowOptions{})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	learn := func(resume bool, most int64) (model []byte, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		run, err := train.Run(ctx, rows, perceptron.New(perceptron.Options{}), train.Options{Checkpoint: train.Checkpoint{Dir: dir, Resume: resume, Epochs: 1},
			Watch: train.Watch{Progress: func(p learner.Progress) {
				if p.Epoch >= most {
					cancel()
				}
			}}})
		if err != nil {
			return nil, err
		}
		var file bytes.Buffer
		_, err = run.Model.WriteTo(&file)
		return file.Bytes(), err
	}
	const never = 1 << 40
	if _, err := learn(false, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if _, err := learn(false, never); !errors.Is(err, checkpoint.ErrUnfinished) {
		t.Fatalf("a run that doesn't resume: %v", err)
	}
	resumed := require.Value(learn(true, never))(t)
	if again := require.Value(learn(false, never))(t); !bytes.Equal(resumed, again) {
		t.Errorf("resumed:\n%s\nin one go:\n%s", resumed, again)
	}
}
