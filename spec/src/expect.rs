//! Converts the `result` or `refusal` of a case to the required outcome, and collects all errors in it.

use crate::assemble::{self, Names, Spelling, counted};
use crate::convert::Reader;
use crate::literal::Reading;
use crate::raw::{NameOrPlace, Natural, RawInferred, RawRefusal, RawResult};
use crate::{
    Asked, Attribute, DType, Exactness, Expectation, ExpectedRefusal, ExpectedResult, Function, Inference,
    Operand, OperandType, PartialShape, RefusalKind, Request, Shape, Signature, Tensor,
};

/// The largest N in `tolerance: {ulp: N}`.
pub const MAX_TOLERANCE_ULP: u32 = 1000;

impl Reader<'_> {
    /// The required outcome: exactly one of `result` and `refusal`.
    pub(crate) fn expectation(&mut self, request: Option<&Request>) -> Option<Expectation> {
        if self.node.get("inferred").is_some() {
            self.error("inferred", "`inferred` without the operation `infer`", "`result` or `refusal`");
            return None;
        }
        match (self.node.get("result"), self.node.get("refusal")) {
            (Some(result), None) => {
                let raw = self.read::<RawResult>(result, "result")?;
                self.result(raw, request).map(Expectation::Result)
            }
            (None, Some(refusal)) => {
                let raw = self.read::<RawRefusal>(refusal, "refusal")?;
                self.refusal(&raw, request.map(Ranks::of_request)).map(Expectation::Refusal)
            }
            (Some(_), Some(_)) => {
                self.error("refusal", "both `result` and `refusal`", "exactly one of them");
                None
            }
            (None, None) => {
                self.error("", "neither `result` nor `refusal`", "exactly one of them");
                None
            }
        }
    }

    /// The required answer of the operation `infer`: exactly one of `inferred` and `refusal`.
    pub(crate) fn inferred(&mut self, signature: Option<&Signature>) -> Option<Expectation<Inference>> {
        if self.node.get("result").is_some() {
            self.error("result", "`result` with the operation `infer`", "`inferred` or `refusal`");
            return None;
        }
        match (self.node.get("inferred"), self.node.get("refusal")) {
            (Some(inferred), None) => {
                let raw = self.read::<RawInferred>(inferred, "inferred")?;
                let flags = raw.broadcastable.is_some();
                let parts = (raw.dtype.as_str(), &raw.shape, Some(raw.accepts.as_str()), raw.broadcastable);
                let mut errors = Vec::new();
                let inference = assemble::inference(parts, "inferred", Spelling::Canonical, &mut errors);
                self.malformed(errors);
                let set = signature?.rules().set();
                if flags && !set.has_attribute(Attribute::Broadcastable) {
                    let field = "inferred.broadcastable";
                    self.malformed(vec![Attribute::Broadcastable.misplaced(set, field)]);
                }
                inference.map(Expectation::Result)
            }
            (None, Some(refusal)) => {
                let raw = self.read::<RawRefusal>(refusal, "refusal")?;
                self.refusal(&raw, signature.map(Ranks::of_signature)).map(Expectation::Refusal)
            }
            (Some(_), Some(_)) => {
                self.error("refusal", "both `inferred` and `refusal`", "exactly one of them");
                None
            }
            (None, None) => {
                self.error("", "neither `inferred` nor `refusal`", "exactly one of them");
                None
            }
        }
    }

    fn result(&mut self, raw: RawResult, request: Option<&Request>) -> Option<ExpectedResult> {
        let mut errors = Vec::new();
        let dtype = assemble::dtype(&raw.dtype, "result.dtype", &mut errors);
        let tensor = dtype.and_then(|dtype| {
            assemble::tensor(dtype, &raw.shape, &raw.values, Reading::Exact, "result", &mut errors)
        });
        self.malformed(errors);
        // The rest depends on the request, whose errors have been reported already.
        let (tensor, request) = (tensor?, request?);
        let intermediate = self.intermediate(&raw, request);
        if let Some(flags) = &raw.broadcastable {
            self.flags(flags, &tensor, request);
        }
        let tolerance_ulp =
            raw.tolerance.as_ref().and_then(|tolerance| self.tolerance(tolerance.ulp, request));
        let any_zero_sign = raw.zero_sign.as_deref().is_some_and(|sign| self.zero_sign(sign, request));
        Some(ExpectedResult {
            tensor,
            intermediate,
            broadcastable: raw.broadcastable,
            tolerance_ulp,
            any_zero_sign,
        })
    }

    fn intermediate(&mut self, raw: &RawResult, request: &Request) -> Option<Tensor> {
        let given = raw.intermediate.as_ref()?;
        let Some(dtype) = lower_dtype(request) else {
            let found = "an intermediate";
            self.error(
                "result.intermediate",
                found,
                "none: only `xla` with operands of different ranks has one",
            );
            return None;
        };
        let mut errors = Vec::new();
        let field = "result.intermediate";
        let tensor = assemble::tensor(dtype, &given.shape, &given.values, Reading::Exact, field, &mut errors);
        self.malformed(errors);
        tensor
    }

    fn flags(&mut self, flags: &[bool], tensor: &Tensor, request: &Request) {
        let field = "result.broadcastable";
        let set = request.rules().set();
        if !set.has_attribute(Attribute::Broadcastable) {
            self.malformed(vec![Attribute::Broadcastable.misplaced(set, field)]);
        } else if flags.len() != tensor.shape().rank() {
            let found = format!("{} for shape {}", counted(flags.len(), "flag"), tensor.shape());
            self.error(field, found, tensor.shape().rank().to_string());
        }
    }

    fn tolerance(&mut self, Natural(ulp): Natural, request: &Request) -> Option<u32> {
        if request.operation().wrt().is_some() {
            let expected = "none: gradients are judged within the bound of clause V-6";
            self.error("result.tolerance", "a tolerance for a gradient", expected);
            return None;
        }
        let exact = request.operation().expression().is_none_or(crate::Expression::is_exact);
        if exact {
            let expected = "none: only exp, log, tanh and power may differ (clause V-4)";
            self.error("result.tolerance", "a tolerance for an exact expression", expected);
            return None;
        }
        let allowed = u32::try_from(ulp).ok().filter(|&ulp| ulp <= MAX_TOLERANCE_ULP);
        if allowed.is_none() {
            self.error("result.tolerance.ulp", ulp.to_string(), format!("at most {MAX_TOLERANCE_ULP}"));
        }
        allowed
    }

    fn zero_sign(&mut self, sign: &str, request: &Request) -> bool {
        let field = "result.zero_sign";
        let leaves_room = |function: Function| {
            matches!(function, Function::Maximum | Function::Minimum)
                || function.exactness() == Exactness::Ulp
        };
        let expression = request.operation().expression();
        if sign != "any" {
            self.error(field, format!("`{sign}`"), "`any`, or no such field");
        } else if !expression
            .is_some_and(|expression| expression.calls().any(|call| leaves_room(call.function())))
        {
            let expected = "no such field: only maximum and minimum (V-3) and exp, log, tanh and power (V-4) leave the sign open";
            self.error(field, "`any` for an expression whose zeros have one sign", expected);
        } else {
            return true;
        }
        false
    }

    fn refusal(&mut self, raw: &RawRefusal, ranks: Option<Ranks<'_>>) -> Option<ExpectedRefusal> {
        let kind = match raw.kind.as_str() {
            "any" => None,
            name => match name.parse::<RefusalKind>() {
                Ok(kind) => Some(kind),
                Err(_) => {
                    let all: Vec<&str> = RefusalKind::ALL.iter().map(|kind| kind.name()).collect();
                    self.error(
                        "refusal.kind",
                        format!("`{name}`"),
                        format!("`any` or one of {}", all.join(" ")),
                    );
                    return None;
                }
            },
        };
        let mut foreign = |field: &str, given: bool, has: bool| {
            if given && !has {
                let found = format!("`{field}` in a refusal of kind `{}`", raw.kind);
                self.error(&format!("refusal.{field}"), found, "no such field");
            }
        };
        foreign("axis", raw.axis.is_some(), kind.is_some_and(RefusalKind::has_axis));
        foreign("operand", raw.operand.is_some(), kind.is_some_and(RefusalKind::has_operand));
        let ranks = ranks?;
        let operand = raw.operand.as_ref().and_then(|operand| self.refused_operand(operand, &ranks));
        let axis = raw.axis.and_then(|axis| self.refused_axis(axis, operand, &ranks));
        Some(ExpectedRefusal { kind, axis, operand })
    }

    fn refused_operand(&mut self, operand: &NameOrPlace, ranks: &Ranks<'_>) -> Option<usize> {
        let count = ranks.operands.len();
        match operand {
            NameOrPlace::Name(name) => {
                let names = Names::new(ranks.operands.iter().map(|(name, _)| *name));
                let mut errors = Vec::new();
                let place = names.place(name, "refusal.operand", &mut errors);
                self.malformed(errors);
                place
            }
            NameOrPlace::Place(place) => {
                let found = usize::try_from(*place).ok().filter(|&place| place < count);
                if found.is_none() {
                    self.error(
                        "refusal.operand",
                        place.to_string(),
                        format!("a position from 0 to {}", count - 1),
                    );
                }
                found
            }
        }
    }

    fn refused_axis(&mut self, axis: Natural, operand: Option<usize>, ranks: &Ranks<'_>) -> Option<usize> {
        let rank = match operand {
            Some(place) => ranks.operands[place].1,
            None => ranks.operands.iter().map(|(_, rank)| *rank).fold(ranks.target, usize::max),
        };
        let found = usize::try_from(axis.0).ok().filter(|&axis| axis < rank);
        if found.is_none() {
            self.error("refusal.axis", axis.0.to_string(), format!("an axis below the rank {rank}"));
        }
        found
    }
}

