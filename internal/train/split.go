package train

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// A Split says which rows a model may be judged on, given the rows that it learned from, when rows are held out or
// dealt into folds. The zero value draws rows at random within each class. At most one of Groups, Times and InOrder may
// be set.
type Split struct {
	// Groups has the number of each row's group, in the order of the rows. All rows of a group stay together: in one
	// fold, and on one side of a hold-out, as with scikit-learn's GroupKFold and GroupShuffleSplit.
	Groups []int64

	// Times has the time of each row, in the order of the rows. Rows are judged only by models of rows with earlier
	// times.
	Times []int64

	// Column is the name of the column that Groups or Times came from. It is stored in the model.
	Column string

	// InOrder says that the rows are in the order of time. It stands for the times 0, 1, 2 and so on.
	InOrder bool
}

// isByTime tells whether rows are split by time.
func (s *Split) isByTime() bool { return s.InOrder || s.Times != nil }

// name returns "groups", "time", or "" for rows that are split one by one.
func (s *Split) name() string {
	switch {
	case s.Groups != nil:
		return "groups"
	case s.isByTime():
		return "time"
	}
	return ""
}

// addToOptions returns the options of a model with the options of the split.
func (s *Split) addToOptions(m model.Options) model.Options {
	switch {
	case s.Groups != nil:
		m.Group = s.Column
	case s.Times != nil:
		m.OrderBy = s.Column
	case s.InOrder:
		m.Split = model.SplitTime
	}
	return m
}

// check returns an error if more than one kind of split is set, or if Groups or Times don't have the given number of
// rows.
func (s *Split) check(rows int64) error {
	given := 0
	for _, is := range []bool{s.Groups != nil, s.Times != nil, s.InOrder} {
		if is {
			given++
		}
	}
	if given > 1 {
		return errors.New("a split by groups or times beside another one: leave one of them out")
	}
	for name, values := range map[string][]int64{"groups": s.Groups, "times": s.Times} {
		if values != nil && int64(len(values)) != rows {
			return fmt.Errorf("the %s of %s for %s: give one for each row", name,
				humanize.Plural(int64(len(values)), "row"), humanize.Plural(rows, "row"))
		}
	}
	return nil
}

// sum returns a text for checkpoints that differs between different splits.
func (s *Split) sum() string {
	h := sha256.New()
	for _, values := range [][]int64{s.Groups, s.Times} {
		for _, v := range values {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
		}
	}
	return fmt.Sprintf("%d groups, %d times, in order %v, %x", len(s.Groups), len(s.Times), s.InOrder, h.Sum(nil)[:8])
}

// HoldOut returns the chooser of the rows to hold out: a share of the rows. counts has the number of rows of each
// class. Without groups and times, HoldOut returns Stratified. Groups are taken in random order, by PCG with the seed
// and 2^64-1 as its words; a group is held out if that brings the number of held-out rows nearer to the share. Of rows
// in order of time, the last rows are held out.
func (s *Split) HoldOut(seed uint64, share float64, counts []int64) (Chooser, error) {
	rows := int64(0)
	for _, n := range counts {
		rows += n
	}
	if err := s.check(rows); err != nil {
		return nil, err
	}
	wanted := int64(math.Floor(share*float64(rows) + 0.5))
	switch {
	case s.Groups != nil:
		held, sum, sizes := map[int64]bool{}, int64(0), groupSizes(s.Groups)
		for _, g := range shuffledGroups(seed, sizes) {
			if n := sizes[g]; max(wanted-sum-n, sum+n-wanted) < wanted-sum {
				held[g] = true
				sum += n
			}
		}
		return chooseByRow(func(row int64) bool { return held[s.Groups[row]] }), nil
	case s.isByTime():
		first, earlier := rows-wanted, s.earlierRows()
		return chooseByRow(func(row int64) bool { return earlier(row) >= first }), nil
	}
	return Stratified(seed, share, counts), nil
}

// earlierRows returns a function that returns the number of rows with earlier times than a row.
func (s *Split) earlierRows() func(row int64) int64 {
	if s.Times == nil {
		return func(row int64) int64 { return row }
	}
	sorted := slices.Sorted(slices.Values(s.Times))
	return func(row int64) int64 {
		n, _ := slices.BinarySearch(sorted, s.Times[row])
		return int64(n)
	}
}

// chooseByRow returns a chooser that chooses rows by their numbers.
func chooseByRow(is func(row int64) bool) Chooser {
	return func() func(int) bool {
		row := int64(-1)
		return func(int) bool {
			row++
			return is(row)
		}
	}
}

