// A small array library, written for clarity. It follows the rule set `numpy`, in the dtypes f64, f32, i64, i32, u8 and
// bool.
//
// BUG=1, 2 or 3 in the environment plants a bug, to show that the cases find it.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace naive {

using Value = std::variant<bool, std::int64_t, double>;  // of f32, a double; of every integer, an int64
using Lengths = std::vector<std::int64_t>;

inline bool bug(char number) {
    const char* chosen = std::getenv("BUG");
    return chosen && *chosen == number;
}

struct Refused : std::invalid_argument {
    std::string kind;
    std::int64_t axis;  // -1 if there is none
    explicit Refused(const std::string& kind, std::int64_t axis = -1)
        : std::invalid_argument(axis < 0 ? kind : kind + ", axis " + std::to_string(axis)), kind(kind), axis(axis) {}
};

inline bool has_dtype(const std::string& name) {
    for (const char* own : {"f64", "f32", "i64", "i32", "u8", "bool"}) if (name == own) return true;
    return false;
}

// A view of a buffer: the element at index i is at offset + the sum of i[k] * strides[k].
class Array {
public:
    Array() = default;

    static Array view(const std::string& dtype, const Lengths& shape, const std::vector<Value>& values,
                      Lengths strides, std::int64_t offset) {
        // With the bug, a transposed matrix is read as if it were not.
        if (bug('2') && strides.size() == 2 && strides[0] < strides[1]) std::swap(strides[0], strides[1]);
        return Array(dtype, shape, std::make_shared<std::vector<Value>>(values), strides, offset);
    }

    static Array dense(const std::string& dtype, const Lengths& shape, const std::vector<Value>& values) {
        return view(dtype, shape, values, Lengths(), 0).with_dense_strides();
    }

    const std::string& dtype() const { return dtype_; }
    const Lengths& shape() const { return shape_; }

    // The elements in row-major order.
    std::vector<Value> values() const {
        std::vector<std::int64_t> places{offset_};
        for (std::int64_t length : shape_) if (length == 0) return {};
        for (std::size_t k = 0; k < shape_.size(); k++) {
            if (shape_[k] > MAX_COMPUTED / std::int64_t(places.size())) throw std::length_error("too many elements");
            std::vector<std::int64_t> next;
            for (std::int64_t place : places)
                for (std::int64_t i = 0; i < shape_[k]; i++) next.push_back(place + i * strides_[k]);
            places = next;
        }
        std::vector<Value> elements;
        for (std::int64_t place : places) elements.push_back(buffer_->at(place));
        return elements;
    }

    // A view with the shape: axes are aligned at the right, and those of length 1 get the stride 0.
    Array broadcast_to(const Lengths& shape) const {
        if (shape_.size() > shape.size()) throw Refused("rank_mismatch");
        const std::size_t missing = shape.size() - shape_.size();
        Lengths strides(shape.size(), 0);
        for (std::size_t k = 0; k < shape_.size(); k++) {
            // With the bug, a target of length 1 is stretched too.
            const bool fits = shape_[k] == 1 || shape_[k] == shape[missing + k] || (bug('1') && shape[missing + k] == 1);
            if (!fits) throw Refused("dimension_mismatch", missing + k);
            strides[missing + k] = shape_[k] == 1 ? 0 : strides_[k];
        }
        return Array(dtype_, shape, buffer_, strides, offset_);
    }

private:
    static constexpr std::int64_t MAX_COMPUTED = 1 << 24;

    Array(const std::string& dtype, const Lengths& shape, std::shared_ptr<const std::vector<Value>> buffer,
          const Lengths& strides, std::int64_t offset)
        : dtype_(dtype), shape_(shape), strides_(strides), offset_(offset), buffer_(std::move(buffer)) {
        std::int64_t count = 1;
        for (std::int64_t length : shape_) {
            if (length == 0) continue;
            if (count > std::numeric_limits<std::int64_t>::max() / length) throw Refused("too_large");
            count *= length;
        }
    }

    Array with_dense_strides() const {
        Lengths strides(shape_.size());
        std::int64_t stride = 1;
        for (std::size_t k = shape_.size(); k-- > 0; stride *= shape_[k]) strides[k] = stride;
        return Array(dtype_, shape_, buffer_, strides, offset_);
    }

    std::string dtype_;
    Lengths shape_, strides_;
    std::int64_t offset_ = 0;
    std::shared_ptr<const std::vector<Value>> buffer_;
};

