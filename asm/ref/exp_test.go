package ref

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"halfspace/internal/require"
)

// long tells whether the environment asks for tests that take many minutes.
var long = os.Getenv("HALFSPACE_TEST_LONG") != ""

// bigPrec is the precision of the oracles in bits, more than twice that of a float64.
const bigPrec = 128

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bigPrec).SetFloat64(x) }

func bigNew() *big.Float { return new(big.Float).SetPrec(bigPrec) }

// reciprocals holds 1/i.
var reciprocals = func() (r [100]*big.Float) {
	for i := 1; i < len(r); i++ {
		r[i] = bigNew().Quo(bigOf(1), bigOf(float64(i)))
	}
	return r
}()

// bigLn2 is ln 2 = 2 atanh(1/3).
var bigLn2 = bigNew().Mul(bigOf(2), bigAtanh(reciprocals[3], 48))

// bigAtanh is s + s^3/3 + s^5/5 + ..., the first terms of them.
func bigAtanh(s *big.Float, terms int) *big.Float {
	z, sum := bigNew().Mul(s, s), bigNew()
	for i := terms; i > 0; i-- {
		sum.Mul(sum, z)
		sum.Add(sum, reciprocals[2*i-1])
	}
	return sum.Mul(sum, s)
}

// bigExp is exp(x), by the Taylor series of exp(r/256) with r = x - k*ln 2.
func bigExp(x float64) *big.Float {
	k := math.Round(x / math.Ln2)
	r := bigNew().Mul(bigLn2, bigOf(k))
	r.Sub(bigOf(x), r)
	r.SetMantExp(r, -8)
	sum := bigOf(1)
	for i := 13; i > 0; i-- {
		sum.Mul(sum, r)
		sum.Mul(sum, reciprocals[i])
		sum.Add(sum, reciprocals[1])
	}
	for range 8 {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

func bigSigmoid(x float64) *big.Float {
	d := bigExp(-x)
	return d.Quo(bigOf(1), d.Add(d, bigOf(1)))
}

// bigLog1p is log(1+x) = k*ln 2 + 2 atanh(g/(2+g)) with 1+x = 2^k (1+g).
func bigLog1p(x float64) *big.Float {
	k, g := 0, bigOf(x)
	if x < -0.25 || x > 0.5 {
		g.Add(g, bigOf(1))
		k = g.MantExp(g)
		g.Sub(g, bigOf(1))
	}
	s := bigNew().Quo(g, bigNew().Add(g, bigOf(2)))
	sum := bigAtanh(s, 36)
	sum.Mul(sum, bigOf(2))
	return sum.Add(sum, bigNew().Mul(bigLn2, bigOf(float64(k))))
}

// An elementary is one function: its twins, the oracle, and what asm/README.md states of it.
type elementary struct {
	name      string
	f32       func(y, x []float32) // nil for float64 alone
	f64       func(y, x []float64)
	exact     func(float64) *big.Float
	draw      func(*rand.Rand) float64 // an argument with a finite result
	bound     float64                  // of the error, in ULP
	subnormal float64                  // bound where the result is subnormal
	most      float64                  // greatest value
	monotone  bool
}

var elementaries = []elementary{
	{"Exp", ExpF32, ExpF64, bigExp, drawExp, 0.8, 0.9, math.Inf(1), true},
	{"Sigmoid", nil, SigmoidF64, bigSigmoid, drawSigmoid, 2.6, 0.9, 1, false},
	{"Log1p", nil, Log1pF64, bigLog1p, drawLog1p, 0.95, 0.9, math.Inf(1), true},
}

// drawExp draws numbers of every size, more ordinary ones, and those where the multiple of ln 2 changes.
func drawExp(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return -746 + r.Float64()*(746+709.7)
	case 1:
		return (r.Float64() - 0.5) * 20
	case 2:
		k := float64(r.IntN(2098) - 1075)
		return min((k+0.5)*math.Ln2*(1+(r.Float64()-0.5)*math.Ldexp(1, -r.IntN(50))), 709.7)
	}
	return math.Ldexp(r.Float64()-0.5, -r.IntN(60))
}

func drawSigmoid(r *rand.Rand) float64 {
	x := drawExp(r)
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// drawLog1p draws numbers for log1p as drawExp does. The exponent changes at 0.75*2^k.
func drawLog1p(r *rand.Rand) float64 {
	switch r.IntN(5) {
	case 0:
		return r.Float64()
	case 1:
		return -r.Float64()
	case 2:
		return math.Ldexp(0.75*(1+(r.Float64()-0.5)*math.Ldexp(1, -r.IntN(50))), r.IntN(100)-50) - 1
	case 3:
		return math.Ldexp(r.Float64(), r.IntN(1024))
	}
	return math.Ldexp(r.Float64()-0.5, -r.IntN(1070))
}

// A record is the largest errors met, in ULP, and their arguments; subnormal results apart.
type record struct {
	err, at [2]float64
}

func (r *record) add(err, at float64, subnormal bool) {
	i := 0
	if subnormal {
		i = 1
	}
	if !(err <= r.err[i]) { // NaN too
		r.err[i], r.at[i] = err, at
	}
}

func (r *record) check(t *testing.T, e elementary) {
	t.Helper()
	for i, bound := range []float64{e.bound, e.subnormal} {
		kind := []string{"normal", "subnormal"}[i]
		t.Logf("largest error of a %s result: %.4f ULP, of %x", kind, r.err[i], r.at[i])
		if !(r.err[i] < bound) {
			t.Errorf("the error of %x is %.4f ULP, the bound for %s results %g", r.at[i], r.err[i], kind, bound)
		}
	}
}

// ulps returns the distance of a result from the exact one, in ULP of it, and tells whether the exact one is subnormal.
func ulps(got float64, exact *big.Float) (err float64, subnormal bool) {
	exponent := exact.MantExp(nil) - 1
	diff := bigNew().Sub(bigOf(got), exact)
	err, _ = diff.SetMantExp(diff, 52-max(exponent, -1022)).Float64()
	return math.Abs(err), exponent < -1022
}

// TestElementaryF64 compares the functions with the oracles.
func TestElementaryF64(t *testing.T) {
	n := 30_000
	if require.Small() {
		n = 3000
	}
	if long {
		n = 10_000_000
	}
	for _, e := range elementaries {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 8))
			var worst record
			for range n / 3 {
				a := e.draw(rng)
				x, y := []float64{a, math.Nextafter(a, math.Inf(-1)), math.Nextafter(a, math.Inf(1))}, make([]float64, 3)
				e.f64(y, x)
				for i, v := range x {
					err, subnormal := ulps(y[i], e.exact(v))
					worst.add(err, v, subnormal)
				}
				if max(y[0], y[1], y[2]) > e.most {
					t.Errorf("%x gives %x, beyond %v", x, y, e.most)
				}
				if e.monotone && !(y[1] <= y[0] && y[0] <= y[2]) {
					t.Errorf("not monotone at %x: %x", x, y)
				}
			}
			worst.check(t, e)
		})
	}
}

