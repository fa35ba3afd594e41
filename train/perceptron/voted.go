package perceptron

import (
	"context"
	"fmt"
	"unsafe"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/predict"
)

// VoterBytes is the most memory that the weights of a voted perceptron's voters take by default.
const VoterBytes = 64 << 20

// Voters are the weights after the updates of a perceptron, and for how many visits each stood, that of its update included
// (Freund and Schapire 1999, figure 1).
type voters[T kernel.Float] struct {
	w      []T // one vector behind the other, each of the stride
	counts []int64
	stride int
	most   int64 // bytes of w
}

// add takes in visits as mean.add does. What the kernel did at each update is done again.
func (v *voters[T]) add(first, visits int, positions []uint32, eta T, again func(k int, a, to []T)) error {
	a := []T{eta}
	stood := first // the position from which on the last voter's visits aren't counted yet
	for k, p := range positions {
		v.stand(int(p) - stood)
		stood = int(p)
		if int64(len(v.w)+v.stride)*int64(unsafe.Sizeof(T(0))) > v.most {
			return fmt.Errorf("more than %d vectors of weights would vote, which is as many as %.3g MiB hold: end the training earlier with epochs or "+
				"max-updates, or average the weights instead", len(v.counts), float64(v.most)/(1<<20))
		}
		if len(v.counts) == 0 {
			v.w = append(v.w, make([]T, v.stride)...)
		} else {
			v.w = append(v.w, v.w[len(v.w)-v.stride:]...)
		}
		again(k, a, v.w[len(v.w)-v.stride:])
		v.counts = append(v.counts, 0)
	}
	v.stand(first + visits - stood)
	return nil
}

// stand counts visits for the last voter. The first visit updates, so that the zeros never stood.
func (v *voters[T]) stand(visits int) {
	if len(v.counts) > 0 {
		v.counts[len(v.counts)-1] += int64(visits)
	}
}

// errors counts the rows whose prediction by vote isn't their label.
func (v *voters[T]) errors(ctx context.Context, src block.Source[T], workers int) (errors int64, err error) {
	votes := predict.NewVotes(v.w, v.counts)
	part := func(run block.Run[T]) (n int64) {
		scores := make([]T, run.Len())
		votes.Scores(run.Block, scores)
		for i, s := range scores {
			if (s > 0) != (run.Y[i] > 0) {
				n++
			}
		}
		return n
	}
	err = block.ReduceRuns(ctx, src, workers, part, func(n int64) { errors += n })
	return errors, err
}
