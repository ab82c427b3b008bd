// Package broadcasting judges an array library by the broadcasting cases of this kit. Each case is a subtest, named by
// its id.
//
//	go test -v                                    # the library in the directory naive
//	go test -v -run Test/numpy/zero               # some cases
//
// The cases are read from the directory in the environment variable BROADCHECK_JSON. By default, that is the directory
// json beside this file, which is embedded in the test binary, or else ../../json. To judge your own library, change
// the first section; the others know only the type Value.
package broadcasting

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"example.org/broadcasting/naive"
)

// ---- The library ---------------------------------------------------------------------------------------------------

const rules = "numpy" // the rule set that it follows

type Value = any // a float64, an int64 or a bool

// inexpressible returns why the library cannot express the request in a case.
func inexpressible(c Case) string {
	for _, o := range c.Operands {
		if !naive.HasDType(o.DType) {
			return "the library has no " + o.DType
		}
	}
	if text := fmt.Sprint(c.Expression); c.Operation == "gradient" || strings.Contains(text, "power") {
		return "the library has no gradients and no power"
	}
	return ""
}

// run returns the library's answer to the request. The library panics with a *naive.Refused if it refuses.
func run(c Case) *naive.Array {
	operands := map[string]*naive.Array{}
	for _, o := range c.Operands {
		values := []Value{}
		for _, literal := range o.Values {
			values = append(values, literal.value(o.DType))
		}
		// With strides, it is a view of the buffer values; strides and offset are counted in elements.
		operands[o.Name] = naive.New(o.DType, o.Shape, values, o.Strides, o.Offset)
	}
	if c.Operation == "broadcast" {
		return naive.BroadcastTo(operands[c.Operands[0].Name], c.TargetShape)
	}
	return evaluate(c.Expression, operands)
}

// evaluate takes the name of an operand, or a list of a function and its arguments: ["add", "a", ["exp", "b"]].
func evaluate(expression any, operands map[string]*naive.Array) *naive.Array {
	if name, isName := expression.(string); isName {
		return operands[name]
	}
	list, arguments := expression.([]any), []*naive.Array{}
	for _, argument := range list[1:] {
		arguments = append(arguments, evaluate(argument, operands))
	}
	return naive.Apply(list[0].(string), arguments...)
}

// ---- A case --------------------------------------------------------------------------------------------------------

type Case struct {
	ID, Rules, Operation, Convention string
	Expression                       any
	TargetShape                      []int `json:"target_shape"`
	Operands                         []struct {
		Name, DType    string
		Shape, Strides []int
		Offset         int
		Values         []Literal
	}
	Result struct {
		DType    string
		Shape    []int
		Values   []Literal
		Admitted map[int][]Entry // the elements of which more than the one in Values is right
	}
	Refusal *struct{ Kind string }
}

type Entry struct{ Value, Lower, Upper Literal } // one value, or two bounds

// Literal is a number, a bool or a string: "nan", "inf", "-inf", "-0.0", and integers beyond 2^53.
type Literal string

func (l *Literal) UnmarshalJSON(text []byte) error {
	*l = Literal(strings.Trim(string(text), `"`))
	return nil
}

func (l Literal) value(dtype string) (value Value) {
	var err error
	switch {
	case dtype == "bool":
		value, err = strconv.ParseBool(string(l))
	case strings.Contains(dtype, "f"): // a float64 holds the values of every float
		value, err = strconv.ParseFloat(string(l), 64)
	default:
		value, err = strconv.ParseInt(string(l), 10, 64)
	}
	if err != nil {
		panic(err)
	}
	return value
}

// ---- The judge -----------------------------------------------------------------------------------------------------

// same is equality to the bit, except that any NaN is NaN.
func same(a, b Value) bool {
	x, isFloat := a.(float64)
	y, _ := b.(float64)
	return a == b && (!isFloat || 1/x == 1/y) || x != x && y != y
}

func admits(entry Entry, dtype string, got Value) bool {
	if entry.Value != "" {
		return same(got, entry.Value.value(dtype))
	}
	switch lower, upper := entry.Lower.value(dtype), entry.Upper.value(dtype); got := got.(type) {
	case float64:
		return lower.(float64) <= got && got <= upper.(float64)
	case int64:
		return lower.(int64) <= got && got <= upper.(int64)
	}
	return false
}

// judge returns what is wrong with the library's answer, or "".
func judge(c Case) (wrong string) {
	defer func() {
		crash := recover()
		if refused, ok := crash.(*naive.Refused); ok && c.Refusal != nil { // the kind is compared if it is reported
			if c.Refusal.Kind != "any" && c.Refusal.Kind != refused.Kind {
				wrong = fmt.Sprintf("refused: %v, expected %s", refused, c.Refusal.Kind)
			}
		} else if crash != nil {
			wrong = fmt.Sprintf("refused or crashed: %v", crash)
		}
	}()
	got := run(c)
	if c.Refusal != nil {
		return "not refused, expected " + c.Refusal.Kind
	}
	want, values := c.Result, got.Values()
	if got.DType != want.DType || fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) || len(values) != len(want.Values) {
		return fmt.Sprintf("found %s %v, expected %s %v", got.DType, got.Shape, want.DType, want.Shape)
	}
	for i, value := range values {
		right := same(value, want.Values[i].value(want.DType))
		for _, entry := range want.Admitted[i] {
			right = right || admits(entry, want.DType, value)
		}
		if !right {
			return fmt.Sprintf("element %d is %v, expected %v or %v", i, value, want.Values[i], want.Admitted[i])
		}
	}
	return ""
}

// ---- The cases -----------------------------------------------------------------------------------------------------

//go:embed *
var beside embed.FS // this directory, whether it has a directory json or not

func kit() fs.FS {
	if directory := os.Getenv("BROADCHECK_JSON"); directory != "" {
		return os.DirFS(directory)
	} else if _, err := fs.Stat(beside, "json"); err != nil {
		return os.DirFS("../../json")
	}
	files, _ := fs.Sub(beside, "json")
	return files
}

func Test(t *testing.T) {
	counts, files := map[string]int{}, kit()
	for _, pattern := range []string{"*.json", "optional/*.json", "sweeps/*.json"} { // in extreme/, lengths may be strings
		names, _ := fs.Glob(files, pattern)
		for _, name := range names {
			var file struct{ Cases []Case }
			if text, err := fs.ReadFile(files, name); err != nil || json.Unmarshal(text, &file) != nil {
				t.Fatal("cannot read ", name)
			}
			for _, c := range file.Cases {
				if c.Rules != rules {
					continue
				}
				t.Run(c.ID, func(t *testing.T) {
					if reason := inexpressible(c); reason != "" {
						counts["skipped"]++
						t.Skip(reason)
					}
					switch wrong := judge(c); {
					case wrong == "" && c.Convention == "":
						counts["passed"]++
					case wrong == "":
						counts["agree"]++
					case c.Convention != "": // implementations may differ
						counts["differ"]++
						t.Skip("differs from the convention "+c.Convention+": ", wrong)
					default:
						counts["failed"]++
						t.Error(wrong)
					}
				})
			}
		}
	}
	t.Logf("%d passed, %d failed, %d skipped; conventions: %d agree, %d differ",
		counts["passed"], counts["failed"], counts["skipped"], counts["agree"], counts["differ"])
	if delete(counts, "skipped"); len(counts) == 0 {
		t.Fatal("no case was judged: set BROADCHECK_JSON to the kit's directory json")
	}
}