// TestLogistic compares the results, for either sign of y, with the oracles of their parts. In the loss, the
// exponential is rounded first.
func TestLogistic(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 5000 {
		m, y := drawSigmoid(rng), float64(2*rng.IntN(2)-1)
		z, factor, curvature, loss := []float64{y * m}, []float64{7}, []float64{7}, []float64{7}
		LogisticF64(z, factor, curvature, loss, []float64{y})
		wrong, tail := bigSigmoid(-m), bigSigmoid(-math.Abs(m))
		e, _ := bigExp(-math.Abs(m)).Float64()
		exact := bigNew().Add(bigLog1p(e), bigOf(max(0, -m)))
		for _, c := range []struct {
			name  string
			got   float64
			exact *big.Float
			bound float64
		}{
			{"factor", -y * factor[0], wrong, 3},
			{"curvature", curvature[0], bigNew().Mul(tail, bigSigmoid(math.Abs(m))), 4},
			{"loss", loss[0], exact, 3},
		} {
			if c.exact.Sign() == 0 && c.got == 0 {
				continue
			}
			if err, _ := ulps(c.got, c.exact); !(err <= c.bound) {
				t.Errorf("margin %x, label %v: %s is %v, %v ULP from the exact one", m, y, c.name, c.got, err)
			}
		}
		if z[0] != m {
			t.Errorf("margin %v, want %v", z[0], m)
		}
	}
}

