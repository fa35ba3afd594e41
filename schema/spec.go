// Package schema describes the columns of rows.
//
// A Spec holds the features, the way they are made from the data, the classes and their names. Blocks, files and
// models share it.
package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"halfspace/internal/humanize"
)

// MaxFeatures is the largest number of features of a dense row. A chunk of wider dense rows would take gigabytes.
const MaxFeatures = 1 << 18

// MaxNamed is the largest number of features of a sparse row whose names a Spec lists. Such features have the names
// of svmlight's indices, or some of them are categories or elements of lists.
const MaxNamed = 1 << 20

// MaxNumbered is the largest number of features of a sparse row. Above MaxNamed, the columns of Preprocessing give
// the names of the features.
const MaxNumbered = 1 << 24

// Spec describes the columns of a block.
type Spec struct {
	Features []string // names, in the order of columns; empty: Preprocessing gives them. See Width and FeatureName
	Bias     bool     // one more column, of ones, after the features
	Label    string   // name of the label's column
	Classes  []Class  // in sorted order
	Positive int      // number of the class +1; 0: the last class; FirstClass: Classes[0]. See PositiveClass
	Weighted bool     // the blocks have sample weights

	// Preprocessing describes how features are made. nil: each feature is the number in the column of the same name.
	Preprocessing *Preprocessing
}

// FirstClass is the value of Spec.Positive that makes Classes[0] the class +1. The value 0 means the default.
const FirstClass = -1

// PositiveClass returns the number of the class +1. The default is the last class, which is the greater of two.
func (s *Spec) PositiveClass() int {
	switch {
	case s.Positive == FirstClass:
		return 0
	case s.Positive == 0:
		return max(0, len(s.Classes)-1)
	}
	return s.Positive
}

// SetPositive makes the class with the given number the class +1.
func (s *Spec) SetPositive(class int) {
	if s.Positive = class; class == 0 {
		s.Positive = FirstClass
	}
}

// Vectors returns the number of vectors of weights that a model needs: 1 for up to two classes, otherwise the number
// of classes.
func (s *Spec) Vectors() int {
	if len(s.Classes) <= 2 {
		return 1
	}
	return len(s.Classes)
}

// Width returns the number of features.
func (s *Spec) Width() int {
	if len(s.Features) > 0 || s.Preprocessing == nil {
		return len(s.Features)
	}
	return s.Preprocessing.Width()
}

// FeatureName returns the name of feature i, from 0.
func (s *Spec) FeatureName(i int) string {
	if len(s.Features) > 0 || s.Preprocessing == nil {
		return s.Features[i]
	}
	return s.Preprocessing.FeatureName(i)
}

// Cols returns the number of columns of a block: the features, and the bias if there is one.
func (s *Spec) Cols() int {
	if s.Bias {
		return s.Width() + 1
	}
	return s.Width()
}

// ClassKind is the type of a label. All values of a column have the same type.
type ClassKind uint8

const (
	Number ClassKind = iota // an integer or a floating-point number, of any width
	Bool                    // false or true
	String                  // text, also from a column of bytes
)

func (k ClassKind) String() string { return [...]string{"number", "boolean", "string"}[k] }

// A Class is a value of the label's column. It is the same in every file format: the integer 1 and the float 1.0 are
// the same class.
type Class struct {
	Kind ClassKind
	Text string // a whole number, the shortest decimal that parses back to the number, "true", "false", or the string itself
}

// IntClass returns the class of an integer.
func IntClass(v int64) Class { return Class{Number, strconv.FormatInt(v, 10)} }

// UintClass returns the class of an unsigned integer. A number that int64 holds too has the same class as in
// IntClass.
func UintClass(v uint64) Class { return Class{Number, strconv.FormatUint(v, 10)} }

// FloatClass returns the class of a finite number. A whole number that int64 or uint64 holds has the same class as in
// IntClass or UintClass.
func FloatClass(v float64) Class {
	switch whole := v == math.Trunc(v); {
	case whole && v >= -1<<63 && v < 1<<63:
		return IntClass(int64(v))
	case whole && v > 0 && v < 1<<64:
		return UintClass(uint64(v))
	}
	return Class{Number, strconv.FormatFloat(v, 'g', -1, 64)}
}

// BoolClass returns the class of a boolean.
func BoolClass(v bool) Class { return Class{Bool, strconv.FormatBool(v)} }

// StringClass returns the class of a string. It differs from the class of every number, even if the string spells a
// number.
func StringClass(v string) Class { return Class{String, v} }

// ParseNumber returns the class of a number in any spelling: 1, 01, 1.0 and 1e0 are the class 1. It reads 64-bit
// integers exactly. It returns an error if the text is no finite float64.
func ParseNumber(text string) (Class, error) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return IntClass(v), nil
	}
	if v, err := strconv.ParseUint(text, 10, 64); err == nil {
		return UintClass(v), nil
	}
	v, err := humanize.ParseNumber(text)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return Class{}, fmt.Errorf("float64 can't hold the class %s", text)
	}
	return FloatClass(v), nil
}

func (c Class) String() string { return c.Text }

// Compare orders classes by kind, then numbers by value, false before true, and strings by their bytes.
func (c Class) Compare(d Class) int {
	if c.Kind != d.Kind {
		return int(c.Kind) - int(d.Kind)
	}
	if c.Kind == Number {
		if o := compareNumbers(c.Text, d.Text); o != 0 {
			return o
		}
	}
	return strings.Compare(c.Text, d.Text)
}

func compareNumbers(a, b string) int {
	if x, err := strconv.ParseInt(a, 10, 64); err == nil {
		if y, err := strconv.ParseInt(b, 10, 64); err == nil {
			return cmp.Compare(x, y)
		}
	}
	if x, err := strconv.ParseUint(a, 10, 64); err == nil {
		if y, err := strconv.ParseUint(b, 10, 64); err == nil {
			return cmp.Compare(x, y)
		}
	}
	x, _ := humanize.ParseNumber(a)
	y, _ := humanize.ParseNumber(b)
	return cmp.Compare(x, y)
}

// MarshalJSON writes the class as a JSON number, boolean or string.
func (c Class) MarshalJSON() ([]byte, error) {
	if c.Kind == String {
		return json.Marshal(c.Text)
	}
	return []byte(c.Text), nil
}

// UnmarshalJSON reads the output of MarshalJSON. It accepts every spelling of a number, as ParseNumber does.
func (c *Class) UnmarshalJSON(data []byte) (err error) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case json.Number:
		*c, err = ParseNumber(v.String())
		return err
	case bool:
		*c = BoolClass(v)
	case string:
		*c = StringClass(v)
	default:
		return errors.New("a class is a number, a boolean or a string")
	}
	return nil
}
