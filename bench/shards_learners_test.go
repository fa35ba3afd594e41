package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/train/ftrl"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/passiveaggressive"
)

// otherLearners are the learners with shards beside the perceptrons.
var otherLearners = []struct {
	name  string
	most  int // elements of rows beyond which it takes minutes, and is left out; 0: any number
	learn func(rows *block.Data, o learner.Options) (*learner.Result, error)
}{
	{"`passive-aggressive --C 0.01`", 0, func(rows *block.Data, o learner.Options) (*learner.Result, error) {
		return passiveaggressive.Train(context.Background(), rows, *learner.SetShared(&passiveaggressive.Settings{Options: passiveaggressive.Options{C: 0.01}}, o).(*passiveaggressive.Settings))
	}},
	{"`adagrad`", 0, func(rows *block.Data, o learner.Options) (*learner.Result, error) {
		return ftrl.TrainAdaGrad(context.Background(), rows, *learner.SetShared(&ftrl.AdaGradSettings{}, o).(*ftrl.AdaGradSettings))
	}},
	{"`logistic --solver sgd`", 10_000_000, func(rows *block.Data, o learner.Options) (*learner.Result, error) {
		r, err := logistic.Train(context.Background(), rows, *learner.SetShared(&logistic.Settings{Options: logistic.Options{L2: 1, Solver: logistic.SGD}}, o).(*logistic.Settings))
		if err != nil {
			return nil, err
		}
		return &r.Result, nil
	}},
}

// otherSeeds permute the rows to learn from.
const otherSeeds = 3

// passesOfOthers are the passes after which the table of otherLearners has errors.
var passesOfOthers = []int64{1, 4, 16}

// othersTable returns the held-out errors of otherLearners on real sets, by shards and passes.
func othersTable(t *testing.T) string {
	var cells strings.Builder
	cells.WriteString("| set | learner | shards | 1 | 4 | 16 |\n|---|---|---|---|---|---|\n")
	for _, set := range realSets() {
		if set.inOrder {
			continue
		}
		t.Run(set.name, func(t *testing.T) {
			f := loadReal(t, set)
			for _, l := range otherLearners {
				if l.most > 0 && len(f.x) > l.most {
					continue
				}
				for _, shards := range slices.Compact([]int{1, 4, f.split(t, set.held, false, 0).shards}) {
					fmt.Fprintf(&cells, "| %s | %s | %d |", set.name, l.name, shards)
					for _, passes := range passesOfOthers {
						var wrong []float64
						for seed := range uint64(otherSeeds) {
							s := f.split(t, set.held, false, seed)
							r, err := l.learn(s.learn, learner.Options{Epochs: passes, Shards: int64(shards)})
							if err != nil {
								t.Fatal(err)
							}
							wrong = append(wrong, wrongShare(t, s.held, r.Weights))
						}
						fmt.Fprintf(&cells, " %s |", spreadOf(wrong))
					}
					cells.WriteByte('\n')
				}
			}
		})
	}
	return cells.String()
}
