package arm64

import "fmt"

// Bounds has the tile of Tile: tileRows candidates by groupVectors vectors of rows. Pack packs rows for it.
const (
	groupVectors  = tileVectors
	maxCandidates = 64              // the most candidates of one call of Bounds, so that their counters fit a stack frame
	counterBytes  = 2 * vectorBytes // a vector of low counts, then one of high counts
)

// groupRows is how many rows are packed together.
func (w *Writer) groupRows() int { return groupVectors * w.per() }

// pack writes Pack, with squares in registers, as transpose does. The vectors of a group advance together, since the
// squared norms of each are a chain of fmas, and so that the output is one stream.
func (w *Writer) pack() {
	w.begin("Pack", 0)
	dst, x := w.load(w.param("dst").Base()), w.load(w.param("x").Base())
	y, n := w.slice("y")
	stride, cols, best := w.bytes(w.param("stride")), w.load(w.param("cols")), w.vec()
	w.zero(best)

	group, done := w.label("group"), w.label("done")
	w.here(group)
	w.op("CMP", imm(w.groupRows()), n)
	w.op("BLO", done)
	w.packGroup(dst, x, y, stride, cols, best)
	w.op("SUB", imm(w.groupRows()), n)
	w.op("B", group)

	w.here(done)
	other := w.vec()
	for half := vectorBytes / 2; half >= w.Size; half /= 2 {
		w.op("VEXT", imm(half), best.bytes(), best.bytes(), other.bytes())
		w.greaterNumber(other, best, best)
	}
	w.movs(best.f(), w.result(0))
	w.op("RET")
}

// packGroup packs the next rows, advances dst, x and y beyond them, and raises best to their squared norms.
func (w *Writer) packGroup(dst, x, y, stride, cols gp, best vec) {
	defer w.scope()()
	rows, signs, squares, left := make([]gp, w.groupRows()), w.vecs(groupVectors), w.vecs(groupVectors), w.gp()
	for i := range rows {
		rows[i] = w.gp()
		w.op("MOVD", x, rows[i])
		w.op("ADD", stride, x)
	}
	w.ld(mem{y, 0}, signs...)
	w.op("ADD", imm(groupVectors*vectorBytes), y)
	for _, v := range signs {
		w.op("VUSHR", imm(8*w.Size-1), w.whole(v), w.whole(v))
		w.op("VSHL", imm(8*w.Size-1), w.whole(v), w.whole(v))
	}
	w.zero(squares...)
	w.op("MOVD", cols, left)

	square, packed := w.label("square"), w.label("packed")
	w.here(square)
	w.op("CBZ", left, packed)
	columns := w.packSquares(rows) // those beyond the last are padding; a row has room for all
	for k, column := range columns {
		for g, v := range column {
			w.op("VEOR", signs[g].bytes(), v.bytes(), v.bytes())
			w.fma(v, v, squares[g])
		}
		w.st(mem{dst, 0}, column...)
		w.op("ADD", imm(groupVectors*vectorBytes), dst)
		w.op("SUB", imm(1), left)
		if k < len(columns)-1 {
			w.op("CBZ", left, packed)
		}
	}
	w.op("B", square)
	w.here(packed)
	for _, v := range squares {
		w.greaterNumber(v, best, best)
	}
}

// packSquares loads a vector of each row, advances the rows beyond it, and returns the vectors of each column.
func (w *Writer) packSquares(rows []gp) [][]vec {
	v := w.vecs(len(rows))
	for i, r := range rows {
		w.op("FMOVQ.P", mem{r, vectorBytes}, v[i].f())
	}
	columns := make([][]vec, w.per())
	for ; len(v) > 0; v = v[w.per():] {
		for k, r := range w.square(v[:w.per()]) {
			columns[k] = append(columns[k], r)
		}
	}
	return columns
}

// bounds writes Bounds. Rows lie across the lanes, so a product of a group of rows with a candidate needs no folding.
// The outer loop is over groups of rows, which stay in the first-level cache while all candidates pass.
//
// No single comparison holds for scores that aren't above a limit and for NaN. So bounds counts the scores above it,
// and subtracts them from the number of rows.
func (w *Writer) bounds() { w.boundsOf("Bounds", false) }

// boundsWeighted writes BoundsWeighted: bounds that adds up sample weights instead of ones.
func (w *Writer) boundsWeighted() { w.boundsOf("BoundsWeighted", true) }

func (w *Writer) boundsOf(name string, weighted bool) {
	w.begin(name, maxCandidates*counterBytes+aboveSP-8)
	samples := gp(-1)
	if weighted {
		samples = w.load(w.param("weights").Base())
	}
	x, n := w.slice("x")
	cols, size, rows := w.load(w.param("cols")), w.gp(), w.gp()
	w.op("MOVD", imm(w.groupRows()), size)
	w.op("MUL", cols, size) // elements of a group
	w.op("MOVD", "ZR", rows)
	w.clearCounters()

	group, done := w.label("group"), w.label("done")
	w.here(group)
	w.op("CBZ", n, done)
	w.op("CMP", size, n)
	w.op("BLO", done)
	w.judgeGroup(x, cols, samples, weighted)
	w.op("ADD", shifted(size, w.log2()), x)
	w.op("SUB", size, n)
	w.op("ADD", imm(w.groupRows()), rows)
	if weighted {
		w.op("ADD", imm(groupVectors*vectorBytes), samples)
	}
	w.op("B", group)
	w.here(done)
	if weighted {
		w.addSums()
	} else {
		w.addCounters(rows)
	}
	w.op("RET")
}

