// Package asm holds the kernels: one package per instruction set, each with the same names and signatures, and
// asm/ref with their pure-Go twins. Programs call them through package halfspace/kernel, which detects the CPU,
// checks every length and dispatches. This page is the contract that each of these packages keeps.
//
// # One result, whatever the CPU
//
// A kernel returns the same bits on every instruction set. That holds because the order of every floating-point
// operation is fixed here, not left to the width of a register:
//
//   - Dot of n elements has L lanes, L = 32 for float32 and 16 for float64, which start at +0. Element i goes to lane
//     i mod L, lane = fma(x[i], y[i], lane), i ascending. The tail behaves as if both vectors were padded with zeros
//     to a multiple of L, which turns a lane of -0 into +0. Then halves are folded: for h = L/2, L/4, ..., 1,
//     lane[j] += lane[j+h] for j < h. The result is lane[0].
//   - Scores, Epoch and EpochIndexed compute each row's score in exactly this order. Bounds doesn't: see there.
//   - Axpy is y[i] = fma(a, x[i], y[i]), and so is the update of an epoch.
//   - MaxSquaredNorm has 16 float64 lanes for either element type, folded in the same way.
//
// fma rounds once. Any NaN equals any other NaN: payload and sign are not part of the contract.
//
// # Rows
//
// A panel of rows is row-major. Each row has stride elements: its columns, then zeros up to a multiple of 32 bytes. A
// weight vector that meets rows has stride elements too, so that a kernel works on whole vectors without a mask; its
// padding is +0 and an update keeps it so. Rows and vectors need no alignment beyond the element's own.
//
// # Calls
//
// Nothing is checked here. No byte past the end of a slice is read or written. A kernel does a bounded amount of work,
// which is the caller's to bound (a panel of 64 to 256 KiB), since assembly can't be preempted. No kernel keeps a
// pointer, and every stub says so to the compiler (noescape). Destination and source don't overlap, unless the kernel
// says otherwise.
//
// # The kernels
//
// The names carry the element type: DotF32 and DotF64.
//
// Dot(x, y) is the dot product in the order above; len(x) == len(y). 0 elements give +0.
//
// Axpy(a, x, y) equals
//
//	for i := range x { y[i] = fma(a, x[i], y[i]) }
//
// Axpy4(a, x, y) is four of them, one after the other: len(a) == len(x) == 4, and len(x[k]) >= len(y):
//
//	for k := range 4 { Axpy(a[k], x[k][:len(y)], y) }
//
// Wrong(y, scores) is the first i with y[i]*scores[i] <= 0, len(y) if there is none; len(y) == len(scores):
//
//	for i := range y { if y[i]*scores[i] <= 0 { return i } }
//	return len(y)
//
// Scores(x, w, out) scores len(out) rows of stride len(w):
//
//	for r := range out { out[r] = Dot(row(r), w) }
//
// Epoch(x, y, eta, w, log) runs the perceptron (Rosenblatt 1958; Novikoff 1962) over len(y) rows of stride len(w).
// y holds labels, whose sign is the class and whose size scales the step:
//
//	for r := range y {
//		if sign(y[r]) * Dot(row(r), w) <= 0 {
//			Axpy(eta*y[r], row(r), w)
//			log = append(log, r)
//			if log is full { return r+1, len(log) }
//		}
//	}
//	return len(y), updates
//
// It returns how many rows it visited and how many numbers it wrote to log, which needs room for one at least. A
// score of NaN updates nothing. No element of y is zero.
//
// EpochIndexed(x, y, idx, ahead, eta, w, log) is the same walk in the order of idx over rows that lie in chunks of 512:
// row i is row i%512 of x[i/512], its label y[i/512][i%512]. log receives positions in idx. While it visits idx[i] it
// prefetches row i of ahead (rows of the same stride, any number of them) to the second-level cache, which makes the
// next window of a shuffled epoch arrive in storage order; ahead changes no result.
//
// Transpose(dst, stride, cols) writes len(cols[0]) rows from at least one column: dst[r*stride+c] = cols[c][r], and
// zeros for columns len(cols) to stride.
//
// Pack(dst, x, y, stride, cols) packs len(y) rows of that stride in groups of NR rows (BoundsNRF32, BoundsNRF64 of each
// package), whose number len(y) is a multiple of: the first cols columns of each row, with the signs of its label. It
// returns the largest of the rows' squared norms, 0 for none, leaving out those that are NaN:
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
// Bounds(x, w, limits, cols, low, high) judges candidates on rows that Pack packed. w holds len(limits) candidates in
// groups of MR (BoundsMRF32, BoundsMRF64), packed in the same way; their number is a multiple of MR, 64 at most, and not
// zero. With s the sum of products of a row and a candidate, s = fma(x, w, s) from +0 with columns ascending, it adds to
// low[i] the rows with s < -limits[i], and to high[i] those for which s > limits[i] doesn't hold, which a NaN never does.
//
// Tile(a, b, c, ldc, grow, add) is the micro-kernel of matrix products over packed panels. Each package has its own tile of MR
// rows and NR columns (MRF32, NRF32, MRF64, NRF64). b is a panel that holds NR elements for each k, one k at least; a is one
// panel or more, each holding MR elements for each k. For panel p of a:
//
//	acc = zeros; for k := range len(b)/NR { acc[i][j] = fma(a[p][k*MR+i], b[k*NR+j], acc[i][j]) for each i, j }
//	r := p*MR+i; at := r*ldc + r*(r-1)/2*grow // where row i begins: ldc elements after the first, then grow more each time
//	if add { acc[i][j] += c[at+j] for each i, j }
//	c[at+j] = acc[i][j] for each i, j
//
// Weigh(dst, x, s, stride, cols) writes len(s) rows of 32 float64, of which it leaves those from cols on alone. cols is a multiple of
// 4 from 4 to 32:
//
//	for r := range s { for c := range cols { dst[r*32+c] = sqrt(s[r]) * float64(x[r*stride+c]) } }
//
// OuterF64(a, b, c, rows, square) adds to a block c of 32 x 32 sums the outer products of len(b)/32 rows, one at least, of a
// and of b. rows is 1 or a multiple of 4 from 4 to 32; square asks for all columns, else those to the diagonal are:
//
//	acc = zeros; for k := range len(b)/32 { acc[i][j] = fma(a[k*32+i], b[k*32+j], acc[i][j]) for each i, j }
//	c[i*32+j] += acc[i][j] for each i < rows, and each j if square, else each j <= i
//
// What it does to other elements of c isn't defined.
//
// CopyPastF32(dst, src) is copy(dst, src) for whole cache lines: dst begins at a multiple of 64 bytes, and both have the same
// number of elements, a multiple of 16. The lines don't stay in the caches. Another core sees them for sure after FenceF32.
// Only AVX2 has them.
//
// MaxSquaredNorm(x, stride) is the largest squared Euclidean norm of the rows, 0 for none:
//
//	for each row { max = larger(max, fold of 16 lanes: lane[i%16] = fma(float64(x[i]), float64(x[i]), lane[i%16])) }
//
// Exp(x, y), Sigmoid(x, y) and Log1p(x, y) are elementary functions; len(x) == len(y), and y may be x:
//
//	for i := range x { y[i] = exp(x[i]) }
//	for i := range x { y[i] = 1 / (1 + exp(-x[i])) }
//	for i := range x { y[i] = log(1 + x[i]) }
//
// LogisticF64(z, y, factor, curvature, loss) takes scores z and signs y, and sets z to the margins m and the others to a logistic
// loss of m, log(1 + e^-m), its derivative by the score, and the second one. All five have the same length:
//
//	for i := range y {
//		m := y[i] * z[i]; e := exp(-|m|); r := 1/(1+e); t := e*r
//		z[i] = m; factor[i] = -(y[i] * (m < 0 ? r : t)); curvature[i] = t*r; loss[i] = log(1+e) + larger(0, -m)
//	}
//
// Their operations and the order of them are those of asm/ref/exp.go, which defines the result to the last bit. Each is
// computed in the element's own type. The error, in units in the last place of the exact result, is below 0.8 for Exp,
// 2.6 for Sigmoid, and 0.95 for Log1p; results that are subnormal have an error below 0.9. Exp of every float32 and Log1p of
// every float32 are monotone. NaN gives NaN; Exp overflows to +Inf and underflows gradually to 0; Sigmoid is exp(x) on its
// lower tail and never leaves [0, 1]; Log1p of -1 is -Inf, of less NaN, and zeros keep their sign.
package asm
