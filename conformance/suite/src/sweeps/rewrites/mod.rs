//! Rewrites: expressions that an optimiser may replace by others that are equal for real numbers, but not for
//! floats or for integers that wrap.
//!
//! `x - x` is not 0 for an infinity, `-(a - b)` is not `b - a` for equal numbers, `not (a < b)` is not
//! `a >= b` for NaN, `(a + b) > a` does not hold if the sum wraps. A row is an expression. It is asked for
//! a dtype of every class of its family, for all pairs of special values, in several arrangements:
//!
//! - `dense`: every operand is a vector of all pairs;
//! - `stretched-a`: the operand a has the shape (k,1) and one special value per row;
//! - `scalar-a-0`: the operand a is a scalar, the first of the values that are often treated as constants;
//! - `vector-a-0`: the operand a is a vector and all others are scalars, two that do not add up exactly;
//! - `scalars-0`: every operand is a scalar.
//!
//! Every class is asked `dense`, and the classes take turns with the other arrangements (see [`Turn`]).
//!
//! The families of `constants` are one function of a vector and one value: a scalar, a vector of length 1, or
//! a vector of equal elements. The programs of `programs` keep up to 40 values alive at a time.
//!
//! The expected values are computed one by one (see `arithmetic.rs`). Two things are left out because systems
//! are free there: subnormal numbers, also as intermediate values, and extremes of zeros of both signs (V-3).

mod constants;
mod identities;
mod programs;
mod rows;
mod values;

use super::part::Part;
use broadcheck_spec::{
    Case, DType, Expectation, ExpectedResult, Expression, Function, Operand, Operation, Origin, Request,
    RuleSet, Rules, Sweep, Tensor,
};
use constants::{count_of_constants, of_constants};
use identities::{ARITHMETIC, CHOICES, INEXACT, QUOTIENTS, TRUTHS};
use programs::{count_of_programs, programs};
use rows::Row;

const FLOATS: &[&[DType]] = &[&[DType::F64], &[DType::F32]];
const HALVES: &[&[DType]] = &[&[DType::F16], &[DType::Bf16]];
/// Signed and unsigned, narrow and wide. Of two neighbours, one is signed.
const INTEGERS: &[&[DType]] = &[
    &[DType::I8, DType::I16],
    &[DType::U16, DType::U8],
    &[DType::U32, DType::U64],
    &[DType::I64, DType::I32],
];
const BOOL: &[&[DType]] = &[&[DType::Bool]];

