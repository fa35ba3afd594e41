package export

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/predict"
	"halfspace/schema"
)

// A sample is a model with rows of numbers for it.
type sample struct {
	name string
	m    *model.Model
	rows [][]float64
}

// samples returns a model of each kind: of two or three classes, standardized or not, with means or without, with a column of
// categories, and each class positive. Names of features and classes have what source files must escape.
func samples(t *testing.T, rows int) []sample {
	t.Helper()
	var all []sample
	for n := range 36 { // the last ones with a calibration by Platt
		i := n % 32
		bit := func(k int) bool { return i>>k&1 == 1 }
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		spec := &schema.Spec{Bias: i%3 != 0, Label: "is it */ ??/\\ \"so\"\n", Classes: []schema.Class{schema.StringClass("\"no\"\n??/ \\"), schema.StringClass("größer")}}
		if bit(0) {
			spec.Classes = []schema.Class{schema.IntClass(-3), schema.IntClass(0), schema.IntClass(7)}
		}
		spec.SetPositive(i / 2 % 2)
		numbers := []schema.Column{{Name: "a */", Kind: schema.NumberColumn}, {Name: "b\n??/\\", Kind: schema.NumberColumn}, {Name: "l", Kind: schema.ListColumn, Elements: 3}}
		spec.Preprocessing = &schema.Preprocessing{Nulls: schema.NullsError, Columns: append(numbers, schema.Column{Name: "c", Kind: schema.OneHotColumn, Categories: []string{"\"x\"", "y"}})}
		if bit(3) {
			spec.Preprocessing.Nulls = schema.NullsMean
		}
		for k := range numbers {
			c := &spec.Preprocessing.Columns[k]
			for range c.Width() {
				if bit(2) {
					c.Center, c.Scale = append(c.Center, rng.NormFloat64()*10), append(c.Scale, math.Exp(rng.NormFloat64()))
				}
				if bit(3) {
					c.Means = append(c.Means, rng.NormFloat64())
				}
			}
		}
		if bit(2) && !bit(3) {
			spec.Preprocessing.Nulls = schema.NullsZero
		}
		spec.Features = nil
		for k := range spec.Preprocessing.Columns {
			spec.Features = append(spec.Features, spec.Preprocessing.Columns[k].Names()...)
		}
		weights := make([]float32, spec.Vectors()*spec.Cols())
		for k := range weights {
			weights[k] = float32(rng.NormFloat64() * math.Exp(3*rng.NormFloat64()))
		}
		m := model.New(spec, weights)
		m.Algorithm = []string{"of two\nlines */ ??/\\", "logistic", "logistic"}[i%3]
		if bit(0) {
			m.Options.Multiclass = []string{model.OneVersusRest, model.Joint}[i/2%2]
		}
		if n != i {
			m.Algorithm, m.Calibration = "svm", &model.Calibration{Method: model.Platt, Folds: 5}
			for k := range m.Weights {
				m.Calibration.Classes = append(m.Calibration.Classes, model.Mapping{A: -0.75 - float64(k), B: 0.5 * float64(k-1)})
			}
		}
		all = append(all, sample{fmt.Sprintf("m%d", n), m, randomRows(rng, m, rows)})
	}
	for k, of := range []int{0, 2, 4, 18, 22, 34, 28} { // models with thresholds: with scores and with probabilities
		m := *all[of].m
		if k%3 == 1 {
			m.Classes, m.Positive = []schema.Class{schema.IntClass(-3), schema.IntClass(7)}, schema.IntClass([]int64{-3, 7}[k/3%2])
		}
		m.SetThreshold([]float64{-20.1, 3.3, 0.7}[k%3])
		all = append(all, sample{fmt.Sprintf("t%d", of), &m, all[of].rows})
	}
	return all
}

// randomRows returns rows of float32 numbers for a model. Some have missing values, also where the model
// has no numbers for them.
func randomRows(rng *rand.Rand, m *model.Model, rows int) [][]float64 {
	all := make([][]float64, rows)
	for r := range all {
		row := make([]float64, m.Width())
		for i := range row {
			row[i] = float64(float32(rng.NormFloat64() * 10))
		}
		if p := m.Preprocessing; p != nil {
			row[5+r%2], row[6-r%2] = 1, 0
			if p.Nulls != schema.NullsError {
				row[r%7] = []float64{math.NaN(), math.Inf(1), 1}[r/7%3]
			} else if r%10 == 9 {
				row[r%7] = []float64{math.NaN(), math.Inf(-1)}[r/10%2]
			}
		}
		all[r] = row
	}
	return all
}