// counters returns a register that points to the counters of the first candidate.
func (w *Writer) counters() gp {
	at := w.gp()
	w.op("ADD", imm(aboveSP), "RSP", at)
	return at
}

// clearCounters sets the counters of all candidates to zero.
func (w *Writer) clearCounters() {
	defer w.scope()()
	at, n, zero, loop := w.counters(), w.load(w.param("low").Len()), w.vec(), w.label("clear")
	w.zero(zero)
	w.here(loop)
	w.st(mem{at, 0}, zero, zero)
	w.op("ADD", imm(counterBytes), at)
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, loop)
}

// judgeGroup judges all candidates on the group of rows at x, whose sample weights are at samples.
func (w *Writer) judgeGroup(x, cols, samples gp, weighted bool) {
	defer w.scope()()
	weights, counters, column, k := w.load(w.param("w").Base()), w.counters(), w.gp(), w.gp()
	limits, n := w.slice("limits")
	tile, loop := w.label("tile"), w.label("k")
	w.here(tile)
	p := w.product()
	w.op("MOVD", x, column)
	w.op("MOVD", cols, k)
	w.here(loop)
	p.step(weights, column)
	w.op("SUB", imm(1), k)
	w.op("CBNZ", k, loop)
	if weighted {
		p.judgeWeighted(limits, counters, samples)
	} else {
		p.judge(limits, counters)
	}
	w.op("SUB", imm(tileRows), n)
	w.op("CBNZ", n, tile)
}

// judge counts, from 0 down, the scores of a tile below -limit and those above limit. It overwrites the scores, and
// advances limits and counters beyond the tile's.
func (p product) judge(limits, counters gp) {
	free := append(p.column, p.row...)
	limit, minus, below, low, high := free[0], free[1], free[2], free[3], free[4]
	for i, scores := range p.acc {
		p.op("VLD1R.P", mem{limits, p.Size}, "["+p.whole(limit)+"]")
		p.negate(limit, minus)
		at := mem{counters, i * counterBytes}
		p.ld(at, low, high)
		for _, s := range scores {
			p.less(s, minus, below)
			p.addInts(below, low, low)
			p.less(limit, s, s)
			p.addInts(s, high, high)
		}
		p.st(at, low, high)
	}
	p.op("ADD", imm(tileRows*counterBytes), counters)
}

// judgeWeighted adds up the sample weights of the scores of a tile below -limit. It advances limits and counters beyond
// the tile's.
func (p product) judgeWeighted(limits, counters, samples gp) {
	free := append(p.column, p.row...)
	minus, below, low, weight := free[0], free[1], free[2], free[3]
	for i, scores := range p.acc {
		p.op("VLD1R.P", mem{limits, p.Size}, "["+p.whole(minus)+"]")
		p.negate(minus, minus)
		at := mem{counters, i * counterBytes}
		p.ld(at, low)
		for j, s := range scores {
			p.ld(mem{samples, j * vectorBytes}, weight)
			p.less(s, minus, below)
			p.and(weight, below, below)
			p.addInts(below, low, low)
		}
		p.st(at, low)
	}
	p.op("ADD", imm(tileRows*counterBytes), counters)
}

// addSums adds the sums of sample weights to low.
func (w *Writer) addSums() {
	defer w.scope()()
	at, loop := w.counters(), w.label("add")
	low, n := w.slice("low")
	counter, before := w.vec(), w.gp()
	w.here(loop)
	w.ld(mem{at, 0}, counter)
	w.op("ADD", imm(counterBytes), at)
	sum := w.sumInts(counter)
	w.op("MOVD", mem{low, 0}, before)
	w.op("ADD", sum, before)
	w.op("MOVD.P", before, mem{low, 8})
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, loop)
}

// addCounters adds the counts of that many rows to low and high. The counters are negative.
func (w *Writer) addCounters(rows gp) {
	defer w.scope()()
	at, low, loop := w.counters(), w.load(w.param("low").Base()), w.label("add")
	high, n := w.slice("high")
	counters, count := w.vecs(2), w.gp()
	w.here(loop)
	w.ld(mem{at, 0}, counters...)
	w.op("ADD", imm(counterBytes), at)
	below, above := w.sumInts(counters[0]), w.sumInts(counters[1])
	w.op("MOVD", mem{low, 0}, count)
	w.op("SUB", below, count)
	w.op("MOVD.P", count, mem{low, 8})
	w.op("MOVD", mem{high, 0}, count)
	w.op("ADD", rows, count)
	w.op("ADD", above, count)
	w.op("MOVD.P", count, mem{high, 8})
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, loop)
}

// sumInts adds the lanes of v as integers. It overwrites v.
func (w *Writer) sumInts(v vec) gp {
	sum := w.gp()
	w.op("VADDV", w.whole(v), fmt.Sprintf("V%d", v))
	w.op("VMOV", v.lane("S", 0), sum)
	w.op("SXTW", sum, sum)
	return sum
}
