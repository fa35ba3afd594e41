package testproblems

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"

	"halfspace/internal/block"
	"halfspace/internal/distributed"
)

// A Remote is rows over which a simulated cluster makes passes. The cluster computes pieces in a random order, and some
// twice. All arguments and results are encoded to bytes.
type Remote struct {
	block.Source
	cluster *cluster
	read    int
}

// NewRemote returns the rows of d as a source that isn't in memory.
func NewRemote(d *block.Data, seed uint64) *Remote {
	c := &cluster{Tasks: map[string]int{}, spec: d, rng: rand.New(rand.NewPCG(seed, 1))}
	for b, err := range d.Blocks(context.Background()) {
		if err != nil {
			panic("testproblems: " + err.Error())
		}
		for lo := 0; lo < b.Len(); lo += block.ChunkRows {
			c.chunks = append(c.chunks, b.Slice(lo, min(b.Len(), lo+block.ChunkRows)))
		}
	}
	return &Remote{Source: Stream{d}, cluster: c}
}

// Remote returns the cluster; see block.Remote.
func (r *Remote) Remote() (block.Cluster, []block.View) { return r.cluster, nil }

// Blocks reads the rows in this process.
func (r *Remote) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	r.read++
	return r.Source.Blocks(ctx)
}

// Read returns how many times this process began to read the rows.
func (r *Remote) Read() int { return r.read }

// Tasks returns the number of passes of each task, by the task's name.
func (r *Remote) Tasks() map[string]int { return r.cluster.Tasks }

type cluster struct {
	Tasks  map[string]int
	spec   block.Source
	chunks []*block.Block
	rng    *rand.Rand
}

// Pass makes a pass; see block.Cluster.
func (c *cluster) Pass(ctx context.Context, p block.Pass, merge func(any) error) error {
	c.Tasks[p.Task]++
	coded, err := distributed.EncodePass(p)
	if err != nil {
		return err
	}
	results := make([][]byte, len(p.Pieces))
	order := c.rng.Perm(len(p.Pieces))
	for _, i := range append(order, order[:(len(order)+2)/3]...) {
		pass, err := distributed.DecodePass(coded)
		if err != nil {
			return err
		}
		var blocks []*block.Block
		for k, chunk := range p.Pieces[i] {
			b := *c.chunks[chunk]
			b.First = int64(k) * block.ChunkRows
			blocks = append(blocks, &b)
		}
		rows := block.AssumeValid(block.Source(block.NewData(c.spec.Spec(), blocks)))
		own, err := distributed.EncodeOwn(p, i)
		if err != nil {
			return err
		}
		r, err := distributed.Run(ctx, pass, own, rows, i, 1+i%3)
		if err != nil {
			return err
		}
		if results[i] != nil && !bytes.Equal(results[i], r) {
			return errors.New("a piece has another result when it is computed again")
		}
		results[i] = r
	}
	for _, b := range results {
		r, err := distributed.DecodeResult(p, b)
		if err == nil {
			err = merge(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