/// The rows of one sweep.
pub(super) struct Family {
    /// The sweep's name.
    pub(super) name: &'static str,
    /// Dtypes that a rewrite seldom distinguishes. Each row has one of each class.
    classes: &'static [&'static [DType]],
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Lists of expressions.
    Identities(&'static [&'static [&'static str]]),
    /// Functions of a vector and a constant.
    Constants(&'static [Function]),
    /// Programs with many values alive.
    Programs,
}

/// The families. All are of the rule set `numpy`: a rewrite depends on the expression and not on how operands
/// are aligned.
pub(super) static FAMILIES: &[Family] = &[
    Family {
        name: "numpy-rewrites-arithmetic-floats",
        classes: FLOATS,
        kind: Kind::Identities(&[ARITHMETIC, QUOTIENTS]),
    },
    Family {
        name: "numpy-rewrites-arithmetic-halves",
        classes: HALVES,
        kind: Kind::Identities(&[ARITHMETIC, QUOTIENTS]),
    },
    Family {
        name: "numpy-rewrites-arithmetic-integers",
        classes: INTEGERS,
        kind: Kind::Identities(&[ARITHMETIC]),
    },
    Family { name: "numpy-rewrites-choices-floats", classes: FLOATS, kind: Kind::Identities(&[CHOICES]) },
    Family { name: "numpy-rewrites-choices-halves", classes: HALVES, kind: Kind::Identities(&[CHOICES]) },
    Family { name: "numpy-rewrites-choices-integers", classes: INTEGERS, kind: Kind::Identities(&[CHOICES]) },
    Family { name: "numpy-rewrites-bools", classes: BOOL, kind: Kind::Identities(&[TRUTHS]) },
    Family { name: "numpy-rewrites-inexact-floats", classes: FLOATS, kind: Kind::Identities(&[INEXACT]) },
    Family { name: "numpy-rewrites-inexact-halves", classes: HALVES, kind: Kind::Identities(&[INEXACT]) },
    Family { name: "numpy-constants-floats", classes: FLOATS, kind: Kind::Constants(OF_FLOATS) },
    Family { name: "numpy-constants-halves", classes: HALVES, kind: Kind::Constants(OF_FLOATS) },
    Family { name: "numpy-constants-integers", classes: INTEGERS, kind: Kind::Constants(OF_INTEGERS) },
    Family { name: "numpy-constants-bools", classes: BOOL, kind: Kind::Constants(OF_BOOLS) },
    Family { name: "numpy-constants-powers", classes: FLOATS, kind: Kind::Constants(&[Function::Power]) },
    Family { name: "numpy-programs-floats", classes: FLOATS, kind: Kind::Programs },
    Family { name: "numpy-programs-halves", classes: HALVES, kind: Kind::Programs },
    Family { name: "numpy-programs-integers", classes: INTEGERS, kind: Kind::Programs },
];

const OF_FLOATS: &[Function] = &[
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Divide,
    Function::Maximum,
    Function::Minimum,
    Function::Equal,
    Function::NotEqual,
    Function::Less,
    Function::LessEqual,
    Function::Greater,
    Function::GreaterEqual,
];

const OF_INTEGERS: &[Function] = &[
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Maximum,
    Function::Minimum,
    Function::Equal,
    Function::NotEqual,
    Function::Less,
    Function::LessEqual,
    Function::Greater,
    Function::GreaterEqual,
];

const OF_BOOLS: &[Function] =
    &[Function::LogicalAnd, Function::LogicalOr, Function::Equal, Function::NotEqual];

/// Which arrangements of a row are asked in a dtype: if there are several classes of dtypes, every second
/// one, and the others in the next class.
#[derive(Clone, Copy)]
struct Turn {
    row: usize,
    class: usize,
    classes: usize,
}

impl Turn {
    fn takes(self, arrangement: usize) -> bool {
        self.classes == 1 || (self.row + self.class + arrangement).is_multiple_of(2)
    }
}

impl Family {
    /// The family of the sweep with this name.
    pub(super) fn named(name: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.name == name)
    }

    /// The rule set.
    pub(super) fn rules(&self) -> RuleSet {
        RuleSet::Numpy
    }

    pub(super) fn count(&self) -> u128 {
        let count: usize = match self.kind {
            Kind::Identities(_) => {
                let rows = self.rows();
                let count = |(row, asked): (usize, &Row)| -> usize {
                    self.of_classes(row).map(|(dtype, turn)| asked.count(dtype, turn)).sum()
                };
                rows.iter().enumerate().map(count).sum()
            }
            Kind::Constants(functions) => {
                let all = (0..functions.len()).flat_map(|row| self.of_dtypes(row));
                all.map(|(dtype, turn)| count_of_constants(dtype, turn)).sum()
            }
            Kind::Programs => self.of_classes(0).map(|(_, turn)| count_of_programs(turn)).sum(),
        };
        count as u128
    }

    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        let rows = self.rows();
        let all: Box<dyn Iterator<Item = Asked>> = match self.kind {
            Kind::Identities(_) => {
                let asked = |(row, asked): (usize, &Row)| -> Vec<Asked> {
                    self.of_classes(row).flat_map(|(dtype, turn)| asked.asked(dtype, turn)).collect()
                };
                Box::new(rows.iter().enumerate().flat_map(asked))
            }
            Kind::Constants(functions) => {
                let of = |(row, &function): (usize, &Function)| -> Vec<Asked> {
                    self.of_dtypes(row)
                        .flat_map(|(dtype, turn)| of_constants(function, dtype, turn))
                        .collect()
                };
                Box::new(functions.iter().enumerate().flat_map(of))
            }
            Kind::Programs => Box::new(self.of_classes(0).flat_map(|(dtype, turn)| programs(dtype, turn))),
        };
        part.of(all).map(|asked| asked.case(sweep)).collect()
    }

    /// One dtype of each class for a row. Rows with much in common are neighbours, so that each pair of rows
    /// has another one.
    fn of_classes(&self, row: usize) -> impl Iterator<Item = (DType, Turn)> {
        let classes = self.classes.len();
        let of = move |(class, dtypes): (usize, &&[DType])| {
            (dtypes[row / 2 % dtypes.len()], Turn { row, class, classes })
        };
        self.classes.iter().enumerate().map(of)
    }

    /// All dtypes for a row.
    fn of_dtypes(&self, row: usize) -> impl Iterator<Item = (DType, Turn)> {
        let classes = self.classes.iter().map(|dtypes| dtypes.len()).sum();
        let all = self.classes.iter().copied().flatten().enumerate();
        all.map(move |(class, &dtype)| (dtype, Turn { row, class, classes }))
    }

    fn rows(&self) -> Vec<Row> {
        match self.kind {
            Kind::Identities(lists) => lists.iter().copied().flatten().map(|text| Row::new(text)).collect(),
            Kind::Constants(_) | Kind::Programs => Vec::new(),
        }
    }
}

/// A request with its result.
struct Asked {
    name: String,
    expression: Expression,
    operands: Vec<Operand>,
    result: Tensor,
}

impl Asked {
    fn case(self, sweep: &Sweep) -> Case {
        let operation = Operation::Elementwise { expression: self.expression };
        Case {
            id: format!("{}/{}", sweep.id, self.name),
            title: format!("{} Here: {}.", sweep.title, self.name),
            clause: sweep.clause.clone(),
            convention: None,
            examples: sweep.examples.clone(),
            sources: sweep.sources.clone(),
            origin: Origin::Hand,
            request: Request::new(Rules::Numpy, operation, self.operands).expect("a well-formed request"),
            expectation: Expectation::Result(ExpectedResult::from(self.result)),
            note: None,
            location: sweep.location.clone(),
        }
    }
}

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("as many arguments as the function takes")
}

