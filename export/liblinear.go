package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"halfspace/internal/model"
	"halfspace/schema"
)

// Types of LIBLINEAR's solvers, which determine how a model predicts.
const (
	logisticSolver = "L2R_LR"         // one vector for two classes, otherwise one for each; scores are log odds, one versus the rest
	vectorSolver   = "L2R_L2LOSS_SVC" // the same vectors; only the order of scores has a meaning
	jointSolver    = "MCSVM_CS"       // a vector for each class
)

// mostIndices is the largest feature number in a file that is written.
const mostIndices = schema.MaxNumbered

// WriteLIBLINEAR writes the model as a LIBLINEAR text model. If the names of all features are f and a number from 1
// on, as in svmlight files, this number is the feature number. Otherwise, features are numbered from 1. LIBLINEAR's
// classes are numbers of type int: WriteLIBLINEAR returns an error for other classes. LIBLINEAR's threshold is 0: the
// threshold of the model is subtracted from the bias, and the file then gives no probabilities.
func WriteLIBLINEAR(w io.Writer, m *model.Model) error {
	l, err := newLinear(m)
	if err != nil {
		return err
	}
	for _, c := range m.Classes {
		if _, err := strconv.ParseInt(c.Text, 10, 32); err != nil || c.Kind != schema.Number {
			return fmt.Errorf("class %s: LIBLINEAR's classes are whole numbers of 32 bits: train on a label with "+
				"such numbers", schema.NameClass(c))
		}
	}
	solver := vectorSolver
	switch {
	case len(m.Classes) > 2 && m.Options.Multiclass == model.Joint:
		solver = jointSolver
	case m.LogOdds() && m.Threshold == nil:
		solver = logisticSolver
	}
	if m.Threshold != nil {
		l.bias[0] -= *m.Threshold
	}
	labels := slices.Clone(m.Classes)
	if other, positive := sides(m); len(labels) == 2 {
		labels = []schema.Class{m.Classes[positive], m.Classes[other]} // a score above 0 is for the first class
	}
	order, features := indices(m)
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "solver_type %s\nnr_class %d\nlabel", solver, len(labels))
	for _, c := range labels {
		b.WriteString(" " + c.Text)
	}
	bias := -1
	if slices.ContainsFunc(l.bias, func(v float64) bool { return v != 0 }) {
		bias = 1
	}
	fmt.Fprintf(b, "\nnr_feature %d\nbias %d\nw\n", features, bias)
	next := 1
	for _, at := range order {
		for ; next < at.index; next++ {
			writeWeights(b, len(l.weights), func(int) float64 { return 0 })
		}
		writeWeights(b, len(l.weights), func(k int) float64 { return l.weights[k][at.feature] })
		next++
	}
	if bias > 0 {
		writeWeights(b, len(l.bias), func(k int) float64 { return l.bias[k] })
	}
	return b.Flush()
}

// writeWeights writes the line of a feature: its weight in each vector.
func writeWeights(b *bufio.Writer, vectors int, weight func(k int) float64) {
	for k := range vectors {
		b.Write(strconv.AppendFloat(b.AvailableBuffer(), weight(k), 'g', -1, 64))
		b.WriteByte(' ')
	}
	b.WriteByte('\n')
}

// A place is a feature of a model and its number in a file.
type place struct{ index, feature int }

// indices returns the features of a model in ascending order of their numbers in LIBLINEAR, and the greatest number.
func indices(m *model.Model) ([]place, int) {
	named := make([]place, m.Width())
	for i := range named {
		name := m.FeatureName(i)
		index, err := strconv.Atoi(name[min(1, len(name)):])
		if err != nil || index < 1 || index > mostIndices || name != "f"+strconv.Itoa(index) {
			for k := range named {
				named[k] = place{k + 1, k}
			}
			return named, len(named)
		}
		named[i] = place{index, i}
	}
	slices.SortFunc(named, func(a, b place) int { return a.index - b.index })
	return named, named[len(named)-1].index
}
