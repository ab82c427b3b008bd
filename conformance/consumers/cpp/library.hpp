// The library to judge. The judge in broadcasting.cpp knows of the library only what this file declares.
#pragma once
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "naive.hpp"

using naive::Array, naive::Refused;
using Value = naive::Value;  // a std::variant<bool, std::int64_t, double>
using nlohmann::json;
using std::string;

const string RULES = "numpy";  // the rule set that it follows

// What `run` throws if the library cannot express a request.
struct Skip { string reason; };

// A bool, an integer (beyond 2^53 a string) or a float, which may be "nan", "inf", "-inf" or "-0.0".
inline Value literal(const string& dtype, const json& value) {
    if (dtype == "bool") return value.get<bool>();
    const string text = value.is_string() ? value.get<string>() : value.dump();
    if (dtype.find('f') != string::npos) return std::strtod(text.c_str(), nullptr);  // exact for every smaller float
    return std::int64_t{std::stoll(text)};
}

// An expression is the name of an operand, or a function and its arguments: ["add", "a", ["exp", "b"]].
inline Array evaluate(const json& expression, const std::map<string, Array>& operands) {
    if (expression.is_string()) return operands.at(expression);
    std::vector<Array> arguments;
    for (std::size_t i = 1; i < expression.size(); i++) arguments.push_back(evaluate(expression[i], operands));
    return naive::apply(expression[0], arguments);
}

// The library's answer to the request in a case. Throws Refused, or Skip if the library cannot express it.
inline Array run(const json& request) {
    if (request["operation"] == "gradient") throw Skip{"the library has no gradients"};
    std::map<string, Array> operands;
    for (const json& operand : request["operands"]) {
        const string dtype = operand["dtype"];
        if (!naive::has_dtype(dtype)) throw Skip{"the library has no " + dtype};
        std::vector<Value> values;
        for (const json& value : operand["values"]) values.push_back(literal(dtype, value));
        // With strides, the operand is a view of the buffer `values`; strides and offset are counted in elements.
        operands[operand["name"]] = operand.contains("strides")
            ? Array::view(dtype, operand["shape"], values, operand["strides"], operand["offset"])
            : Array::dense(dtype, operand["shape"], values);
    }
    if (request["operation"] != "broadcast") return evaluate(request["expression"], operands);
    return operands.begin()->second.broadcast_to(request["target_shape"]);
}
