// Judges an array library by the broadcasting cases of this kit. Each case is a line of TAP, named by its id.
//
//     apt-get install g++ nlohmann-json3-dev
//     g++ -std=c++17 -O1 broadcasting.cpp -o broadcasting && ./broadcasting
//     ./broadcasting numpy/zero                    # only the cases whose id contains this text
//     ./broadcasting | grep '^not ok'              # what fails; conventions that differ are marked TODO
//
// The cases are read from ../../json, or from the directory in the environment variable BROADCHECK_JSON. The exit status
// is 0 if the cases passed, and 1 if one failed or none was judged. To judge your own library, change the first section;
// the others know only its types Value and Refused.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using nlohmann::json;
using std::filesystem::path;
using std::string;

// ---- The library ----------------------------------------------------------------------------------------------------

#include "naive.hpp"  // naive::Value is a std::variant<bool, std::int64_t, double>

const string RULES = "numpy";  // the rule set that it follows
struct Skip { string reason; };

// A bool, an integer (beyond 2^53 a string) or a float, which may be "nan", "inf", "-inf" or "-0.0".
naive::Value literal(const string& dtype, const json& value) {
    if (dtype == "bool") return value.get<bool>();
    const string text = value.is_string() ? value.get<string>() : value.dump();
    if (dtype.find('f') != string::npos) return std::strtod(text.c_str(), nullptr);  // exact for every smaller float
    return std::int64_t{std::stoll(text)};
}

// An expression is the name of an operand, or a function and its arguments: ["add", "a", ["exp", "b"]].
naive::Array evaluate(const json& expression, const std::map<string, naive::Array>& operands) {
    if (expression.is_string()) return operands.at(expression);
    std::vector<naive::Array> arguments;
    for (std::size_t i = 1; i < expression.size(); i++) arguments.push_back(evaluate(expression[i], operands));
    return naive::apply(expression[0], arguments);
}

// The library's answer to the request in a case. Throws naive::Refused, or Skip if the library cannot express it.
naive::Array run(const json& request) {
    if (request["operation"] == "gradient") throw Skip{"the library has no gradients"};
    std::map<string, naive::Array> operands;
    for (const json& operand : request["operands"]) {
        const string dtype = operand["dtype"];
        if (!naive::has_dtype(dtype)) throw Skip{"the library has no " + dtype};
        std::vector<naive::Value> values;
        for (const json& value : operand["values"]) values.push_back(literal(dtype, value));
        // With strides, the operand is a view of the buffer `values`; strides and offset are counted in elements.
        operands[operand["name"]] = operand.contains("strides")
            ? naive::Array::view(dtype, operand["shape"], values, operand["strides"], operand["offset"])
            : naive::Array::dense(dtype, operand["shape"], values);
    }
    if (request["operation"] != "broadcast") return evaluate(request["expression"], operands);
    return operands.begin()->second.broadcast_to(request["target_shape"]);
}

// ---- The judge ------------------------------------------------------------------------------------------------------

// Equal to the bit, except that any NaN is NaN.
bool same(const naive::Value& a, const naive::Value& b) {
    const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
    if (x && y && std::isnan(*x)) return std::isnan(*y);
    return a == b && (!x || !y || std::signbit(*x) == std::signbit(*y));
}

bool admits(const json& entry, const string& dtype, const naive::Value& got) {
    if (entry.contains("value")) return same(got, literal(dtype, entry["value"]));
    return literal(dtype, entry["lower"]) <= got && got <= literal(dtype, entry["upper"]);
}

// What is wrong with the library's answer; empty if nothing is.
string judge(const json& request) try {
    const naive::Array got = run(request);
    if (request.contains("refusal")) return "not refused, expected " + request["refusal"].dump();
    const json& wanted = request["result"];
    const string dtype = wanted["dtype"];
    if (got.dtype() != dtype) return "found dtype " + got.dtype() + ", expected " + dtype;
    if (json(got.shape()) != wanted["shape"]) return "found shape " + json(got.shape()).dump();
    const std::vector<naive::Value> values = got.values();
    if (values.size() != wanted["values"].size()) return "found " + std::to_string(values.size()) + " values";
    for (std::size_t i = 0; i < values.size(); i++) {
        bool right = same(values[i], literal(dtype, wanted["values"][i]));
        // `admitted` has the elements of which more than the one in `values` is right.
        const json entries = wanted.value("admitted", json::object()).value(std::to_string(i), json::array());
        for (const json& entry : entries) right = right || admits(entry, dtype, values[i]);
        if (!right) return "element " + std::to_string(i) + ": expected " + wanted["values"][i].dump();
    }
    return "";
} catch (const naive::Refused& refused) {
    if (!request.contains("refusal")) return string("refused: ") + refused.what();
    const json& wanted = request["refusal"];  // fields are compared only where the library reports them
    const bool other_kind = wanted["kind"] != "any" && wanted["kind"] != refused.kind;
    const bool other_axis = wanted.contains("axis") && refused.axis >= 0 && wanted["axis"] != refused.axis;
    return other_kind || other_axis ? string("refused: ") + refused.what() + ", expected " + wanted.dump() : "";
} catch (const std::exception& crash) {
    return string("crashed: ") + crash.what();
}

// ---- The cases ------------------------------------------------------------------------------------------------------

int main(int count, char** arguments) {
    const char* chosen = std::getenv("BROADCHECK_JSON");
    const path kit = chosen ? chosen : "../../json";
    int number = 0, passed = 0, failed = 0, skipped = 0, agrees = 0, differs = 0;
    for (const char* directory : {".", "optional", "sweeps"}) {  // in `extreme`, lengths may be strings
        if (!std::filesystem::is_directory(kit / directory)) continue;
        for (const path& file : std::set<path>{std::filesystem::directory_iterator(kit / directory), {}}) {
            if (file.extension() != ".json") continue;
            std::ifstream text(file);
            const json cases = json::parse(text)["cases"];
            for (const json& request : cases) {
                const string id = request["id"];
                if (request["rules"] != RULES || (count > 1 && id.find(arguments[1]) == string::npos)) continue;
                const bool optional = request.contains("convention");  // implementations may differ
                number++;
                try {
                    const string wrong = judge(request);
                    (wrong.empty() ? (optional ? agrees : passed) : (optional ? differs : failed))++;
                    std::cout << (wrong.empty() ? "ok " : "not ok ") << number << " - " << id
                              << (wrong.empty() || !optional ? "" : " # TODO a convention") << "\n"
                              << (wrong.empty() ? "" : "# " + wrong + "\n");
                } catch (const Skip& skip) {
                    skipped++;
                    std::cout << "ok " << number << " - " << id << " # SKIP " << skip.reason << "\n";
                }
            }
        }
    }
    std::cout << "1.." << number << "\n# " << passed << " passed, " << failed << " failed, " << skipped
              << " skipped; conventions: " << agrees << " agree, " << differs << " differ" << std::endl;
    if (passed + failed + agrees + differs == 0) std::cerr << "no case was judged: set BROADCHECK_JSON\n";
    return failed > 0 || passed + agrees + differs == 0;
}