// On each axis, the one length other than 1.
inline Lengths common_shape(const std::vector<Array>& arrays) {
    std::size_t rank = 0;
    for (const Array& a : arrays) rank = std::max(rank, a.shape().size());
    Lengths common(rank, 1);
    for (const Array& a : arrays) {
        const std::size_t missing = rank - a.shape().size();
        for (std::size_t k = 0; k < a.shape().size(); k++) {
            std::int64_t &length = common[missing + k], own = a.shape()[k];
            if (own == 1 || own == length) continue;
            if (length != 1) throw Refused("dimension_mismatch", missing + k);
            length = own;
        }
    }
    return common;
}

// Brings a value into the dtype: a float is rounded once, an integer wraps.
inline Value rounded(const std::string& dtype, const Value& value) {
    if (dtype == "f32") return double(float(std::get<double>(value)));
    if (dtype == "i32") return std::int64_t(std::int32_t(std::get<std::int64_t>(value)));
    if (dtype == "u8") return std::int64_t(std::uint8_t(std::get<std::int64_t>(value)));
    return value;
}

inline double larger(double x, double y) {
    if (bug('3')) return std::fmax(x, y);  // returns the number where one of them is NaN
    if (std::isnan(x) || std::isnan(y)) return x + y;
    return x > y || (x == y && !std::signbit(x)) ? x : y;
}

// Arithmetic is unsigned, because a signed overflow is undefined in C++.
inline Value of_integers(const std::string& name, std::int64_t x, std::int64_t y) {
    const std::uint64_t a = x, b = y;
    if (name == "add") return std::int64_t(a + b);
    if (name == "subtract") return std::int64_t(a - b);
    if (name == "multiply") return std::int64_t(a * b);
    if (name == "maximum") return std::max(x, y);
    if (name == "minimum") return std::min(x, y);
    if (name == "negate") return std::int64_t(0 - a);
    if (name == "abs") return std::int64_t(x < 0 ? 0 - a : a);
    throw Refused("unsupported_function");
}

inline Value of_floats(const std::string& name, double x, double y) {
    if (name == "add") return x + y;
    if (name == "subtract") return x - y;
    if (name == "multiply") return x * y;
    if (name == "divide") return x / y;
    if (name == "power") return std::pow(x, y);
    if (name == "maximum") return larger(x, y);
    if (name == "minimum") return -larger(-x, -y);
    if (name == "negate") return -x;
    if (name == "abs") return std::fabs(x);
    if (name == "sqrt") return std::sqrt(x);
    if (name == "exp") return std::exp(x);
    if (name == "log") return std::log(x);
    if (name == "tanh") return std::tanh(x);
    throw Refused("unsupported_function");
}

inline Value of_bools(const std::string& name, bool x, bool y) {
    if (name == "logical_and") return x && y;
    if (name == "logical_or") return x || y;
    if (name == "logical_not") return !x;
    throw Refused("unsupported_function");
}

inline bool is_comparison(const std::string& name) {
    for (const char* own : {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
        if (name == own) return true;
    return false;
}

// One element of the result; `x` and `y` have the same dtype. A function of one argument gets it twice.
inline Value compute(const std::string& name, const std::string& dtype, const Value& x, const Value& y) {
    if (name == "equal") return x == y;
    if (name == "not_equal") return x != y;
    if (is_comparison(name) && dtype != "bool")
        return name == "less" ? x < y : name == "less_equal" ? x <= y : name == "greater" ? x > y : x >= y;
    if (dtype == "bool") return of_bools(name, std::get<bool>(x), std::get<bool>(y));
    if (dtype[0] == 'f') return rounded(dtype, of_floats(name, std::get<double>(x), std::get<double>(y)));
    return rounded(dtype, of_integers(name, std::get<std::int64_t>(x), std::get<std::int64_t>(y)));
}

// Applies a function to arrays, broadcast to their common shape.
inline Array apply(const std::string& name, const std::vector<Array>& arrays) {
    const bool select = name == "select";
    const std::string dtype = arrays.back().dtype();
    for (std::size_t i = 0; i < arrays.size(); i++)
        if (arrays[i].dtype() != (select && i == 0 ? "bool" : dtype)) throw Refused("dtype_mismatch");
    const Value zero = dtype == "bool" ? Value(false) : dtype[0] == 'f' ? Value(0.0) : Value(std::int64_t(0));
    if (!select) compute(name, dtype, zero, zero);  // refuses also where there is no element
    const Lengths shape = common_shape(arrays);
    std::vector<std::vector<Value>> columns;
    for (const Array& a : arrays) columns.push_back(a.broadcast_to(shape).values());
    std::vector<Value> values;
    for (std::size_t i = 0; i < columns[0].size(); i++)
        values.push_back(select ? columns[std::get<bool>(columns[0][i]) ? 1 : 2][i]
                                : compute(name, dtype, columns[0][i], columns.back()[i]));
    return Array::dense(is_comparison(name) ? "bool" : dtype, shape, values);
}

}  // namespace naive
