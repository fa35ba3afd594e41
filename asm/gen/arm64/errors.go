package arm64

import "fmt"

const (
	groups   = 2  // vectors of rows that are scored together
	rowLanes = 32 // lanes of a float32 dot product; float64 has half as many
	aboveSP  = 16 // where the columns begin: above the return address, aligned
)

// errors: with rows across the lanes of a vector, the folding tree of a dot product is a tree of vector additions, which
// costs one addition for a whole vector of rows. Rows are transposed to the stack once for all candidates.
//
// A candidate's weights fill up to 16 registers and multiply as elements. So each pair of products loads its two columns
// and nothing else. The rest of the registers is one pair for each depth of the tree, and the signs of the labels.
func (w *Writer) errors() {
	columns := inRegisters / w.Size * groups * vectorBytes
	w.begin("Errors", "func(x, y, w []T, stride int, counts []int64)", "counts the errors of candidates.", columns+aboveSP-8)
	x := w.load(w.param("x").Base())
	y, n := w.slice("y")
	b := tileOfRows{Writer: w, x: x, y: y, size: w.bytes(w.param("stride")), middle: w.gp()}
	w.op("ADD", imm(aboveSP+columns/2), "RSP", b.middle)

	rest, done := w.label("rest"), w.label("done")
	rows := groups * w.per()
	for size := rowBytes; size <= inRegisters; size += rowBytes {
		free, next, block := w.scope(), w.label("wider"), w.label("block")
		b.cols = size / w.Size
		w.op("CMP", imm(size), b.size)
		w.op("BNE", next)
		w.here(block)
		w.op("CMP", imm(rows), n)
		w.op("BLO", rest)
		b.fill()
		b.count()
		w.op("ADD", imm(groups*vectorBytes), b.y)
		w.op("SUB", imm(rows), n)
		w.op("B", block)
		w.here(next)
		free()
	}
	w.here(rest)
	w.countRows(x, y, n, b.size, done)
	w.here(done)
	w.op("RET")
}

// A tileOfRows is rows whose columns lie on the stack, the groups of a column side by side.
type tileOfRows struct {
	*Writer
	x, y   gp // the next rows and their labels
	size   gp // bytes of a row
	middle gp // of the columns, from where a load of two reaches all
	cols   int

	weights []vec
	sums    [][]vec // for each depth of the tree, a register for each group
	columns []vec   // for each group
}

// column is where the groups of column c are.
func (b tileOfRows) column(c int) mem {
	return mem{b.middle, (c*groups - inRegisters/b.Size) * vectorBytes}
}

// fill transposes the next rows, a square of each group at a time, and advances x beyond them.
func (b tileOfRows) fill() {
	defer b.scope()()
	per := b.per()
	rows := make([]gp, groups*per)
	for i := range rows {
		rows[i] = b.gp()
		b.op("MOVD", b.x, rows[i])
		b.op("ADD", b.size, b.x)
	}
	for c := 0; c < b.cols; c += per {
		free, v := b.scope(), b.vecs(len(rows))
		for i, r := range rows {
			b.ld(mem{r, c * b.Size}, v[i])
		}
		first, second := b.square(v[:per]), b.square(v[per:])
		for k := range per {
			b.st(b.column(c+k), first[k], second[k])
		}
		free()
	}
}

// count adds the errors that every candidate makes on the rows of the tile.
func (b tileOfRows) count() {
	defer b.scope()()
	positive := b.vecs(groups) // all ones for each row whose label is
	b.ld(mem{b.y, 0}, positive...)
	for _, v := range positive {
		b.positives(v, v)
	}
	b.weights, b.columns = b.vecs(b.cols*b.Size/vectorBytes), b.vecs(groups)
	for h := 1; h <= b.lanes(); h *= 2 {
		b.sums = append(b.sums, b.vecs(groups))
	}

	weights, counts, k := b.candidates()
	candidate, done := b.label("candidate"), b.label("counted")
	b.op("CBZ", k, done)
	b.here(candidate)
	b.ld(mem{weights, 0}, b.weights...)
	b.op("ADD", imm(b.cols*b.Size), weights)
	wrong := b.tree(0, 1, 0)
	for g, v := range wrong {
		b.positives(v, v)
		b.op("VEOR", positive[g].bytes(), v.bytes(), v.bytes())
	}
	b.op("VADD", b.whole(wrong[1]), b.whole(wrong[0]), b.whole(wrong[0]))
	sum, count := b.sumLanes(wrong[0]), b.gp()
	b.op("MOVD", mem{counts, 0}, count)
	b.op("SUB", sum, count)
	b.op("MOVD.P", count, mem{counts, 8})
	b.op("SUB", imm(1), k)
	b.op("CBNZ", k, candidate)
	b.here(done)
}

