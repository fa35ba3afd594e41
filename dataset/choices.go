package dataset

import (
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/schema"
)

// choices are the options that say which columns are read and what they mean, as in Options.
type choices struct {
	label, sampleWeight string
	features, exclude   []string
	keep                []string
	noBias, standardize bool
	nulls               schema.Nulls
	words               []string // that are nulls in text
	categorical         string
	converts            bool           // keep is all if it is empty, and exclude takes from it
	float               arrow.DataType // of the blocks' values; nil where there are none
	spec                *schema.Spec   // of a model, which says what the features are
}

// A picker chooses columns by choices, and keeps what it chose.
type picker struct {
	choices
	sel *selection
}

func (p *picker) first(file string, cols []column, numbered bool) (*chosen, error) {
	opt := p.choices
	if numbered {
		opt = namedLabel(opt, cols)
	}
	var err error
	if p.sel, err = choose(newFileColumns(file, cols), opt); err != nil {
		return nil, err
	}
	return p.sel.chosen, nil
}

func (p *picker) further(file string, cols []column) ([]column, error) {
	return p.sel.bind(newFileColumns(file, cols))
}

// namedLabel gives a label that is the number of a column, or "last", the column's name.
func namedLabel(opt choices, cols []column) choices {
	if opt.label == "" || slices.ContainsFunc(cols, func(c column) bool { return c.name == opt.label }) {
		return opt
	}
	n, err := strconv.Atoi(opt.label)
	if opt.label == "last" {
		n, err = len(cols), nil
	}
	if err == nil && 1 <= n && n <= len(cols) {
		opt.label = cols[n-1].name
	}
	return opt
}
