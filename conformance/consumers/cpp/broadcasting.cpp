// Judges an array library by the broadcasting cases of this kit. Each case is a line of TAP, named by its id. This file
// is the judge; library.hpp translates a case into calls of the library. To judge your own library, rewrite library.hpp
// only.
//
//     apt-get install g++ nlohmann-json3-dev
//     g++ -std=c++17 -O1 broadcasting.cpp -o broadcasting && ./broadcasting
//     ./broadcasting numpy/zero                    # only the cases whose id contains this text
//     ./broadcasting | grep '^not ok'              # what fails; conventions that differ are marked TODO
//
// The cases are read from ../../json, or from the directory in the environment variable BROADCHECK_JSON. The exit
// status is 0 if the cases passed, and 1 if one failed or none was judged.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "library.hpp"

using std::filesystem::path;
using std::filesystem::recursive_directory_iterator;

// Equal to the bit, except that any NaN is NaN.
bool same(const Value& a, const Value& b) {
    const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
    if (x && y && std::isnan(*x)) return std::isnan(*y);
    return a == b && (!x || !y || std::signbit(*x) == std::signbit(*y));
}

bool admits(const json& entry, const string& dtype, const Value& got) {
    if (entry.contains("value")) return same(got, literal(dtype, entry["value"]));
    return literal(dtype, entry["lower"]) <= got && got <= literal(dtype, entry["upper"]);
}

// What is wrong with the library's answer; empty if nothing is.
string judge(const json& request) try {
    const Array got = run(request);
    if (request.contains("refusal")) return "not refused, expected " + request["refusal"].dump();
    const json &wanted = request["result"], &expected = wanted["values"], shape = got.shape();
    const string dtype = wanted["dtype"];
    const std::vector<Value> values = got.values();
    if (got.dtype() != dtype || shape != wanted["shape"] || values.size() != expected.size())
        return "found " + got.dtype() + " " + shape.dump() + ", expected " + dtype + " " + wanted["shape"].dump();
    for (std::size_t i = 0; i < values.size(); i++) {
        bool right = same(values[i], literal(dtype, expected[i]));
        // `admitted` has the elements of which more than the one in `values` is right.
        const json entries = wanted.value("admitted", json::object()).value(std::to_string(i), json::array());
        for (const json& entry : entries) right = right || admits(entry, dtype, values[i]);
        if (!right) return "element " + std::to_string(i) + ": expected " + expected[i].dump();
    }
    return "";
} catch (const Refused& refused) {
    const json wanted = request.value("refusal", json::object());  // compared only where the library reports the fields
    const bool kind = wanted.value("kind", "") == "any" || wanted.value("kind", "") == refused.kind;
    const bool axis = refused.axis < 0 || wanted.value("axis", refused.axis) == refused.axis;
    return kind && axis ? "" : string("refused: ") + refused.what() + ", expected " + wanted.dump();
} catch (const std::exception& crash) {
    return string("crashed: ") + crash.what();
}

int main(int count, char** arguments) {
    const char* chosen = std::getenv("BROADCHECK_JSON");
    const string filter = count > 1 ? arguments[1] : "";
    int number = 0, passed = 0, failed = 0, skipped = 0, agree = 0, differ = 0;
    std::error_code missing;  // there is no case without the directory
    for (const path& file : std::set<path>{recursive_directory_iterator(chosen ? chosen : "../../json", missing), {}}) {
        // The directory `extreme` is left out: lengths in it may be strings.
        if (file.extension() != ".json" || file.parent_path().filename() == "extreme") continue;
        std::ifstream text(file);
        const json cases = json::parse(text)["cases"];
        for (const json& request : cases) {
            const string id = request["id"];
            if (request["rules"] != RULES || id.find(filter) == string::npos) continue;
            const bool optional = request.contains("convention");  // implementations may differ
            number++;
            try {
                const string wrong = judge(request);
                (wrong.empty() ? (optional ? agree : passed) : (optional ? differ : failed))++;
                std::cout << (wrong.empty() ? "ok " : "not ok ") << number << " - " << id
                          << (wrong.empty() || !optional ? "" : " # TODO a convention") << "\n"
                          << (wrong.empty() ? "" : "# " + wrong + "\n");
            } catch (const Skip& skip) {
                skipped++;
                std::cout << "ok " << number << " - " << id << " # SKIP " << skip.reason << "\n";
            }
        }
    }
    std::cout << "1.." << number << "\n# " << passed << " passed, " << failed << " failed, " << skipped
              << " skipped; conventions: " << agree << " agree, " << differ << " differ" << std::endl;
    const bool judged = passed + failed + agree + differ > 0;
    if (!judged) std::cerr << "no case was judged: set BROADCHECK_JSON to the kit's directory json\n";
    return failed > 0 || !judged;
}
