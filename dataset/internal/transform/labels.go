package transform

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// maxClasses is the largest number of classes.
const maxClasses = schema.MaxClasses

// Labels numbers the classes of the label column, in the order in which they appear or in the order of a model.
type Labels struct {
	Classes []schema.Class
	Numbers map[schema.Class]int
	fixed   bool   // no class may be added
	Whose   string // owner of the fixed classes, for messages
	Given   bool   // a model has the classes, and its Spec determines the treatment of missing labels
}

// NewLabels returns the Labels with the classes of spec, to which no class may be added. If spec is nil, it returns
// Labels without classes.
func NewLabels(spec *schema.Spec) *Labels {
	l := &Labels{Numbers: map[schema.Class]int{}}
	if spec != nil {
		l.fixed, l.Whose, l.Given = true, "the model, which has", true
		for i, c := range spec.Classes {
			l.Classes = append(l.Classes, c)
			l.Numbers[c] = i
		}
	}
	return l
}

// NewSpec returns the spec of rows whose classes are in l, and the label value of each class number.
func (s *Binding) NewSpec(l *Labels) (spec *schema.Spec, signs []float64, err error) {
	if model := s.Plan.Spec; model != nil {
		return asWeighted(model, s), Signs(model), nil
	}
	if spec, err = s.Spec(); err == nil && s.Label >= 0 {
		spec.Label = s.Columns[s.Label].Name
		var positive int
		spec.Classes, positive, signs, err = l.Spec(spec.Label, s.Plan.Positive)
		spec.SetPositive(positive)
		s.classNote = noteOfClasses(spec.Label, spec.Classes, s.Plan.NullWords)
	}
	return spec, signs, err
}

// asWeighted returns the spec of a model with Weighted set exactly if the rows have weights.
func asWeighted(spec *schema.Spec, bound *Binding) *schema.Spec {
	if spec.Weighted == (bound.Weight >= 0) {
		return spec
	}
	s := *spec
	s.Weighted = bound.Weight >= 0
	return &s
}

// Signs returns the label value of each class of a model, or nil if spec is nil.
func Signs(spec *schema.Spec) []float64 {
	if spec == nil {
		return nil
	}
	return spec.LabelValues()
}

// number returns the number of the class of row i, or an error text.
func (l *Labels) number(a arrow.Array, i int) (int, string) {
	c, what := ClassOf(a, i)
	if what != "" && column.IsMissing(a, i) {
		what += l.advice()
	}
	if what != "" {
		return 0, what
	}
	if n, ok := l.Numbers[c]; ok {
		return n, ""
	}
	if l.fixed {
		for n, known := range l.Classes {
			if known.Text == c.TextAs(known.Kind) || known.TextAs(c.Kind) == c.Text {
				return n, ""
			}
		}
		return 0, fmt.Sprintf("%s is no class of %s %s: change the label, or leave the row out", schema.NameClass(c), l.Whose,
			schema.ListClasses(l.Classes))
	}
	if len(l.Classes) == maxClasses {
		return 0, l.tooMany()
	}
	if what := schema.CheckText(c.Text, "label"); what != "" {
		return 0, what + message.Sprintf(": choose another column with --label")
	}
	n := len(l.Classes)
	l.Classes = append(l.Classes, c)
	l.Numbers[c] = n
	return n, ""
}

// Add adds the classes of another part of the rows. It returns their numbers in l, or an error text.
func (l *Labels) Add(other *Labels) (numbers []int, what string) {
	for _, c := range other.Classes {
		n, ok := l.Numbers[c]
		if !ok {
			if n = len(l.Classes); n == maxClasses {
				return nil, l.tooMany()
			}
			l.Classes, l.Numbers[c] = append(l.Classes, c), n
		}
		numbers = append(numbers, n)
	}
	return numbers, ""
}

func (l *Labels) tooMany() string {
	return fmt.Sprintf("more than %d classes (%s)%s", maxClasses, schema.ListClasses(l.Classes),
		schema.AdviseClasses(l.Classes))
}

