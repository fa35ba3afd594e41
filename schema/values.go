package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxClasses is the most classes of a label's column. More values are not meant as classes.
const MaxClasses = 1000

// MaxText is the most bytes of a category, or of the text of a class. MaxNames is the most bytes of the names of all
// features. A model has each name, and the categories once more.
const (
	MaxText  = 16 << 10
	MaxNames = 32 << 20
)

// CheckText returns what is wrong with the text of a category or a class, or "".
func CheckText(text, what string) string {
	if len(text) <= MaxText {
		return ""
	}
	return fmt.Sprintf("a text of %d bytes, and a %s has at most %d", len(text), what, MaxText)
}

// Float32Class returns the class of a finite float32. It has the fewest digits that identify the float32, so that
// float32(0.1) is the class 0.1.
func Float32Class(v float32) Class {
	if whole := float64(v); whole == math.Trunc(whole) {
		return FloatClass(whole)
	}
	shortest, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64) // its own format: no error
	return FloatClass(shortest)
}

// LabelValues returns the value of each class in the labels of a block: -1 and +1 for up to two classes, else the
// numbers of the classes.
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

// numbered tells whether features have the names of svmlight's indices, such as f7.
func numbered(features []string) bool {
	return !slices.ContainsFunc(features, func(name string) bool {
		digits, ok := strings.CutPrefix(name, "f")
		_, err := strconv.ParseUint(digits, 10, 32)
		return !ok || err != nil
	})
}

// mayBeSparse tells whether rows of such columns may be sparse: some column has categories or lists.
func (p *Preprocessing) mayBeSparse() bool {
	return p.Categorical() || p != nil && slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Kind == ListColumn })
}

// CheckFeatures returns an error unless a model can have these names of features and of the label's column. There must
// be 1 to MaxFeatures features. There may be up to MaxNamed if all have the names of svmlight's indices, or if p makes
// features of categories or lists. Names must differ and be valid UTF-8 text. Of more features, up to MaxNumbered, the
// columns of p give the names.
func CheckFeatures(features []string, label string, p *Preprocessing) error {
	switch {
	case !utf8.ValidString(label):
		return fmt.Errorf("name of the label's column %q is not valid UTF-8 text", label)
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

// checkUnnamed returns an error unless columns become features that are too many to list their names.
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

// SetClasses sets Classes to classes in sorted order. It makes the class with the text positive +1, or the last one if
// positive is "".
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
