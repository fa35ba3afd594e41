module halfspace/bench/peers

go 1.26.0

require (
	github.com/viterin/vek v0.4.3
	gonum.org/v1/gonum v0.17.0
	halfspace v0.0.0
)

require (
	github.com/chewxy/math32 v1.10.1 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/viterin/partial v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace halfspace => ../..
