package dualdescent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// losses are the problems, each with the number of classes that its test rows have.
var losses = map[string]struct {
	problem
	classes int
}{"hinge": {hinge{}, 2}, "squared hinge": {squaredHinge{}, 2}, "crammer singer": {crammerSinger(3), 3}}

// classRows returns rows of the classes of a loss.
func classRows(n, features, classes int, bias bool) *block.Data {
	x, y := testproblems.FewElements(n, features)
	if classes == 2 {
		return testproblems.Dense(x, y, bias)
	}
	for r := range y {
		if y[r] = max(0, y[r]); x[r][0]+x[r][1]+x[r][2] > 0.3 {
			y[r] = 2
		}
	}
	return testproblems.Classes(x, y, classes, bias)
}

func task(rows block.Source, l2 float64, opt learner.Options) *optimize.Task {
	return &optimize.Task{Penalty: optimize.Penalty{L2: l2}, Options: opt, Rows: rows}
}

// TestLimit: dual coordinate descent trains within any limit of passes that leaves one for a sweep. It stops at the limit only
// if the passes left are too few for a sweep and a measurement.
func TestLimit(t *testing.T) {
	for name, loss := range losses {
		for _, bias := range []bool{false, true} {
			d, least := classRows(600, 100, loss.classes, bias), int64(4)
			if bias {
				least = 5
			}
			for limit := least; limit < 100; limit++ {
				s := require.Value(solve(t.Context(), task(d, 1, learner.Options{Epochs: limit}), loss.problem, int64(limit), 1))(t)
				if s.Passes > limit || s.Steps == 0 || s.OutOfPasses && s.Passes+least-1 <= limit {
					t.Errorf("%s, bias %t, at most %d passes: %d passes, %d steps, out of passes %t", name, bias, limit, s.Passes, s.Steps, s.OutOfPasses)
				}
				if !s.OutOfPasses {
					break
				}
			}
		}
	}
}

// TestBias: dual coordinate descent of the hinge takes at most half as many passes again with a bias. A bias that has to go far for a
// great penalty gets there; of three classes, whose biases move in turn, up to an l2 of 10,000.
func TestBias(t *testing.T) {
	for name, loss := range losses {
		passes := func(l2 float64, bias bool) int64 {
			s := require.Value(solve(t.Context(), task(classRows(600, 900, loss.classes, bias), l2, learner.Options{Epochs: 1000}), loss.problem, 1000, 1))(t)
			if s.Gap() > 1e-6*s.Objective {
				t.Errorf("%s, l2 %v, bias %t: the gap is %v of %v after %d passes", name, l2, bias, s.Gap(), s.Objective, s.Passes)
			}
			return s.Passes
		}
		for _, l2 := range []float64{0.01, 0.1, 1, 1e4, 1e8} {
			if l2 > 1e4 && loss.classes > 2 {
				continue
			}
			with, without := passes(l2, true), passes(l2, false)
			if l2 <= 1 && 2*with > 3*without && loss.classes == 2 {
				t.Errorf("%s, l2 %v: %d passes with a bias, %d without", name, l2, with, without)
			}
		}
	}
}

// TestSquaredHinge: the minimum of the squared hinge is the one that Newton's method finds, with a bias and without, and with
// sample weights.
func TestSquaredHinge(t *testing.T) {
	for _, bias := range []bool{false, true} {
		for _, l2 := range []float64{0.01, 1, 100} {
			d := testproblems.Weighted(classRows(400, 300, 2, bias), func(r int) float64 { return float64(r%4) / 2 })
			tk := task(d, l2, learner.Options{Epochs: 1000, Run: learner.Run{Workers: 2}})
			tk.Loss = func(z, factor, curvature, loss, y []float64) {
				for i, label := range y {
					z[i] *= label
					u := max(0, 1-z[i])
					factor[i], loss[i], curvature[i] = -2*label*u, u*u, 0
					if u > 0 {
						curvature[i] = 2
					}
				}
			}
			got := require.Value(SquaredHinge(t.Context(), tk, 1000))(t)
			want := require.Value(tk.Truncated(t.Context()))(t)
			if !(got.Gap() <= 1e-6*got.Objective) || math.Abs(got.Objective-want.Objective) > 2e-6*want.Objective {
				t.Errorf("bias %t, l2 %v: objective %v and gap %v, want objective %v", bias, l2, got.Objective, got.Gap(), want.Objective)
			}
		}
	}
}

