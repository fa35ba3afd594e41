package bench

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/require"
)

// BenchmarkPeerGram computes one triangle of X X' here, with OpenBLAS's syrk in C, and with gonum's. All take turns, and
// the sums of their elements are compared before. It counts N*N*d flops. x-openblas and x-gonum are how many times
// faster this is. n is four times as large with -full.
func BenchmarkPeerGram(b *testing.B) {
	binary := buildSyrk(b)
	for _, c := range []struct{ n, d int }{{8192, 512}, {4096, 2048}, {8192, 64}, {16384, 32}} {
		peerGram(b, binary, size(c.n, c.n/4), c.d)
	}
}

// buildSyrk compiles the program that calls OpenBLAS, or skips the benchmark.
func buildSyrk(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "syrk")
	out, err := exec.Command("cc", "-O2", "-o", binary, "peers/openblas/syrk.c", "-lopenblas").CombinedOutput()
	if err != nil {
		b.Logf("cc: %v\n%s", err, out)
		skip(b, "no C compiler or no OpenBLAS: install the packages gcc and libopenblas-dev")
	}
	return binary
}

func peerGram(b *testing.B, binary string, n, d int) {
	b.Run(fmt.Sprintf("n=%d/d=%d", n, d), func(b *testing.B) {
		x := block.Alloc[float32](n * d)
		for i := range x {
			x[i] = float32(uint64(i)*2654435761%65536)/65536 - 0.5
		}
		m, err := gram.NewSymmetric(n, gram.Packed)
		require.NoError(b, err)
		rows, workers := gram.Dense(x, n, d, d), runtime.GOMAXPROCS(0)
		peer := startPeer(b, binary, strconv.Itoa(n), strconv.Itoa(d), "float")
		b.Log(peer.line(b))
		checksum := peer.number(b)
		compute := func() float64 {
			start := time.Now()
			require.NoError(b, gram.Gram(context.Background(), m, rows, gram.Kernel{}, workers))
			return time.Since(start).Seconds()
		}
		compute()
		checkSyrk(b, m, n, checksum)
		c := equalContest(b, "OpenBLAS", "sum equal")
		gonum, out := []float64{}, make([]float32, n*n)
		for b.Loop() {
			for round := range size(7, 3) {
				c.turns(1, compute, func() float64 { return peer.product(b) })
				if round < size(3, 1) { // gonum takes many times as long
					gonum = append(gonum, gonumSyrk(out, x, n, d))
				}
			}
		}
		flops := float64(n) * float64(n) * float64(d) / 1e9
		b.ReportMetric(0, "ns/op") // the time of all together means nothing
		b.ReportMetric(flops/median(c.own), "GFLOP/s")
		b.ReportMetric(flops/median(c.theirs), "openblas-GFLOP/s")
		b.ReportMetric(c.ratio(), "x-openblas")
		b.ReportMetric(median(gonum)/median(c.own), "x-gonum")
	})
}

// checkSyrk compares the sum of the elements here with that of OpenBLAS.
func checkSyrk(b *testing.B, m *gram.Symmetric, n int, want float64) {
	b.Helper()
	sum, size := 0.0, 0.0
	for i := range n {
		for j := range i + 1 {
			v := float64(m.At(i, j))
			sum, size = sum+v, size+math.Abs(v)
		}
	}
	if !(math.Abs(sum-want) <= 1e-5*size) {
		b.Fatalf("the elements add up to %v, and %v with OpenBLAS", sum, want)
	}
}

// product returns the seconds of one product. OpenBLAS's threads spin for a while after it. product waits for their end.
func (p *peer) product(b *testing.B) float64 {
	b.Helper()
	if _, err := fmt.Fprintln(p.in); err != nil {
		b.Fatal("syrk ended: ", err)
	}
	seconds := p.number(b)
	time.Sleep(200 * time.Millisecond)
	return seconds
}

// number reads a line with a number, which isn't NaN.
func (p *peer) number(b *testing.B) float64 {
	b.Helper()
	v, err := strconv.ParseFloat(p.line(b), 64)
	if err != nil || math.IsNaN(v) {
		b.Fatalf("%v, error %v", v, err)
	}
	return v
}

// gonumSyrk writes the product to c, and returns the seconds that gonum takes.
func gonumSyrk(c, x []float32, n, d int) float64 {
	start := time.Now()
	a := blas32.General{Rows: n, Cols: d, Stride: d, Data: x}
	blas32.Syrk(blas.NoTrans, 1, a, 0, blas32.Symmetric{N: n, Stride: n, Data: c, Uplo: blas.Lower})
	return time.Since(start).Seconds()
}
