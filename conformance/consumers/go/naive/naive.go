// Package naive is a small array library, written for clarity. It follows the rule set numpy, in the dtypes f64, f32,
// i64, i32, u8 and bool. It does not have the function power: math.Pow is inaccurate for large exponents.
//
// BUG=1, 2 or 3 in the environment plants a bug, to show that the cases find it.
package naive

import (
	"fmt"
	"math"
	"os"
)

var bug = os.Getenv("BUG")

const maxComputed = 1 << 24

// Array is a view of a buffer: its element at index i is at offset + the sum of i[k] * strides[k]. Elements are float64
// (for f64 and f32), int64 (for the integers) or bool.
type Array struct {
	DType   string
	Shape   []int
	strides []int
	offset  int
	buffer  []any
}

// Refused is what functions panic with if a request is against the rules.
type Refused struct{ Kind, Details string }

func (r *Refused) Error() string { return r.Kind + r.Details }

// HasDType reports whether arrays can have the dtype.
func HasDType(dtype string) bool {
	return map[string]bool{"f64": true, "f32": true, "i64": true, "i32": true, "u8": true, "bool": true}[dtype]
}

// New returns a view of the buffer. Without strides, it is dense.
func New(dtype string, shape []int, buffer []any, strides []int, offset int) *Array {
	count := 1
	for _, length := range shape {
		if length > 0 && count > math.MaxInt/length {
			panic(&Refused{Kind: "too_large"})
		} else if length > 0 {
			count *= length
		}
	}
	if strides == nil || bug == "2" && offset > 0 { // with the bug, a view that has an offset is read as if it were dense
		strides = make([]int, len(shape))
		stride := 1
		for k := len(shape) - 1; k >= 0; k-- {
			strides[k] = stride
			stride *= shape[k]
		}
	}
	return &Array{dtype, shape, strides, offset, buffer}
}

// Values returns the elements in row-major order.
func (a *Array) Values() []any {
	places := []int{a.offset}
	for _, length := range a.Shape {
		if length == 0 {
			return nil
		}
	}
	for k, length := range a.Shape {
		if length > maxComputed/len(places) {
			panic("more elements than this library computes")
		}
		var next []int
		for _, place := range places {
			for i := 0; i < length; i++ {
				next = append(next, place+i*a.strides[k])
			}
		}
		places = next
	}
	values := make([]any, len(places))
	for i, place := range places {
		values[i] = a.buffer[place]
	}
	return values
}

// BroadcastTo returns a view with the shape: axes are aligned at the right, and those of length 1 get the stride 0.
func BroadcastTo(a *Array, shape []int) *Array {
	missing := len(shape) - len(a.Shape)
	if missing < 0 {
		panic(&Refused{Kind: "rank_mismatch"})
	}
	strides := make([]int, len(shape))
	for k, length := range a.Shape {
		if length == shape[missing+k] {
			strides[missing+k] = a.strides[k]
		} else if length != 1 {
			panic(&Refused{"dimension_mismatch", fmt.Sprintf(", axis %d", missing+k)})
		}
	}
	return New(a.DType, shape, a.buffer, strides, a.offset)
}

// commonShape returns on each axis the one length other than 1.
func commonShape(arrays []*Array) []int {
	var shape []int
	for _, a := range arrays {
		for len(shape) < len(a.Shape) {
			shape = append([]int{1}, shape...)
		}
	}
	for _, a := range arrays {
		for k, length := range a.Shape {
			axis := len(shape) - len(a.Shape) + k
			switch {
			case length == 1 || length == shape[axis]:
			case shape[axis] == 1 && (length > 1 || bug != "1"): // with the bug, 1 is not stretched to 0
				shape[axis] = length
			default:
				panic(&Refused{"dimension_mismatch", fmt.Sprintf(", axis %d", axis)})
			}
		}
	}
	return shape
}

