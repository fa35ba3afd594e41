package block

import "halfspace/kernel"

// Vectors are the weights of several classes, each of a block's stride, one behind the other.
type Vectors[T kernel.Float] struct {
	W      []T
	Stride int
	scores []T
}

// NewVectors returns zeros for so many classes of rows with that stride.
func NewVectors[T kernel.Float](classes, stride int) *Vectors[T] {
	return &Vectors[T]{W: Alloc[T](classes * stride), Stride: stride, scores: make([]T, classes)}
}

// With returns vectors of other weights, as many.
func (v *Vectors[T]) With(w []T) *Vectors[T] {
	return &Vectors[T]{W: w, Stride: v.Stride, scores: make([]T, len(v.scores))}
}

// Of returns the weights of a class.
func (v *Vectors[T]) Of(class int) []T { return v.W[class*v.Stride : (class+1)*v.Stride] }

// visit scores row r of b with all vectors, and changes two if some other class has a score of at least that of the row's class,
// which is its label, less slack, and the row doesn't weigh 0: eta times the weight of the row times the row is added to the vector
// of its class, and taken from that of the other class with the greatest score, the first of equal ones, its rival. Nothing compares
// with a NaN, and a label that is no class changes nothing.
func (v *Vectors[T]) visit(b *Block[T], r int, eta, slack T) (rival int, update bool) {
	b.RowScores(r, v.W, v.scores)
	own := int(b.Y[r])
	if own < 0 || own >= len(v.scores) {
		return 0, false
	}
	if rival = 0; own == 0 {
		rival = 1
	}
	for c, s := range v.scores {
		if c != own && s > v.scores[rival] {
			rival = c
		}
	}
	if !(v.scores[rival] >= v.scores[own]-slack) || b.Weight(r) == 0 {
		return 0, false
	}
	v.Add(b, r, rival, eta, v.W)
	return rival, true
}

// Add does to w, which are as many weights, what an update for row r of b with that rival does.
func (v *Vectors[T]) Add(b *Block[T], r, rival int, a T, w []T) {
	b.axpy(r, a, w[int(b.Y[r])*v.Stride:][:v.Stride])
	b.axpy(r, -a, w[rival*v.Stride:][:v.Stride])
}

// EpochClasses is Epoch for labels that are class numbers; see Vectors. What it writes to rivals belongs to the updates in log.
func (b *Block[T]) EpochClasses(r int, eta, slack T, v *Vectors[T], log, rivals []uint32) (rows, updates int) {
	hi := min(b.Len(), r+kernel.PanelRows[T](b.Stride))
	for i := r; i < hi && updates < len(log); i++ {
		rows++
		if rival, update := v.visit(b, i, eta, slack); update {
			log[updates], rivals[updates] = uint32(i), uint32(rival)
			updates++
		}
	}
	return rows, updates
}

// EpochClasses is Block.EpochClasses in the order of idx, which holds row numbers. What it writes to log are positions in idx. It
// prefetches nothing.
func (x *Index[T]) EpochClasses(idx []uint32, eta, slack T, v *Vectors[T], log, rivals []uint32) (visits, updates int) {
	for i, id := range idx {
		b, r := x.At(id)
		rival, update := v.visit(b, r, eta, slack)
		if !update {
			continue
		}
		log[updates], rivals[updates] = uint32(i), uint32(rival)
		if updates++; updates == len(log) {
			return i + 1, updates
		}
	}
	return len(idx), updates
}
