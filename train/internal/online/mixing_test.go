package online

import (
	"context"
	"errors"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// numberedRows returns rows whose only feature is their number.
func numberedRows(rows int) *block.Data {
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r], y[r] = []float64{float64(r + 1)}, 1
	}
	return testproblems.Dense(x, y, false)
}

// A counter is a member that counts its rows, and pauses once after the first.
type counter struct {
	rows      int64
	rowsSeen  int64
	hasPaused bool
	err       error
}

func (c *counter) Pass(ctx context.Context, _ int64) error {
	if c.rowsSeen++; !c.hasPaused {
		c.hasPaused = true
		return errPause
	}
	if c.err != nil {
		return c.err
	}
	c.rowsSeen = c.rows
	return nil
}

func (c *counter) Result() ShardResult { return ShardResult{Visits: c.rowsSeen} }

func (c *counter) Visits() int64 { return c.rowsSeen }

func (c *counter) State(w *checkpoint.Walk) { w.Int(&c.rowsSeen) }

func counters(t *testing.T, err error) *Shards {
	opt := learner.Options{Order: learner.Cyclic, Shards: 3, Run: learner.Run{Workers: 2}}
	x, failed := NewShards(block.AssumeValid(block.Source(numberedRows(20_000))), opt, func(rows block.Source, shard int) (Member, error) {
		c := &counter{rows: rows.Rows()}
		if shard == 1 {
			c.err = err
		}
		return c, nil
	}, nil)
	if failed != nil {
		t.Fatal(failed)
	}
	return x
}

// TestShards: members that pause go on, parts come in the order of the shards, and an epoch that failed goes on or is taken as it is.
func TestShards(t *testing.T) {
	counts := func(parts []ShardResult) (all []int64) {
		for _, p := range parts {
			all = append(all, p.Visits)
		}
		return all
	}
	parts, err := counters(t, nil).Epoch(t.Context(), 0, func() {})
	if want := []int64{4096, 8192, 20_000 - 3*4096}; err != nil || !slices.Equal(counts(parts), want) {
		t.Errorf("shards of %v rows (error %v), want %v", counts(parts), err, want)
	}
	failed := errors.New("failed")
	x := counters(t, failed)
	if _, err := x.Epoch(t.Context(), 0, func() {}); err != failed || x.members[1].Visits() != 2 {
		t.Errorf("error %v after %d visits", err, x.visits())
	}
	state := require.Value(checkpoint.Write(func(w *checkpoint.Walk) { x.State(w, 0) }))(t)
	again := counters(t, nil)
	if err := checkpoint.Read(state, func(w *checkpoint.Walk) { again.State(w, 0) }); err != nil || again.visits() != x.visits() {
		t.Errorf("%d visits after the state was read, want %d (error %v)", again.visits(), x.visits(), err)
	}
	if parts, err := again.Epoch(t.Context(), 0, func() {}); err != nil || counts(parts)[1] != 8192 || again.TakeResults() != nil {
		t.Errorf("then %v (error %v)", counts(parts), err)
	}
	if interrupted := counts(x.TakeResults()); interrupted[1] != 2 || x.visits() != 0 {
		t.Errorf("the epoch ends with %v", interrupted)
	}
	elsewhere := counters(t, nil)
	elsewhere.rows = nil
	if err := checkpoint.Read(state, func(w *checkpoint.Walk) { elsewhere.State(w, 0) }); err == nil {
		t.Error("a state with shards in an epoch is read where a cluster has the rows")
	}
}

// A quietRule makes no update. Its first verification fails.
type quietRule struct {
	Mixer
	hasFailed bool
}

func (q *quietRule) Visit(_ context.Context, p *Panel, _ []uint32) (int, int, error) {
	return p.Len(), 0, nil
}

func (q *quietRule) Weights() []float32 { return nil }

func (q *quietRule) Vectors() [][]float64 { return nil }

func (q *quietRule) verify(context.Context) (bool, error) {
	if !q.hasFailed {
		q.hasFailed = true
		return false, context.Canceled
	}
	return false, nil
}

// quiet is the algorithm of a quietRule.
type quiet struct{ learner.Algorithm }

func (quiet) Rule(_ context.Context, t *Training) (Rule, error) {
	q := new(quietRule)
	t.Streak = &Streak{AnyUpdates: q.verify}
	return q, nil
}

// TestShardVerifies: a shard that is interrupted while it looks for a row to update on looks again when it goes on.
func TestShardVerifies(t *testing.T) {
	l := &learner.Learner{Options: []learner.Option{learner.OrderOption}, Algorithm: quiet{}}
	shard := require.Value(newShard(l, nil, learner.Options{Order: learner.Random}, numberedRows(3), 0))(t)
	m := trainingMember{shard}
	if err := m.Pass(t.Context(), 0); err != context.Canceled {
		t.Fatalf("error %v, want the error of Verify", err)
	}
	if err := m.Pass(t.Context(), 0); err != nil || !m.Result().ChangesNothing || m.Visits() != 3 {
		t.Errorf("clean %t after %d visits (error %v), want yes after 3", m.Result().ChangesNothing, m.Visits(), err)
	}
}