#[cfg(test)]
mod tests {
    use super::programs::{LIVE, program};
    use super::*;
    use broadcheck_spec::{Data, Scalar};

    const ALL: Turn = Turn { row: 0, class: 0, classes: 1 };

    #[test]
    fn rows_are_read_as_written() {
        for family in FAMILIES {
            for row in family.rows() {
                assert_eq!(row.expression.display(&row.names), row.text);
            }
        }
    }

    #[test]
    fn a_row_by_hand() {
        let row = Row::new("[subtract, a, a]");
        let asked = row.asked(DType::F64, ALL);
        let Data::F64(values) = asked[0].result.values() else { panic!("f64") };
        // Of 0, -0, 1, -1, 2, -3, 0.5, 0.1, 2^-53, 2^1000, -2^1000, the largest and 49, 0; of the others,
        // NaN.
        assert!(values[..12].iter().all(|value| value.to_bits() == 0));
        assert!(values[12..15].iter().all(|value| value.is_nan()));
        assert_eq!((asked[0].name.as_str(), values.len()), ("f64-subtract-a-a-dense", 35));
        assert_eq!(asked.len(), row.count(DType::F64, ALL));

        let row = Row::new("[greater, [add, a, b], a]");
        let asked = row.asked(DType::I8, ALL);
        let tuple = row.tuples(DType::I8).into_iter().find(|tuple| tuple.picks == [8, 1]).unwrap();
        // 127 + 1 = -128.
        assert_eq!(tuple.operands, [Scalar::I8(127), Scalar::I8(1)]);
        assert_eq!(tuple.result, Scalar::Bool(false));
        assert_eq!(asked[1].operands[0].shape().lengths(), [12, 1]);
        assert_eq!(asked[1].operands[1].shape().lengths(), [12, 17]);
    }

    #[test]
    fn extremes_of_both_zeros_and_subnormals_are_left_out() {
        let both = Row::new("[maximum, a, b]").tuples(DType::F16);
        assert_eq!(both.len(), 16 * 16 - 2);
        // 2^-11 squared, and times 0.1, twice; 0.1 squared is normal.
        let product = Row::new("[multiply, a, b]").tuples(DType::F16);
        assert_eq!(product.len(), 16 * 16 - 3);
    }

    #[test]
    fn programs_keep_their_values_alive() {
        assert_eq!(program("right", 3).display(&["a", "b", "c"]), "[subtract, a, [add, b, c]]");
        assert_eq!(program("left", 3).display(&["a", "b", "c"]), "[maximum, [add, a, b], c]");
        assert_eq!(program("balanced", 4).calls().count(), 3);
        assert!(LIVE.iter().all(|&live| 2 * live < broadcheck_spec::MAX_EXPRESSION_DEPTH));
    }

    #[test]
    fn a_vector_beside_scalars() {
        let row = Row::new("[add, [add, a, b], c]");
        let asked = row.asked(DType::F64, ALL);
        let vector = asked.iter().find(|asked| asked.name.ends_with("vector-a-0")).unwrap();
        let Data::F64(values) = vector.result.values() else { panic!("f64") };
        // 1 and twice half an ULP of 1, added one after the other.
        assert_eq!(values[2].to_bits(), 1f64.to_bits());
        assert_eq!(vector.operands[1].values(), vector.operands[2].values());
        assert_eq!(asked.len(), row.count(DType::F64, ALL));
    }

    #[test]
    fn every_dtype_and_every_arrangement_has_its_turn() {
        for family in FAMILIES {
            let sweep: usize = usize::try_from(family.count()).unwrap();
            let dtypes = family.classes.iter().map(|dtypes| dtypes.len()).sum::<usize>();
            assert!(sweep >= dtypes, "{}", family.name);
            let (Kind::Identities(_), rows) = (family.kind, family.rows()) else { continue };
            for dtype in family.classes.iter().copied().flatten() {
                let asked = (0..rows.len()).filter(|&row| family.of_classes(row).any(|of| of.0 == *dtype));
                assert!(asked.count() * 3 > rows.len(), "{} {dtype}", family.name);
            }
            for (row, asked) in rows.iter().enumerate().take(40) {
                let found: Vec<Asked> =
                    family.of_classes(row).flat_map(|(dtype, turn)| asked.asked(dtype, turn)).collect();
                let counted = family.of_classes(row).map(|(dtype, turn)| asked.count(dtype, turn));
                assert_eq!(found.len(), counted.sum::<usize>(), "{}", asked.text);
                let whole = family.of_classes(row).map(|(dtype, _)| asked.asked(dtype, ALL));
                let names = |all: &[Asked]| -> std::collections::BTreeSet<String> {
                    all.iter().map(|asked| asked.name.split_once('-').unwrap().1.to_owned()).collect()
                };
                assert_eq!(names(&found), names(&whole.flatten().collect::<Vec<_>>()), "{}", asked.text);
            }
        }
    }
}
