// xtensor's functions on arrays whose dtype is known at run time only, for xtensor_adapter.py, which calls them through ctypes.
//
// An array is an `xt::xarray` of one of the dtypes, or an `xt::strided_view` of one. A call evaluates one function of xtensor into a
// new array, whose element type is the one that a user writes on the left: that of the arguments, or bool for a comparison.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <xtensor/xarray.hpp>
#include <xtensor/xbroadcast.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xoperation.hpp>
#include <xtensor/xstrided_view.hpp>

namespace {

template <class T>
using Array = xt::xarray<T>;

// In the order of `DTYPES` in the adapter.
using AnyArray = std::variant<Array<double>, Array<float>, Array<std::int64_t>, Array<std::int32_t>, Array<std::int16_t>,
                              Array<std::int8_t>, Array<std::uint64_t>, Array<std::uint32_t>, Array<std::uint16_t>,
                              Array<std::uint8_t>, Array<bool>>;

using Shape = std::vector<std::size_t>;
using Strides = std::vector<std::ptrdiff_t>;

struct Layout {
    Shape shape;
    Strides strides;
    std::size_t offset;
};

// An array, or a view of it. Several views may share their array.
struct Value {
    explicit Value(AnyArray made) : array(std::make_shared<AnyArray>(std::move(made))) {}
    Value(const Value& buffer, Layout layout) : array(buffer.array), view(std::move(layout)) {}

