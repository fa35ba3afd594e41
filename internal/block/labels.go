package block

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"halfspace/schema"
)

// A Label is a type that the labels of a program may have.
type Label interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~string | ~bool
}

// labels numbers the classes in the order in which they appear in the rows.
type labels[L Label] struct {
	numbers      map[L]int
	classes      []schema.Class
	order        []int          // for each class, its number in the spec
	knownClasses []schema.Class // the classes of a model, if labels must be among them; nil: any class
}

// newLabels returns labels without classes. If of isn't nil, labels must be among its classes.
func newLabels[L Label](of *schema.Spec) *labels[L] {
	l := &labels[L]{numbers: map[L]int{}}
	if of != nil {
		l.knownClasses = of.Classes
	}
	return l
}

// number returns the number of a label's class, and gives a new class the next number. It returns an error if the
// label can't be a class, isn't a class of the model, or would be class number schema.MaxClasses+1.
func (l *labels[L]) number(label L) (int, error) {
	if n, ok := l.numbers[label]; ok {
		return n, nil
	}
	class, err := classOf(label)
	if err != nil {
		return 0, err
	}
	if l.knownClasses != nil && !slices.Contains(l.knownClasses, class) {
		return 0, fmt.Errorf("the label %s is no class of the model: its classes are %s", schema.NameClass(class),
			schema.ListClasses(l.knownClasses))
	}
	n := len(l.classes)
	if n == schema.MaxClasses {
		return 0, fmt.Errorf("more than %d classes (%s): labels are classes, not a quantity to predict", n, schema.ListClasses(l.classes))
	}
	l.classes, l.numbers[label] = append(l.classes, class), n
	return n, nil
}

// finish sets the classes of spec, unless the classes come from a model. It returns the label that each class has in
// a block, in the order of appearance.
func (l *labels[L]) finish(spec *schema.Spec, positive string) ([]float64, error) {
	if l.knownClasses == nil {
		if len(l.classes) == 1 {
			return nil, fmt.Errorf("%s is the only class: add rows of another class", schema.ListClasses(l.classes))
		}
		if err := spec.SetClasses(l.classes, positive); err != nil {
			return nil, err
		}
	}
	sorted := spec.LabelValues()
	values := make([]float64, len(l.classes))
	l.order = make([]int, len(l.classes))
	for i, class := range l.classes {
		l.order[i] = slices.Index(spec.Classes, class)
		values[i] = sorted[l.order[i]]
	}
	return values, nil
}

// classOf returns the class of a label. It returns an error for text that isn't UTF-8 or is too long, and for NaN and
// infinities.
func classOf[L Label](label L) (schema.Class, error) {
	switch v := reflect.ValueOf(label); v.Kind() {
	case reflect.Bool:
		return schema.BoolClass(v.Bool()), nil
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return schema.Class{}, fmt.Errorf("the label %q is not valid UTF-8 text: correct it, or leave the row out", v.String())
		}
		if what := schema.CheckText(v.String(), "label"); what != "" {
			return schema.Class{}, fmt.Errorf("%s: use a short text for each class", what)
		}
		return schema.StringClass(strings.Clone(v.String())), nil
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return schema.Class{}, fmt.Errorf("the label is %v: fill in a finite number, or leave the row out", f)
		}
		if v.Kind() == reflect.Float32 {
			return schema.Float32Class(float32(f)), nil
		}
		return schema.FloatClass(f), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return schema.UintClass(v.Uint()), nil
	default:
		return schema.IntClass(v.Int()), nil
	}
}
