package learner

import (
	"context"
	"iter"

	"halfspace/block"
	"halfspace/internal/distributed"
	"halfspace/schema"
)

// A changed source yields copies of another source's blocks that share the features and differ otherwise.
type changed struct {
	block.Source
	spec *schema.Spec
	view string // name of the block.View that makes the change on a cluster, and its arguments
	args any

	// change returns the changed block of b. It may write to the memory of spare, an earlier changed block; nil: there is
	// none.
	change func(b, spare *block.Block) *block.Block
}

func (c *changed) Spec() *schema.Spec { return c.spec }

// Remote returns the cluster of the rows; see block.Remote.
func (c *changed) Remote() (block.Cluster, []block.View) {
	return distributed.Changed(c.Source, c.view, c.args)
}

// Blocks yields the changed blocks. A block is valid until the next block is requested.
func (c *changed) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLease(c.Lend(ctx))
}

// Lend yields the blocks as loans, for callers that use several blocks at once; see block.Leaser.
func (c *changed) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	return block.Map(ctx, c.Source, func(b, spare *block.Block) (*block.Block, error) { return c.change(b, spare), nil })
}

// data returns the changed blocks of rows in memory.
func (c *changed) data(rows *block.Data) *block.Data {
	var blocks []*block.Block
	for b := range rows.Blocks(context.Background()) {
		blocks = append(blocks, c.change(b, nil))
	}
	return block.NewData(c.spec, blocks)
}
