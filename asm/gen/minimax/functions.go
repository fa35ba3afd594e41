package main

import "math/big"

// series sums term(0) + term(1) + ... until a term no longer counts.
func series(term func(i int) *big.Float) *big.Float {
	sum := zero()
	for i := 0; ; i++ {
		t := term(i)
		if t.Sign() == 0 || sum.Sign() != 0 && t.MantExp(nil) < sum.MantExp(nil)-prec {
			return sum
		}
		sum = add(sum, t)
	}
}

// expTail is (exp(x) - sum of x^i/i! for i < n) / x^n, by its Taylor series.
func expTail(x *big.Float, n int) *big.Float {
	t := number(1)
	for i := 2; i <= n; i++ {
		t = quo(t, number(float64(i)))
	}
	return series(func(i int) *big.Float {
		now := t
		t = quo(mul(t, x), number(float64(n+i+1)))
		return now
	})
}

// atanhTail is (atanh(s)/s - sum of z^i/(2i+1) for i < n) / z^n with z = s*s, by its series in z.
func atanhTail(z *big.Float, n int) *big.Float {
	power := number(1)
	return series(func(i int) *big.Float {
		t := quo(power, number(float64(2*(n+i)+1)))
		power = mul(power, z)
		return t
	})
}

// ln2 is log(2) = 2 atanh(1/3).
func ln2() *big.Float {
	third := quo(number(1), number(3))
	return mul(mul(number(2), third), atanhTail(mul(third, third), 0))
}