// sumLanes adds the lanes of v as integers, each 0 or -1. It overwrites v.
func (b tileOfRows) sumLanes(v vec) gp {
	sum := b.gp()
	if b.Size == 8 {
		b.op("VADDP", b.whole(v), b.whole(v), b.whole(v))
		b.op("VMOV", v.lane("D", 0), sum)
		return sum
	}
	b.op("VADDV", b.whole(v), fmt.Sprintf("V%d", v))
	b.op("VMOV", v.lane("S", 0), sum)
	b.op("SXTW", sum, sum)
	return sum
}

// lanes is the number of lanes of a dot product.
func (w *Writer) lanes() int { return rowLanes * 4 / w.Size }

// tree computes, for each group, the sum that the fold leaves in lane j when h lanes are left, and returns it in the
// registers of its depth. It goes down first, so that one set of registers for each depth is enough. Lanes that no column
// meets are zeros and drop out.
func (b tileOfRows) tree(depth, h, j int) []vec {
	if h == b.lanes() {
		return b.leaf(depth, j)
	}
	sum := b.tree(depth, 2*h, j)
	if j+h < b.cols {
		for g, r := range b.tree(depth+1, 2*h, j+h) {
			b.add(r, sum[g], sum[g])
		}
	}
	return sum
}

// leaf computes lane j before the fold: the products of columns j, j+L, j+2L and so on.
func (b tileOfRows) leaf(depth, j int) []vec {
	acc := b.sums[depth]
	for c := j; c < b.cols; c += b.lanes() {
		weight, lane := b.weights[c/b.per()], c%b.per()
		if c == j {
			b.ld(b.column(c), acc...)
		} else {
			b.ld(b.column(c), b.columns...)
		}
		for g, r := range acc {
			if c == j {
				b.mulLane(r, weight, lane, r)
			} else {
				b.fmaLane(b.columns[g], weight, lane, r)
			}
		}
	}
	return acc
}

// countRows counts on n rows, one at a time.
func (w *Writer) countRows(x, y, n, size gp, done string) {
	row, candidate := w.label("row"), w.label("candidate")
	w.op("CBZ", n, done)
	w.here(row)
	label, positive, wrong, count := w.vec(), w.gp(), w.gp(), w.gp()
	w.movs(mem{y, 0}, label.f())
	w.positive(label, positive)
	weights, counts, k := w.candidates()
	w.op("CBZ", k, done)
	w.here(candidate)
	w.positive(w.scoreMemory(x, inMemory(weights, size), false), wrong)
	w.op("EOR", positive, wrong)
	w.op("MOVD", mem{counts, 0}, count)
	w.op("ADD", wrong, count)
	w.op("MOVD.P", count, mem{counts, 8})
	w.op("ADD", size, weights)
	w.op("SUB", imm(1), k)
	w.op("CBNZ", k, candidate)
	w.op("ADD", size, x)
	w.op("ADD", imm(w.Size), y)
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, row)
}

// positive sets dst to 1 if the scalar v is > 0, else to 0. The condition GT is false for a NaN.
func (w *Writer) positive(v vec, dst gp) {
	w.op("FCMP"+w.letter, "$(0.0)", v.f())
	w.op("CSET", "GT", dst)
}

// candidates loads where the candidates and their counts begin, and how many there are.
func (w *Writer) candidates() (weights, counts, k gp) {
	weights = w.load(w.param("w").Base())
	counts, k = w.slice("counts")
	return weights, counts, k
}
