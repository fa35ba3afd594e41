package train

import (
	"context"

	"halfspace/internal/block"
)

// DealOf is newDeal for tests.
func DealOf(ctx context.Context, all block.Source, folds int, seed uint64, opt *Options) (*deal, error) {
	return newDeal(ctx, all, folds, seed, 1, opt)
}

// GroupSizes is groupSizes for tests.
func GroupSizes(groups []int64) map[int64]int64 { return groupSizes(groups) }

// Judge returns which rows a fold is judged on.
func (d *deal) Judge(f int) func(class int) bool { return d.judgedRows[f]() }

// Learn returns which rows a fold is learned from.
func (d *deal) Learn(f int) func(class int) bool { return d.learnedRows[f]() }