// TestElementaryF32 compares the functions with those of float64, whose errors don't matter here. It takes every
// float32 in long tests, else short stretches all over the range.
func TestElementaryF32(t *testing.T) {
	const parts = 16
	stretch, step := 256, int64(1<<20)
	if require.Small() {
		step = 1 << 23
	}
	if long {
		stretch, step = 1<<16+1, 1<<16
	}
	for _, e := range elementaries {
		for part := range parts {
			if e.f32 == nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/%x", e.name, part), func(t *testing.T) {
				t.Parallel()
				var worst record
				x := make([]float32, stretch)
				for begin := int64(part) << 28; begin < int64(part+1)<<28; begin += step {
					for i := range x {
						x[i] = math.Float32frombits(uint32(begin + int64(i-stretch/2)))
					}
					worst.addF32(t, e, x)
				}
				worst.check(t, e)
			})
		}
	}
}

// addF32 adds the errors of the results for x, which are consecutive numbers.
func (r *record) addF32(t *testing.T, e elementary, x []float32) {
	y := make([]float32, len(x))
	wide, want := make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	e.f32(y, x)
	e.f64(want, wide)
	for i, v := range want {
		got := float64(y[i])
		if got > e.most {
			t.Errorf("%x gives %x, beyond %v", x[i], got, e.most)
		}
		if i > 0 && e.monotone && (y[i] < y[i-1] && x[i] > x[i-1] || y[i] > y[i-1] && x[i] < x[i-1]) {
			t.Errorf("not monotone at %x: %x", x[i-1:i+1], y[i-1:i+1])
		}
		if got == v || got != got && v != v || math.IsInf(got, 1) && v > math.MaxFloat32*(1+0x1p-25) {
			continue
		}
		_, exponent := math.Frexp(v)
		r.add(math.Abs(got-v)*math.Ldexp(1, 23-max(exponent-1, -126)), wide[i], exponent-1 < -126)
	}
}

// TestElementarySpecials tests what asm/README.md says of special arguments.
func TestElementarySpecials(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for i, cases := range [][][2]float64{
		{{nan, nan}, {inf, inf}, {-inf, 0}, {0, 1}, {zero, 1}, {0x1p-120, 1}, {1e30, inf}, {-1e30, 0}},
		{{nan, nan}, {inf, 1}, {-inf, 0}, {0, 0.5}, {zero, 0.5}, {1e30, 1}, {-1e30, 0}},
		{{nan, nan}, {inf, inf}, {-inf, nan}, {-1.5, nan}, {-1, -inf}, {0, 0}, {zero, zero}, {0x1p-140, 0x1p-140}, {-0x1p-140, -0x1p-140}},
	} {
		e := elementaries[i]
		for _, c := range cases {
			results := make([]float64, 1)
			e.f64(results, c[:1])
			if e.f32 != nil {
				y := make([]float32, 1)
				e.f32(y, []float32{float32(c[0])})
				results = append(results, float64(y[0]))
			}
			for _, got := range results {
				if want := c[1]; math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
					t.Errorf("%s(%g) is %g, want %g", e.name, c[0], got, want)
				}
			}
		}
	}
}

// TestExpLimits: the least and the greatest results, next to those that vanish and overflow.
func TestExpLimits(t *testing.T) {
	// The logarithms of 2^-1075 and of 2^1024, 2^-150 and 2^128, each between two neighbours.
	x := []float64{-745.1332191019412, -745.1332191019411, 709.782712893384, 709.7827128933841}
	y := make([]float64, len(x))
	ExpF64(y, x)
	if y[0] != 0 || y[1] != math.SmallestNonzeroFloat64 || math.IsInf(y[2], 0) || !math.IsInf(y[3], 1) {
		t.Errorf("exp of %v is %v", x, y)
	}
	x32 := []float32{-103.972084, -103.97208, 88.72283, 88.72284}
	y32 := make([]float32, len(x32))
	ExpF32(y32, x32)
	if y32[0] != 0 || y32[1] != math.SmallestNonzeroFloat32 || math.IsInf(float64(y32[2]), 0) || !math.IsInf(float64(y32[3]), 1) {
		t.Errorf("exp of %v is %v", x32, y32)
	}
}
