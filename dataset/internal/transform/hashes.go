package transform

import (
	"hash/maphash"
	"slices"
)

// hashes are the hashes of the different values of a column, each with a number. Few of them take less memory than a map: a
// table of 60 rows may have 100,000 columns.
type hashes struct {
	listed  []uint64 // up to mostListed
	numbers []int32  // of the listed ones, if some is not 0
	table   map[uint64]int32
}

// mostListed is the most hashes that are searched one after the other.
const mostListed = 128

// number returns the number of a hash. ok is false if it is new.
func (h *hashes) number(bits uint64) (n int32, ok bool) {
	if h.table != nil {
		n, ok = h.table[bits]
		return n, ok
	}
	i := slices.Index(h.listed, bits)
	if i < 0 || h.numbers == nil {
		return 0, i >= 0
	}
	return h.numbers[i], true
}

// add adds a new hash with a number.
func (h *hashes) add(bits uint64, n int32) {
	if h.table == nil && len(h.listed) < mostListed {
		if n != 0 && h.numbers == nil {
			h.numbers = make([]int32, len(h.listed), cap(h.listed))
		}
		h.listed = append(h.listed, bits)
		if h.numbers != nil {
			h.numbers = append(h.numbers, n)
		}
		return
	}
	if h.table == nil {
		h.table = make(map[uint64]int32, 2*mostListed)
		for i, b := range h.listed {
			h.table[b] = 0
			if h.numbers != nil {
				h.table[b] = h.numbers[i]
			}
		}
		h.listed, h.numbers = nil, nil
	}
	h.table[bits] = n
}

func (h *hashes) len() int { return max(len(h.listed), len(h.table)) }

var textSeed = maphash.MakeSeed()
