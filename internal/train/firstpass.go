package train

import (
	"context"
	"errors"
	"iter"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/passes"
)

// A firstPass is rows that are read again in each pass. It takes their fingerprint and their profile in the first whole pass,
// whatever that pass is for.
type firstPass struct {
	block.Source
	mu      sync.Mutex
	sum     string // "" before the end of the first whole pass
	profile *DataProfile
}

// firstPassOf returns src as a firstPass, or nil if this process holds the rows, reads them in any order, or doesn't read them,
// and with a checkpoint, which takes the fingerprint before the first pass.
func (s *Session) firstPassOf(src block.Source) *firstPass {
	_, held := src.(*block.Data)
	_, seekable := src.(block.Seekable)
	if s.State != nil || held || seekable || !passes.InProcess(src) {
		return nil
	}
	return &firstPass{Source: src}
}

// result returns the fingerprint and the profile, or "" and nil before the end of the first whole pass.
func (f *firstPass) result() (string, *DataProfile) {
	if f == nil {
		return "", nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sum, f.profile
}

func (f *firstPass) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLease(f.Lend(ctx))
}

// Lend leases as many blocks at the same time as the source does. See block.Leaser.
func (f *firstPass) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	if sum, _ := f.result(); sum != "" {
		return block.Map(ctx, f.Source, func(b, _ *block.Block) (*block.Block, error) { return b, nil })
	}
	return func(yield func(block.Lease, error) bool) {
		profile, hashedProfile, chunk := newDataProfile(f.Spec()), hashedProfileOf(f, struct{}{}), int64(0)
		sum, err := block.FingerprintOf(f.Spec().Cols(), func(add func(hash uint64)) error {
			for lease, err := range block.Map(ctx, f.Source, func(b, _ *block.Block) (*block.Block, error) {
				for lo := 0; lo < b.Len(); lo += block.ChunkRows {
					h := hashedProfile(block.Chunk{Block: b.Slice(lo, min(b.Len(), lo+block.ChunkRows)), Number: chunk})
					add(h.Hash)
					profile.add(h.Profile)
					chunk++
				}
				return b, nil
			}) {
				if !yield(lease, err) {
					return errStopped
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.sum, f.profile = sum, profile
		}
	}
}

// errStopped is the error of a pass that its caller left.
var errStopped = errors.New("the pass was left")
