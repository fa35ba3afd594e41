package report

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A TraceTable is the content of a trace file.
type TraceTable struct {
	Names   []string             // names of the number columns, in the order of the file
	Columns map[string][]float64 // by name; NaN where a number is missing
	Classes []string             // class of each point; nil if there is one training
	Rows    int
}

// Has tells whether the table has columns of all these names.
func (t *TraceTable) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return t.Columns[n] == nil })
}

// ReadTrace reads a table. It returns an error if the file isn't a trace, or if the table takes more than memory bytes; 0
// means no limit.
func ReadTrace(ctx context.Context, path string, memory int64) (*TraceTable, error) {
	t := &TraceTable{Columns: map[string][]float64{}}
	opt := dataset.Options{Spec: &schema.Spec{Bias: true}, Keep: []string{"*"}, Memory: memory}
	var bytes int64
	err := dataset.Scan(ctx, []string{path}, opt, func(_ *schema.Spec, _ *block.Block, rec arrow.Record) error {
		t.Rows += int(rec.NumRows())
		const each = 8 * 9 / 4 // bytes of a number, in slices that are in memory twice while they grow
		if bytes += each * rec.NumRows() * rec.NumCols(); memory > 0 && bytes > memory {
			return message.Errorf("%s: the first %s of the trace take %s of memory, and %s is for them: give more "+
				"with --memory, or trace fewer updates with train --trace-every",
				path, humanize.Plural(int64(t.Rows), "point"), humanize.Size(bytes), humanize.Size(memory))
		}
		for i, c := range rec.Columns() {
			name := rec.ColumnName(i)
			if name == "class" { // in a text file it is a column of numbers if all classes are numbers
				for r := range c.Len() {
					t.Classes = append(t.Classes, c.ValueStr(r))
				}
				continue
			}
			if _, seen := t.Columns[name]; !seen {
				t.Names = append(t.Names, name)
				t.Columns[name] = []float64{}
			}
			for r := range c.Len() {
				t.Columns[name] = append(t.Columns[name], number(c, r))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !t.Has("update", "visit") {
		return nil, message.Errorf("%s: it has no columns update and visit: name a file that train --trace wrote", path)
	}
	if t.Rows == 0 {
		return nil, fmt.Errorf("%s: the trace has no points: the training made no update or pass", path)
	}
	return t, nil
}

// number returns element r of an array, or NaN if it is null or no number.
func number(c arrow.Array, r int) float64 {
	if c.IsNull(r) {
		return math.NaN()
	}
	switch c := c.(type) {
	case *array.Int64:
		return float64(c.Value(r))
	case *array.Float64:
		return c.Value(r)
	case *array.Float32:
		return float64(c.Value(r))
	case *array.Int32:
		return float64(c.Value(r))
	}
	return math.NaN()
}
