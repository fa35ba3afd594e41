package parquet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/dataset/internal/column"
)

// leavesMemory is the largest number of bytes that the pages of leaf columns of a file take.
const leavesMemory = 512 << 20

// A Leaf names a leaf column of a Parquet file by the names of its groups, such as add.path. Below the last of them, it is the leaf
// column number Nth: of a map, 0 has the keys and 1 the values. Type is the type of its arrays: text, whole numbers, or lists of texts.
type Leaf struct {
	Path string
	Nth  int
	Type arrow.DataType

	Essential bool
}

// Types of Leaf.
var (
	LeafText  = arrow.BinaryTypes.String
	LeafWhole = arrow.PrimitiveTypes.Int64
	LeafTexts = arrow.ListOf(arrow.BinaryTypes.String)
)

// Leaves calls f with batches of leaf columns of a file, in the order of the rows. A column that the file lacks is null, but the file
// must have one of those that are Essential. The batch is valid until f returns.
func Leaves(ctx context.Context, path string, leaves []Leaf, f func(*column.Batch) error) error {
	var file *File
	err := WithMetadata(path, func(m *Metadata) error {
		columns, err := m.named(leaves)
		if err == nil {
			file, err = m.Selected(columns, nil)
		}
		return err
	})
	if err != nil {
		return err
	}
	buffers := NewPool(memory.DefaultAllocator)
	buffers.Limit = leavesMemory
	defer buffers.Close()
	var open openFile
	defer open.release()
	for i := range file.Groups {
		var failed error
		groupDecoder{
			file:  file,
			group: &file.Groups[i],
		}.decode(
			ctx,
			column.NewPool(1),
			&open,
			buffers,
			func(b *column.Batch, err error) bool {
				if failed = err; b != nil {
					failed = column.Recovered(func() error { return f(b) })
					b.Release()
				}
				return failed == nil
			},
		)
		if failed != nil {
			return failed
		}
	}
	return nil
}

// named returns the columns of leaves.
func (m *Metadata) named(leaves []Leaf) ([]column.Column, error) {
	columns, seen := make([]column.Column, len(leaves)), make([]int, len(leaves))
	for k, l := range leaves {
		columns[k] = column.Column{Name: l.Path, Type: l.Type, Index: column.Absent}
	}
	var bad error
	err := m.Leaves(func(i int, leaf *pschema.Column, _ pschema.Node) {
		path := leaf.Path()
		for k, l := range leaves {
			if path != l.Path && !strings.HasPrefix(path, l.Path+".") {
				continue
			}
			if seen[k]++; seen[k]-1 != l.Nth {
				continue
			}
			if made, is := leafColumn(i, leaf, l); is {
				columns[k] = made
			} else if bad == nil {
				bad = column.Damage(fmt.Errorf("column %q is %s", path, leaf.PhysicalType()))
			}
		}
	})
	has := false
	for k, l := range leaves {
		has = has || l.Essential && columns[k].Index != column.Absent
	}
	switch {
	case err == nil && bad != nil:
		err = bad
	case err == nil && !has:
		err = column.Damage(errors.New("the columns of another kind of file"))
	}
	return columns, err
}

// leafColumn returns the column of a leaf, or false if the file has another type there.
func leafColumn(i int, leaf *pschema.Column, l Leaf) (column.Column, bool) {
	c := column.Column{Name: l.Path, Type: l.Type, Index: i, Physical: int32(leaf.PhysicalType()), Width: leaf.TypeLength(),
		MaxDef: int(leaf.MaxDefinitionLevel()), Nullable: true, MaxList: maxList}
	physical := leaf.PhysicalType()
	switch l.Type {
	case LeafWhole:
		if physical == parquet.Types.Int32 {
			c.Stored = arrow.PrimitiveTypes.Int32
		}
		return c, leaf.MaxRepetitionLevel() == 0 && (physical == parquet.Types.Int32 || physical == parquet.Types.Int64)
	case LeafTexts:
		c.ListDef = listDefOf(leaf)
		return c, leaf.MaxRepetitionLevel() == 1 && physical == parquet.Types.ByteArray
	}
	return c, leaf.MaxRepetitionLevel() == 0 && physical == parquet.Types.ByteArray
}

// listDefOf returns the definition level from which on the list around a leaf column has an element.
func listDefOf(leaf *pschema.Column) (level int) {
	counts := false
	for n := leaf.SchemaNode(); n != nil && n.Parent() != nil; n = n.Parent() {
		counts = counts || n.RepetitionType() == parquet.Repetitions.Repeated
		if counts && n.RepetitionType() != parquet.Repetitions.Required {
			level++
		}
	}
	return level
}
