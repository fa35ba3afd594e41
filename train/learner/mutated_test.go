package learner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// TestMutated changes right rows at random, twice. A learner returns an error, or what it learns of the right rows.
func TestMutated(t *testing.T) {
	rounds := uint64(200)
	if require.Small() {
		rounds = 100
	}
	cases, clean, outcomes := learnerCases(), map[string][]float64{}, map[bool]int{}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 16))
		l := cases[rng.IntN(len(cases))]
		classes, weighted, workers := l.classes[rng.IntN(len(l.classes))], l.weights && rng.IntN(2) > 0, 1+2*rng.IntN(2)
		rows := block.ChunkRows + 300
		if l.memory || l.unlearned { // these take long
			rows = 300
		}
		right := programRows(rows, classes, weighted)
		key := fmt.Sprint(l.name, classes, weighted)
		if clean[key] == nil {
			w, err := l.learn(context.Background(), right.data(), workers)
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			clean[key] = w
		}
		p := right.clone()
		what, other := p.mutate(rng)
		if other || l.memory && what == "sparse rows" {
			continue
		}
		for form, src := range l.sources(p) {
			if form == "seekable" && (slices.Contains(p.blocks, nil) || slices.ContainsFunc(p.blocks, func(b *block.Block) bool { return b.Sparse != nil || b.Stride < 8 })) {
				continue
			}
			w, err := l.learn(context.Background(), src, workers)
			outcomes[err == nil]++
			if err == nil && !slices.Equal(w, clean[key]) {
				t.Errorf("seed %d, %s, %s, %s: learned %v, want %v or an error", seed, key, what, form, w, clean[key])
			}
		}
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("learned and refused: %v", outcomes)
	}
}

// TestWrongElsewhere: other functions that take rows of programs return an error if rows are wrong. They set their
// figures instead of adding to them.
func TestWrongElsewhere(t *testing.T) {
	ctx := context.Background()
	r := learner.Result{Weights: []float32{1, 0, 0, -0.5}, Errors: 7, Margin: 5}
	d := programRows(10000, 2, false).data()
	for range 2 {
		require.NoError(t, learner.Evaluate(ctx, d, 2, &r))
	}
	counts, err := pocket.Errors(ctx, d, append(slices.Clone(r.Weights), 0, 0, 0, 0), 2)
	if err != nil || r.Errors != counts[0] || r.Margin != 0 {
		t.Errorf("evaluated twice: errors %d, margin %v, want %v and 0, %v", r.Errors, r.Margin, counts, err)
	}
	unlabelled, numbers := programRows(10000, 2, false), programRows(10000, 3, false)
	unlabelled.blocks[1].Y, numbers.blocks[2].Y[3] = nil, 7
	three := numbers.data()
	for name, c := range map[string]struct {
		want string
		run  func() error
	}{
		"errors without labels": {"no labels", func() error { _, err := pocket.Errors(ctx, unlabelled.data(), make([]float32, 8), 2); return err }},
		"part of a candidate":   {"aren't a multiple", func() error { _, err := pocket.Errors(ctx, d, make([]float32, 9), 2); return err }},
		"dirty candidate":       {"isn't 0 after", func() error { _, err := pocket.Errors(ctx, d, []float32{0, 0, 0, 0, 1, 0, 0, 0}, 2); return err }},
		"pocket of classes": {"3 classes", func() error {
			_, err := pocket.Errors(ctx, programRows(100, 3, false).data(), make([]float32, 8), 2)
			return err
		}},
		"evaluate unlabelled": {"no labels", func() error { return learner.Evaluate(ctx, unlabelled.data(), 2, &r) }},
		"evaluate few weights": {"not a multiple of 4", func() error {
			return learner.Evaluate(ctx, d, 2, &learner.Result{Weights: make([]float32, 3)})
		}},
		"evaluate one vector of three": {"1 vectors of weights for 3 classes", func() error {
			return learner.Evaluate(ctx, three, 2, &learner.Result{Weights: make([]float32, 4)})
		}},
		"counts of a class beyond": {"the label is 7", func() error { _, err := learner.ClassCounts(ctx, three, 2); return err }},
		"class beyond, with class weights": {"the label is 7", func() error {
			_, err := perceptron.Train(ctx, learner.WithClassWeights(three, []float64{1, 2, 3}), perceptron.Settings{})
			return err
		}},
		"too few class weights": {"the weight is NaN", func() error {
			_, err := perceptron.Train(ctx, learner.WithClassWeights(d, []float64{1}), perceptron.Settings{})
			return err
		}},
		"class beyond versus the rest": {"the label is NaN", func() error {
			_, err := perceptron.Train(ctx, learner.VersusRest(three, 1), perceptron.Settings{})
			return err
		}},
		"other classes to validate on": {"give both the same Spec", func() error {
			v := programRows(100, 2, false)
			v.spec.Positive = schema.FirstClass
			_, err := perceptron.TrainValidated(ctx, d, v.data(), perceptron.Settings{})
			return err
		}},
	} {
		if err := c.run(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := gram.NewRowCache(t.Context(), gram.RowsOf(block.NewData(d.Spec(), nil)), gram.Kernel{}, 1<<20, 2); err == nil {
		t.Error("a row cache of no rows: no error")
	}
	short := programRows(10000, 2, false)
	short.blocks[1].X = short.blocks[1].X[:100]
	m, _ := gram.NewSymmetric(4196, gram.Packed)
	if err := gram.Gram(ctx, m, gram.RowsOf(short.data()), gram.Kernel{}, 2); err == nil || !strings.Contains(err.Error(), "whole rows") {
		t.Errorf("the Gram matrix of a short block: %v", err)
	}
}

// TestCheckedOnce: the result of Check isn't checked again. The caller's own rows are.
func TestCheckedOnce(t *testing.T) {
	p := programRows(5000, 2, false)
	d := p.data()
	checked := require.Value(block.Validate(context.Background(), d, 1))(t)
	p.blocks[0].Y[0] = 0
	if again, err := block.Validate(context.Background(), checked, 1); err != nil || again != checked {
		t.Errorf("checked again: %v", err)
	}
	if _, err := block.Validate(context.Background(), d, 1); err == nil {
		t.Error("rows that were changed after a check pass the next one")
	}
}

// TestBlockVectors: vectors of a wrong length make a block's methods panic with a constant, before they write anything.
func TestBlockVectors(t *testing.T) {
	b := programRows(100, 2, false).blocks[0]
	for name, call := range map[string]func(w []float32){
		"Scores":    func(w []float32) { b.Scores(w, make([]float32, 100)) },
		"Dot":       func(w []float32) { b.Dot(0, w) },
		"Axpy":      func(w []float32) { b.Axpy(w, 1, 0) },
		"RowScores": func(w []float32) { b.RowScores(0, w, make([]float32, 3)) },
	} {
		for _, n := range []int{0, 4, 7, 9, 16} {
			w := make([]float32, n)
			func() {
				defer func() {
					if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "block: ") {
						t.Errorf("%s with %d weights panics with %v", name, n, s)
					}
				}()
				call(w)
			}()
			if slices.ContainsFunc(w, func(v float32) bool { return v != 0 }) {
				t.Errorf("%s wrote %v", name, w)
			}
		}
	}
}
