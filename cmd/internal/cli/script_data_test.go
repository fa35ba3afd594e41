package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/rogpeppe/go-internal/testscript"
)

// data KIND FILE [N...] writes a file of generated rows, the same in each run.
//
//	lines N NEGATIVE SHARE SEED  two whole numbers and a label NEGATIVE or 1 by a plane, a share of them flipped; no header
//	classes N                    x, z and a label a, b or c, the rarest, which overlap
//	rare                         x, z and a label y: b and c overlap, a is rare among them
//	rings N                      x, z and y: 400 rows in N rings around the origin, a class each
//	numbers N                    a, b and a label y, 0 or 1, which overlap
//	words ROWS COLUMNS           svmlight of few values in many columns
//	lists FILE.svm WIDTH KIND    the rows of a file of svmlight as an Arrow stream of lists, dense or sparse
//	bits N                       a, b, c of 0 and 1 and a label y, yes or no, which overlap
//	apart N                      a, b, c, d of 0 and 1, a weight w and N classes y that planes separate
//	users N                      x, user, city and y: as many users as half the rows
//	people N SHARE               age, which a share lacks, income, city and yes
//	weights N                    x0, x1, x2, weights w of 0 to 1, ones, both = w, times 3 for class 1, and y
//	visits N                     x, z, who, day and a label
//	survey sorted|mixed          small, large and y, sorted by y or not
//	seldom N, sevens N, counts N rows with one label 1; with seven classes; with as many classes as rows
func scriptData(ts *testscript.TestScript, _ bool, args []string) {
	kind, file := args[0], ts.MkAbs(args[1])
	number := func(i int) int {
		n, err := strconv.Atoi(args[i])
		ts.Check(err)
		return n
	}
	share := func(i int) float64 {
		v, err := strconv.ParseFloat(args[i], 64)
		ts.Check(err)
		return v
	}
	of := func(textOf func(n int) string) func() string { return func() string { return textOf(number(2)) } }
	kinds := map[string]func() string{
		"lines":   func() string { return lines(number(2), args[3], share(4), uint64(number(5))) },
		"classes": of(func(n int) string { head, rows, _ := threeClasses(n); return head + strings.Join(rows, "") }),
		"rare":    rareClass,
		"words":   func() string { return wordy(number(2), number(3)) },
		"people":  func() string { return people(number(2), share(3)) },
		"survey":  func() string { return surveyed(args[2] == "sorted") },
		"rings":   of(rings), "numbers": of(numbers), "bits": of(bitRows), "apart": of(apart), "users": of(users), "weights": of(weightyText),
		"visits": of(visits), "seldom": of(seldom), "sevens": of(sevens), "counts": of(counts),
	}
	switch made := kinds[kind]; {
	case kind == "lists":
		ts.Check(listRows(file, ts.ReadFile(args[2]), number(3), args[4] == "sparse"))
	case made == nil:
		ts.Fatalf("unknown data %s", kind)
	default:
		ts.Check(os.WriteFile(file, []byte(made()), 0o600))
	}
}

// table returns a header and n rows, of which each is what a function returns of its number and a generator.
func table(head string, n int, seed uint64, row func(i int, rng *rand.Rand) string) string {
	rng := rand.New(rand.NewPCG(seed, 3))
	var s strings.Builder
	s.WriteString(head)
	for i := range n {
		s.WriteString(row(i, rng) + "\n")
	}
	return s.String()
}

func bit(is bool) int { return map[bool]int{true: 1}[is] }

func lines(n int, negative string, flips float64, seed uint64) string {
	return table("", n, seed, func(_ int, rng *rand.Rand) string {
		a, b := rng.IntN(21)-10, rng.IntN(21)-10
		if 2*a-b+1 == 0 {
			b++
		}
		label := negative
		if (2*a-b+1 > 0) != (rng.Float64() < flips) {
			label = "1"
		}
		return fmt.Sprintf("%d,%d,%s", a, b, label)
	})
}

// threeClasses returns the data "classes", and their labels.
func threeClasses(n int) (head string, rows, labels []string) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		label := "a"
		switch noise := 0.5 * rng.NormFloat64(); {
		case a+noise > 1.2:
			label = "c"
		case b+noise > 0:
			label = "b"
		}
		rows = append(rows, fmt.Sprintf("%.4f,%.4f,%s\n", a, b, label))
		labels = append(labels, label)
	}
	return "x,z,label\n", rows, labels
}

func rareClass() string {
	return table("x,z,y\n", 2020, 5, func(i int, rng *rand.Rand) string {
		class, shift := []string{"b", "c"}[i%2], float64(i%2)*0.6
		if i%101 == 100 {
			class, shift = "a", 0.3
		}
		return fmt.Sprintf("%.4f,%.4f,%s", rng.NormFloat64()+shift, rng.NormFloat64()+shift, class)
	})
}

func apart(classes int) string {
	return table("a,b,c,d,w,y\n", 60, uint64(classes), func(i int, rng *rand.Rand) string {
		x, class := [4]int{rng.IntN(2), rng.IntN(2), rng.IntN(2), rng.IntN(2)}, i%classes
		for c := range classes {
			x[c] = bit(c == class)
		}
		return fmt.Sprintf("%d,%d,%d,%d,%d,%d", x[0], x[1], x[2], x[3], 1+i%3, class)
	})
}

func numbers(n int) string {
	return table("a,b,y\n", n, 1, func(i int, _ *rand.Rand) string {
		a, b := math.Sin(float64(i)*1.7)*2, math.Cos(float64(i)*2.9)
		return fmt.Sprintf("%v,%v,%d", a, b, bit(a+b+math.Sin(float64(i)*11) > 0))
	})
}

