package online

import (
	"crypto/sha256"
	"time"

	"halfspace/train/learner"
)

// reportInterval is the least time between two reports in an epoch. callsPerReport is the number of calls of mayReport
// between two reads of the clock.
const (
	reportInterval = 100 * time.Millisecond
	callsPerReport = 16
)

// mayReport reports the progress if the last report is older than reportInterval. It checks that in one of 16 calls.
func (t *Training) mayReport() {
	if t.reports.calls++; t.reports.calls%callsPerReport != 0 {
		return
	}
	all := t
	if t.shard != nil {
		if all = t.shard.parent; all == nil {
			return
		}
		own := &t.reports.counted
		all.reports.shardVisits.Add(t.Visits - own.visits)
		all.reports.shardUpdates.Add(t.Updates - own.updates)
		own.visits, own.updates = t.Visits, t.Updates
		if !all.reports.mutex.TryLock() { // another shard reports
			return
		}
		defer all.reports.mutex.Unlock()
	}
	if time.Since(all.reports.last) > reportInterval {
		all.report(nil)
	}
}

func (t *Training) report(sum func() [sha256.Size]byte) {
	if t.Opt.Progress == nil {
		return
	}
	t.reports.last = time.Now()
	visits, updates, best := t.Visits+t.reports.shardVisits.Load(), t.Updates+t.reports.shardUpdates.Load(), int64(-1)
	for _, j := range t.Judges {
		if scorer, is := j.(Scorer); is {
			best = scorer.BestErrors()
		}
	}
	p := learner.Progress{Epoch: visits / t.Rows, Epochs: t.Opt.Epochs, Visits: visits, Rows: t.Rows, Updates: updates,
		BestErrors: best, Elapsed: t.Elapsed(), Sum: sum}
	if sum != nil {
		p.Measure = t.Measure
	}
	t.Opt.Progress(p)
}

// sum returns the hash of the weights, or of the numbers in their place.
func (t *Training) sum() func() [sha256.Size]byte {
	if rule, is := t.Rule.(Summer); is {
		return rule.Sum()
	}
	return learner.SumOf(t.Rule.Weights())
}
