package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/model"
	"halfspace/schema"
)

// ErrFormat is the error of ReadLIBLINEAR if the input isn't a LIBLINEAR text model, or is a model that doesn't
// predict classes.
var ErrFormat = errors.New("not a LIBLINEAR model that can be read")

// mostWeights is the largest number of weights of a model, as in package model.
const mostWeights = 1 << 27

// solvers maps the types of LIBLINEAR's solvers whose models predict classes to the algorithms of halfspace.
var solvers = map[string]string{
	"L2R_LR": "logistic", "L2R_LR_DUAL": "logistic", "L1R_LR": "logistic",
	"L2R_L2LOSS_SVC_DUAL": "svm", "L2R_L2LOSS_SVC": "svm", "L2R_L1LOSS_SVC_DUAL": "svm", "MCSVM_CS": "svm", "L1R_L2LOSS_SVC": "svm",
}

// A textModel is the head of a LIBLINEAR file, before its weights.
type textModel struct {
	solver            string
	classes, features int
	bias              float64 // value of an additional feature after the last one; negative: there is none
	labels            []string

	words *bufio.Scanner
}

// ReadLIBLINEAR reads a LIBLINEAR text model. It rounds the weights to float32, as in every model, and returns the
// number of weights that rounding changes. If weights change, scores differ from LIBLINEAR's in about the seventh
// digit. The model's features are f1, f2, ... as in svmlight files, and its label column is "label". most is a memory
// limit in bytes, 0 for the available memory. If the weights take more than half of it, the error is model.ErrMemory.
func ReadLIBLINEAR(r io.Reader, most int64) (m *model.Model, rounded int64, err error) {
	t := &textModel{classes: -1, features: -1, words: bufio.NewScanner(r)}
	t.words.Split(bufio.ScanWords)
	err = t.readHead()
	if err == nil {
		err = t.check(most)
	}
	var vectors [][]float64
	var bias []float64
	if err == nil {
		vectors, bias, err = t.readWeights()
	}
	if scan := t.words.Err(); scan != nil && !errors.Is(scan, bufio.ErrTooLong) {
		return nil, 0, scan
	}
	if errors.Is(err, model.ErrMemory) {
		return nil, 0, err
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	for _, v := range append(vectors, bias) {
		rounded += narrow(v)
	}
	m = t.model(vectors, bias)
	if err := m.Check(); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return m, rounded, nil
}

// narrow rounds numbers to float32, and returns the number of numbers that it changes. It doesn't change numbers that
// are too large for float32.
func narrow(numbers []float64) (changed int64) {
	for i, v := range numbers {
		if n := float64(float32(v)); n != v && !math.IsInf(n, 0) {
			numbers[i] = n
			changed++
		}
	}
	return changed
}

func (t *textModel) word() (string, error) {
	if !t.words.Scan() {
		return "", errors.New("the file ends too early, or has a word of thousands of letters")
	}
	return t.words.Text(), nil
}

// next returns the next word, parsed. The argument "what" names it in the error.
func next[T any](t *textModel, what string, parse func(string) (T, error)) (v T, err error) {
	text, err := t.word()
	if err != nil {
		return v, err
	}
	if v, err = parse(text); err != nil {
		return v, fmt.Errorf("%s is %q", what, humanize.Short(text, 40))
	}
	return v, nil
}

// count parses a whole number of 0 or more.
func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if n < 0 {
		err = strconv.ErrRange
	}
	return n, err
}

// readHead reads the lines before the weights.
func (t *textModel) readHead() error {
	for {
		key, err := t.word()
		if err != nil {
			return err
		}
		switch key {
		case "solver_type":
			t.solver, err = t.word()
		case "nr_class":
			t.classes, err = next(t, key, count)
		case "nr_feature":
			t.features, err = next(t, key, count)
		case "bias":
			t.bias, err = next(t, key, humanize.ParseNumber)
		case "label":
			if t.classes < 0 || t.classes > schema.MaxClasses || t.labels != nil {
				return fmt.Errorf("%d classes, and a model has 2 to %d", t.classes, schema.MaxClasses)
			}
			for range t.classes {
				label, err := t.word()
				if err != nil {
					return err
				}
				if _, err := strconv.ParseInt(label, 10, 32); err != nil {
					return fmt.Errorf("label %q is no whole number", humanize.Short(label, 40))
				}
				t.labels = append(t.labels, label)
			}
		case "w":
			return nil
		default:
			return fmt.Errorf("it has %q where one of solver_type, nr_class, label, nr_feature, bias and w must be", humanize.Short(key, 40))
		}
		if err != nil {
			return err
		}
	}
}