// Apply applies a function to arrays, broadcast to their common shape.
func Apply(name string, arrays ...*Array) *Array {
	dtype := arrays[len(arrays)-1].DType
	for i, a := range arrays {
		if a.DType != dtype && !(name == "select" && i == 0 && a.DType == "bool") {
			panic(&Refused{Kind: "dtype_mismatch"})
		}
	}
	function := functions(name, dtype)
	if function == nil {
		panic(&Refused{Kind: "unsupported_function"})
	}
	shape := commonShape(arrays)
	columns := make([][]any, len(arrays))
	for i, a := range arrays {
		columns[i] = BroadcastTo(a, shape).Values()
	}
	result := make([]any, len(columns[0]))
	for i := range result {
		row := make([]any, len(columns))
		for k := range columns {
			row[k] = columns[k][i]
		}
		result[i] = rounded(dtype, function(row))
	}
	switch name {
	case "equal", "not_equal", "less", "less_equal", "greater", "greater_equal":
		dtype = "bool"
	}
	return New(dtype, shape, result, nil, 0)
}

// rounded brings a value into the dtype: a float is rounded once, an integer wraps.
func rounded(dtype string, value any) any {
	switch x := value.(type) {
	case float64:
		if dtype == "f32" {
			return float64(float32(x))
		}
	case int64:
		switch dtype {
		case "i32":
			return int64(int32(x))
		case "u8":
			return int64(uint8(x))
		}
	}
	return value
}

// functions returns a function of one element per argument, or nil if it is not defined for the dtype.
func functions(name, dtype string) func([]any) any {
	switch {
	case name == "select":
		return func(row []any) any {
			if row[0].(bool) {
				return row[1]
			}
			return row[2]
		}
	case name == "equal":
		return func(row []any) any { return row[0] == row[1] }
	case name == "not_equal":
		return func(row []any) any { return row[0] != row[1] }
	case dtype == "bool":
		switch name {
		case "logical_and":
			return func(row []any) any { return row[0].(bool) && row[1].(bool) }
		case "logical_or":
			return func(row []any) any { return row[0].(bool) || row[1].(bool) }
		case "logical_not":
			return func(row []any) any { return !row[0].(bool) }
		}
	case dtype[0] == 'f':
		if f := unary[name]; f != nil {
			return func(row []any) any { return f(row[0].(float64)) }
		} else if f := binary[name]; f != nil {
			return func(row []any) any { return f(row[0].(float64), row[1].(float64)) }
		}
		return arithmetic[float64](name)
	default:
		if name == "abs" {
			return func(row []any) any { return larger(row[0].(int64), -row[0].(int64)) }
		}
		return arithmetic[int64](name)
	}
	return nil
}

var unary = map[string]func(float64) float64{
	"abs": math.Abs, "sqrt": math.Sqrt, "exp": exponential, "log": logarithm, "tanh": math.Tanh,
}

var binary = map[string]func(x, y float64) float64{
	"divide": func(x, y float64) float64 { return x / y },
	// math.Max and math.Min return an infinity for an infinity and NaN, where IEEE 754 has NaN.
	"maximum": greatest, "minimum": func(x, y float64) float64 { return -greatest(-x, -y) },
}

// exponential is accurate near the overflow, where math.Exp of Go 1.19 on amd64 returns +Inf too early.
func exponential(x float64) float64 {
	if x > 700 {
		half := math.Exp(x / 2)
		return half * half
	}
	return math.Exp(x)
}

// logarithm is accurate for subnormals, where math.Log on amd64 is not: https://github.com/golang/go/issues/56600
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

func greatest(x, y float64) float64 {
	if math.IsNaN(y) && bug != "3" {
		return y
	} else if x == y && math.Signbit(x) {
		return y
	}
	return larger(x, y)
}

// larger drops a NaN in y, and does not order zeros.
func larger[T int64 | float64](x, y T) T {
	if y > x {
		return y
	}
	return x
}

func arithmetic[T int64 | float64](name string) func([]any) any {
	compute, ok := map[string]func(x, y T) any{
		"add":           func(x, y T) any { return x + y },
		"subtract":      func(x, y T) any { return x - y },
		"multiply":      func(x, y T) any { return x * y },
		"maximum":       func(x, y T) any { return larger(x, y) },
		"minimum":       func(x, y T) any { return x + y - larger(x, y) },
		"negate":        func(x, _ T) any { return -x },
		"less":          func(x, y T) any { return x < y },
		"less_equal":    func(x, y T) any { return x <= y },
		"greater":       func(x, y T) any { return x > y },
		"greater_equal": func(x, y T) any { return x >= y },
	}[name]
	if !ok {
		return nil
	}
	return func(row []any) any { return compute(row[0].(T), row[len(row)-1].(T)) }
}
