package kernel

import (
	"slices"

	"halfspace/internal/parallel"
)

// Scores computes the scores of len(out) rows, whose stride is len(w). Without rows nothing changes.
//
//	for r := range out { out[r] = Dot(row r of x, w) }
func Scores(out, x, w []float32) {
	checkStride(len(w))
	checkRows(x, len(out), len(w))
	parallel.RaceWrite(out)
	parallel.RaceRead(x)
	parallel.RaceRead(w)
	if len(out) == 0 {
		return
	}
	scoresF32(out, x, w)
}

// Epoch runs the perceptron over len(y) rows, whose stride is len(w). It updates w on each mistake, and writes the
// row's number to log. It stops when log is full; log has room for at least one number. It returns the number of rows
// that it visited and the number of updates that it made; both are 0 if there are no rows.
//
// A row is a mistake if its score, with the sign of y, is at most margin, which is 0 in Rosenblatt's perceptron. The
// sign of y is the row's class. The size of y multiplies the step: 1, or the row's sample weight. A row with y = 0 is
// logged like other rows, and changes nothing.
//
//	for r := range y {
//		if sign(y[r])*Dot(row r of x, w) <= margin {
//			Axpy(w, eta*y[r], row r of x)
//			log[updates], updates = r, updates+1
//			if updates == len(log) { return r+1, updates }
//		}
//	}
//	return len(y), updates
func Epoch(w []float32, log []uint32, x, y []float32, eta, margin float32) (rows, updates int) {
	if !checkEpoch(w, log, x, y) {
		return 0, 0
	}
	return epochF32(w, log, x, y, eta, margin)
}

// EpochAveraged is Epoch, and adds each update, times the number of visits before its row, to late. late has the length
// of w. visits is the number of visits before the first row. float32 products are rounded from left to right.
//
//	for r := range y {
//		if sign(y[r])*Dot(row r of x, w) <= margin {
//			Axpy(w, eta*y[r], row r of x)
//			Axpy(late, float32(visits+r)*eta*y[r], row r of x)
//			log[updates], updates = r, updates+1
//			if updates == len(log) { return r+1, updates }
//		}
//	}
//	return len(y), updates
func EpochAveraged(w, late []float32, log []uint32, x, y []float32, eta, margin float32,
	visits int) (rows, updates int) {
	if len(late) != len(w) {
		panic("kernel: late has another length than the weights")
	}
	if !checkEpoch(w, log, x, y) {
		return 0, 0
	}
	parallel.RaceWrite(late)
	return epochAveragedF32(w, late, log, x, y, eta, margin, visits)
}

// EpochPassive runs the passive-aggressive algorithm over the rows of x, whose labels are y, -1 or 1. w and log are as in
// Epoch, and so are the results. A row changes w if its hinge loss is above 0. With most = C and slack = 0 this is PA-I,
// with most = +Inf and slack = 1/(2 C) PA-II (Crammer et al., "Online Passive-Aggressive Algorithms", 2006, section 3).
//
//	for r := range y {
//		loss, square := 1 - y[r]*Dot(row r of x, w), |row r of x|^2 // in float64
//		t := min(most, loss/(square+slack))
//		if loss > 0 && square > 0 && t != 0 {
//			Axpy(w, y[r]*t, row r of x)
//			log[updates], updates = r, updates+1
//			if updates == len(log) { return r+1, updates }
//		}
//	}
//	return len(y), updates
func EpochPassive(w []float32, log []uint32, x, y []float32, most, slack float64) (rows, updates int) {
	if !checkEpoch(w, log, x, y) {
		return 0, 0
	}
	return epochPassiveF32(w, log, x, y, most, slack)
}

// Adaptive is FTRL-Proximal of McMahan et al., "Ad Click Prediction: a View from the Trenches", 2013, algorithm 1, whose
// steps adapt to each column. Its slices have an element for each column, padding included.
type Adaptive struct {
	Z, N   []float64 // the state: N are the sums of squared gradients
	Root   []float64 // square roots of N
	L1, L2 []float64 // penalties

	Inverse, Beta float64 // 1/alpha and beta of the learning rates
	Hinge         bool    // the loss is max(0, 1 - m) of the margin m, not log(1 + e^-m)
}

// Epoch runs the algorithm over the rows of x, whose labels are y, -1 or 1. weights has a sample weight for each row, or
// is nil. w and log are as in Epoch, and so are the results. A column in which a row is 0 keeps its state.
//
//	for r := range y {
//		slope := derivative of the loss by the score of row r, times weights[r]; if slope == 0 { continue }
//		for c where x := row r [c]; x != 0 {
//			g := slope*x; N[c] += g*g; s := sqrt(N[c])
//			Z[c] += g - (s-Root[c])*Inverse*w[c]; Root[c] = s
//			a := |Z[c]|; w[c] = a > L1[c] ? -sign(Z[c])*(a-L1[c])/((Beta+s)*Inverse + L2[c]) : 0
//		}
//		log[updates], updates = r, updates+1
//		if updates == len(log) { return r+1, updates }
//	}
//	return len(y), updates
func (a *Adaptive) Epoch(w []float32, log []uint32, x, y []float32, weights []float64) (rows, updates int) {
	for _, s := range [][]float64{a.Z, a.N, a.Root, a.L1, a.L2} {
		if len(s) != len(w) {
			panic("kernel: a state has another length than the weights")
		}
	}
	if weights != nil && len(weights) != len(y) {
		panic("kernel: rows and sample weights differ in number")
	}
	if !checkEpoch(w, log, x, y) {
		return 0, 0
	}
	parallel.RaceWrite(a.Z)
	parallel.RaceWrite(a.N)
	parallel.RaceWrite(a.Root)
	parallel.RaceRead(weights)
	return epochAdaptiveF32(w, log, a.Z, a.N, a.Root, x, y, weights, a.L1, a.L2, a.Inverse, a.Beta, a.Hinge)
}

