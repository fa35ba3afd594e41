package kernelperceptron

import (
	"context"
	"slices"
	"testing"

	"halfspace/gram"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestResumeMemory: a training that stops before a window of the whole matrix, goes on with a cache, stops inside of that epoch, and goes
// on with the whole matrix again and other workers, makes the mistakes of one that doesn't stop, and has its scores.
func TestResumeMemory(t *testing.T) {
	const n = fewRows + 300
	d, _, _ := classes(n)
	var state []byte
	begin := func(memory int64, workers int) *training {
		opt := Settings{Options: Options{Order: learner.Shuffle, Epochs: 2, Eta: 1, Memory: memory, Kernel: gram.Kernel{Kind: "poly", Gamma: 0.1, Degree: 2}}, Run: learner.Run{Workers: workers}}
		l, err := newLearner(t.Context(), d, opt)
		if err == nil && state != nil {
			err = checkpoint.Read(state, l.state)
		}
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	keep := func(l *training) {
		var err error
		if state, err = checkpoint.Write(l.state); err != nil {
			t.Fatal(err)
		}
	}
	want := begin(0, 1)
	require.NoError(t, want.run(t.Context()))

	first := begin(0, 2)
	p, rows := learner.NewPermutation(n, 0, 0), []uint32(nil)
	for k := range p.Windows() {
		rows = p.Rows(rows, k)
	}
	stop := p.Windows() / 2
	if err := first.stretch(t.Context(), rows, func(k int) []uint32 {
		if k == stop {
			keep(first)
		}
		return p.Window(k)
	}); err != nil || stop == 0 {
		t.Fatal(err)
	}
	second := begin(Bytes(n)/4, 1)
	if err := second.run(testproblems.NewCountdown(t.Context(), 20)); err != context.Canceled || second.cache == nil || second.epoch != 0 || !second.inside {
		t.Fatalf("epoch %d, error %v", second.epoch, err)
	}
	keep(second)
	third := begin(0, 3)
	require.NoError(t, third.run(t.Context()))
	for c, m := range third.binaries {
		w := want.binaries[c]
		if m.visits != w.visits || !slices.Equal(m.mistakes, w.mistakes) || !slices.Equal(m.scores, w.scores) {
			t.Errorf("class %d: %d mistakes in %d visits, and %d in %d without a stop", c, len(m.mistakes), m.visits, len(w.mistakes), w.visits)
		}
	}
}
