// Package asm holds the kernels in one package per instruction set, each with the names of package asm/ref. Package
// kernel detects the CPU. Packages kernel and internal/microkernel check every length and call the kernels. This page
// is the contract that each of the packages here keeps.
//
// asm/gen writes the assembly, its stubs and the dispatch, from the table of functions in asm/gen/table.
//
// # One result, whatever the CPU
//
// A kernel returns the same bits on every instruction set. The width of a register doesn't matter, because the order of
// every floating-point operation is fixed here:
//
//   - Dot of n elements has L lanes, L = 32 for float32 and 16 for float64, which start at +0. Element i goes to lane i
//     mod L, lane = fma(x[i], y[i], lane), i ascending. The tail behaves as if both vectors were padded with zeros to a
//     multiple of L, which turns a lane of -0 into +0. Then halves are folded: for h = L/2, L/4, ..., 1, lane[j] +=
//     lane[j+h] for j < h. The result is lane[0].
//   - Scores, Epoch and EpochIndexed compute each row's score in exactly this order. Bounds uses another order: see below.
//   - Axpy is y[i] = fma(a, x[i], y[i]), and so is the update of an epoch.
//   - MaxSquaredNorm has 16 float64 lanes, folded in the same way.
//
// fma rounds once. Any NaN equals any other NaN: payload and sign are not part of the contract.
//
// # Rows
//
// A panel of rows is row-major. Each row has stride elements: its columns, then zeros up to a multiple of 32 bytes. A
// weight vector that is multiplied with rows has stride elements too, so that a kernel works on whole vectors without a
// mask. The padding of the weight vector is +0, and an update keeps it +0. Rows and vectors need only the alignment of
// their element type.
//
// # Calls
//
// Output parameters come first in the parameter list, then input parameters. Kernels check nothing, except the bounds
// of sparse rows. They read and write no byte past the end of a slice. The runtime can't preempt assembly, so the
// caller bounds the work of a call: a panel of up to 128 KiB. No kernel keeps a pointer, and every stub says so to the
// compiler (noescape). Destination and source don't overlap, unless the kernel's description allows it.
//
// # The kernels
//
// The names carry the element type. Rows are float32. Dot, Axpy, Scores and Exp exist for float64 too, which solvers use;
// Sigmoid, Log1p, Logistic and RankKUpdate exist for float64 alone.
//
// Dot(x, y) is the dot product in the order above; len(x) == len(y). 0 elements give +0.
//
// Axpy(y, a, x) has len(x) == len(y). x may be y:
//
//	for i := range x { y[i] = fma(a, x[i], y[i]) }
//
// Axpy4(y, a, x) is four calls of Axpy in turn: len(a) == len(x) == 4, and len(x[k]) >= len(y):
//
//	for k := range 4 { Axpy(y, a[k], x[k][:len(y)]) }
//
// FirstMistake(y, scores) has len(y) == len(scores):
//
//	for i := range y { if y[i]*scores[i] <= 0 { return i } }
//	return len(y)
//
// Scores(out, x, w) scores len(out) rows of stride len(w):
//
//	for r := range out { out[r] = Dot(row(r), w) }
//
// Epoch(w, log, x, y, eta, margin) runs the perceptron (Rosenblatt 1958; Novikoff 1962) over len(y) rows of stride
// len(w). y holds labels: the sign bit is the class, and the size scales the step. With a margin above 0, Epoch also
// updates on rows that are right by no more than the margin (Krauth and Mezard 1987).
//
//	for r := range y {
//		if sign(y[r]) * Dot(row(r), w) <= margin {
//			Axpy(w, eta*y[r], row(r))
//			log = append(log, r)
//			if log is full { return r+1, len(log) }
//		}
//	}
//	return len(y), updates
//
// Epoch returns the number of rows that it visited and the number of row numbers that it wrote to log. log has room for
// at least one number. A score of NaN is no mistake. A label of zero makes steps of zero length, which are logged.
//
// EpochPassive(w, log, x, y, most, slack) runs the passive-aggressive algorithm over len(y) rows of stride len(w). The
// labels are -1 or 1. Dot is in float32, MaxSquaredNorm and the rest in float64:
//
//	for r := range y {
//		loss := 1 - float64(y[r]*Dot(row r, w)); square := MaxSquaredNorm(row r, len(w)); t := min(most, loss/(square+slack))
//		if loss > 0 && square > 0 && t != 0 {
//			w = Axpy(w, y[r]*float32(t), row r); log[updates++] = r; if updates == len(log) { return r+1, updates }
//		}
//	}
//	return len(y), updates
//
// EpochAdaptive(w, log, z, n, root, x, y, weights, l1, l2, inverse, beta, hinge) runs FTRL-Proximal (McMahan et al. 2013,
// algorithm 1) over len(y) rows of stride len(w), with the logistic loss or the hinge loss. The labels are -1 or 1. z, n,
// root, l1 and l2 have len(w) elements; weights has a sample weight for each row, or is nil for 1. Dot is in float32, the
// rest in float64:
//
//	for r := range y {
//		m := float64(y[r]*Dot(row r, w)); if hinge && !(m < 1) { continue }
//		slope := -y[r] * (hinge ? 1 : Sigmoid(-m)) * weights[r]; if slope == 0 { continue }
//		for c where x := row r [c]; x != 0 {
//			g := slope * float64(x); n[c] += g*g; s := sqrt(n[c])
//			z[c] += g - (s-root[c]) * inverse * float64(w[c]); root[c] = s
//			a := |z[c]|; w[c] = a > l1[c] ? float32(-sign(z[c]) * (a-l1[c]) / ((beta+s)*inverse + l2[c])) : 0
//		}
//		log[updates++] = r; if updates == len(log) { return r+1, updates }
//	}
//	return len(y), updates
//
// EpochIndexed(w, log, x, y, idx, ahead, eta, margin) is Epoch in the order of idx, over rows that lie in chunks of
// 512: row i is row i%512 of x[i/512], and its label is y[i/512][i%512]. It writes positions in idx to log. While it
// visits idx[i] it prefetches row i of ahead to the second-level cache. ahead may have any number of rows, of the same
// stride, and changes no result: its rows are the next window of a shuffled epoch, in storage order. EpochIndexed also
// prefetches the row and the label of a coming visit to the first-level cache.
//
// Transpose(dst, stride, cols) writes len(cols[0]) rows from at least one column: dst[r*stride+c] = cols[c][r], and
// zeros for columns len(cols) to stride.
//
// Pack(dst, x, y, stride, cols) packs the first cols columns of len(y) rows in groups of NR rows, with the signs of
// their labels. NR is BoundsNRF32 of the package, and divides len(y). It returns the largest of the
// rows' squared norms, 0 for none, and ignores a norm that is NaN:
//
//	for r := range y {
//		for c := range cols {
//			v := sign(y[r]) * row(r)[c]
//			norm = fma(v, v, norm)
//			dst[(r/NR*cols+c)*NR+r%NR] = v
//		}
//		largest = larger(largest, norm)
//	}
//
// Bounds(low, high, x, w, limits, cols) counts, for each candidate, rows by their score. Pack packed the rows. w holds
// len(limits) candidates, packed in the same way in groups of MR (BoundsMRF32). The number of candidates is a multiple
// of MR from MR to 64. Let s be the score of a row and a candidate: s = fma(x, w, s) from +0, columns ascending. Bounds
// adds to low[i] the number of rows with s < -limits[i]. It adds to high[i] the number of rows for which s > limits[i]
// is false. Both comparisons are false for a NaN.
//
// BoundsWeighted(low, x, weights, w, limits, cols) adds to low[i] the sum of weights[r] over the rows with
// s < -limits[i]. Weights are int32 of 0 or more. The sum over all rows fits an int32.
//
// Tile(c, ldc, grow, a, b, add) is the micro-kernel of matrix products over packed panels. Each package has its own
// tile of MR rows and NR columns (MRF32, NRF32). b is one panel with NR elements for each k; there is at least one k. a
// is one or more panels, each with MR elements for each k. For panel p of a:
//
//	acc = zeros; for k := range len(b)/NR { acc[i][j] = fma(a[p][k*MR+i], b[k*NR+j], acc[i][j]) for each i, j }
//	r := p*MR+i; at := r*ldc + r*(r-1)/2*grow // where row r begins: ldc elements after the first, then grow more each time
//	if add { acc[i][j] += c[at+j] for each i, j }
//	c[at+j] = acc[i][j] for each i, j
//
// ScaleRows(dst, x, s, stride, cols) writes the first cols columns of len(s) rows of 32 float64. cols is a multiple of
// 4 from 4 to 32:
//
//	for r := range s { for c := range cols { dst[r*32+c] = sqrt(s[r]) * float64(x[r*stride+c]) } }
//
// RankKUpdateF64(c, a, b, rows, square) adds the products of the columns of a and b to c, a block of 32 x 32 sums. a
// and b have len(b)/32 rows, at least one. rows is 1 or a multiple of 4 from 4 to 32. If square is set, it updates all
// columns, otherwise the columns up to the diagonal; the other elements of c are undefined then:
//
//	acc = zeros; for k := range len(b)/32 { acc[i][j] = fma(a[k*32+i], b[k*32+j], acc[i][j]) for each i, j }
//	c[i*32+j] += acc[i][j] for each i < rows, and each j if square, else each j <= i
//
// CopyNonTemporalF32(dst, src) is copy(dst, src) for whole cache lines, by stores that leave no line in the caches. dst
// begins at a multiple of 64 bytes. dst and src have the same number of elements, a multiple of 16. Other cores are
// sure to see the elements only after FenceF32. Only package avx2 has the two functions.
//
// The kernels named Sparse take rows in CSR form: row r holds val[k] in column idx[k] for k from ptr[r] to ptr[r+1].
// ptr has one element more than there are rows, and val has as many elements as idx. Element k goes to lane idx[k] mod
// L, k ascending. If columns ascend, that is the order of Dot without the elements that aren't stored, which would add
// zeros. So a score equals the dense score, except for the sign of a zero.
//
// Only these kernels check their input. They stop at the first row that lies beyond idx, or has a column beyond the
// weights, and return the number of rows before it. The comparisons run while the processor waits for the loads of an
// element.
//
// SparseScores(out, ptr, idx, val, w) scores len(out) rows, and returns the number of rows that it scored:
//
//	for r := range out { out[r] = fold of L lanes: lane[idx[k]%L] = fma(val[k], w[idx[k]], lane[idx[k]%L]) for each k }
//
// SparseScores8(out, ptr, idx, val, w) does the same for 8 vectors of weights, and len(out)/8 rows. w holds the 8 weights
// of a column one after the other, column after column. out holds the 8 scores of a row in the same way.
//
// SparseEpoch(w, log, ptr, idx, val, y, eta, margin) is Epoch on len(y) rows. It also stops at a wrong row, with fewer
// rows than len(y) and a log that isn't full. SparseEpochIndexed(w, log, ptr, idx, val, y, rows, eta, margin) is
// SparseEpoch in the order of rows. Row i is row i%512 of chunk i/512, and each chunk has its own ptr, idx, val and y.
//
// SparseAdd(w, a, idx, val) adds a row, and returns the number of elements that it added:
//
//	for k := range idx { w[idx[k]] = fma(a, val[k], w[idx[k]]) }
//
// MaxSquaredNorm(x, stride) is the largest squared Euclidean norm of the rows, 0 for none:
//
//	for each row { max = larger(max, fold of 16 lanes: lane[i%16] = fma(float64(x[i]), float64(x[i]), lane[i%16])) }
//
// Exp(y, x), Sigmoid(y, x) and Log1p(y, x) are elementary functions; len(x) == len(y), and y may be x:
//
//	for i := range x { y[i] = exp(x[i]) }
//	for i := range x { y[i] = 1 / (1 + exp(-x[i])) }
//	for i := range x { y[i] = log(1 + x[i]) }
//
// LogisticF64(z, factor, curvature, loss, y) takes scores z and signs y. It sets z to the margins m. It sets loss,
// factor and curvature to the logistic loss log(1 + e^-m) and its first and second derivative by the score. All five
// slices have the same length:
//
//	for i := range y {
//		m := y[i] * z[i]; e := exp(-|m|); r := 1/(1+e); t := e*r
//		z[i] = m; factor[i] = -(y[i] * (m < 0 ? r : t)); curvature[i] = t*r; loss[i] = log(1+e) + larger(0, -m)
//	}
//
// asm/ref/exp.go defines the operations of these functions and their order, and so the result to the last bit. Each
// function computes in the element's own type. The error, in units in the last place of the exact result, is below 0.8
// for Exp, 2.6 for Sigmoid and 0.95 for Log1p; it is below 0.9 for subnormal results. Exp and Log1p of float32 are
// monotone over all numbers. NaN gives NaN. Exp overflows to +Inf and underflows gradually to 0. Sigmoid is exp(x) on
// its lower tail and never leaves [0, 1]. Log1p of -1 is -Inf, below -1 it is NaN, and zeros keep their sign.
//
// Peak(n), Load(x) and Stream(x) each run one operation at the machine's full speed, so that it can be timed: n rounds
// of fused multiply-adds in registers (RoundF32 of them in a round), loads, and non-temporal stores of zeros. Load and
// Stream skip up to 511 bytes at the end of x. Pure Go lacks these loops.
package asm