// Spec returns the classes of a training set in sorted order, and the number of the positive class: the class with
// the text positive, or the greatest class if positive is "". It also returns stands, the label values of the classes
// in the order of appearance.
func (l *Labels) Spec(label, positive string) (classes []schema.Class, pos int, stands []float64, err error) {
	classes = slices.Clone(l.Classes)
	slices.SortFunc(classes, schema.Class.Compare)
	pos = len(classes) - 1
	if positive != "" {
		if pos = schema.FindClass(classes, positive); pos < 0 {
			return nil, 0, nil, message.Errorf("column %q: no class %q: name one of %s in --positive", label, positive,
				schema.ListClasses(classes))
		}
	}
	spec := schema.Spec{Classes: classes}
	spec.SetPositive(pos)
	stands = make([]float64, len(classes))
	for i, v := range spec.LabelValues() {
		stands[l.Numbers[classes[i]]] = v
	}
	return classes, pos, stands, nil
}

// noteOfClasses returns a note about classes that may be meant otherwise: some are infinity and the others numbers, or two are the
// same number. It returns "" if there are none. words are as plan.Plan.NullWords.
func noteOfClasses(label string, classes []schema.Class, words []string) string {
	var infinite, same []string
	numbers, areNumbers := map[float64]string{}, true
	for _, c := range classes {
		v, err := humanize.ParseNumber(c.Text)
		if c.Kind != schema.String || err != nil {
			areNumbers = false
			continue
		}
		if math.IsInf(v, 0) {
			infinite = append(infinite, c.Text)
			continue
		}
		if other, there := numbers[v]; there && same == nil {
			same = []string{other, c.Text}
		}
		numbers[v] = c.Text
	}
	if same != nil {
		return message.Sprintf("column %q: classes %q and %q are the same number, and two classes, since their texts differ", label,
			same[0], same[1])
	}
	if len(infinite) == 0 || len(numbers) == 0 || !areNumbers {
		return ""
	}
	is, it := "is a class", "it stands"
	if len(infinite) > 1 {
		is, it = "are classes", "they stand"
	}
	if words == nil {
		words = []string{"NA"}
	}
	return message.Sprintf("column %q: %s %s beside numbers: if %s for no value, use --null-values %s, which replaces the "+
		"default texts", label, strings.Join(infinite, " and "), is, it, column.InShell(append(infinite, words...)))
}

// Encode writes the class numbers of the len(dst) rows from lo on to dst. It returns the first row without a usable
// label and the error text, or "".
func Encode(l *Labels, a arrow.Array, lo int, dst []float32) (row int, what string) {
	n := len(dst)
	if a.NullN() > 0 {
		for n = 0; n < len(dst) && !a.IsNull(lo+n); n++ {
		}
	}
	row, what = encodeValid(l, a, lo, dst[:n])
	if what == "" && n < len(dst) {
		return lo + n, noLabel + l.advice()
	}
	return row, what
}

// advice returns the remedy for a missing label. Commands that take a model have no option for missing labels.
func (l *Labels) advice() string {
	if l.Given {
		return " (fill the label in, or leave the row out)"
	}
	return message.Sprintf(" (fill the label in, or use --nulls drop)")
}

// Sign replaces class numbers in y by the label values of the classes.
func Sign(y []float32, signs []float64) {
	for i, n := range y {
		y[i] = float32(signs[int(n)])
	}
}

// Number returns the class numbers of the kept rows of a batch, if there are labels, and these rows. first is the number of the batch's
// first row among all rows. Number marks the error about a wrong label by Unfit.
func (l *Labels) Number(ctx context.Context, bound *Binding, p column.Pool, bt *column.Batch,
	first int64) (numbers []float32, kept Cut, err error) {
	kept, err = bound.Kept(ctx, p, bt)
	if err != nil || bound.Label < 0 {
		return nil, kept, err
	}
	a := bt.Label(bound.Label)
	numbers = make([]float32, kept.Len())
	for i, span := range kept.Spans() {
		bad, what := Encode(l, a, span.Lo, numbers[i:][:span.Len()])
		if what == "" {
			continue
		}
		err = bt.RowError(first, bad, bound.Columns[bound.Label].Name, what)
		if column.IsMissing(a, bad) {
			err = column.Mark(err, column.ErrNulls)
		}
		return nil, kept, Unfit(err)
	}
	return numbers, kept, nil
}
