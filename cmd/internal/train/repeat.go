package train

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfspace/dataset"
	"halfspace/gram"
	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/winnow"
)

// optionsOf returns the options of train that train the model m again from data. It returns an error if the model
// doesn't record all of them.
func optionsOf(ctx context.Context, m *model.Model, data []string, given func(option string) bool) ([]model.Typed, error) {
	if err := unrepeatable(m, given); err != nil {
		return nil, err
	}
	var all optionList
	all.add("algo", m.Algorithm)
	all.add("label", m.Label)
	all.add("no-bias", strconv.FormatBool(!m.FitBias))
	all.add("multiclass", m.Options.Multiclass)
	all.add("sample-weight", m.Options.SampleWeight)
	if len(m.Classes) == 2 {
		all.add("positive", m.Positive.Text)
	}
	for class, w := range m.Options.ClassWeight {
		all.append("class-weight", m.Classes[class].Text+"="+number(w))
	}
	if m.Options.Seed != nil {
		all.add("seed", strconv.FormatUint(*m.Options.Seed, 10))
	}
	if share := m.Options.Validation; share > 0 {
		all.add("validation", number(share))
	}
	all.add("group", m.Options.Group)
	all.add("order-by", m.Options.OrderBy)
	all.add("split", m.Options.Split)
	if cv := m.Training.CrossValidation; cv != nil {
		all.add("cv", strconv.Itoa(cv.Folds))
	}
	if m.Calibration != nil {
		all.add("calibrate", m.Calibration.Method)
	}
	if by := m.Options.ThresholdBy; by != "" {
		all.add(thresholdName, by)
	} else if m.Threshold != nil && m.Algorithm != winnow.Learner.Name {
		all.add(thresholdName, number(*m.Threshold))
	}
	all.addLearner(m)
	return all, all.addColumns(m, dataset.DefaultLabel(ctx, data) != "")
}

// unrepeatable returns an error if a model doesn't record all options of its training.
func unrepeatable(m *model.Model, given func(option string) bool) error {
	what, also := "", ""
	switch {
	case m.Algorithm == train.OnlineName || train.Describe(m.Algorithm) == nil:
		return fmt.Errorf("it is of the algorithm %s, which train doesn't have", humanize.Short(m.Algorithm, 40))
	case m.Options.Get("init") != nil && !given("init"):
		what, also = "with which weights it began", ", or --init"
	case m.Training.Path != nil:
		what = "which penalties its path began with"
	case m.Training.Validation != nil && m.Options.Validation == 0 && !given("validation"):
		what, also = "which file it was validated on", ", or --validation"
	default:
		return nil
	}
	return fmt.Errorf("the model doesn't tell %s: give its --receipt%s", what, also)
}

type optionList []model.Typed

// add adds an option, unless its value is empty.
func (l *optionList) add(option, value string) {
	if value != "" {
		*l = append(*l, model.Typed{Option: option, Values: []string{value}})
	}
}

// append adds a value to the last option if that has the same name. Otherwise it adds the option.
func (l *optionList) append(option, value string) {
	if n := len(*l); n > 0 && (*l)[n-1].Option == option {
		(*l)[n-1].Values = append((*l)[n-1].Values, value)
		return
	}
	l.add(option, value)
}

// addLearner adds the options of the learner.
func (l *optionList) addLearner(m *model.Model) {
	learner := train.Describe(m.Algorithm)
	for i := range learner.Options {
		if value := m.Options.Get(learner.Options[i].Name); value != nil {
			l.add(learner.Options[i].Name, fmt.Sprint(value))
		}
	}
	if m.Expansion == nil {
		return
	}
	k := m.Expansion.Kernel
	l.add("kernel", string(k.Kind))
	if k.Kind != gram.Linear {
		l.add("gamma", number(k.Gamma))
	}
	if k.Kind == gram.Polynomial {
		l.add("degree", strconv.Itoa(k.Degree))
		l.add("coef0", number(k.Coef0))
	}
}

// addColumns adds the options on columns. It leaves out --features for svmlight data whose indices have no gap: the
// features are then all that the data has.
func (l *optionList) addColumns(m *model.Model, svmlight bool) error {
	p := m.Preprocessing
	spec := m.Spec()
	if p != nil {
		l.add("nulls", string(p.Nulls))
		l.add("standardize", strconv.FormatBool(p.Standardized()))
	}
	if columns := spec.Columns(); !svmlight || !adjacent(columns) {
		for _, c := range columns {
			if c.Kind != schema.CrossColumn {
				l.append("features", c.Name)
			}
		}
	}
	if p == nil {
		return nil
	}
	if p.NullValues != nil {
		*l = append(*l, model.Typed{Option: "null-values", Values: p.NullValues})
	}
	var codings []string
	if slices.ContainsFunc(p.Columns, func(c schema.Column) bool { return c.Dictionary != nil }) {
		l.add("hash-texts", "true")
	}
	for _, c := range p.Columns {
		switch coding := fmt.Sprintf("hash:%d", c.HashBits); c.Kind {
		case schema.OneHotColumn:
			codings = append(codings, c.Name+"=onehot")
		case schema.HashColumn:
			codings = append(codings, c.Name+"="+coding)
		case schema.CrossColumn:
			var names []string
			for _, part := range c.Of {
				names = append(names, part.Name)
			}
			text, err := fields(names)
			if err != nil {
				return err
			}
			l.append("cross", text+"="+coding)
		}
	}
	text, err := fields(codings)
	l.add("categorical", text)
	return err
}

// adjacent tells whether columns have the indices of svmlight, from 0 or 1 on, without a gap.
func adjacent(columns []schema.Column) bool {
	first := 0
	if len(columns) > 0 && columns[0].Name != "f0" {
		first = 1
	}
	for i := range columns {
		if columns[i].Name != "f"+strconv.Itoa(first+i) {
			return columns[i].Kind == schema.NumberedColumn
		}
	}
	return true
}

// fields joins texts by commas. It quotes the texts that need quotes.
func fields(texts []string) (string, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.Write(texts)
	w.Flush()
	if err = errors.Join(err, w.Error()); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
