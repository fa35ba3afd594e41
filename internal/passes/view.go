package passes

import (
	"context"
	"iter"
	"reflect"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// A View is a change of rows that takes arguments of type A. Other processes make the change by its name.
type View[A any] struct {
	name   string
	change func(spec *schema.Spec, args A) Change
}

// A Change says how rows are changed. The changed blocks share the features, or differ from them by a fixed function.
type Change struct {
	Spec *schema.Spec // of the changed rows; nil: as before

	// Block returns the changed block of b. It may write to the memory of spare, an earlier changed block; nil: there is
	// none.
	Block func(b, spare *block.Block) *block.Block

	// Read changes the rows that from reads into to. If it isn't nil, the changed rows of a *block.Data or a
	// block.Seekable are one too.
	Read func(rows int, to *block.Block, from func(*block.Block) error) error
}

// A view is a View of any type of arguments. apply returns the changed rows of a piece, and the own arguments without
// those that the view took.
type view struct {
	argsType reflect.Type
	apply    applyView
}

type applyView func(ctx context.Context, src block.Source, args, own any) (rows block.Source, rest any, err error)

// NewView registers a change of rows under a name, as New does a pass.
func NewView[A any](name string, change func(spec *schema.Spec, args A) Change) *View[A] {
	v := &View[A]{name, change}
	newView(name, reflect.TypeFor[A](), func(_ context.Context, src block.Source, args, own any) (block.Source, any, error) {
		return block.AssumeValid(v.Of(src, args.(A))), own, nil
	})
	return v
}

func newView(name string, args reflect.Type, apply applyView) *view {
	if views[name] != nil {
		panic("passes: two views of one name")
	}
	views[name] = &view{args, apply}
	return views[name]
}

// Of returns the changed rows of src.
func (v *View[A]) Of(src block.Source, args A) block.Source {
	c := &changedSource{src, v.change(src.Spec(), args), block.View{Name: v.name, Args: args}}
	if c.Change.Spec == nil {
		c.Change.Spec = src.Spec()
	}
	return c.withReader()
}

// A changedSource yields the changed blocks of another source.
type changedSource struct {
	block.Source
	Change
	view block.View
}

func (c *changedSource) Spec() *schema.Spec { return c.Change.Spec }

// Remote returns the cluster of the rows; see block.Remote.
func (c *changedSource) Remote() (block.Cluster, []block.View) {
	cluster, before := block.RemoteOf(c.Source)
	if cluster == nil {
		return nil, nil
	}
	return cluster, append(before[:len(before):len(before)], c.view)
}

// Blocks yields the changed blocks. A block is valid until the next block is requested.
func (c *changedSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLease(c.Lend(ctx))
}

// Lend yields the blocks as loans, for callers that use several blocks at once; see block.Leaser.
func (c *changedSource) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	return block.Map(ctx, c.Source, func(b, spare *block.Block) (*block.Block, error) { return c.Block(b, spare), nil })
}

// withReader returns c as a *block.Data or a block.Seekable if the unchanged rows are one, and c can read them.
func (c *changedSource) withReader() block.Source {
	if c.Read == nil {
		return c
	}
	switch src := c.Source.(type) {
	case *block.Data:
		var blocks []*block.Block
		for b := range src.Blocks(context.Background()) {
			blocks = append(blocks, c.Block(b, nil))
		}
		return block.NewData(c.Spec(), blocks)
	case block.Seekable:
		return changedFile{c, src}
	}
	return c
}

// A changedFile is a changed source of a block.Seekable.
type changedFile struct {
	*changedSource
	file block.Seekable
}

func (f changedFile) Sparse() bool { return f.file.Sparse() }

func (f changedFile) ReadGroup(e int, to *block.Block) error {
	rows := min(kernel.GroupRows, f.Rows()-int64(e)*kernel.GroupRows)
	return f.Read(int(rows), to, func(to *block.Block) error { return f.file.ReadGroup(e, to) })
}

func (f changedFile) ReadRows(rows []uint32, to *block.Block) error {
	return f.Read(len(rows), to, func(to *block.Block) error { return f.file.ReadRows(rows, to) })
}
