package peers

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/viterin/vek"
	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"halfspace/kernel"
	"halfspace/kernel/f64"
)

// A library computes an operation. Each has a loop of its own around a direct call. For short vectors, a call through a
// function value would cost as much as the operation.
type library struct {
	name string
	run  func(calls int) float64 // returns the last result
}

// An operation on vectors x and y of one type. halfspace is the first of its libraries.
type operation[T float32 | float64] struct {
	libraries func(x, y []T) []library
	bytes     int // that a call moves for each element
}

var (
	dot32  = operation[float32]{dots32, 2 * 4}
	dot64  = operation[float64]{dots64, 2 * 8}
	axpy32 = operation[float32]{axpys32, 3 * 4}
	axpy64 = operation[float64]{axpys64, 3 * 8}
)

// step is small enough that y += step*x never overflows, however often a benchmark repeats it.
const step = 0x1p-10

func dots32(x, y []float32) []library {
	a, b := blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y}
	return []library{
		{"halfspace", func(calls int) (s float64) {
			for range calls {
				s = float64(kernel.Dot(x, y))
			}
			return s
		}},
		{"gonum", func(calls int) (s float64) {
			for range calls {
				s = float64(blas32.Dot(a, b))
			}
			return s
		}},
		{"vek", func(calls int) (s float64) {
			for range calls {
				s = float64(vek32.Dot(x, y))
			}
			return s
		}},
	}
}

func dots64(x, y []float64) []library {
	a, b := blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y}
	return []library{
		{"halfspace", func(calls int) (s float64) {
			for range calls {
				s = f64.Dot(x, y)
			}
			return s
		}},
		{"gonum", func(calls int) (s float64) {
			for range calls {
				s = blas64.Dot(a, b)
			}
			return s
		}},
		{"vek", func(calls int) (s float64) {
			for range calls {
				s = vek.Dot(x, y)
			}
			return s
		}},
	}
}

// axpys32 leaves out vek, which has no axpy: a product and a sum would read and write memory twice.
func axpys32(x, y []float32) []library {
	a, b := blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y}
	return []library{
		{"halfspace", func(calls int) float64 {
			for range calls {
				kernel.Axpy(y, step, x)
			}
			return float64(y[len(y)-1])
		}},
		{"gonum", func(calls int) float64 {
			for range calls {
				blas32.Axpy(step, a, b)
			}
			return float64(y[len(y)-1])
		}},
	}
}

func axpys64(x, y []float64) []library {
	a, b := blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y}
	return []library{
		{"halfspace", func(calls int) float64 {
			for range calls {
				f64.Axpy(y, step, x)
			}
			return y[len(y)-1]
		}},
		{"gonum", func(calls int) float64 {
			for range calls {
				blas64.Axpy(step, a, b)
			}
			return y[len(y)-1]
		}},
	}
}

// sizes straddle the widths of vectors and the levels of memory.
var sizes = []int{8, 16, 31, 32, 64, 100, 128, 256, 512, 1024, 2048, 4096, 8192, 65536, 1 << 20, 1 << 24}

func BenchmarkPeerDot(b *testing.B) {
	bench(b, dot32)
	bench(b, dot64)
}

func BenchmarkPeerAxpy(b *testing.B) {
	bench(b, axpy32)
	bench(b, axpy64)
}

// bench times each library on its own. The line of halfspace also has how many times faster it is than each other
// library. That is measured by turns, since lines at different times can't be compared on a busy machine.
func bench[T float32 | float64](b *testing.B, op operation[T]) {
	for _, n := range sizes {
		libraries := op.libraries(vector[T](n, 1), vector[T](n, 2))
		for k, lib := range libraries {
			var times []float64
			b.Run(fmt.Sprintf("lib=%s/type=f%d/n=%d", lib.name, 8*unsafe.Sizeof(T(0)), n), func(b *testing.B) {
				if k == 0 && b.N == 1 { // the first call of several for a line
					times = byTurns(libraries)
				}
				b.SetBytes(int64(op.bytes * n))
				b.ResetTimer()
				sink = lib.run(b.N)
				for peer := 1; peer < len(times); peer++ {
					b.ReportMetric(times[peer]/times[0], "x_"+libraries[peer].name)
					if times[peer] < 0.98*times[0] { // less is even
						losses[b.Name()] = fmt.Sprintf("%s wins: %.2f of the time", libraries[peer].name, times[peer]/times[0])
					}
				}
			})
		}
	}
}