/// What a refusal may refer to: the operands with their ranks, and the rank of the target. An unknown rank
/// counts as 0: with it, a refusal has no axis.
struct Ranks<'a> {
    operands: Vec<(&'a str, usize)>,
    target: usize,
}

impl<'a> Ranks<'a> {
    fn of_request(request: &'a Request) -> Ranks<'a> {
        let target = request.operation().target_shape().map_or(0, Shape::rank);
        // A cotangent has the rank of the result, or is refused for its own.
        let target = request.cotangent().map_or(target, |cotangent| target.max(cotangent.rank()));
        let operand = |operand: &'a Operand| (operand.name(), operand.rank());
        Ranks { operands: request.operands().iter().map(operand).collect(), target }
    }

    fn of_signature(signature: &'a Signature) -> Ranks<'a> {
        let rank = |shape: &PartialShape| shape.rank().unwrap_or(0);
        let target = match signature.asked() {
            Asked::TargetShape(target) => rank(target),
            Asked::Expression(_) => 0,
        };
        let operand = |operand: &'a OperandType| (operand.name(), rank(operand.shape()));
        Ranks { operands: signature.operands().iter().map(operand).collect(), target }
    }
}

/// The dtype of the lower-rank operand, which is that of an intermediate.
pub(crate) fn lower_dtype(request: &Request) -> Option<DType> {
    request.lower_operand().map(Operand::dtype)
}