// TestPasses: moves of all variables between the passes save a third of the passes, which are 99 and 158 without them.
func TestPasses(t *testing.T) {
	for d, most := range map[*block.Data]int64{classRows(100, 300, 2, false): 75, classRows(300, 400, 2, false): 105} {
		s := require.Value(Hinge(t.Context(), task(d, 0.01, learner.Options{Epochs: 1000}), 1000))(t)
		if s.Passes > most || s.Gap() > 1e-6*s.Objective {
			t.Errorf("%d rows: %d passes bring the gap to %v of %v, want at most %d", d.Rows(), s.Passes, s.Gap(), s.Objective, most)
		}
	}
}

// TestAccelerate: accelerate never lowers the dual objective by more than rounding errors, and raises it often. The variables stay
// allowed, and the bias of its move belongs to the move's dual variables.
func TestAccelerate(t *testing.T) {
	for name, loss := range losses {
		for _, bias := range []bool{false, true} {
			if bias && loss.classes > 2 {
				continue // accelerate does nothing
			}
			for _, l2 := range []float64{1e-4, 0.01, 1} {
				d := testproblems.Weighted(classRows(300, 400, loss.classes, bias), func(row int) float64 { return float64(row % 3) })
				s, rises, calls := newSearch(task(d, l2, learner.Options{Epochs: 1000}), loss.problem, 1), 0, 0
				if err := s.begin(t.Context()); err != nil {
					t.Fatal(err)
				}
				for sweep := range 40 {
					require.Value(s.sweep(t.Context()))(t)
					before, elements := s.value(s.Variables), s.ElementsVisited
					require.Value(s.accelerate(t.Context(), &s.dual))(t)
					if s.ElementsVisited < elements {
						calls++
					}
					after := s.value(s.Variables)
					if !(after >= before-1e-11*math.Abs(before)) {
						t.Errorf("%s, bias %t, l2 %v, sweep %d: accelerate takes the dual objective from %v to %v", name, bias, l2, sweep, before, after)
					}
					kept := newVariables(s.features, len(s.rows), s.vectors())
					kept.set(s.LastMove)
					if s.rebias(kept, true); !slices.Equal(kept.Bias, s.LastMove.Bias) {
						t.Errorf("%s, bias %t, l2 %v, sweep %d: the move has the biases %v, want %v", name, bias, l2, sweep, s.LastMove.Bias, kept.Bias)
					}
					kept.set(s.Variables)
					none := newVariables(s.features, len(s.rows), s.vectors())
					if require.Value(s.projectAll(t.Context(), kept, none))(t) > 0 {
						t.Errorf("%s, bias %t, l2 %v, sweep %d: variables aren't allowed", name, bias, l2, sweep)
					}
					if after > before {
						rises++
					}
					s.includeAllRows()
				}
				if rises < calls/10 || calls < 3 {
					t.Errorf("%s, bias %t, l2 %v: %d of %d calls of accelerate raise the dual objective", name, bias, l2, rises, calls)
				}
			}
		}
	}
}

