package transform

import "slices"

// hashes are the hashes of the different values of a column, each with a number. Few of them take less memory than a map: a
// table of 60 rows may have 100,000 columns.
type hashes struct {
	few     []uint64 // up to fewHashes
	numbers []int32  // of few, if some is not 0
	many    map[uint64]int32
}

// fewHashes is the most hashes that are searched one after the other.
const fewHashes = 128

// number returns the number of a hash. ok is false if it is new.
func (h *hashes) number(bits uint64) (n int32, ok bool) {
	if h.many != nil {
		n, ok = h.many[bits]
		return n, ok
	}
	i := slices.Index(h.few, bits)
	if i < 0 || h.numbers == nil {
		return 0, i >= 0
	}
	return h.numbers[i], true
}

// add adds a new hash with a number.
func (h *hashes) add(bits uint64, n int32) {
	if h.many == nil && len(h.few) < fewHashes {
		if n != 0 && h.numbers == nil {
			h.numbers = make([]int32, len(h.few), cap(h.few))
		}
		h.few = append(h.few, bits)
		if h.numbers != nil {
			h.numbers = append(h.numbers, n)
		}
		return
	}
	if h.many == nil {
		h.many = make(map[uint64]int32, 2*fewHashes)
		for i, b := range h.few {
			h.many[b] = 0
			if h.numbers != nil {
				h.many[b] = h.numbers[i]
			}
		}
		h.few, h.numbers = nil, nil
	}
	h.many[bits] = n
}

func (h *hashes) len() int { return max(len(h.few), len(h.many)) }
