package passive

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/train"
)

func mustTrain(t *testing.T, src block.Source, opt Options) *train.Result {
	t.Helper()
	r, err := Train(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// near fails unless weights agree but for the rounding of sums.
func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	scale := 1.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i, v := range want {
		if len(got) != len(want) || !(math.Abs(got[i]-v) <= 1e-6*scale) {
			t.Fatalf("%s: weights %v, want %v", name, got, want)
		}
	}
}

// TestScikitLearn: five epochs in file order give the weights of scikit-learn's PassiveAggressiveClassifier.
// testdata/sklearn_passive.py made the fixture.
func TestScikitLearn(t *testing.T) {
	data, err := os.ReadFile("testdata/sklearn_passive.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Epochs int64
		Cases  []struct {
			Loss       Loss
			C          float64
			Bias       bool
			X          [][]float64
			Y, Weights []float64
		}
	}
	if err := json.Unmarshal(data, &fixture); err != nil || len(fixture.Cases) != 12 {
		t.Fatalf("%d cases, error %v", len(fixture.Cases), err)
	}
	for _, c := range fixture.Cases {
		r := mustTrain(t, testrows.Dense(c.X, c.Y, c.Bias), Options{Options: train.Options{Epochs: fixture.Epochs}, Loss: c.Loss, C: c.C})
		near(t, string(c.Loss), testrows.Float64s(r.Weights), c.Weights)
	}
}

// literal is the algorithm of the paper, for labels that are class numbers. Of two classes, the second is positive.
func literal(b *block.Block, classes int, opt Options) (w [][]float64, updates int64) {
	w = make([][]float64, classes)
	for c := range w {
		w[c] = make([]float64, b.Cols)
	}
	for range opt.Epochs {
		for r := range b.Len() {
			x, square := testrows.Float64s(b.X[r*b.Stride:][:b.Cols]), 0.0
			scores := make([]float64, classes)
			for i, v := range x {
				square += v * v
				for c := range w {
					scores[c] += w[c][i] * v
				}
			}
			own, rival := int(b.Y[r]), -1
			if classes == 1 { // one vector: the rival's score is that of -w
				if b.Y[r] < 0 {
					scores[0] = -scores[0]
				}
				own = 0
			}
			for c, s := range scores {
				if c != own && (rival < 0 || s > scores[rival]) {
					rival = c
				}
			}
			loss, norm := 1-scores[own], square
			if classes > 1 {
				loss, norm = 1-scores[own]+scores[rival], 2*square
			}
			t := math.Min(opt.C*b.Weight(r), loss/norm)
			if opt.Loss == SquaredHinge {
				t = loss / (norm + 1/(2*opt.C*b.Weight(r)))
			}
			if loss <= 0 || t == 0 {
				continue
			}
			updates++
			for i, v := range x {
				switch {
				case classes == 1:
					w[0][i] += t * float64(b.Y[r]) * v
				default:
					w[own][i] += t * v
					w[rival][i] -= t * v
				}
			}
		}
	}
	return w, updates
}

// weightOf is a weight of each row, some of them 0.
func weightOf(r int) float64 { return float64(r%4) / 2 }

// TestLiteral compares with a program that says the algorithm literally: two and three classes, weighted rows or not.
func TestLiteral(t *testing.T) {
	for _, loss := range Losses {
		for _, classes := range []int{2, 3} {
			src := testrows.RandomClasses(300, 4, classes, 0.1)
			if classes == 2 {
				src = twoClasses(300, 4, 0.1)
			}
			for _, src := range []*block.Data{src, testrows.Weighted(src, weightOf)} {
				opt := Options{Options: train.Options{Epochs: 3}, Loss: loss, C: 0.3}
				r := mustTrain(t, src, opt)
				for b := range src.Blocks(context.Background()) {
					want, updates := literal(b, src.Spec().Vectors(), opt)
					near(t, string(loss), testrows.Float64s(r.Weights), slices.Concat(want...))
					if r.Updates != updates || r.Visits != 900 || r.Epochs != 3 {
						t.Errorf("%s, %d classes: %d updates in %d visits, want %d", loss, classes, r.Updates, r.Visits, updates)
					}
				}
			}
		}
	}
}

// twoClasses returns normal rows with a bias and a share of wrong labels; without those, a plane separates them.
func twoClasses(rows, features int, wrong float64) *block.Data {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(features)))
	var x [][]float64
	var y []float64
	for range rows {
		row, sum := make([]float64, features), 0.5
		for i := range row {
			row[i] = float64(float32(rng.NormFloat64()))
			sum += row[i] * float64(i%3-1)
		}
		label := math.Copysign(1, sum)
		row[0] -= label / 4 // a gap
		if rng.Float64() < wrong {
			label = -label
		}
		x, y = append(x, row), append(y, label)
	}
	return testrows.Dense(x, y, true)
}

