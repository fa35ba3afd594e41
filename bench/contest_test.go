package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
)

// A contest is a comparison with a peer on the same work. Sides take turns: ours, theirs, ours, theirs.
type contest struct {
	name, peer  string
	quality     string // of both sides, compared before the first turn
	own, theirs []float64
}

// contests are those of this process, in order.
var contests []*contest

// newContest compares a figure of both sides' results, of which less is better: an objective, or errors. The benchmark
// ends if ours is worse by more than a relative allowance: a faster and worse result would be no comparison. If theirs
// is worse by more, the table says so.
func newContest(b *testing.B, peer, figure string, own, theirs, allowance float64) *contest {
	b.Helper()
	quality, err := compareQuality(figure, own, theirs, allowance)
	if err != nil {
		b.Fatalf("%s: %v", peer, err)
	}
	return equalContest(b, peer, quality)
}

// equalContest compares sides whose results have been compared.
func equalContest(b *testing.B, peer, quality string) *contest {
	c := &contest{name: b.Name(), peer: peer, quality: quality}
	contests = append(contests, c)
	return c
}

func compareQuality(figure string, own, theirs, allowance float64) (string, error) {
	apart := (own - theirs) / math.Max(math.Abs(theirs), math.SmallestNonzeroFloat64)
	switch {
	case math.IsNaN(apart):
		return "", fmt.Errorf("the %s is %v here and %v there", figure, own, theirs)
	case apart > allowance:
		return "", fmt.Errorf("the %s here is worse: %v, not %v", figure, own, theirs)
	case apart < -allowance:
		return fmt.Sprintf("%s %.2g %% worse there", figure, -100*apart), nil
	}
	return fmt.Sprintf("%s within %.2g %%", figure, 100*allowance), nil
}

// turns runs both sides by turns that many times, each with memory that the machine has, and keeps their times.
func (c *contest) turns(rounds int, own, theirs func() float64) {
	for range rounds {
		touchMemory()
		c.own = append(c.own, own())
		touchMemory()
		c.theirs = append(c.theirs, theirs())
	}
}

// report reports the medians, how many times faster this is, and the winner.
func (c *contest) report(b *testing.B, unit, peerUnit string) {
	b.ReportMetric(median(c.own), unit)
	b.ReportMetric(median(c.theirs), peerUnit)
	b.ReportMetric(c.ratio(), "x-faster")
	b.Logf("%s: %s, the winner is %s", c.peer, c.quality, c.winner())
}

// median returns the middle of times, or the mean of the two middle ones.
func median(times []float64) float64 {
	s := slices.Sorted(slices.Values(times))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func (c *contest) ratio() float64 { return median(c.theirs) / median(c.own) }

// even is the relative difference of medians below which nobody wins.
const even = 0.02

func (c *contest) winner() string {
	switch ratio := c.ratio(); {
	case ratio > 1+even:
		return "halfspace"
	case ratio < 1-even:
		return c.peer
	}
	return "nobody"
}

// printContests prints a table of the contests that have been run.
func printContests(w io.Writer) {
	if len(contests) == 0 {
		return
	}
	fmt.Fprint(w, "\n| benchmark | peer | quality | halfspace | peer | peer / halfspace | winner |\n|---|---|---|---|---|---|---|\n")
	for _, c := range contests {
		if len(c.own) > 0 {
			fmt.Fprintf(w, "| %s | %s | %s | %.4g | %.4g | %.2f | %s |\n",
				c.name, c.peer, c.quality, median(c.own), median(c.theirs), c.ratio(), c.winner())
		}
	}
}

// TestContest: a worse result here is no comparison, a worse one there is named, and a peer that is faster wins.
func TestContest(t *testing.T) {
	for _, c := range []struct {
		own, theirs float64
		want        string // "" for an error
	}{
		{100, 100, "errors within 2 %"}, {101, 100, "errors within 2 %"}, {103, 100, ""}, {90, 100, "errors 10 % worse there"},
		{0, 0, "errors within 2 %"}, {1, 0, ""}, {math.NaN(), 1, ""}, {1, math.NaN(), ""},
	} {
		if got, err := compareQuality("errors", c.own, c.theirs, 0.02); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v here, %v there: %q, error %v; want %q", c.own, c.theirs, got, err, c.want)
		}
	}
	for _, c := range []struct {
		own, theirs []float64
		want        string
	}{
		{[]float64{1, 9, 1}, []float64{2, 2, 2}, "halfspace"}, {[]float64{3, 3, 1}, []float64{2, 2, 2}, "peer"},
		{[]float64{1.01, 5, 0.1}, []float64{1, 1, 1}, "nobody"},
	} {
		if got := (&contest{peer: "peer", own: c.own, theirs: c.theirs}).winner(); got != c.want {
			t.Errorf("%v here, %v there: %s wins, want %s", c.own, c.theirs, got, c.want)
		}
	}
}

// TestMedian: the median is in the middle.
func TestMedian(t *testing.T) {
	if a, b := median([]float64{3, 1, 9}), median([]float64{4, 1, 2, 9}); a != 3 || b != 3 {
		t.Errorf("medians %v and %v", a, b)
	}
}

// TestTurns: both sides take turns, ours first.
func TestTurns(t *testing.T) {
	order := ""
	c := new(contest)
	c.turns(3, func() float64 { order += "o"; return 1 }, func() float64 { order += "t"; return 2 })
	if order != "ototot" || len(c.own) != 3 || len(c.theirs) != 3 || c.ratio() != 2 {
		t.Errorf("order %s, %v here, %v there", order, c.own, c.theirs)
	}
}
