package writer

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet/file"

	"halfspace/dataset/internal/column"
)

// hasKeys tells whether a column is held and written as keys of its dictionary, a byte each. Other dictionaries become plain:
// Arrow's encoder misreads the texts of a slice, and its statistics lack the empty text.
func hasKeys(a arrow.Array) bool {
	d, is := a.(*array.Dictionary)
	if !is {
		return false
	}
	_, short := d.Indices().(*array.Uint8)
	return short && d.Dictionary().NullN() == 0 && d.Dictionary().DataType().ID() == arrow.INT64
}

// joinable tells whether Arrow joins two columns of the same type without changing keys, for which a byte may be too short.
func joinable(a, b arrow.Array) bool {
	d, is := a.(*array.Dictionary)
	e, same := b.(*array.Dictionary)
	return is == same && (!is || array.Equal(d.Dictionary(), e.Dictionary()))
}

// A keyEncoder is Arrow's encoder of a column that is written with a dictionary.
type keyEncoder interface {
	PutDictionary(values arrow.Array) error
	PreservedDictionary() arrow.Array // of PutDictionary
	NumEntries() int
}

// writeKeys writes the keys of a column. It writes values if the column has another dictionary, or none any more.
func writeKeys(w file.ColumnChunkWriter, d *array.Dictionary, l *levels) error {
	values := d.Dictionary()
	encoder, is := w.CurrentEncoder().(keyEncoder)
	if is && encoder.NumEntries() == 0 {
		if err := encoder.PutDictionary(values); err != nil {
			return err
		}
	}
	if !is || encoder.PreservedDictionary() == nil || !array.Equal(encoder.PreservedDictionary(), values) ||
		encoder.NumEntries() != values.Len() { // values that repeat
		plain, err := PlainValues(d)
		if err != nil {
			return err
		}
		defer plain.Release()
		return writeValues(w, plain, l)
	}
	used, err := usedValues(d)
	if err != nil {
		return err
	}
	defer used.Release()
	if stats := w.PageStatistics(); stats != nil {
		stats.IncNulls(int64(d.NullN()))
		stats.IncNumValues(int64(d.Len() - d.NullN()))
		if err := stats.UpdateFromArrow(used, false); err != nil {
			return err
		}
	}
	return w.WriteDictIndices(d.Indices(), l.def, l.rep)
}

// usedValues returns the values to which some key of a column refers.
func usedValues(d *array.Dictionary) (arrow.Array, error) {
	var seen [1 << 8]bool
	for i, k := range d.Indices().(*array.Uint8).Uint8Values() {
		seen[k] = seen[k] || d.IsValid(i)
	}
	var used []int
	for k, is := range seen {
		switch {
		case is && k >= d.Dictionary().Len():
			return nil, fmt.Errorf("a row has key %d of %d", k, d.Dictionary().Len())
		case is:
			used = append(used, k)
		}
	}
	return column.Gather(d.Dictionary(), used, math.MaxInt64)
}