func groupSizes(groups []int64) map[int64]int64 {
	sizes := map[int64]int64{}
	for _, g := range groups {
		sizes[g]++
	}
	return sizes
}

// shuffledGroups returns the numbers of the groups in random order.
func shuffledGroups(seed uint64, sizes map[int64]int64) []int64 {
	groups := make([]int64, 0, len(sizes))
	for g := range sizes {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	rng := rand.NewPCG(seed, math.MaxUint64)
	for i := len(groups) - 1; i > 0; i-- {
		k := learner.Draw(rng, uint64(i+1))
		groups[i], groups[k] = groups[k], groups[i]
	}
	return groups
}

// CheckShare returns an error unless that share of the rows can be held out.
func CheckShare(share float64) error {
	if share > 0 && share < 1 {
		return nil
	}
	return message.WrongValue("validation", share, "a share of the rows above 0 and below 1")
}

// A Chooser returns a function that is called for each row in order, from row 0 on, with the number of the row's class.
// The function tells whether the row is held out.
type Chooser func() func(class int) bool

// Others returns the function that chooses the rows that aren't held out.
func (has Chooser) Others() func(class int) bool {
	is := has()
	return func(class int) bool { return !is(class) }
}

// Stratified returns a Chooser that holds out a share of each class. counts has the number of rows of each class. The
// number of held-out rows of a class is share times its rows, rounded to the nearest integer, half a row up. Unless
// share times all rows rounds to no rows or to all rows, a class of two or more rows keeps at least one row on each
// side, and a class of one row isn't held out. Selection sampling takes the rows (Knuth, "The Art of Computer
// Programming", volume 2, algorithm 3.4.2S): if n rows of a class are left, of which m are still to be held out, the
// next row is held out with probability m/n. A generator draws below n: PCG whose first word is the seed, and whose
// second word is 2^64-2 minus the number of the class.
func Stratified(seed uint64, share float64, counts []int64) Chooser {
	nearest := func(n int64) int64 { return int64(math.Floor(share*float64(n) + 0.5)) }
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	held := make([]int64, len(counts))
	for c, n := range counts {
		if held[c] = nearest(n); nearest(all) > 0 && nearest(all) < all {
			held[c] = max(0, min(max(held[c], 1), n-1))
		}
	}
	return func() func(class int) bool {
		left, wanted, rngs := slices.Clone(counts), slices.Clone(held), classRandoms(seed, len(counts))
		return func(c int) bool {
			is := learner.Draw(rngs[c], uint64(left[c])) < uint64(wanted[c])
			left[c]--
			if is {
				wanted[c]--
			}
			return is
		}
	}
}

// Fold returns a Chooser that holds out fold number of the given number of folds. counts has the number of rows of each
// class. The rows of a class are dealt at random, so that every fold has its share of each class. The numbers of rows
// of two folds differ by at most 1: the folds that get one row more of a class follow, in turn, the folds that got one
// row more of the classes before. The row of a class of one row is in no fold. If n rows of a class are left, of which
// m belong to this fold, the next row is held out with probability m/n, by the generators of Stratified.
func Fold(seed uint64, folds int, counts []int64, number int) Chooser {
	// share has the rows of each class for each fold. next is the number of the next fold that gets one row more.
	share, next := make([][]int64, len(counts)), int64(0)
	for c, n := range counts {
		if n == 1 {
			n = 0
		}
		k := int64(folds)
		for f := range k {
			rows := n / k
			if (f-next%k+k)%k < n%k {
				rows++
			}
			share[c] = append(share[c], rows)
		}
		next += n % k
	}
	return func() func(class int) bool {
		left, rows, rngs := slices.Clone(counts), make([][]int64, len(counts)), classRandoms(seed, len(counts))
		for c := range rows {
			rows[c] = slices.Clone(share[c])
		}
		return func(c int) bool {
			if counts[c] == 1 {
				return false
			}
			drawn, f := int64(learner.Draw(rngs[c], uint64(left[c]))), 0
			for drawn >= rows[c][f] {
				drawn -= rows[c][f]
				f++
			}
			left[c]--
			rows[c][f]--
			return f == number
		}
	}
}

// classRandoms returns a generator for each class: PCG whose first word is the seed, and whose second word is 2^64-2
// minus the number of the class, which is not the number of an epoch.
func classRandoms(seed uint64, classes int) []*rand.PCG {
	rngs := make([]*rand.PCG, classes)
	for c := range rngs {
		rngs[c] = rand.NewPCG(seed, math.MaxUint64-1-uint64(c))
	}
	return rngs
}