// check returns an error unless the head describes a classifier whose size can be read.
func (t *textModel) check(most int64) error {
	switch {
	case solvers[t.solver] == "":
		return fmt.Errorf("its solver_type is %q, which is no classifier's", humanize.Short(t.solver, 40))
	case t.classes < 2 || len(t.labels) != t.classes:
		return fmt.Errorf("it has %d classes and %d labels: a classifier has two or more", t.classes, len(t.labels))
	case t.features < 1 || t.features > schema.MaxNumbered:
		return fmt.Errorf("it has %d features: a model has 1 to %d", t.features, schema.MaxNumbered)
	}
	n := int64(t.features+1) * int64(t.vectors())
	if n > mostWeights {
		return fmt.Errorf("it has %d weights: a model has at most %d", n, mostWeights)
	}
	if 8*n > memory.Limit(most)/2 {
		return fmt.Errorf("%w for %s weights, %s: they may take half of %s, so give it more", model.ErrMemory, humanize.Count(n), humanize.Size(8*n), humanize.Size(memory.Limit(most)))
	}
	return nil
}

// vectors returns the number of weights of a feature in the file.
func (t *textModel) vectors() int {
	if t.classes == 2 && t.solver != jointSolver {
		return 1
	}
	return t.classes
}

// readWeights returns the vectors of weights, and a bias for each vector, in the order of the labels.
func (t *textModel) readWeights() (vectors [][]float64, bias []float64, err error) {
	vectors = make([][]float64, t.vectors()) // the vectors grow with the file, because the sizes in the head may be wrong
	for i := range t.features {
		for k := range vectors {
			w, err := next(t, "a weight of feature "+strconv.Itoa(i+1), humanize.ParseNumber)
			if err != nil {
				return nil, nil, err
			}
			vectors[k] = append(vectors[k], w)
		}
	}
	if t.bias >= 0 {
		for range vectors {
			w, err := next(t, "a weight of the bias", humanize.ParseNumber)
			if err != nil {
				return nil, nil, err
			}
			bias = append(bias, w*t.bias)
		}
	}
	if t.words.Scan() {
		return nil, nil, fmt.Errorf("%q is behind the last weight", humanize.Short(t.words.Text(), 40))
	}
	return vectors, bias, nil
}

// model returns the model of the given vectors. For two classes, LIBLINEAR predicts the first label if the first
// score is above 0, otherwise the second label (predict_values in linear.cpp). MCSVM_CS has a second vector, which is
// ignored there and here.
func (t *textModel) model(vectors [][]float64, bias []float64) *model.Model {
	spec := &schema.Spec{Bias: bias != nil, Label: "label", Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError,
		Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: t.features}}}}
	if t.features <= schema.MaxNamed {
		spec.Features = spec.Preprocessing.Columns[0].Names()
	}
	var classes []schema.Class
	for _, label := range t.labels {
		c, _ := schema.ParseNumber(label)
		classes = append(classes, c)
	}
	spec.Classes = slices.SortedFunc(slices.Values(classes), schema.Class.Compare)
	if t.classes == 2 {
		if vectors = vectors[:1]; bias != nil {
			bias = bias[:1]
		}
		spec.SetPositive(slices.Index(spec.Classes, classes[0]))
	} else {
		at := func(k int) int { return slices.Index(classes, spec.Classes[k]) }
		sorted, biases := make([][]float64, len(vectors)), slices.Clone(bias)
		for k := range sorted {
			if sorted[k] = vectors[at(k)]; bias != nil {
				biases[k] = bias[at(k)]
			}
		}
		vectors, bias = sorted, biases
	}
	m := model.New(spec, nil)
	if m.Algorithm, m.Weights = solvers[t.solver], vectors; bias != nil {
		m.Bias = bias
	}
	switch {
	case t.classes == 2:
	case t.solver == jointSolver:
		m.Options.Multiclass = model.Joint
	default:
		m.Options.Multiclass = model.OneVersusRest
	}
	m.Training.Loss, m.Training.Radius, m.Training.Norm = nil, nil, nil
	return m
}
