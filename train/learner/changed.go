package learner

import (
	"context"
	"iter"

	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/kernel"
	"halfspace/schema"
)

// A changedSource yields copies of another source's blocks that share the features and differ otherwise.
type changedSource struct {
	block.Source
	spec *schema.Spec
	view string // name of the block.View that makes the change on a cluster, and its arguments
	args any

	// change returns the changed block of b. It may write to the memory of spare, an earlier changed block; nil: there is
	// none.
	change func(b, spare *block.Block) *block.Block
}

// Change returns the rows of src with their blocks changed. A cluster makes the change by the view with the arguments.
func Change(src block.Source, view string, args any, change func(b *block.Block) *block.Block) block.Source {
	return &changedSource{src, src.Spec(), view, args, func(b, _ *block.Block) *block.Block { return change(b) }}
}

func (c *changedSource) Spec() *schema.Spec { return c.spec }

// Remote returns the cluster of the rows; see block.Remote.
func (c *changedSource) Remote() (block.Cluster, []block.View) {
	return distributed.ChangedCluster(c.Source, c.view, c.args)
}

// Blocks yields the changed blocks. A block is valid until the next block is requested.
func (c *changedSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLease(c.Lend(ctx))
}

// Lend yields the blocks as loans, for callers that use several blocks at once; see block.Leaser.
func (c *changedSource) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	return block.Map(ctx, c.Source, func(b, spare *block.Block) (*block.Block, error) { return c.change(b, spare), nil })
}

// withReader returns c as a *block.Data or a block.Seekable if the unchanged rows are one. For read see changedFile.
func (c *changedSource) withReader(read func(rows int, to *block.Block, from func(*block.Block) error) error) block.Source {
	switch src := c.Source.(type) {
	case *block.Data:
		var blocks []*block.Block
		for b := range src.Blocks(context.Background()) {
			blocks = append(blocks, c.change(b, nil))
		}
		return block.NewData(c.spec, blocks)
	case block.Seekable:
		return changedFile{c, src, read}
	}
	return c
}

// A changedFile is a changed source of a block.Seekable.
type changedFile struct {
	*changedSource
	file block.Seekable
	read func(rows int, to *block.Block, from func(*block.Block) error) error // changes the rows that from reads into to
}

func (f changedFile) Sparse() bool { return f.file.Sparse() }

func (f changedFile) ReadGroup(e int, to *block.Block) error {
	rows := min(kernel.GroupRows, f.Rows()-int64(e)*kernel.GroupRows)
	return f.read(int(rows), to, func(to *block.Block) error { return f.file.ReadGroup(e, to) })
}

func (f changedFile) ReadRows(rows []uint32, to *block.Block) error {
	return f.read(len(rows), to, func(to *block.Block) error { return f.file.ReadRows(rows, to) })
}