// scoresOf returns the scores of a row by package predict, and the number of the class: -1 if a value is missing.
func scoresOf(t *testing.T, m *model.Model, row []float64) ([]float64, int) {
	t.Helper()
	p := require.Value(predict.New(m))(t)
	scores := make([]float64, len(m.Weights))
	if err := p.Scores(row, scores); errors.Is(err, predict.ErrMissing) {
		return nil, -1
	} else if err != nil {
		t.Fatal(err)
	}
	class := require.Value(p.Class(row))(t)
	return scores, schema.FindClass(m.Classes, class.Text)
}

// rounding bounds the difference of two scores of a row, one of which has rounding errors of at most u in each of its operations and the
// other in float64: n + 3 operations in each term, where a standardized term is two.
func rounding(m *model.Model, k int, row []float64, u float64) float64 {
	l, err := newLinear(m)
	if err != nil {
		panic(err)
	}
	return l.rounding(m, k, row, u)
}

func (l *linearScores) rounding(m *model.Model, k int, row []float64, u float64) float64 {
	sum := 0.0
	if m.FitBias {
		sum = math.Abs(m.Bias[k])
	}
	for i, w := range l.weights[k] {
		x := row[i]
		if x-x != 0 {
			x = l.replacements[i]
		}
		if sum += math.Abs(w * x); w != 0 && l.center != nil {
			sum += math.Abs(w * l.center[i])
		}
	}
	return float64(len(row)+3) * u * sum
}

// compare holds scores and a class of a row against those of package predict. u bounds the rounding errors of either.
func (s *sample) compare(t *testing.T, r int, scores []float64, class int, u float64) {
	t.Helper()
	want, wantClass := scoresOf(t, s.m, s.rows[r])
	if wantClass < 0 {
		scores = nil
	}
	s.compareTo(t, require.Value(newLinear(s.m))(t), r, scores, class, want, wantClass, u)
}

// compareTo is compare with the scores and the class of package predict.
func (s *sample) compareTo(t *testing.T, l *linearScores, r int, scores []float64, class int, want []float64, wantClass int, u float64) {
	t.Helper()
	near := false
	for k, v := range scores {
		bound := l.rounding(s.m, k, s.rows[r], u)
		if math.Abs(v-want[k]) > bound {
			t.Errorf("%s, row %d: score %d is %v, want %v within %v", s.name, r, k, v, want[k], bound)
		}
		if len(scores) == 1 {
			near = math.Abs(want[k]-s.m.ScoreThreshold()) <= bound
		} else if k != wantClass {
			near = near || math.Abs(want[k]-want[wantClass]) <= 2*bound
		}
	}
	if class != wantClass && !near {
		t.Errorf("%s, row %d: class %d, want %d", s.name, r, class, wantClass)
	}
}

// TestRefused: models without a vector of weights for each score are errors of one sentence, and so are weights that fold to infinity.
func TestRefused(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a"}, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	expansion := model.New(spec, nil)
	expansion.Expansion = &model.Expansion{Kernel: gram.Kernel{Kind: "linear"}, Rows: []int64{0}, Support: model.Pack([]float32{1}), Coefficients: [][]byte{model.Pack([]float32{1})}}
	voted := model.New(spec, []float32{1})
	voted.Voters = &model.Voters{Counts: []int64{1}, Weights: model.Pack([]float32{1})}
	spec.Preprocessing = &schema.Preprocessing{Nulls: schema.NullsError, Columns: []schema.Column{{Name: "a", Kind: schema.NumberColumn, Center: []float64{1}, Scale: []float64{1e-300}}}}
	narrow := model.New(spec, []float32{1e10})
	for what, m := range map[string]*model.Model{"support vectors": expansion, "vote": voted, "hardly varies": narrow, "can't be used": {}} {
		_, err := newLinear(m)
		if err == nil || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one with %q", err, what)
		}
	}
}

type broken struct{}

var errBroken = errors.New("no room")

func (broken) Write([]byte) (int, error) { return 0, errBroken }