var sink float64

// losses are the benchmarks that a peer wins, and by how much.
var losses = map[string]string{}

const (
	rounds = 31
	turn   = 300 * time.Microsecond // of one library in a round, unless a call takes longer
)

// byTurns returns the median time of a call for each library. The libraries take turns.
func byTurns(libraries []library) []float64 {
	calls := callsFor(libraries[0])
	times := make([][]float64, len(libraries))
	for round := range rounds {
		for k := range libraries {
			lib := (round + k) % len(libraries)
			start := time.Now()
			sink = libraries[lib].run(calls)
			times[lib] = append(times[lib], time.Since(start).Seconds()/float64(calls))
		}
	}
	medians := make([]float64, len(libraries))
	for lib := range libraries {
		slices.Sort(times[lib])
		medians[lib] = times[lib][rounds/2]
	}
	return medians
}

// callsFor returns the number of calls that fill a turn.
func callsFor(lib library) int {
	for calls := 1; ; calls *= 2 {
		start := time.Now()
		sink = lib.run(calls)
		if time.Since(start) > turn/2 {
			return calls
		}
	}
}

// vector returns n numbers that look random. They repeat after a few thousand.
func vector[T float32 | float64](n int, seed uint64) []T {
	rng := rand.New(rand.NewPCG(seed, 0))
	v := make([]T, n)
	drawn := min(n, 1<<13)
	for i := range drawn {
		v[i] = T(rng.NormFloat64())
	}
	for done := drawn; done < n; done *= 2 {
		copy(v[done:], v[:done])
	}
	return v
}

// TestPeers: all libraries compute the same, up to rounding.
func TestPeers(t *testing.T) {
	for _, n := range sizes[:slices.Index(sizes, 65536)] {
		agree(t, dot32, n, 0x1p-23*dotError[float32](n))
		agree(t, dot64, n, 0x1p-52*dotError[float64](n))
		agree(t, axpy32, n, 0x1p-23*axpyError[float32](n))
		agree(t, axpy64, n, 0x1p-52*axpyError[float64](n))
	}
}

// dotError is how far two sums of the same n products can lie apart, in rounding errors of 1, whatever their order.
func dotError[T float32 | float64](n int) float64 {
	x, y := vector[T](n, 1), vector[T](n, 2)
	magnitudes := 0.0
	for i := range x {
		magnitudes += math.Abs(float64(x[i]) * float64(y[i]))
	}
	return float64(n) * magnitudes
}

// axpyError is the same for the last element of y + step*x, rounded once or twice.
func axpyError[T float32 | float64](n int) float64 {
	x, y := vector[T](n, 1), vector[T](n, 2)
	return math.Abs(float64(y[n-1])) + step*math.Abs(float64(x[n-1]))
}

func agree[T float32 | float64](t *testing.T, op operation[T], n int, tolerance float64) {
	var first float64
	for k := range op.libraries(nil, nil) {
		lib := op.libraries(vector[T](n, 1), vector[T](n, 2))[k] // axpy has changed the vectors of the one before
		got := lib.run(1)
		if k == 0 {
			first = got
		}
		if math.Abs(got-first) > tolerance {
			t.Errorf("n=%d: %s gives %v, halfspace %v", n, lib.name, got, first)
		}
	}
}

// TestMain prints what the figures were measured with, in the lines of configuration that benchstat reads. At the end it
// prints what a peer wins.
func TestMain(m *testing.M) {
	fmt.Printf("halfspace-isa: %s\nvek-acceleration: %v\n", kernel.Active(), vek.Info().Acceleration)
	status := m.Run()
	for _, name := range slices.Sorted(maps.Keys(losses)) {
		fmt.Printf("%s: %s\n", name, losses[name])
	}
	os.Exit(status)
}
