package kernelperceptron

import (
	"crypto/sha256"
	"time"

	"halfspace/train/learner"
)

// reportEvery is the least time between two reports within an epoch. reportCalls is the number of mistakes between two
// reads of the clock.
const (
	reportEvery = 100 * time.Millisecond
	reportCalls = 16
)

// alphas returns the SHA-256 of the dual coefficients: the number of updates of each row, for each class.
func (l *training) alphas() [sha256.Size]byte {
	var all [][]uint32
	for _, m := range l.binaries {
		updates := make([]uint32, l.n)
		for _, mistake := range m.mistakes {
			updates[mistake.row]++
		}
		all = append(all, updates)
	}
	return learner.SumOf(all...)()
}

func (l *training) report(sum func() [sha256.Size]byte) {
	if l.opt.Progress == nil {
		return
	}
	l.reported = time.Now()
	p := learner.Progress{Epochs: l.opt.Epochs, Rows: int64(l.n), Best: -1, Elapsed: time.Since(l.start), Sum: sum}
	for _, m := range l.binaries {
		p.Visits = max(p.Visits, m.visits)
		p.Updates += int64(len(m.mistakes))
	}
	p.Epoch = p.Visits / p.Rows
	l.opt.Progress(p)
}
