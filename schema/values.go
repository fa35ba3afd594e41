package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxClasses is the largest number of classes. A column with more values isn't meant as a column of classes.
const MaxClasses = 1000

// MaxText is the largest number of bytes of a category, or of the text of a class. MaxNames is the largest number of
// bytes that the names of all features have together. A model stores each name, and stores the categories once more.
const (
	MaxText  = 16 << 10
	MaxNames = 32 << 20
)

// CheckText returns the text of an error if text is longer than MaxText bytes, otherwise "". The argument "what" is the word
// for the text in the error, such as category.
func CheckText(text, what string) string {
	if len(text) <= MaxText {
		return ""
	}
	return fmt.Sprintf("a text of %d bytes, and a %s has at most %d", len(text), what, MaxText)
}

// Float32Class returns the class of a finite float32. Its text has the fewest digits that identify the float32, so
// that float32(0.1) is the class 0.1.
func Float32Class(v float32) Class {
	if whole := float64(v); whole == math.Trunc(whole) {
		return FloatClass(whole)
	}
	shortest, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64) // it parses its own format: no error
	return FloatClass(shortest)
}

// LabelValues returns the label of each class in a block: -1 and +1 for up to two classes, otherwise the numbers of
// the classes.
func (s *Spec) LabelValues() []float64 {
	values := make([]float64, len(s.Classes))
	for i := range values {
		switch {
		case len(values) > 2:
			values[i] = float64(i)
		case i == s.PositiveClass():
			values[i] = 1
		default:
			values[i] = -1
		}
	}
	return values
}

// numbered returns true if all features have the names of svmlight's indices, such as f7.
func numbered(features []string) bool {
	return !slices.ContainsFunc(features, func(name string) bool {
		digits, ok := strings.CutPrefix(name, "f")
		_, err := strconv.ParseUint(digits, 10, 32)
		return !ok || err != nil
	})
}

// mayBeSparse returns true if the rows may be sparse, which means that some column has categories or lists.
func (p *Preprocessing) mayBeSparse() bool {
	return p.Categorical() || p != nil && slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Kind == ListColumn })
}

// CheckFeatures returns an error unless a model can have these names of features and of the label's column. Names
// must differ and be valid UTF-8 text. The number of features must be
//
//   - 1 to MaxFeatures,
//   - up to MaxNamed if all features have the names of svmlight's indices, or if p makes features of categories or lists,
//   - more than MaxNamed, up to MaxNumbered, if features is empty and the columns of p give the names.
func CheckFeatures(features []string, label string, p *Preprocessing) error {
	first, consecutive := Consecutive(features) // a map of a million names takes a fifth of a second
	switch {
	case !utf8.ValidString(label):
		return fmt.Errorf("name of the label's column %q is not valid UTF-8 text", label)
	case consecutive && len(features) <= MaxNamed:
		if n, ok := Consecutive([]string{label}); ok && n >= first && n-first < len(features) {
			return fmt.Errorf("feature %q is the label's column too", label)
		}
		return nil
	case len(features) == 0 && p != nil:
		return checkUnnamed(p)
	case len(features) == 0:
		return fmt.Errorf("no features")
	case len(features) > MaxFeatures && !p.mayBeSparse() && !numbered(features):
		return fmt.Errorf("%d features, and a row has at most %d", len(features), MaxFeatures)
	case len(features) > MaxNamed:
		return fmt.Errorf("%d features, and a row has at most %d", len(features), MaxNamed)
	}
	seen := make(map[string]bool, len(features))
	for _, f := range features {
		switch {
		case !utf8.ValidString(f):
			return fmt.Errorf("name of feature %q is not valid UTF-8 text", f)
		case seen[f]:
			return fmt.Errorf("feature %q is there twice", f)
		case f == label:
			return fmt.Errorf("feature %q is the label's column too", f)
		}
		seen[f] = true
	}
	return nil
}

// checkUnnamed returns an error unless the columns become more than MaxNamed and at most MaxNumbered features. Their
// names are not listed.
func checkUnnamed(p *Preprocessing) error {
	if err := p.Check(nil); err != nil {
		return fmt.Errorf("preprocessing: %w", err)
	}
	switch n := p.Width(); {
	case n <= MaxNamed:
		return fmt.Errorf("no features")
	case n > MaxNumbered:
		return fmt.Errorf("%d features, and a row has at most %d", n, MaxNumbered)
	}
	return nil
}

// SetClasses sets Classes to classes in sorted order. The class with the text positive becomes +1, or the last class
// if positive is "". It returns an error if no class has the text positive.
func (s *Spec) SetClasses(classes []Class, positive string) error {
	s.Classes = slices.SortedFunc(slices.Values(classes), Class.Compare)
	class := len(classes) - 1
	if positive != "" {
		if class = FindClass(s.Classes, positive); class < 0 {
			return fmt.Errorf("no class is %q: the classes are %s", positive, ListClasses(s.Classes))
		}
	}
	s.SetPositive(class)
	return nil
}