// checkEpoch panics unless an epoch over the rows of x can change w and write to log. It tells whether there are rows.
func checkEpoch(w []float32, log []uint32, x, y []float32) bool {
	checkStride(len(w))
	checkRows(x, len(y), len(w))
	if len(y) == 0 {
		return false
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	parallel.RaceWrite(w)
	parallel.RaceWrite(log)
	parallel.RaceRead(x)
	parallel.RaceRead(y)
	return true
}

// Rows addresses the rows of a data set that lies in memory in groups of GroupRows rows. The last group may be shorter.
type Rows struct {
	x, y   [][]float32
	n      int
	stride int
}

// NewRows returns the rows whose group c has features x[c], with rows of that stride, and labels y[c]. It keeps the
// groups.
func NewRows(x, y [][]float32, stride int) *Rows {
	checkStride(stride)
	n := checkGroups(y, len(x), func(c int) bool { return len(x[c])%stride == 0 && len(x[c])/stride == len(y[c]) })
	return &Rows{slices.Clone(x), slices.Clone(y), n, stride}
}

// checkGroups panics unless the labels y belong to the given number of groups. same tells whether group c has as many
// rows as labels. checkGroups returns the number of rows.
func checkGroups(y [][]float32, groups int, same func(c int) bool) (n int) {
	if len(y) != groups {
		panic("kernel: x and y have different numbers of groups")
	}
	for c := range y {
		if len(y[c]) > GroupRows || len(y[c]) < GroupRows && c != len(y)-1 {
			panic("kernel: a group before the last doesn't have GroupRows rows")
		}
		if !same(c) {
			panic("kernel: a group has different numbers of rows and labels")
		}
		n += len(y[c])
	}
	return n
}

// WithLabels returns the same rows with other labels, in groups as for NewRows. It keeps the groups of y.
func (rows *Rows) WithLabels(y [][]float32) *Rows { return NewRows(rows.x, y, rows.stride) }

// Len returns the number of rows.
func (rows *Rows) Len() int { return rows.n }

// Row returns row i, of stride elements, and its label.
func (rows *Rows) Row(i int) (x []float32, y float32) {
	c, r := uint(i)/GroupRows, i&(GroupRows-1)
	return rows.x[c][r*rows.stride : (r+1)*rows.stride], rows.y[c][r]
}

// Group returns the features of group c.
func (rows *Rows) Group(c int) []float32 { return rows.x[c] }

// EpochIndexed is Epoch in the order of idx, which holds row numbers. It writes positions in idx to log. While it
// visits row idx[i] it prefetches row i of ahead. ahead may have any number of rows of the same stride, and changes no
// result.
func EpochIndexed(w []float32, log []uint32, rows *Rows, idx []uint32, ahead []float32, eta, margin float32) (visits, updates int) {
	if len(w) != rows.stride {
		panic("kernel: length of w is not the stride")
	}
	if !below(idx, uint(rows.n)) {
		panic("kernel: row number out of range")
	}
	if len(ahead)%rows.stride != 0 {
		panic("kernel: length of ahead is not a multiple of the stride")
	}
	if len(idx) == 0 {
		return 0, 0
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	parallel.RaceWrite(w)
	parallel.RaceWrite(log)
	if parallel.RaceEnabled {
		for _, i := range idx {
			x, _ := rows.Row(int(i))
			parallel.RaceRead(x)
		}
	}
	return epochIndexedF32(w, log, rows.x, rows.y, idx, ahead, eta, margin)
}

// below tells whether every element of idx is less than n. It keeps four maxima at a time, so its cost is far below the
// cost of the visits.
func below(idx []uint32, n uint) bool {
	var a, b, c, d uint32
	i := 0
	for ; i+4 <= len(idx); i += 4 {
		q := idx[i : i+4 : i+4]
		a, b, c, d = max(a, q[0]), max(b, q[1]), max(c, q[2]), max(d, q[3])
	}
	for ; i < len(idx); i++ {
		a = max(a, idx[i])
	}
	return len(idx) == 0 || uint(max(a, b, c, d)) < n
}

// Transpose turns columns of equal length into rows of a stride. It fills each row with zeros up to the stride. There
// is at least one column, and dst holds exactly one row for each element of a column. Without elements nothing changes.
//
//	for r := range len(cols[0]) { for c := range cols { dst[r*stride+c] = cols[c][r] } }
func Transpose(dst []float32, stride int, cols [][]float32) {
	checkStride(stride)
	if len(cols) == 0 || len(cols) > stride {
		panic("kernel: number of columns is not in 1..stride")
	}
	n := len(cols[0])
	for _, col := range cols {
		if len(col) != n {
			panic("kernel: columns differ in length")
		}
	}
	if len(dst)%stride != 0 || len(dst)/stride != n {
		panic("kernel: length of dst is not rows * stride")
	}
	if n == 0 {
		return
	}
	parallel.RaceWrite(dst)
	if parallel.RaceEnabled {
		for _, col := range cols {
			parallel.RaceRead(col)
		}
	}
	transposeF32(dst, stride, cols)
}

// MaxSquaredNorm returns the largest squared Euclidean norm of the rows of x, summed in float64. It returns 0 if there
// are no rows, and ignores a norm that is NaN.
//
//	for each row { largest = max(largest, Dot(row, row)) }
func MaxSquaredNorm(x []float32, stride int) float64 {
	checkStride(stride)
	if len(x)%stride != 0 {
		panic("kernel: length of x is not a multiple of the stride")
	}
	if len(x) == 0 {
		return 0
	}
	parallel.RaceRead(x)
	return maxSquaredNormF32(x, stride)
}
