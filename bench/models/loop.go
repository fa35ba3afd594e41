package main

import "fmt"

// A span is a loop: the instructions from the target of a conditional backward jump to that jump.
type span struct{ first, last int }

// loops returns the loops of a function.
func loops(f []instruction) []span {
	at := map[uint64]int{}
	for n, i := range f {
		at[i.address] = n
	}
	var all []span
	for n, i := range f {
		if first, ok := at[i.target]; ok && first <= n && !i.always {
			all = append(all, span{first, n})
		}
	}
	return all
}

// holds tells whether other lies within s and isn't s.
func (s span) holds(other span) bool {
	return s != other && s.first <= other.first && other.last <= s.last
}

// innermost returns the loops that hold no other one.
func innermost(all []span) []span {
	var inner []span
	for _, s := range all {
		leaf := true
		for _, other := range all {
			leaf = leaf && !s.holds(other)
		}
		if leaf {
			inner = append(inner, s)
		}
	}
	return inner
}

// path returns the instructions of one turn of a loop: forward jumps without a condition are taken, those with one
// aren't.
func path(f []instruction, s span) []instruction {
	var turn []instruction
	for n := s.first; n <= s.last; n++ {
		turn = append(turn, f[n])
		if f[n].always && n < s.last && f[n].target > f[n].address {
			to := n + 1
			for to <= s.last && f[to].address < f[n].target {
				to++
			}
			n = to - 1
		}
	}
	return turn
}

// nested returns the instructions of one turn of a loop that holds another one, which turns several times. The first
// forward jump after the inner loop is taken: it leaves out what remains beyond whole turns.
func nested(f []instruction, outer, inner span, times int) []instruction {
	turn := path(f, span{outer.first, inner.first - 1})
	for range times {
		turn = append(turn, path(f, inner)...)
	}
	for n, skipped := inner.last+1, false; n <= outer.last; n++ {
		turn = append(turn, f[n])
		if !skipped && f[n].target > f[n].address {
			for skipped = true; n+1 <= outer.last && f[n+1].address < f[n].target; {
				n++
			}
		}
	}
	return turn
}

// sum adds up a property of instructions.
func sum(turn []instruction, of func(instruction) int) int {
	total := 0
	for _, i := range turn {
		total += of(i)
	}
	return total
}

// busiest returns the innermost loop with the largest sum of a property.
func busiest(f []instruction, among []span, of func(instruction) int) (best span, most int) {
	for _, s := range innermost(among) {
		if work := sum(path(f, s), of); work > most {
			best, most = s, work
		}
	}
	return best, most
}

// row returns a turn of the innermost loop that multiplies that many bytes: a row in registers. If there is none, it is
// a turn of a loop over rows, which holds the loop over a row.
func row(f []instruction, bytes int) ([]instruction, error) {
	all := loops(f)
	for _, s := range innermost(all) {
		if turn := path(f, s); sum(turn, instruction.multiplied) == bytes && !within(s, all) {
			return turn, nil
		}
	}
	return around(f, func(inner int) int { return bytes / inner })
}

func within(s span, all []span) bool {
	for _, other := range all {
		if other.holds(s) {
			return true
		}
	}
	return false
}

// around returns a turn of a loop that holds the innermost one with most products. times returns how often that one
// turns, given the bytes that it multiplies.
func around(f []instruction, times func(bytes int) int) ([]instruction, error) {
	all := loops(f)
	var nestedOnes []span
	for _, s := range innermost(all) {
		if within(s, all) {
			nestedOnes = append(nestedOnes, s)
		}
	}
	inner, work := busiest(f, nestedOnes, instruction.multiplied)
	if work == 0 {
		return nil, fmt.Errorf("no loop within a loop multiplies")
	}
	outer := span{-1, len(f)}
	for _, s := range all {
		if s.holds(inner) && outer.holds(s) {
			outer = s
		}
	}
	return nested(f, outer, inner, times(work)), nil
}
