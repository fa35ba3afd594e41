package kernelperceptron

import (
	"context"
	"slices"
	"testing"

	"halfspace/gram"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// TestResumeMemory: a training that stops within a window of the whole matrix, goes on with a cache, stops within that epoch, and goes on
// with the whole matrix again and other workers, makes the mistakes and the scores of a training without a stop.
func TestResumeMemory(t *testing.T) {
	const n = mostCachedRows + 300
	d, _, _ := classes(n)
	dir := t.TempDir()
	run := func(memory int64, workers int, saved *checkpoint.Run, left int64) *training {
		opt := Settings{Options: Options{Order: learner.Shuffle, Epochs: 2, Eta: 1, Memory: memory, Kernel: gram.Kernel{Kind: "poly", Gamma: 0.1, Degree: 2}},
			Run: learner.Run{Workers: workers, Checkpoint: saved.Part(0)}}
		l := require.Value(newLearner(t.Context(), d, opt))(t)
		if err := l.Run(testproblems.NewCountdown(t.Context(), left)); err != nil && (err != context.Canceled || l.Epoch != 0) {
			t.Fatalf("epoch %d, error %v", l.Epoch, err)
		}
		require.NoError(t, saved.Save())
		saved.Close()
		return l
	}
	open := func(resume bool) *checkpoint.Run {
		return require.Value(checkpoint.Open(checkpoint.Options{Dir: dir, Resume: resume}))(t)
	}
	want := run(0, 1, nil, 1<<40)
	first := run(0, 2, open(false), 100)
	second := run(GramBytes(n)/4, 1, open(true), 200)
	if second.cache == nil || first.Visits == 0 || first.Visits%kernel.GroupRows == 0 || second.Visits <= first.Visits {
		t.Fatalf("%d visits, and then %d", first.Visits, second.Visits)
	}
	third := run(0, 3, open(true), 1<<40)
	for c, m := range third.binaries {
		w := want.binaries[c]
		if third.visits(m) != want.visits(w) || !slices.Equal(m.mistakes, w.mistakes) || !slices.Equal(m.scores, w.scores) {
			t.Errorf("class %d: %d mistakes in %d visits, and %d in %d without a stop", c, len(m.mistakes), third.visits(m), len(w.mistakes), want.visits(w))
		}
	}
}