func rings(n int) string {
	return table("x,z,y\n", 400, uint64(n), func(i int, rng *rand.Rand) string {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		r := float64(1+i%n) / math.Hypot(a, b)
		return fmt.Sprintf("%v,%v,ring %d", a*r, b*r, i%n)
	})
}

func bitRows(n int) string {
	return table("a,b,c,y\n", n, uint64(n), func(_ int, rng *rand.Rand) string {
		a, b, c := rng.IntN(2), rng.IntN(2), rng.IntN(2)
		return fmt.Sprintf("%d,%d,%d,%s", a, b, c, []string{"no", "yes"}[bit(float64(a+b)+0.5*float64(c)+rng.NormFloat64() > 1.9)])
	})
}

func users(n int) string {
	return table("x,user,city,y\n", n, 51, func(_ int, rng *rand.Rand) string {
		user, x := rng.IntN(n/2), rng.IntN(5)-2
		return fmt.Sprintf("%d,u%d,c%d,%t", x, user, rng.IntN(3), user%2+x > 0)
	})
}

func people(n int, missing float64) string {
	return table("age,income,city,yes\n", n, 41, func(_ int, rng *rand.Rand) string {
		age, income, city := math.Round(20+60*rng.Float64()), 1e6*rng.ExpFloat64(), []string{"Ulm", "Bonn", "Köln"}[rng.IntN(3)]
		yes, written := bit(age+income/1e5+10*rng.NormFloat64() > 60 != (city == "Bonn")), fmt.Sprint(age)
		if rng.Float64() < missing {
			written = ""
		}
		return fmt.Sprintf("%s,%v,%s,%d", written, income, city, yes)
	})
}

func weightyText(n int) string {
	return table("x0,x1,x2,w,ones,both,y\n", n, 3, func(i int, rng *rand.Rand) string {
		a, b, c, w := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), float64(i%5)/4
		y := bit(b+2*c-1+rng.NormFloat64() > 0)
		return fmt.Sprintf("%v,%v,%v,%v,1,%v,%d", a, b, c, w, w*float64(1+2*y), y)
	})
}

func visits(n int) string {
	return table("x,z,who,day,label\n", n, 3, func(_ int, rng *rand.Rand) string {
		who, x := rng.IntN(30), rng.NormFloat64()
		label := []string{"a", "b"}[bit(x+float64(who%3)+2*rng.NormFloat64() > 1)]
		return fmt.Sprintf("%.3f,%.3f,u%d,2024-%02d-%02d,%s", x, 100*rng.NormFloat64(), who, 1+rng.IntN(12), 1+rng.IntN(28), label)
	})
}

func surveyed(sorted bool) string {
	return table("small,large,y\n", 400, 3, func(i int, rng *rand.Rand) string {
		y := i % 2
		if sorted {
			y = i / 200
		}
		return fmt.Sprintf("%f,%f,%d", rng.NormFloat64()+float64(y), 1e5*rng.NormFloat64(), y)
	})
}

func seldom(n int) string {
	return table("x,y\n6,1\n", n-1, 1, func(i int, _ *rand.Rand) string { return fmt.Sprintf("%d,0", i%8-i%3) })
}

func sevens(n int) string {
	return table("", n, 1, func(i int, _ *rand.Rand) string { return fmt.Sprintf("%d,%d,c%d", i%7+i/7%3, i*i%11, i%7) })
}

func counts(n int) string {
	return table("x,y\n", n, 1, func(i int, _ *rand.Rand) string { return fmt.Sprintf("%d.5,%d", i, i) })
}

func wordy(rows, columns int) string {
	return table("", rows, uint64(columns), func(_ int, rng *rand.Rand) string {
		sum, line := rng.NormFloat64(), ""
		for i := 1 + rng.IntN(9); i <= columns; i += 1 + rng.IntN(columns/6) {
			v := 0.25 * float64(rng.IntN(12)-3)
			sum += v * float64(i%3-1)
			line += fmt.Sprintf(" %d:%v", i, v)
		}
		return fmt.Sprint(bit(sum > 0)) + line
	})
}

// listRows writes rows of svmlight as an Arrow stream: the label y, and a column v of lists. A list has the values of the
// indices 0 to width-1, or, if sparse is set, pairs of index and value.
func listRows(path, rows string, width int, sparse bool) error {
	number := arrow.PrimitiveTypes.Float64
	typ := arrow.ListOf(number)
	if sparse {
		typ = arrow.ListOf(arrow.StructOf(arrow.Field{Name: "index", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "value", Type: number}))
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "y", Type: number}, {Name: "v", Type: typ}}, nil))
	defer b.Release()
	lists := b.Field(1).(*array.ListBuilder)
	for line := range strings.Lines(rows) {
		var label, v float64
		var index int32
		words, all := strings.Fields(line), make([]float64, width)
		fmt.Sscan(words[0], &label)
		b.Field(0).(*array.Float64Builder).Append(label)
		lists.Append(true)
		for _, pair := range words[1:] {
			fmt.Sscanf(pair, "%d:%g", &index, &v)
			if all[index] = v; sparse {
				s := lists.ValueBuilder().(*array.StructBuilder)
				s.Append(true)
				s.FieldBuilder(0).(*array.Int32Builder).Append(index)
				s.FieldBuilder(1).(*array.Float64Builder).Append(v)
			}
		}
		if !sparse {
			lists.ValueBuilder().(*array.Float64Builder).AppendValues(all, nil)
		}
	}
	rec := b.NewRecord()
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(rec.Schema()))
	return errors.Join(w.Write(rec), w.Close(), os.WriteFile(path, file.Bytes(), 0o600))
}
