package column

import (
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/internal/humanize"
	"halfspace/schema"
)

// Tables are the columns of the files of an input. Columns of equal names are one column of the input. Set gives the
// columns of each file, AssignRoles chooses among the columns that some file has, and Bind returns the chosen columns as a
// file has them.
type Tables struct {
	Gaps
	paths     []string
	binder    columnBinder
	model     bool       // the columns of a model are read
	constants [][]Column // of each file: the columns that its folders name; nil: none

	mu    sync.Mutex
	apart [][]Column // the latest tables that differ
	files [][]Column // of each file: the columns in the file; files with equal columns share memory
	names map[string]bool
	roles *Roles
	bound map[*Column][]Column // the chosen columns of a table, by the table's first column
}

// NewTables returns the tables of files whose columns are not known yet.
func NewTables(paths []string, req OpenOptions) *Tables {
	retype(req.Spec, req.Constants)
	return &Tables{paths: paths, binder: req.Binder, model: req.Spec != nil, constants: req.Constants,
		files: make([][]Column, len(paths))}
}

// retype makes text of numbers that folders name where a model takes text: in training, the texts of other folders were
// no numbers. It makes columns without values those that the model takes.
func retype(spec *schema.Spec, constants [][]Column) {
	if len(constants) == 0 {
		return
	}
	first := constants[0]
	for k := range first {
		if c := &first[k]; c.Empty || Number(c.Type) && Unit(c.Type) == "" {
			AsModel(OpenOptions{Spec: spec}, first[k:k+1])
		}
	}
	for _, cols := range constants {
		for k := range cols {
			cols[k].Type, cols[k].Desc = first[k].Type, first[k].Desc
		}
	}
}

// mostApart is the number of tables with which a further table is compared.
const mostApart = 8

