package source

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
)

// A Part is a file of a lake table, as the table's log describes it.
type Part struct {
	Table   *LakeTable
	Size    int64                       // in bytes; -1: the log doesn't say it
	Rows    int64                       // of the file, with those that are left out; -1: the log doesn't say it
	Removed *Removed                    // rows that are left out
	Values  map[string]*column.Constant // of columns that the file lacks, by their names in the table
}

// A LakeTable is a version of a lake table.
type LakeTable struct {
	Kind    string // such as Delta
	Name    string // which names the version too: Expand takes it
	Version string // in words, such as: Delta version 41
	Columns []LakeColumn
	ByID    bool             // the files' columns are found by their ids, not by their names
	IDs     map[string]int32 // with ByID: ids of the columns of files that have no ids; nil: none
	Log     string           // the place that names the files, such as: the log of sales
	Expires string           // deletes files of older versions, such as: a vacuum
}

// A LakeColumn is a column of a lake table, and how the files have it.
type LakeColumn struct {
	Name     string // in the table
	InFile   string // its name in the files
	ID       int32
	Type     arrow.DataType // nil: as the file has it, unless Unread is set
	Desc     string         // the type's name in the table
	Unread   bool           // no feature is made of the column, and it isn't kept
	Constant bool           // the files lack the column: each file has a value
}

// Lakes returns the lake tables whose files are in the source.
func (s *Source) Lakes() (all []*LakeTable) {
	for _, f := range s.Files {
		if f.Part != nil && (len(all) == 0 || all[len(all)-1] != f.Part.Table) {
			all = append(all, f.Part.Table)
		}
	}
	return all
}

// CheckLakes returns an error if the source has lake tables beside other files, or tables whose columns differ in their types.
func (s *Source) CheckLakes() error {
	lakes := s.Lakes()
	if len(lakes) == 0 {
		return nil
	}
	for _, f := range s.Files {
		if f.Part == nil {
			return fmt.Errorf(
				"%s: %s is a lake table, and lake tables aren't read beside other files: write its rows to a file first: "+
					"halfspace convert %s --out rows.parquet",
				f.Path,
				lakes[0].Name,
				column.ShellWord(lakes[0].Name),
			)
		}
	}
	types := map[string]LakeColumn{}
	for _, t := range lakes {
		for _, c := range t.Columns {
			if of, is := types[c.Name]; is && of.Desc != c.Desc {
				return column.Mark(
					fmt.Errorf("%s: column %q is %s, and %s in %s: name one table", t.Name, c.Name, c.Desc, of.Desc,
						lakes[0].Name),
					column.ErrColumn,
				)
			}
			types[c.Name] = c
		}
	}
	return nil
}

// ConstantColumns returns, for each file, the columns whose values the names of its folders or the log of its table give. It
// returns nil if there are none.
func (s *Source) ConstantColumns() (all [][]column.Column) {
	lakes := s.Lakes()
	if len(lakes) == 0 {
		return s.Constants.Columns()
	}
	has := map[string]bool{}
	for _, f := range s.Files {
		for name := range f.Part.Values {
			has[name] = true
		}
	}
	var cols []column.Column
	for _, t := range lakes {
		for _, c := range t.Columns {
			if has[c.Name] {
				delete(has, c.Name)
				cols = append(cols, column.Column{Name: c.Name, Type: c.Type, Desc: column.Describe(c.Type), Nullable: true,
					Index: column.Absent})
			}
		}
	}
	if len(cols) == 0 {
		return nil
	}
	for _, f := range s.Files {
		own := slices.Clone(cols)
		for k := range own {
			own[k].Constant = f.Part.Values[own[k].Name]
		}
		all = append(all, own)
	}
	return all
}
