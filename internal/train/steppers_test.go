package train_test

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/schema"
	"halfspace/train/perceptron"
)

// stepwiseLearners are learners that visit rows one by one.
var stepwiseLearners = []string{"perceptron", "passive-aggressive loss=squared_hinge C=0.3", "ftrl alpha=0.7 l1=0.4 l2=2", "adagrad", "adagrad loss=hinge eta=0.3"}

func learnerOf(t *testing.T, text string) train.Learner {
	t.Helper()
	words := strings.Fields(text)
	l, err := train.LearnerNamed(words[0])
	for _, option := range words[1:] {
		name, value, _ := strings.Cut(option, "=")
		if err == nil {
			l, err = l.With(name, value)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// epochs returns the learner with a number of epochs.
func epochs(l train.Learner, n int64) train.Learner {
	l, err := l.With("epochs", n)
	if err != nil {
		panic(err)
	}
	return l
}

// rereadModel returns a model as it comes from its file.
func rereadModel(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	return require.Value(model.Read(bytes.NewReader(fileOf(t, m))))(t)
}

// TestInit: an epoch that begins with the model of another is the second epoch of one training, to the bit. In between,
// the model was a file. Online learning makes the same steps.
func TestInit(t *testing.T) {
	rows := testproblems.UnchangingTables()
	for _, classes := range []string{"two", "three"} {
		for _, text := range stepwiseLearners {
			t.Run(classes+" "+text, func(t *testing.T) {
				testInit(t, rows[classes], learnerOf(t, text))
			})
		}
	}
}

func testInit(t *testing.T, rows testproblems.Table, l train.Learner) {
	data := require.Value(block.FromRows(rows.X, rows.Y, block.RowOptions{}))(t)
	learn := func(l train.Learner, opt train.Options) *model.Model {
		t.Helper()
		f := require.Value(train.Run(t.Context(), data, l, opt))(t)
		return f.Model
	}
	first, both := learn(epochs(l, 1), train.Options{}), learn(epochs(l, 2), train.Options{})
	second := learn(epochs(l, 1), train.Options{Init: rereadModel(t, first)})
	if !reflect.DeepEqual(second.Weights, both.Weights) || !reflect.DeepEqual(second.State, both.State) || reflect.DeepEqual(first.Weights, both.Weights) {
		t.Errorf("weights %v after two trainings, %v after one of two epochs", second.Weights, both.Weights)
	}
	if second.Training.MistakeBound != nil {
		t.Error("a bound that holds if training begins with zeros")
	}
	if l.Name == "perceptron" {
		return
	}
	l = epochs(l, 1)
	online := require.Value(train.Run(t.Context(), data, l, train.Options{Online: &train.Online{}}))(t)
	on := require.Value(train.Run(t.Context(), data, l, train.Options{Init: rereadModel(t, online.Model), Online: &train.Online{}}))(t)
	if m := online.Model; !reflect.DeepEqual(m.Weights, first.Weights) || *m.Training.Errors != *first.Training.Errors || m.Training.Loss != nil && *m.Training.Loss != *first.Training.Loss {
		t.Errorf("online has weights %v, an epoch %v", m.Weights, first.Weights)
	}
	if !reflect.DeepEqual(on.Model.Weights, both.Weights) || !reflect.DeepEqual(on.Model.State, both.State) {
		t.Errorf("weights %v of two passes online, %v of two epochs", on.Model.Weights, both.Weights)
	}
}

// TestProgressive counts mistakes and log losses of a learner with the models of all rows before each.
func TestProgressive(t *testing.T) {
	rows := testproblems.UnchangingTables()
	for _, classes := range []string{"two", "three"} {
		r := testproblems.Table{X: rows[classes].X[:60], Y: rows[classes].Y[:60]}
		l := learnerOf(t, "ftrl")
		data := require.Value(block.FromRows(r.X, r.Y, block.RowOptions{}))(t)
		got := require.Value(train.Run(t.Context(), data, l, train.Options{Online: &train.Online{}}))(t)
		var m *model.Model
		mistakes, sum := int64(0), 0.0
		for n := range r.X {
			one := oneRow(t, data, n)
			if m == nil { // weights of 0
				zero := rereadModel(t, got.Model)
				for _, w := range zero.Weights {
					clear(w)
				}
				clear(zero.Bias)
				zero.State = nil
				m = zero
			}
			e := require.Value(train.Evaluate(t.Context(), m, one, 1))(t)
			mistakes, sum = mistakes+e.Confusion.Errors(), sum+e.LogLoss()
			f := require.Value(train.Run(t.Context(), one, l, train.Options{Init: m, Online: &train.Online{}}))(t)
			m = f.Model
			for _, p := range got.Online.ProgressiveCounts {
				if p.Rows == int64(n+1) && (p.Mistakes != mistakes || !(math.Abs(*p.LogLoss-sum/float64(n+1)) < 1e-12)) {
					t.Errorf("%s classes, %d rows: %d mistakes and log loss %v, want %d and %v", classes, n+1, p.Mistakes, *p.LogLoss, mistakes, sum/float64(n+1))
				}
			}
		}
		if !reflect.DeepEqual(m.Weights, got.Model.Weights) || len(got.Online.ProgressiveCounts) != 7 || mistakes == 0 || mistakes == 60 {
			t.Errorf("%d mistakes, weights %v, and row by row %v", mistakes, got.Model.Weights, m.Weights)
		}
	}
}

// oneRow returns a row of a data set as one of its own.
func oneRow(t *testing.T, data *block.Data, n int) *block.Data {
	t.Helper()
	for b := range data.Blocks(t.Context()) {
		row := b.Slice(n, n+1)
		row.First = 0
		return block.NewData(data.Spec(), []*block.Block{row})
	}
	return nil
}

// TestInitErrors: an error names what differs between the rows and the model to begin with.
func TestInitErrors(t *testing.T) {
	r := testproblems.UnchangingTables()["two"]
	data := require.Value(block.FromRows(r.X, r.Y, block.RowOptions{}))(t)
	l := epochs(learnerOf(t, "perceptron"), 1)
	f := require.Value(train.Run(t.Context(), data, l, train.Options{}))(t)
	for want, spoil := range map[string]func(m *model.Model){
		"is of float64 rows, and rows are float32 now": func(m *model.Model) { m.Dtype = "float64" },
		"a bias: false, and the rows have one: true":   func(m *model.Model) { m.FitBias = false },
		`the feature "other" where the rows have`:      func(m *model.Model) { m.Features = slices.Clone(m.Features); m.Features[3] = "other" },
		"8 features, and the rows have 9":              func(m *model.Model) { m.Features = m.Features[:8] },
		`has the classes "a", "c" (positive: c)`: func(m *model.Model) {
			m.Classes = []schema.Class{m.Classes[0], schema.StringClass("c")}
			m.Positive = m.Classes[1]
		},
		"2 vectors of weights, and 2 classes need 1": func(m *model.Model) { m.Weights = append(m.Weights, m.Weights[0]) },
		"weights vote": func(m *model.Model) { m.Voters = &model.Voters{} },
	} {
		m := *f.Model
		spoil(&m)
		if _, err := train.Run(t.Context(), data, l, train.Options{Init: &m}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, err := train.Run(t.Context(), data, perceptron.New(perceptron.Options{}), train.Options{Init: &m, Online: &train.Online{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("online: error %v, want %s", err, want)
		}
	}
	for _, name := range []string{"svm", "pocket", "voted"} {
		if _, err := train.Run(t.Context(), data, learnerOf(t, name), train.Options{Init: f.Model}); err == nil ||
			!strings.Contains(err.Error(), "which begins with zeros: use Algo perceptron") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	svm := learnerOf(t, "svm")
	if _, err := train.Run(t.Context(), data, svm, train.Options{Online: &train.Online{}}); err == nil || !strings.Contains(err.Error(), "use perceptron, passive-aggressive, ftrl") {
		t.Errorf("error %v", err)
	}
}
