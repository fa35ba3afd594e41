package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
)

// withMetadata is WithMetadata for a file of the input. It checks the size and the rows of a file of a lake table against the table's log.
func (in *Input) withMetadata(i int, f func(*Metadata) error) error {
	part, path := in.parts[i], in.paths[i]
	if part == nil {
		return WithMetadata(path, f)
	}
	var size wrongSize
	err := withMetadata(path, part.Size, func(m *Metadata) error {
		m.removed = part.Removed
		switch last := part.Removed.Last(); {
		case part.Rows >= 0 && m.Rows != part.Rows:
			return column.Mark(fmt.Errorf("%s: %d rows, but %d in %s: restore the file", path, m.Rows, part.Rows, part.Table.Log),
				column.ErrDamaged)
		case last >= m.Rows:
			return column.Mark(
				fmt.Errorf("%s: %s leaves out row %d, but the file has %d rows: restore the file", path, part.Table.Log,
					last, m.Rows),
				column.ErrDamaged,
			)
		}
		return f(m)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return column.Mark(
			fmt.Errorf("%s: %s names this file, but it is gone: %s may have deleted it: restore the file, or read "+
				"another version of the table", path, part.Table.Log, part.Table.Expires),
			fs.ErrNotExist,
		)
	case errors.As(err, &size):
		return column.Mark(
			fmt.Errorf("%s: %s, but %d in %s: restore the file", path, size, part.Size, part.Table.Log),
			column.ErrDamaged,
		)
	}
	return err
}

// columnsOf returns the top-level columns of a file, or the columns of a lake table as its file has them.
func (m *Metadata) columnsOf(part *source.Part) ([]column.Column, error) {
	top, err := m.TopColumns()
	if part == nil || err != nil {
		return top, err
	}
	find, err := m.finder(part.Table, top)
	if err != nil {
		return nil, err
	}
	cols := make([]column.Column, 0, len(part.Table.Columns))
	for _, of := range part.Table.Columns {
		i := -1
		if !of.Constant {
			i = find(of)
		}
		if i < 0 {
			c := column.Column{Name: of.Name, Type: of.Type, Desc: of.Desc, Nullable: true, Index: column.Absent}
			cols = append(cols, c)
			continue
		}
		c, err := m.tableColumn(of, top[i])
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return cols, nil
}

// finder returns the function that returns the number of a table's column in the file, or -1.
func (m *Metadata) finder(t *source.LakeTable, top []column.Column) (func(of source.LakeColumn) int, error) {
	ids := map[int32]int{}
	names := map[string]int{}
	for i, c := range top {
		if _, twice := names[c.Name]; twice {
			return nil, column.ErrorIn(m.path, "two columns have the name %q: write the file again", c.Name)
		}
		names[c.Name] = i
		id := m.ids[i]
		if _, twice := ids[id]; twice && id >= 0 {
			return nil, column.ErrorIn(m.path, "two columns have the field id %d: write the file again", id)
		}
		ids[id] = i
	}
	byName := func(of source.LakeColumn) int {
		if i, is := names[of.InFile]; is {
			return i
		}
		return -1
	}
	if !t.ByID {
		return byName, nil
	}
	if !slices.ContainsFunc(m.ids, func(id int32) bool { return id >= 0 }) {
		if t.IDs == nil {
			return nil, column.ErrorIn(
				m.path,
				"the file has no field ids, and the table no name mapping: set the table's property "+
					"schema.name-mapping.default, or write the file again",
			)
		}
		clear(ids)
		for name, i := range names {
			if id, is := t.IDs[name]; is {
				if _, twice := ids[id]; twice {
					return nil, column.ErrorIn(
						m.path,
						"two columns have names of the field id %d by the table's name mapping: write the "+
							"file again",
						id,
					)
				}
				ids[id] = i
			}
		}
	}
	return func(of source.LakeColumn) int {
		if i, is := ids[of.ID]; is {
			return i
		}
		return -1
	}, nil
}

// tableColumn returns a column of a file as the table has it.
func (m *Metadata) tableColumn(of source.LakeColumn, c column.Column) (column.Column, error) {
	inFile := c.Name
	c.Name = of.Name
	switch {
	case of.Unread:
		c.Type, c.Parts, c.Desc = nil, nil, of.Desc
		return c, nil
	case of.Type == nil:
		return c, nil
	case c.Type != nil && arrow.TypeEqual(c.Type, of.Type):
		return c, nil
	case c.Type == nil || c.Parts != nil || !castable(c.Type, of.Type):
		return c, column.Mark(
			column.ErrorIn(m.path, "column %q is %s, but the table's column %q %s: write the file again, or leave the "+
				"column out of the table", inFile, cmp.Or(c.Desc, "of another type"), of.Name, of.Desc),
			column.ErrColumn,
		)
	}
	to, isTime := of.Type.(*arrow.TimestampType)
	if c.Stored = c.Type; isTime && Type(c.Physical) == Int96 && to.Unit == arrow.Microsecond {
		c.Stored = nil
	}
	c.Type, c.Desc = of.Type, column.Describe(of.Type)
	return c, nil
}

// kept returns the rows of an array that aren't removed, or nil if there are none. The first row of the array has a number in the
// file. kept releases the array, or returns it.
func (r *columnReader) kept(a arrow.Array, first int64) arrow.Array {
	last := first + int64(a.Len())
	switch left := last - first - r.removed.Count(first, last); {
	case left == last-first:
		return a
	case left == 0:
		a.Release()
		return nil
	default:
		defer a.Release()
		if t, is := a.DataType().(arrow.FixedWidthDataType); is && t.BitWidth()%8 == 0 && len(a.Data().Buffers()) == 2 {
			return r.keptFixed(a, first, int(left), t.BitWidth()/8)
		}
	}
	var runs []arrow.Array
	for from, to := range r.removed.Kept(first, last) {
		runs = append(runs, array.NewSlice(a, from-first, to-first))
	}
	defer func() {
		for _, run := range runs {
			run.Release()
		}
	}()
	made, err := array.Concatenate(runs, memory.DefaultAllocator)
	if err != nil {
		panic(err) // Recovered makes it an error
	}
	return made
}

// keptFixed is kept for left values of w bytes.
func (r *columnReader) keptFixed(a arrow.Array, first int64, left, w int) arrow.Array {
	values, n, nulls := r.pool.Get(left*w), 0, 0
	var valid *Buffer
	from := a.Data().Buffers()[1].Bytes()[a.Data().Offset()*w:]
	if a.NullN() > 0 {
		valid = r.pool.Get((left + 7) / 8)
		clear(valid.Bytes)
	}
	for i, j := range r.removed.Kept(first, first+int64(a.Len())) {
		copy(values.Bytes[n*w:], from[(i-first)*int64(w):(j-first)*int64(w)])
		if valid == nil {
			n += int(j - i)
			continue
		}
		for k := int(i - first); k < int(j-first); k++ {
			if a.IsNull(k) {
				nulls++
			} else {
				valid.Bytes[n/8] |= 1 << (n % 8)
			}
			n++
		}
	}
	data := arrowData(a.DataType(), left, nulls, nil, &valid, &values)
	defer data.Release()
	return array.MakeFromData(data)
}
