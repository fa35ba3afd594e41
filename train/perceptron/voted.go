package perceptron

import (
	"context"
	"errors"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/message"
	"halfspace/predict"
	"halfspace/train/internal/online"
)

// VoterBytes is the default of Options.VoterBytes.
const VoterBytes = 64 << 20

// voters are the weights after each update of a perceptron. Each vector has a count of the visits that it survived,
// including the visit of its update (Freund and Schapire 1999, figure 1).
type voters struct {
	w         []float32 // vectors of weights, in the order of the updates
	counts    []int64
	stride    int
	mostBytes int64 // most bytes of w
}

// add counts the visits to a panel, and makes the weights after each update by repeating it. positions are the places
// of the updates.
func (v *voters) add(u *rule, panel *online.Panel, visits int, positions []uint32) error {
	a := []float32{u.eta}
	counted := 0 // visits before this position are counted
	for k, p := range positions {
		v.addSurvivedVisits(int(p) - counted)
		counted = int(p)
		if int64(len(v.w)+v.stride)*4 > v.mostBytes {
			return message.Errorf("more than %d vectors of weights would vote, which is as many as %.3g MiB hold: end the "+
				"training earlier with --epochs or "+
				"--max-updates, or use --algo averaged", len(v.counts), float64(v.mostBytes)/(1<<20))
		}
		if len(v.counts) == 0 {
			v.w = append(v.w, make([]float32, v.stride)...)
		} else {
			v.w = append(v.w, v.w[len(v.w)-v.stride:]...)
		}
		u.repeatUpdates(v.w[len(v.w)-v.stride:], a, panel, k, positions[k:k+1])
		v.counts = append(v.counts, 0)
	}
	v.addSurvivedVisits(visits - counted)
	return nil
}

// addSurvivedVisits counts visits for the last voter. The first visit makes an update, so the initial zeros survive no
// visit.
func (v *voters) addSurvivedVisits(visits int) {
	if len(v.counts) > 0 {
		v.counts[len(v.counts)-1] += int64(visits)
	}
}

// errors returns the number of rows whose label isn't the prediction of the vote.
func (v *voters) errors(ctx context.Context, src block.Source, workers int) (errors int64, err error) {
	votes := predict.NewVotes(v.w, v.counts)
	part := func(chunk block.Chunk) (n int64) {
		const rows = 16 // number of rows at a time: each row has the scores of all voters
		var scores [rows]float32
		for lo := 0; lo < chunk.Len() && ctx.Err() == nil; lo += rows {
			some := chunk.Slice(lo, min(chunk.Len(), lo+rows))
			votes.Scores(some, scores[:some.Len()])
			for i, s := range scores[:some.Len()] {
				if (s > 0) != (some.Y[i] > 0) {
					n++
				}
			}
		}
		return n
	}
	err = block.ReduceChunks(ctx, src, workers, part, func(n int64) { errors += n })
	return errors, err
}

func (v *voters) state(w *checkpoint.Walk) {
	checkpoint.Slice(w, &v.w)
	checkpoint.Slice(w, &v.counts)
	if len(v.w) != len(v.counts)*v.stride {
		w.Fail(errors.New("weights of voters are missing"))
	}
}
