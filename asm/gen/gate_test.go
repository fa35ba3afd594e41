package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"halfspace/asm/gen/amd64"
)

// instructions need one feature each. needs is empty if both gates have it.
var instructions = []struct {
	name, needs string
	write       func(*build.Context)
}{
	{"VFMADD231PS", "", func(c *build.Context) { c.VFMADD231PS(reg.Y0, reg.Y1, reg.Y2) }},
	{"VPADDD", "", func(c *build.Context) { c.VPADDD(reg.Y0, reg.Y1, reg.Y2) }},
	{"PREFETCHT0", "", func(c *build.Context) { c.PREFETCHT0(operand.Mem{Base: reg.RAX}) }},
	{"MOVSS", "", func(c *build.Context) { c.MOVSS(operand.Mem{Base: reg.RAX}, reg.X0) }},
	{"VADDPS", "AVX512F", func(c *build.Context) { c.VADDPS(reg.Z0, reg.Z1, reg.Z2) }},
	{"VANDPS", "AVX512DQ", func(c *build.Context) { c.VANDPS(reg.Z0, reg.Z1, reg.Z2) }},
	{"VPADDB", "AVX512BW", func(c *build.Context) { c.VPADDB(reg.Z0, reg.Z1, reg.Z2) }},
	{"VPADDQ", "AVX512F", func(c *build.Context) { c.VPADDQ(reg.Y0, reg.Y1, reg.K1, reg.Y2) }},
	{"VMULPS", "AVX512VL", func(c *build.Context) { c.VMULPS(reg.Y16, reg.Y1, reg.Y2) }}, // an AVX instruction except for the register
	{"VMOVAPS", "AVX512VL", seventeen},
	{"ANDNQ", "BMI", func(c *build.Context) { c.ANDNQ(reg.RAX, reg.RBX, reg.RCX) }},
	{"SHLXQ", "BMI2", func(c *build.Context) { c.SHLXQ(reg.RAX, reg.RBX, reg.RCX) }},
	{"LZCNTQ", "LZCNT", func(c *build.Context) { c.LZCNTQ(reg.RAX, reg.RBX) }},
	{"VCVTPH2PS", "F16C", func(c *build.Context) { c.VCVTPH2PS(reg.X0, reg.Y1) }},
	{"VPERMB", "AVX512VBMI", func(c *build.Context) { c.VPERMB(reg.Z0, reg.Z1, reg.Z2) }},
	{"VPCONFLICTD", "AVX512CD", func(c *build.Context) { c.VPCONFLICTD(reg.Z0, reg.Z1) }},
	{"VPOPCNTQ", "AVX512VPOPCNTDQ", func(c *build.Context) { c.VPOPCNTQ(reg.Z0, reg.Z1) }},
}

// seventeen keeps one vector more than AVX2 has registers.
func seventeen(c *build.Context) {
	var v [17]reg.VecVirtual
	for i := range v {
		v[i] = c.YMM()
		c.VMOVAPS(operand.Mem{Base: reg.RAX, Disp: 32 * i}, v[i])
	}
	for i := range v {
		c.VMOVAPS(v[i], operand.Mem{Base: reg.RAX, Disp: 32 * i})
	}
}

// TestGate: the generator refuses an instruction that a package's gate doesn't cover, and no other.
func TestGate(t *testing.T) {
	for _, isa := range amd64.ISAs {
		for _, i := range instructions {
			ctx := build.NewContext()
			ctx.Function("F")
			ctx.SignatureExpr("func()")
			i.write(ctx)
			ctx.RET()
			_, _, err := compile(ctx, isa)
			switch refuse := i.needs != "" && !slices.Contains(isa.Gate, i.needs); {
			case !refuse && err != nil:
				t.Errorf("%s: %s: %v", isa.Name, i.name, err)
			case refuse && (err == nil || !strings.HasPrefix(err.Error(), "F: "+i.name+" needs "+i.needs+",")):
				t.Errorf("%s: %s is not refused for want of %s: %v", isa.Name, i.name, i.needs, err)
			}
		}
	}
}

// TestGateIsKernels: each package's gate has exactly the features that package kernel tests for.
func TestGateIsKernels(t *testing.T) {
	gates := kernelGates(t)
	for _, isa := range amd64.ISAs {
		want := slices.Sorted(slices.Values(isa.Gate))
		if got := slices.Sorted(slices.Values(gates[isa.Name])); !slices.Equal(got, want) {
			t.Errorf("package kernel calls %s after a test for %v, the generator allows it %v", isa.Name, got, want)
		}
		delete(gates, isa.Name)
	}
	if len(gates) > 0 {
		t.Errorf("the generator doesn't know %v", gates)
	}
}

// kernelGates returns the features that package kernel tests for on the way to each level. The nested module can't call
// the function detected. So kernelGates reads it: a chain of "if !cpuid.CPU.Supports(features) { return the levels
// before }".
func kernelGates(t *testing.T) map[string][]string {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "kernel", "detect_amd64.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	detected := slices.IndexFunc(f.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Name.Name == "detected"
	})
	if detected < 0 {
		t.Fatal("package kernel has no function detected")
	}
	gates := map[string][]string{}
	var tested []string
	for _, stmt := range f.Decls[detected].(*ast.FuncDecl).Body.List {
		end := stmt
		if guard, ok := stmt.(*ast.IfStmt); ok {
			end = guard.Body.List[0]
		}
		for _, level := range returned(t, end) {
			if _, known := gates[level]; !known {
				gates[level] = slices.Clone(tested)
			}
		}
		if guard, ok := stmt.(*ast.IfStmt); ok {
			tested = append(tested, supported(t, guard.Cond)...)
		}
	}
	return gates
}

// returned lists the levels that a return statement of detected names, as the names of their packages.
func returned(t *testing.T, stmt ast.Stmt) (levels []string) {
	r, ok := stmt.(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		t.Fatalf("detected has a %T where its levels are returned", stmt)
	}
	if list, ok := r.Results[0].(*ast.CompositeLit); ok {
		for _, level := range list.Elts {
			levels = append(levels, strings.ToLower(level.(*ast.Ident).Name))
		}
	}
	return levels
}

// supported is the features in a condition !cpuid.CPU.Supports(features). Their names are avo's too.
func supported(t *testing.T, cond ast.Expr) (features []string) {
	not, ok := cond.(*ast.UnaryExpr)
	if !ok || not.Op != token.NOT {
		t.Fatal("a condition of detected is no negation")
	}
	call, ok := not.X.(*ast.CallExpr)
	if !ok || call.Fun.(*ast.SelectorExpr).Sel.Name != "Supports" {
		t.Fatal("a condition of detected doesn't ask what the processor supports")
	}
	for _, arg := range call.Args {
		features = append(features, strings.Replace(arg.(*ast.SelectorExpr).Sel.Name, "BMI1", "BMI", 1)) // avo's name
	}
	return features
}
