package source

import (
	"cmp"
	"errors"
	"iter"
	"math/bits"
	"slices"
)

// Removed is a set of numbers of rows of a file, which the table of the file leaves out. It is a roaring bitmap: rows of
// equal upper bits share a container. nil is the empty set.
type Removed struct{ containers []container }

// A container is the lower 16 bits of numbers with the same upper bits: a sorted list, or a bitmap if the numbers are many.
type container struct {
	key    int64 // upper 48 bits of the numbers
	few    []uint16
	many   *[containerWords]uint64
	count  int64
	before int64 // count of the containers before
}

const (
	containerRows  = 1 << 16
	containerWords = containerRows / 64
	mostFew        = 4096 // a longer list takes more memory than a bitmap
)

// errOrder is the error if numbers of rows are not given in ascending order.
var errOrder = errors.New("the rows are out of order")

// AddFew appends sorted numbers with the upper bits key, which must be greater than those before.
func (r *Removed) AddFew(key int64, few []uint16) error {
	for i := 1; i < len(few); i++ {
		if few[i] <= few[i-1] {
			return errOrder
		}
	}
	return r.add(container{key: key, few: few, count: int64(len(few))})
}

// AddMany appends the numbers with the upper bits key whose bits are set.
func (r *Removed) AddMany(key int64, many *[containerWords]uint64) error {
	c := container{key: key, many: many}
	for _, w := range many {
		c.count += int64(bits.OnesCount64(w))
	}
	return r.add(c)
}

func (r *Removed) add(c container) error {
	if n := len(r.containers); n > 0 {
		last := &r.containers[n-1]
		if c.key <= last.key {
			return errOrder
		}
		c.before = last.before + last.count
	}
	r.containers = append(r.containers, c)
	return nil
}

// RemovedOf returns the set of rows, in any order, and sorts rows.
func RemovedOf(rows []int64) *Removed {
	slices.Sort(rows)
	rows = slices.Compact(rows)
	r := new(Removed)
	for len(rows) > 0 {
		key := rows[0] / containerRows
		n, _ := slices.BinarySearch(rows, (key+1)*containerRows)
		if n > mostFew {
			many := new([containerWords]uint64)
			for _, row := range rows[:n] {
				many[row%containerRows/64] |= 1 << (row % 64)
			}
			r.AddMany(key, many)
		} else {
			few := make([]uint16, n)
			for i, row := range rows[:n] {
				few[i] = uint16(row)
			}
			r.AddFew(key, few)
		}
		rows = rows[n:]
	}
	return r
}

// Len returns the number of rows.
func (r *Removed) Len() int64 {
	if r == nil || len(r.containers) == 0 {
		return 0
	}
	last := &r.containers[len(r.containers)-1]
	return last.before + last.count
}

// Count returns how many of the rows from first up to, but not including, last are in the set.
func (r *Removed) Count(first, last int64) int64 { return r.below(last) - r.below(first) }

// find returns the number of the container for a row, or of the next one.
func (r *Removed) find(row int64) (i int, is bool) {
	return slices.BinarySearchFunc(r.containers, row/containerRows, func(c container, key int64) int {
		return cmp.Compare(c.key, key)
	})
}

// below returns how many rows before a row are in the set.
func (r *Removed) below(row int64) int64 {
	if r == nil {
		return 0
	}
	i, in := r.find(row)
	switch {
	case in:
		return r.containers[i].before + r.containers[i].below(int(row%containerRows))
	case i == 0:
		return 0
	}
	return r.containers[i-1].before + r.containers[i-1].count
}

func (c *container) below(low int) (n int64) {
	if c.many == nil {
		at, _ := slices.BinarySearch(c.few, uint16(low))
		return int64(at)
	}
	for _, w := range c.many[:low/64] {
		n += int64(bits.OnesCount64(w))
	}
	return n + int64(bits.OnesCount64(c.many[low/64]&(1<<(low%64)-1)))
}

// KeptRow returns the number of the row which, from row first on, has kept rows that aren't in the set before it, and isn't
// in the set either.
func (r *Removed) KeptRow(first, kept int64) int64 {
	if r.Len() == 0 {
		return first + kept
	}
	low, high := int64(0), kept+r.Len() // rows behind first
	for low < high {
		if mid := (low + high) / 2; mid+1-r.Count(first, first+mid+1) > kept {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return first + low
}

// Kept yields the ranges of the rows from first up to, but not including, last that aren't in the set.
func (r *Removed) Kept(first, last int64) iter.Seq2[int64, int64] {
	return func(yield func(from, to int64) bool) {
		from := first
		for row := range r.within(first, last) {
			if row > from && !yield(from, row) {
				return
			}
			from = row + 1
		}
		if from < last {
			yield(from, last)
		}
	}
}

// within yields the rows of the set from first up to, but not including, last.
func (r *Removed) within(first, last int64) iter.Seq[int64] {
	return func(yield func(row int64) bool) {
		if r == nil {
			return
		}
		i, _ := r.find(first)
		for ; i < len(r.containers) && r.containers[i].key*containerRows < last; i++ {
			begin := r.containers[i].key * containerRows
			for low := range r.containers[i].from(int(max(0, first-begin))) {
				if begin+int64(low) >= last || !yield(begin+int64(low)) {
					return
				}
			}
		}
	}
}

// from yields the lower bits of the numbers, in ascending order, from first on. first is below containerRows.
func (c *container) from(first int) iter.Seq[int] {
	return func(yield func(low int) bool) {
		at, _ := slices.BinarySearch(c.few, uint16(first))
		for _, low := range c.few[at:] {
			if !yield(int(low)) {
				return
			}
		}
		if c.many == nil {
			return
		}
		for i := first / 64; i < containerWords; i++ {
			w := c.many[i]
			if i == first/64 {
				w &= ^uint64(0) << (first % 64)
			}
			for ; w != 0; w &= w - 1 {
				if !yield(64*i + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Union returns the rows of both sets.
func (r *Removed) Union(other *Removed) *Removed {
	if r.Len() == 0 || other.Len() == 0 {
		if r.Len() == 0 {
			return other
		}
		return r
	}
	rows := make([]int64, 0, r.Len()+other.Len())
	for _, set := range []*Removed{r, other} {
		for i := range set.containers {
			for low := range set.containers[i].from(0) {
				rows = append(rows, set.containers[i].key*containerRows+int64(low))
			}
		}
	}
	return RemovedOf(rows)
}

// Last returns the greatest row, or -1 if there is none.
func (r *Removed) Last() int64 {
	last := int64(-1)
	if r != nil {
		for i := len(r.containers) - 1; i >= 0 && last < 0; i-- {
			for low := range r.containers[i].from(0) {
				last = r.containers[i].key*containerRows + int64(low)
			}
		}
	}
	return last
}
