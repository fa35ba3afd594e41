package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"halfspace/gram"
)

// An Expansion is a classifier in terms of training rows: the score of x is the sum of c_j k(s_j, x) over the support
// rows s_j, with coefficients c_j, plus the bias. With more than two classes, each class has its own coefficients for
// the same rows.
//
// Arrays are base64 of little-endian numbers: support, coefficients and steps are float32.
type Expansion struct {
	Kernel       gram.Kernel `json:"kernel"`
	Rows         []int64     `json:"rows"`         // row numbers in the training, ascending
	Support      []byte      `json:"support"`      // features of the rows, one row after the other
	Coefficients [][]byte    `json:"coefficients"` // for each vector that the classes need, one number for each row
	Votes        []Votes     `json:"votes,omitempty"`
	// Steps, only with votes, has for each row the size of the step, above 0, that a mistake on it makes. Empty: all
	// are 1.
	Steps []byte `json:"steps,omitempty"`
}

// Votes are the mistakes of a voted training (Freund & Schapire 1999). Mistake k added a row, and the bias if there is
// one, to the sum so far. It multiplied the row by the row's step, with the sign of the row's coefficient. Each sum
// votes by its sign, once for each visit until the next mistake. The score is the mean vote. With votes, only the signs
// of coefficients count.
type Votes struct {
	Mistakes []byte `json:"mistakes"` // positions in rows, 32 bits unsigned
	Survived []byte `json:"survived"` // visits, 64 bits signed
}

// number is a type of the numbers in a model's arrays.
type number interface {
	float32 | float64 | uint32 | int64
}

// Pack returns numbers as the bytes of a model's array, little-endian.
func Pack[N number](numbers []N) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, numbers)
	if err != nil {
		panic("model: " + err.Error()) // never: the types have fixed sizes
	}
	return b
}

// Unpack returns the numbers that Pack packed.
func Unpack[N number](b []byte) []N {
	numbers := make([]N, len(b)/int(unsafe.Sizeof(N(0))))
	if _, err := binary.Decode(b, binary.LittleEndian, numbers); err != nil {
		panic("model: " + err.Error())
	}
	return numbers
}

func (m *Model) checkExpansion() error {
	e := m.Expansion
	if e == nil {
		return nil
	}
	if len(m.Weights) > 0 || m.Voters != nil {
		return errors.New("it has weights and an expansion")
	}
	if err := checkKernel(&e.Kernel); err != nil {
		return err
	}
	size, rows := numberBytes, len(e.Rows)
	if rows == 0 {
		return errors.New("expansion has no rows")
	}
	for i, r := range e.Rows {
		if r < 0 || i > 0 && r <= e.Rows[i-1] {
			return fmt.Errorf("row %d of the expansion is out of order", r)
		}
	}
	if len(e.Support)%(rows*size) != 0 || len(e.Support)/(rows*size) != m.Width() {
		return fmt.Errorf("support has %d bytes for %d rows of %d features", len(e.Support), rows, m.Width())
	}
	if len(e.Coefficients) != m.vectors() || e.Votes != nil && len(e.Votes) != m.vectors() {
		return fmt.Errorf("coefficients are for %d vectors, votes for %d: %d classes have %d", len(e.Coefficients), len(e.Votes),
			len(m.Classes), m.vectors())
	}
	if len(e.Steps) > 0 && (e.Votes == nil || len(e.Steps) != rows*size) {
		return fmt.Errorf("steps have %d bytes for %d rows and %d votes", len(e.Steps), rows, len(e.Votes))
	}
	if slices.ContainsFunc(Unpack[float32](e.Steps), func(v float32) bool { return !(v > 0) }) {
		return errors.New("steps hold a number that isn't above 0")
	}
	for _, c := range append([][]byte{e.Support, e.Steps}, e.Coefficients...) {
		if len(c)%(rows*size) != 0 {
			return fmt.Errorf("coefficients have %d bytes for %d rows", len(c), rows)
		}
		if !allFinite(Unpack[float32](c)) {
			return errors.New("expansion holds a number that isn't finite")
		}
	}
	for _, c := range e.Coefficients {
		if len(c) != rows*size {
			return fmt.Errorf("coefficients have %d bytes for %d rows", len(c), rows)
		}
	}
	for _, v := range e.Votes {
		if err := v.check(rows); err != nil {
			return err
		}
	}
	return nil
}

// numberBytes is the size in bytes of a number of an expansion or of voters.
const numberBytes = 4

func allFinite[T float32 | float64](x []T) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

func (v *Votes) check(rows int) error {
	n := len(v.Mistakes) / 4
	if n == 0 || len(v.Mistakes) != 4*n || len(v.Survived) != 8*n {
		return fmt.Errorf("votes have %d bytes for mistakes and %d for the visits survived", len(v.Mistakes), len(v.Survived))
	}
	for _, r := range Unpack[uint32](v.Mistakes) {
		if int64(r) >= int64(rows) {
			return fmt.Errorf("a vote is for row %d of %d", r, rows)
		}
	}
	sum := int64(0)
	for _, s := range Unpack[int64](v.Survived) {
		if s < 1 || s > math.MaxInt64-sum {
			return fmt.Errorf("%d visits survived is no number of visits", s)
		}
		sum += s
	}
	return nil
}

func checkKernel(k *gram.Kernel) error {
	switch k.Kind {
	case gram.Linear:
		return nil
	case gram.Polynomial, gram.RBF:
	default:
		return fmt.Errorf("kernel is %q: linear, poly and rbf are known", k.Kind)
	}
	if !(k.Gamma > 0) || math.IsInf(k.Gamma, 0) || math.IsNaN(k.Coef0) || math.IsInf(k.Coef0, 0) ||
		k.Kind == gram.Polynomial && k.Degree < 1 {
		return fmt.Errorf("kernel %s has degree %d, gamma %v and coef0 %v", k.Kind, k.Degree, k.Gamma, k.Coef0)
	}
	return nil
}