// Set sets the columns of a file. Several goroutines may call it. A column of the type null, as pandas writes a column without
// values, counts as one that the file lacks, of the type that another file gives it.
func (t *Tables) Set(file int, cols []Column) {
	if isNull := func(c Column) bool { return c.Desc == arrow.Null.String() }; slices.ContainsFunc(cols, isNull) {
		cols = slices.Clone(cols)
		for k := range cols {
			if c := &cols[k]; isNull(*c) {
				c.Type, c.Desc, c.Nullable, c.Empty, c.Index = arrow.PrimitiveTypes.Float64, "null", true, true, Absent
			}
		}
	}
	t.mu.Lock()
	others := slices.Clone(t.apart)
	t.mu.Unlock()
	i := slices.IndexFunc(others, func(other []Column) bool { return slices.EqualFunc(other, cols, Column.equal) })
	if i >= 0 {
		cols = others[i]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[file] = cols
	if i < 0 {
		t.apart = append(t.apart[max(0, len(t.apart)-mostApart+1):], cols)
	}
}

// equal returns true if two files have the same column in the same place.
func (c Column) equal(d Column) bool {
	return c.Name == d.Name && c.Index == d.Index && c.Desc == d.Desc && c.Advice == d.Advice &&
		c.Nullable == d.Nullable && c.Physical == d.Physical && c.Width == d.Width && c.MaxDef == d.MaxDef &&
		c.ListDef == d.ListDef && c.MaxList == d.MaxList && sameType(c.Type, d.Type) &&
		sameType(c.Stored, d.Stored) && slices.EqualFunc(c.Parts, d.Parts, Column.equal)
}

// sameType is arrow.TypeEqual, which takes longer for types without parameters.
func sameType(a, b arrow.DataType) bool {
	if a == nil || b == nil || a.ID() != b.ID() {
		return a == nil && b == nil
	}
	id := a.ID()
	return arrow.IsInteger(id) || id == arrow.FLOAT32 || id == arrow.FLOAT64 || id == arrow.STRING || arrow.TypeEqual(a, b)
}

// AssignRoles chooses among the columns of the files that Set knows. If numbered is true, the label may be the number of a
// column of the first of them.
func (t *Tables) AssignRoles(numbered bool) (*Roles, error) {
	all, first := t.union()
	if !numbered {
		first = 0
	}
	if !t.model { // a file without a feature of the model is an error of Bind
		if err := t.checkApart(); err != nil {
			return nil, err
		}
	}
	t.bound = map[*Column][]Column{}
	var err error
	t.roles, err = t.binder.BindAll(humanize.Files(t.paths), all, first)
	return t.roles, err
}

// union returns the columns that some file has: the columns of the first file in their order, then the further columns
// of the next file, and so on. It also returns the number of the first file's columns. The type of a column is its type
// in the first file that has it.
func (t *Tables) union() (all []Column, first int) {
	t.names = map[string]bool{}
	var last *Column
	for i, cols := range t.files {
		if len(cols) == 0 || &cols[0] == last {
			continue
		}
		last = &cols[0]
		from := len(all)
		if from == 0 {
			all = slices.Clip(cols) // a copy of many columns takes tens of megabytes
		}
		for _, c := range cols {
			if from > 0 && !t.names[c.Name] {
				c.File = t.paths[i]
				all = t.withColumn(all, c)
			}
		}
		for _, c := range cols {
			t.names[c.Name] = t.names[c.Name] || !c.Lacks()
		}
		if from == 0 {
			first = len(all)
		}
	}
	if t.constants == nil {
		return all, first
	}
	for _, c := range t.constants[0] {
		if !t.names[c.Name] {
			all = t.withColumn(all, c)
			t.names[c.Name] = true
		}
	}
	return all, first
}

// withColumn returns columns with one more, which may be there without a value.
func (t *Tables) withColumn(all []Column, c Column) []Column {
	if _, is := t.names[c.Name]; is {
		at := slices.IndexFunc(all, func(other Column) bool { return other.Name == c.Name })
		all = slices.Clone(all)
		all[at] = c
		return all
	}
	return append(all, c)
}

// HasColumnsOf returns true if AssignRoles has seen each column of a file.
func (t *Tables) HasColumnsOf(file int) bool {
	return !slices.ContainsFunc(t.files[file], func(c Column) bool {
		has, known := t.names[c.Name]
		return !known || !has && !c.Lacks()
	})
}

// Bind returns the chosen columns as they are in a file. The caller must not change them. Several goroutines may call
// it.
func (t *Tables) Bind(file int) (bound []Column, err error) {
	cols := t.files[file]
	var key *Column
	if len(cols) > 0 {
		key = &cols[0]
	}
	t.mu.Lock()
	bound = t.bound[key]
	t.mu.Unlock()
	switch {
	case bound != nil:
	case len(t.apart) == 1 && t.constants == nil: // the columns were chosen in this table
		bound = t.roles.Columns
	default:
		if bound, err = t.binder.BindFile(t.paths[file], t.whole(file)); err != nil {
			return nil, err
		}
		t.mu.Lock()
		t.bound[key] = bound
		t.mu.Unlock()
	}
	t.SetLacking(t.paths[file], lacking(bound))
	if t.constants == nil {
		return bound, nil
	}
	bound = slices.Clone(bound)
	for k := range bound {
		for _, c := range t.constants[file] {
			if c.Name == bound[k].Name && (bound[k].Index == Absent || c.Constant == nil || !c.Constant.Fallback) {
				bound[k].Constant = c.Constant
			}
		}
	}
	return bound, nil
}

// whole returns the columns of a file, and those that its folders name, and chosen columns that the file lacks.
func (t *Tables) whole(file int) []Column {
	all := slices.DeleteFunc(slices.Clone(t.files[file]), func(c Column) bool { return c.Lacks() })
	has := namesOf(all)
	if t.model && !slices.ContainsFunc(t.roles.Columns, func(c Column) bool { return has[c.Name] }) {
		return all // it is an error, as for a single file
	}
	if t.constants != nil {
		for _, c := range t.constants[file] {
			if !has[c.Name] {
				has[c.Name], all = true, append(all, c)
			}
		}
	}
	for _, c := range t.roles.Columns {
		if !has[c.Name] {
			c.Index, c.Nullable, c.Parts, c.Constant, c.ListDef = Absent, true, nil, nil, 0
			has[c.Name], all = true, append(all, c)
		}
	}
	return all
}

// Forget drops the columns of the tables after the last Bind: the columns of a wide table take tens of megabytes.
func (t *Tables) Forget() { t.apart, t.files, t.names, t.bound = nil, nil, nil, nil }

// lacking returns the names of the columns that a file lacks.
func lacking(bound []Column) (names []string) {
	for k := range bound {
		if bound[k].Lacks() {
			names = append(names, bound[k].Name)
		}
	}
	return names
}

// checkApart returns an error if no column of a file is a column of another file.
func (t *Tables) checkApart() error {
	files := map[*Column]int{} // by the first column of a table
	tables := map[string]int{} // by the name of a column
	for _, cols := range t.files {
		if len(cols) == 0 {
			continue
		}
		if files[&cols[0]]++; files[&cols[0]] == 1 {
			for name := range namesOf(cols) {
				tables[name]++
			}
		}
	}
	for i, cols := range t.files {
		if len(files) < 2 || len(cols) == 0 || files[&cols[0]] > 1 {
			continue
		}
		if !slices.ContainsFunc(cols, func(c Column) bool { return tables[c.Name] > 1 }) {
			return Mark(ErrorIn(t.paths[i], "no column of the file is in another file: name files of one table (columns: %s)",
				List(cols, Column.Label)), ErrColumn)
		}
	}
	return nil
}

func namesOf(cols []Column) map[string]bool {
	names := make(map[string]bool, len(cols))
	for _, c := range cols {
		names[c.Name] = true
	}
	return names
}
