package predict

import (
	"fmt"
	"math"
	"reflect"
	"sync"

	"halfspace/internal/words"
	"halfspace/schema"
)

// newInput returns the input of a column.
func newInput(c schema.Column) input {
	in := input{Column: c}
	if c.Words != nil {
		index := words.NewIndex(c.Words)
		in.makers = &sync.Pool{New: func() any { return index.NewMaker() }}
	}
	return in
}

// setWords sets row to the features of the words of a text.
func (c *input) setWords(row []float64, value any) error {
	clear(row)
	text, missing, err := category(value, "")
	switch {
	case err != nil && reflect.ValueOf(value).Kind() == reflect.String: // not UTF-8
		return err
	case err != nil:
		return fmt.Errorf("a value of the type %T, and the column has texts", value)
	case missing:
		row[0] = math.NaN()
		return nil
	}
	m := c.makers.Get().(*words.Maker)
	defer c.makers.Put(m)
	features, values := m.Features(text)
	for i, f := range features {
		row[f] = float64(values[i])
	}
	return nil
}
