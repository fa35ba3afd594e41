package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/kernel"
)

const syrkRounds = 7 // of either side, alternating; their medians count

// BenchmarkPeerGram computes one triangle of X X' here, with OpenBLAS's syrk in C, and with gonum's. It counts N*N*d
// flops. x-openblas and x-gonum are how many times faster this is.
func BenchmarkPeerGram(b *testing.B) {
	binary := buildSyrk(b)
	for _, c := range []struct{ n, d int }{{8192, 512}, {4096, 2048}, {8192, 64}, {16384, 32}} {
		peerGram[float32](b, binary, c.n, c.d)
	}
	peerGram[float64](b, binary, 8192, 512)
}

// buildSyrk compiles the program that calls OpenBLAS, or skips the benchmark.
func buildSyrk(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "syrk")
	out, err := exec.Command("cc", "-O2", "-o", binary, "peers/openblas/syrk.c", "-lopenblas").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "SKIPPED: %s: no C compiler or no OpenBLAS: install the packages gcc and libopenblas-dev\n", b.Name())
		b.Skipf("cc: %v\n%s", err, out)
	}
	return binary
}

func peerGram[T kernel.Float](b *testing.B, binary string, n, d int) {
	b.Run(fmt.Sprintf("type=f%d/n=%d/d=%d", 8*unsafe.Sizeof(T(0)), n, d), func(b *testing.B) {
		x := block.Alloc[T](n * d)
		for i := range x {
			x[i] = T(uint64(i)*2654435761%65536)/65536 - 0.5
		}
		m, err := gram.NewSymmetric[T](n, gram.Packed)
		if err != nil {
			b.Fatal(err)
		}
		rows, workers := gram.Dense(x, n, d, d), runtime.GOMAXPROCS(0)
		peer := startSyrk[T](b, binary, n, d)
		var own, theirs []float64
		for b.Loop() {
			for range syrkRounds {
				start := time.Now()
				if err := gram.Gram(context.Background(), m, rows, gram.Mercer{}, workers); err != nil {
					b.Fatal(err)
				}
				own = append(own, time.Since(start).Seconds())
				theirs = append(theirs, peer.run(b))
			}
		}
		gonum := gonumSyrk(x, n, d)
		flops := float64(n) * float64(n) * float64(d) / 1e9
		b.ReportMetric(0, "ns/op") // the time of all together means nothing
		b.ReportMetric(flops/median(own), "GFLOP/s")
		b.ReportMetric(flops/median(theirs), "openblas-GFLOP/s")
		b.ReportMetric(median(theirs)/median(own), "x-openblas")
		b.ReportMetric(gonum/median(own), "x-gonum")
	})
}

// A syrk is a running peers/openblas/syrk.c.
type syrk struct {
	in  io.Writer
	out *bufio.Scanner
}

func startSyrk[T kernel.Float](b *testing.B, binary string, n, d int) syrk {
	b.Helper()
	name := "float"
	if unsafe.Sizeof(T(0)) == 8 {
		name = "double"
	}
	cmd := exec.Command(binary, strconv.Itoa(n), strconv.Itoa(d), name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("syrk: %v", err)
		}
	})
	s := syrk{in, bufio.NewScanner(out)}
	if !s.out.Scan() {
		b.Fatal("syrk says nothing")
	}
	b.Log(s.out.Text())
	return s
}

// run returns the seconds of one product. OpenBLAS's threads spin for a while after it. run waits for their end.
func (s syrk) run(b *testing.B) float64 {
	b.Helper()
	if _, err := fmt.Fprintln(s.in); err != nil || !s.out.Scan() {
		b.Fatal("syrk ended: ", err, s.out.Err())
	}
	seconds, err := strconv.ParseFloat(s.out.Text(), 64)
	if err != nil {
		b.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	return seconds
}

// gonumSyrk returns the seconds that gonum takes.
func gonumSyrk[T kernel.Float](x []T, n, d int) float64 {
	c := make([]T, n*n)
	start := time.Now()
	switch x := any(x).(type) {
	case []float32:
		a := blas32.General{Rows: n, Cols: d, Stride: d, Data: x}
		blas32.Syrk(blas.NoTrans, 1, a, 0, blas32.Symmetric{N: n, Stride: n, Data: any(c).([]float32), Uplo: blas.Lower})
	case []float64:
		a := blas64.General{Rows: n, Cols: d, Stride: d, Data: x}
		blas64.Syrk(blas.NoTrans, 1, a, 0, blas64.Symmetric{N: n, Stride: n, Data: any(c).([]float64), Uplo: blas.Lower})
	}
	return time.Since(start).Seconds()
}