    std::shared_ptr<AnyArray> array;
    std::optional<Layout> view;
};

// A call that this library has no code for. It says nothing about xtensor.
struct Missing : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// How the last call ended. The adapter has the same numbers.
enum Status { DONE = 0, BROADCAST_ERROR = 1, MISSING = 2, OTHER = 3 };

Status status = DONE;
std::string message;

template <std::size_t I = 0>
AnyArray of_dtype(std::size_t dtype, const Shape& shape, const void* values)
{
    if constexpr (I < std::variant_size_v<AnyArray>) {
        if (dtype != I) {
            return of_dtype<I + 1>(dtype, shape, values);
        }
        auto made = std::variant_alternative_t<I, AnyArray>::from_shape(shape);
        if (made.size() != 0) {
            std::memcpy(made.data(), values, made.size() * sizeof(*made.data()));
        }
        return made;
    } else {
        throw Missing("no dtype has this number");
    }
}

// The functions take expressions: arrays of one dtype, or views of them.
template <class A>
AnyArray unary(const std::string& function, const A& a)
{
    using T = typename A::value_type;
    if constexpr (std::is_same_v<T, bool>) {
        if (function == "logical_not") return Array<bool>(!a);
    } else {
        if (function == "negate") return Array<T>(-a);
        if (function == "abs") return Array<T>(xt::abs(a));
    }
    if constexpr (std::is_floating_point_v<T>) {
        if (function == "sqrt") return Array<T>(xt::sqrt(a));
        if (function == "exp") return Array<T>(xt::exp(a));
        if (function == "log") return Array<T>(xt::log(a));
        if (function == "tanh") return Array<T>(xt::tanh(a));
    }
    throw Missing("this function of one argument is not compiled for this dtype");
}

template <class A>
AnyArray binary(const std::string& function, const A& a, const A& b)
{
    using T = typename A::value_type;
    if (function == "equal") return Array<bool>(xt::equal(a, b));
    if (function == "not_equal") return Array<bool>(xt::not_equal(a, b));
    if constexpr (std::is_same_v<T, bool>) {
        if (function == "logical_and") return Array<bool>(a && b);
        if (function == "logical_or") return Array<bool>(a || b);
    } else {
        if (function == "add") return Array<T>(a + b);
        if (function == "subtract") return Array<T>(a - b);
        if (function == "multiply") return Array<T>(a * b);
        if (function == "maximum") return Array<T>(xt::maximum(a, b));
        if (function == "minimum") return Array<T>(xt::minimum(a, b));
        if (function == "less") return Array<bool>(a < b);
        if (function == "less_equal") return Array<bool>(a <= b);
        if (function == "greater") return Array<bool>(a > b);
        if (function == "greater_equal") return Array<bool>(a >= b);
    }
    if constexpr (std::is_floating_point_v<T>) {
        if (function == "divide") return Array<T>(a / b);
        if (function == "power") return Array<T>(xt::pow(a, b));
    }
    throw Missing("this function of two arguments is not compiled for this dtype");
}

template <class C, class A>
AnyArray choice(const C& condition, const A& a, const A& b)
{
    return Array<typename A::value_type>(xt::where(condition, a, b));
}

// An array that has the element type T.
template <class T>
Array<T>& array_of(const Value& value)
{
    auto* array = std::get_if<Array<T>>(value.array.get());
    if (array == nullptr) {
        throw Missing("the functions are compiled for arguments of one dtype");
    }
    return *array;
}

// The same as a view. Of an array without a layout it has that of the array.
template <class T>
auto view_of(const Value& value)
{
    Array<T>& a = array_of<T>(value);
    const Layout layout = value.view
        ? *value.view
        : Layout{Shape(a.shape().begin(), a.shape().end()), Strides(a.strides().begin(), a.strides().end()), 0};
    return xt::strided_view(a, Shape(layout.shape), Strides(layout.strides), layout.offset, xt::layout_type::dynamic);
}

// `as` converts arguments of the element type T, and `as_bool` a condition.
template <class T, class As, class AsBool>
AnyArray called_as(const std::string& function, const std::vector<const Value*>& arguments, As as, AsBool as_bool)
{
    if (arguments.size() == 1) {
        return unary(function, as(*arguments[0]));
    }
    if (arguments.size() == 2) {
        return binary(function, as(*arguments[0]), as(*arguments[1]));
    }
    if (arguments.size() == 3 && function == "select") {
        return choice(as_bool(*arguments[0]), as(*arguments[1]), as(*arguments[2]));
    }
    throw Missing("there is no such function");
}

Value called(const std::string& function, const std::vector<const Value*>& arguments)
{
    bool views = false;
    for (const Value* argument : arguments) {
        views = views || argument->view;
    }
    return std::visit(
        [&](const auto& last) -> Value {
            using T = typename std::decay_t<decltype(last)>::value_type;
            if (views) {
                return Value(called_as<T>(function, arguments, view_of<T>, view_of<bool>));
            }
            return Value(called_as<T>(function, arguments, array_of<T>, array_of<bool>));
        },
        *arguments.back()->array);
}

Value broadcast(const Value& value, const Shape& shape)
{
    return std::visit(
        [&](const auto& a) -> Value {
            using T = typename std::decay_t<decltype(a)>::value_type;
            if (value.view) {
                return Value(Array<T>(xt::broadcast(view_of<T>(value), shape)));
            }
            return Value(Array<T>(xt::broadcast(a, shape)));
        },
        *value.array);
}

// A value as an array: what an assignment to one makes of a view.
Value copied(const Value& value)
{
    return std::visit(
        [&](const auto& a) -> Value {
            using T = typename std::decay_t<decltype(a)>::value_type;
            return Value(value.view ? Array<T>(view_of<T>(value)) : a);
        },
        *value.array);
}

// An assignment with the operator of a function, or a plain one if the function is "". A plain one to an array would replace it, so
// its destination is always a view.
template <class D, class E>
void assign(const std::string& function, D& destination, const E& e)
{
    using T = typename E::value_type;
    if (function.empty()) {
        destination = e;
        return;
    }
    if constexpr (std::is_same_v<T, bool>) {
        if (function == "logical_and") return void(destination &= e);
        if (function == "logical_or") return void(destination |= e);
    } else {
        if (function == "add") return void(destination += e);
        if (function == "subtract") return void(destination -= e);
        if (function == "multiply") return void(destination *= e);
    }
    if constexpr (std::is_floating_point_v<T>) {
        if (function == "divide") return void(destination /= e);
    }
    throw Missing("there is no assignment with this function for this dtype");
}

void assigned(const std::string& function, const Value& destination, const Value& value)
{
    std::visit(
        [&](const auto& a) {
            using T = typename std::decay_t<decltype(a)>::value_type;
            if (destination.view || function.empty()) {
                auto view = view_of<T>(destination);
                value.view ? assign(function, view, view_of<T>(value)) : assign(function, view, array_of<T>(value));
            } else {
                Array<T>& array = array_of<T>(destination);
                value.view ? assign(function, array, view_of<T>(value)) : assign(function, array, array_of<T>(value));
            }
        },
        *value.array);
}

// The result as a pointer that `xtensor_free` takes; a null pointer if there is none, and why.
template <class F>
Value* guarded(F compute)
{
    status = DONE;
    message.clear();
    try {
        return std::make_unique<Value>(compute()).release();
    } catch (const xt::broadcast_error& error) {
        status = BROADCAST_ERROR;
        message = error.what();
    } catch (const Missing& error) {
        status = MISSING;
        message = error.what();
    } catch (const std::exception& error) {
        status = OTHER;
        message = error.what();
    }
    return nullptr;
}

}  // namespace

