// Package broadcasting judges an array library by the broadcasting cases of this kit. Each case is a subtest, named by
// the case's id.
//
//	go test                                       # the library in the directory naive
//	go test -v -run Test/numpy/zero               # some cases, one line each
//
// The cases are read from the directory in the environment variable BROADCHECK_JSON. By default, that is the directory
// json beside this file, which is embedded in the test binary, or else ../../json. To judge your own library, change
// the first section; the other two know nothing about it.
package broadcasting

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"example.org/broadcasting/naive"
)

// ---- The library ---------------------------------------------------------------------------------------------------

const rules = "numpy" // the rule set that it follows

// run returns the library's answer to the request in a case, or an error if the library refuses. An array has a DType,
// a Shape and, in row-major order, Values: each a float64, an int64 or a bool.
func run(t *testing.T, c *Case) (*naive.Array, error) {
	operands := map[string]*naive.Array{}
	for _, o := range c.Operands {
		if !naive.HasDType(o.DType) || c.Operation == "gradient" {
			t.Skipf("the library has no %s of %s", c.Operation, o.DType)
		}
		values := []any{}
		for _, literal := range o.Values {
			values = append(values, literal.parse(o.DType))
		}
		array, err := naive.New(o.DType, o.Shape, values, o.Strides, o.Offset)
		if err != nil {
			return nil, err
		}
		operands[o.Name] = array
	}
	if c.Operation == "broadcast" {
		return naive.BroadcastTo(operands[c.Operands[0].Name], c.TargetShape)
	}
	return evaluate(t, c.Expression, operands)
}

// evaluate takes the name of an operand, or a list of a function and its arguments: ["add", "a", ["exp", "b"]].
func evaluate(t *testing.T, expression any, operands map[string]*naive.Array) (*naive.Array, error) {
	if name, ok := expression.(string); ok {
		return operands[name], nil
	}
	list, arguments := expression.([]any), []*naive.Array{}
	if list[0] == "power" {
		t.Skip("the library has no power")
	}
	for _, argument := range list[1:] {
		array, err := evaluate(t, argument, operands)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, array)
	}
	return naive.Apply(list[0].(string), arguments...)
}

// ---- The judge -----------------------------------------------------------------------------------------------------

// Case has those fields of a case that a judge needs.
type Case struct {
	ID, Rules, Operation, Convention string
	Expression                       any
	Operands                         []struct {
		Name, DType    string
		Values         []Literal
		Shape, Strides []int // with strides, the operand is a view of the buffer Values
		Offset         int   // like the strides, in elements
	}
	TargetShape []int `json:"target_shape"`
	Refusal     *struct{ Kind string }
	Result      struct {
		DType    string
		Shape    []int
		Values   []Literal
		Admitted map[int][]struct{ Value, Lower, Upper *Literal } // where more than the element in Values is right
	}
}

// Literal is a number, a bool or a string: "nan", "inf", "-inf", "-0.0", and integers beyond 2^53.
type Literal string

func (l *Literal) UnmarshalJSON(text []byte) error {
	*l = Literal(strings.Trim(string(text), `"`))
	return nil
}

func (l Literal) parse(dtype string) (value any) {
	err := error(nil)
	if dtype == "bool" {
		value, err = strconv.ParseBool(string(l))
	} else if strings.Contains(dtype, "f") {
		value, err = strconv.ParseFloat(string(l), 64) // a float64 holds the values of every float
	} else {
		value, err = strconv.ParseInt(string(l), 10, 64)
	}
	if err != nil {
		panic(err)
	}
	return value
}

// admits reports whether lower <= got <= upper; with one value for both, whether got is equal to it to the bit, except
// that any NaN is NaN.
func admits(lower, got, upper any) bool {
	x, isFloat := got.(float64)
	if !isFloat {
		n, _ := got.(int64)
		return lower == got || lower != upper && lower.(int64) <= n && n <= upper.(int64)
	}
	low, high := lower.(float64), upper.(float64)
	if math.Float64bits(low) == math.Float64bits(high) || math.IsNaN(low) {
		return math.Float64bits(low) == math.Float64bits(x) || math.IsNaN(low) && math.IsNaN(x)
	}
	return low <= x && x <= high
}

func judge(t *testing.T, c *Case) (wrong error) {
	defer func() {
		if crash := recover(); crash != nil {
			wrong = fmt.Errorf("crashed: %v", crash)
		}
	}()
	got, err := run(t, c)
	if refused, ok := err.(*naive.Refused); ok && c.Refusal != nil {
		if c.Refusal.Kind != refused.Kind && c.Refusal.Kind != "any" { // compared if the library reports it
			return fmt.Errorf("refused: %v, expected %s", err, c.Refusal.Kind)
		}
		return nil
	}
	if err != nil || c.Refusal != nil {
		return fmt.Errorf("found %+v and error %v, expected %+v and refusal %+v", got, err, c.Result, c.Refusal)
	}
	values, want := got.Values(), c.Result
	if got.DType != want.DType || fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) || len(values) != len(want.Values) {
		return fmt.Errorf("found %s %v, expected %s %v", got.DType, got.Shape, want.DType, want.Shape)
	}
	for i, value := range values {
		wanted := want.Values[i].parse(want.DType)
		right := admits(wanted, value, wanted)
		for _, entry := range want.Admitted[i] {
			if entry.Value != nil {
				entry.Lower, entry.Upper = entry.Value, entry.Value
			}
			right = right || admits(entry.Lower.parse(want.DType), value, entry.Upper.parse(want.DType))
		}
		if !right {
			return fmt.Errorf("element %d is %v, expected %v", i, value, wanted)
		}
	}
	return nil
}

// ---- The cases -----------------------------------------------------------------------------------------------------

//go:embed *
var beside embed.FS

// kit returns the directory json. The files of json/extreme are left out: their lengths do not fit an int.
func kit() (files fs.FS, names []string) {
	files, _ = fs.Sub(beside, "json")
	if directory := os.Getenv("BROADCHECK_JSON"); directory != "" {
		files = os.DirFS(directory)
	} else if _, err := fs.Stat(beside, "json"); err != nil {
		files = os.DirFS("../../json")
	}
	for _, pattern := range []string{"*.json", "optional/*.json", "sweeps/*.json"} {
		found, _ := fs.Glob(files, pattern)
		names = append(names, found...)
	}
	return files, names
}

func Test(t *testing.T) {
	judged, agrees, differs := 0, 0, 0
	files, names := kit()
	for _, name := range names {
		var file struct{ Cases []*Case }
		if text, err := fs.ReadFile(files, name); err != nil || json.Unmarshal(text, &file) != nil {
			t.Fatal(name, err)
		}
		for _, c := range file.Cases {
			if c.Rules != rules {
				continue
			}
			t.Run(c.ID, func(t *testing.T) {
				err := judge(t, c)
				judged++
				if err != nil && c.Convention != "" { // implementations may differ
					differs++
					t.Skipf("differs from the convention %s: %v", c.Convention, err)
				} else if err != nil {
					t.Error(err)
				} else if c.Convention != "" {
					agrees++
				}
			})
		}
	}
	t.Logf("judged %d cases; agrees with %d cases of conventions, differs from %d", judged, agrees, differs)
	if judged == 0 {
		t.Fatal("no case was judged: set BROADCHECK_JSON to the kit's directory json")
	}
}