// TestResume: a search that stops after some passes, and goes on from its checkpoint, has the same weights, with rows in memory and with
// rows that are read in each pass.
func TestResume(t *testing.T) {
	for name, loss := range losses {
		d := classRows(600, 100, loss.classes, true)
		find := func(ctx context.Context, rows block.Source, run learner.Run) (*optimize.Solution, error) {
			return solve(ctx, task(rows, 0.01, learner.Options{Epochs: 40, Run: run}), loss.problem, 40, 1)
		}
		want := require.Value(find(t.Context(), d, learner.Run{}))(t)
		for after := int64(2); after < want.Passes; after += 1 + after/4 {
			for form, rows := range map[string]block.Source{"memory": d, "stream": testproblems.Stream{Data: d}} {
				dir := t.TempDir()
				open := func() *checkpoint.Run {
					return require.Value(checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Epochs: 1}))(t)
				}
				run := open()
				ctx, cancel := context.WithCancel(t.Context())
				_, err := find(ctx, rows, learner.Run{Checkpoint: run.Part(0), Progress: func(p learner.Progress) {
					if p.Epoch >= after {
						cancel()
					}
				}})
				run.Close()
				if cancel(); err == nil {
					t.Fatalf("%s, %s: a search that was cancelled after %d passes returns no error", name, form, after)
				}
				run = open()
				got := require.Value(find(t.Context(), rows, learner.Run{Checkpoint: run.Part(0)}))(t)
				run.Close()
				if !slices.Equal(got.W, want.W) || got.Passes != want.Passes || got.Steps != want.Steps {
					t.Errorf("%s, %s, stopped after %d passes: %d passes and %d steps, want %d and %d", name, form, after, got.Passes, got.Steps, want.Passes, want.Steps)
				}
			}
		}
	}
}

// TestProject: the projection is the nearest of many variables that a row may have, and is itself allowed.
func TestProject(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for range 2000 {
		n, bound := 2+rng.IntN(5), math.Exp(3*rng.NormFloat64())
		p, y := crammerSinger(n), float64(rng.IntN(n))
		from := make([]float64, n)
		for k := range from {
			from[k] = bound * rng.NormFloat64()
		}
		got := slices.Clone(from)
		p.project(y, bound, got)
		square := func(a []float64) (sum float64) {
			for k, v := range a {
				sum += (v - from[k]) * (v - from[k])
			}
			return sum
		}
		sum := 0.0
		for k, v := range got {
			if sum += v; k != int(y) && v > 0 || v > bound {
				t.Fatalf("%v of class %v with the bound %v is projected to %v", from, y, bound, got)
			}
		}
		if math.Abs(sum) > 1e-12*bound {
			t.Fatalf("the variables %v have the sum %v", got, sum)
		}
		other := make([]float64, n)
		for range 50 {
			clear(other)
			left := bound * rng.Float64()
			other[int(y)] = left
			for k := range other {
				if k != int(y) {
					v := left * rng.Float64()
					if last := k == n-1 || k == n-2 && int(y) == n-1; last {
						v = left
					}
					other[k], left = -v, left-v
				}
			}
			share := rng.Float64()
			for k, v := range other { // also close to the projection
				other[k] = got[k] + share*(v-got[k])
			}
			if square(other) < square(got)-1e-9*bound*bound {
				t.Fatalf("%v of class %v with the bound %v is projected to %v, and %v is nearer", from, y, bound, got, other)
			}
		}
	}
}

// TestBound: on random problems, the lower bound is never above the objective of any weights, at any moment of the search.
func TestBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	for name, loss := range losses {
		for _, bias := range []bool{false, true} {
			d := classRows(120, 6, loss.classes, bias)
			best := require.Value(solve(t.Context(), task(d, 1, learner.Options{Epochs: 5000}), loss.problem, 5000, 1))(t)
			for range 20 {
				s := newSearch(task(d, 1, learner.Options{Epochs: 1000}), loss.problem, rng.Uint64())
				if err := s.begin(t.Context()); err != nil {
					t.Fatal(err)
				}
				for range 1 + rng.IntN(4) {
					require.Value(s.sweep(t.Context()))(t)
				}
				if err := s.measure(t.Context()); err != nil {
					t.Fatal(err)
				}
				if s.LowerBound > best.Objective || s.objective() < best.LowerBound {
					t.Errorf("%s, bias %t: bounds from %v to %v, and the minimum is from %v to %v", name, bias, s.LowerBound, s.objective(), best.LowerBound, best.Objective)
				}
			}
		}
	}
}