extern "C" {

const char* xtensor_version()
{
    static const std::string version = std::to_string(XTENSOR_VERSION_MAJOR) + "." + std::to_string(XTENSOR_VERSION_MINOR) + "."
        + std::to_string(XTENSOR_VERSION_PATCH);
    return version.c_str();
}

int xtensor_status()
{
    return status;
}

const char* xtensor_message()
{
    return message.c_str();
}

Value* xtensor_make(std::size_t dtype, std::size_t rank, const std::size_t* lengths, const void* values)
{
    return guarded([&] { return Value(of_dtype(dtype, Shape(lengths, lengths + rank), values)); });
}

// A view of an array; strides and offset count its elements.
Value* xtensor_view(const Value* buffer, std::size_t rank, const std::size_t* lengths, const std::ptrdiff_t* strides,
                    std::size_t offset)
{
    return guarded([&] {
        return Value(*buffer, Layout{Shape(lengths, lengths + rank), Strides(strides, strides + rank), offset});
    });
}

Value* xtensor_copy(const Value* value)
{
    return guarded([&] { return copied(*value); });
}

Value* xtensor_call(const char* function, std::size_t count, const Value* const* arguments)
{
    return guarded([&] { return called(function, {arguments, arguments + count}); });
}

// The destination, which is written in place.
Value* xtensor_assign(const char* function, const Value* destination, const Value* value)
{
    return guarded([&] {
        assigned(function, *destination, *value);
        return *destination;
    });
}

Value* xtensor_broadcast(const Value* value, std::size_t rank, const std::size_t* lengths)
{
    return guarded([&] { return broadcast(*value, Shape(lengths, lengths + rank)); });
}

// What follows is about arrays, not about views.

std::size_t xtensor_dtype(const Value* value)
{
    return value->array->index();
}

std::size_t xtensor_rank(const Value* value)
{
    return std::visit([](const auto& a) { return std::size_t(a.dimension()); }, *value->array);
}

std::size_t xtensor_length(const Value* value, std::size_t axis)
{
    return std::visit([&](const auto& a) { return std::size_t(a.shape(axis)); }, *value->array);
}

std::size_t xtensor_size(const Value* value)
{
    return std::visit([](const auto& a) { return std::size_t(a.size()); }, *value->array);
}

const void* xtensor_data(const Value* value)
{
    return std::visit([](const auto& a) { return static_cast<const void*>(a.data()); }, *value->array);
}

void xtensor_free(Value* value)
{
    delete value;
}
}