// TestStep: an update is the paper's minimum. It solves the loss of the row, up to the limit C, and changes the weights
// along the row alone.
func TestStep(t *testing.T) {
	src := twoClasses(200, 6, 0.2)
	for _, opt := range []Options{{C: 1e12}, {C: 0.05}, {C: 1e12, Loss: SquaredHinge}, {C: 0.05, Loss: SquaredHinge}} {
		s, err := newStepper(src.Spec(), opt)
		if err != nil {
			t.Fatal(err)
		}
		scores, limited := make([]float32, 1), 0
		for b := range src.Blocks(context.Background()) {
			for r, y := range b.Y {
				before := slices.Clone(s.w)
				updated := s.Step(scores, b, r, y)
				loss, after := 1-float64(y)*float64(scores[0]), 1-float64(y)*float64(b.Dot(r, s.w))
				if updated != (loss > 0) || !updated && !slices.Equal(before, s.w) {
					t.Fatalf("row %d: loss %v, updated %v", r, loss, updated)
				}
				if !updated {
					continue
				}
				size := float64(y * (s.w[len(src.Spec().Features)] - before[len(src.Spec().Features)])) // the bias of a row is 1
				// The slope of the objective along the row is 0 at the minimum, or the loss is 0 there.
				slope := size - opt.C
				if opt.Loss == SquaredHinge {
					slope = size - 2*opt.C*after
				}
				if atLimit := math.Abs(slope) < 1e-5*(1+opt.C); atLimit {
					limited++
				} else if math.Abs(after) > 1e-4 || size > opt.C {
					t.Errorf("%+v, row %d: loss %v before, %v after a step of %v", opt, r, loss, after, size)
				}
			}
		}
		if limited == 0 && opt.C < 1 {
			t.Errorf("%+v: no step was limited", opt)
		}
	}
}

// TestBounds: sums of losses and numbers of mistakes keep the bounds of the paper, theorems 2, 4 and 5, for the plane
// that made the labels, and for others.
func TestBounds(t *testing.T) {
	for _, wrong := range []float64{0, 0.15} {
		src := twoClasses(2000, 6, wrong)
		for b := range src.Blocks(context.Background()) {
			radius := b.MaxSquaredNorm()
			for _, opt := range []Options{{C: 1e9}, {C: 0.1}, {C: 10}, {C: 0.1, Loss: SquaredHinge}, {C: 10, Loss: SquaredHinge}} {
				s, err := newStepper(src.Spec(), opt)
				if err != nil {
					t.Fatal(err)
				}
				squares, mistakes, scores := 0.0, 0.0, make([]float32, 1)
				for r, y := range b.Y {
					s.Step(scores, b, r, y)
					squares += math.Pow(max(0, 1-float64(y)*float64(scores[0])), 2)
					if y*scores[0] <= 0 {
						mistakes++
					}
				}
				for _, scale := range []float64{0.5, 1, 4, 8} {
					u := block.Alloc[float32](b.Stride)
					for i := range 6 {
						u[i] = float32(scale) * float32(i%3-1)
					}
					u[6] = float32(scale / 2)
					norm, losses, squared := float64(kernel.Dot(u, u)), 0.0, 0.0
					for r, y := range b.Y {
						l := max(0, 1-float64(y)*float64(b.Dot(r, u)))
						losses, squared = losses+l, squared+l*l
					}
					switch {
					case opt.Loss == SquaredHinge:
						if bound := (radius + 1/(2*opt.C)) * (norm + 2*opt.C*squared); squares > bound {
							t.Errorf("%+v: squared losses %v, bound %v", opt, squares, bound)
						}
					case max(radius, 1/opt.C)*(norm+2*opt.C*losses) < mistakes:
						t.Errorf("%+v: %v mistakes, bound %v", opt, mistakes, max(radius, 1/opt.C)*(norm+2*opt.C*losses))
					case opt.C == 1e9 && losses == 0 && squares > radius*norm:
						t.Errorf("squared losses %v, bound %v", squares, radius*norm)
					}
				}
			}
		}
	}
}

// TestSame: the weights are the same for dense and sparse rows, in memory, streamed and in a cache, on every instruction
// set and for every number of workers.
func TestSame(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, classes := range []int{2, 3} {
		data := testrows.RandomClasses(5000, 9, 3, 0.1)
		if classes == 2 {
			data = twoClasses(5000, 9, 0.1)
		}
		data = testrows.Weighted(data, weightOf)
		file, err := cache.Temporary(context.Background(), data, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, order := range train.Orders {
			opt := Options{Options: train.Options{Order: order, Epochs: 2, Seed: 3}, C: 0.2}
			want := mustTrain(t, data, opt)
			for _, level := range kernel.Levels() {
				kernel.Use(level)
				forms := []block.Source{testrows.Sparse(data), file}
				if order == train.Cyclic {
					forms = append(forms, testrows.Stream{Data: data})
				}
				for workers, src := range append(forms, data) {
					opt.Workers = workers + 1
					if got := mustTrain(t, src, opt); !slices.Equal(got.Weights, want.Weights) || got.Updates != want.Updates || got.Errors != want.Errors {
						t.Errorf("%s, %s, %T: weights %v, want %v", order, level, src, got.Weights, want.Weights)
					}
				}
			}
			kernel.Use(best)
		}
	}
}

// TestConverges: once no row has a loss, the training stops. A separable set that the first epoch solves shows that.
func TestConverges(t *testing.T) {
	src := testrows.Dense([][]float64{{2, 0}, {0, -2}, {4, 1}}, []float64{1, -1, 1}, false)
	r := mustTrain(t, src, Options{C: 1000})
	if !r.Converged || r.Epochs != 2 || r.Errors != 0 || r.Updates != 2 || !slices.Equal(r.Weights, []float32{0.5, 0.5}) {
		t.Errorf("%+v", r)
	}
}

func TestErrors(t *testing.T) {
	src := twoClasses(20, 2, 0)
	for want, c := range map[string]struct {
		src block.Source
		opt Options
	}{
		"C is -1: use a number above 0": {src, Options{C: -1}},
		"C is NaN":                      {src, Options{C: math.NaN()}},
		`unknown loss "cubic"`:          {src, Options{Loss: "cubic"}},
		"no rows":                       {block.NewData(src.Spec(), nil), Options{}},
		"in memory or in a cache file":  {testrows.Stream{Data: src}, Options{Options: train.Options{Order: train.Shuffle}}},
	} {
		if _, err := Train(context.Background(), c.src, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
