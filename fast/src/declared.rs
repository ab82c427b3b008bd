//! Requests with declared shapes (clause DECL-2), answered by the plan of their signature.
//!
//! Each thread keeps the plans of the latest signatures, as a program that builds ahead does. So a request
//! that follows another one of the same signature is run by the plan that ran the other.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::error::{Misfit, NoPlan};
use crate::{Level, Plan, SignaturePlan, View, Wanted};
use broadcheck_spec::{
    Asked, Operand, OperandType, Operation, PartialShape, Request, Shape, Signature, Tensor,
};
use std::cell::RefCell;
use std::rc::Rc;

/// How many plans a thread keeps.
const PLANS: usize = 16;

thread_local! {
    /// The oldest first.
    static LATEST: RefCell<Vec<Rc<SignaturePlan>>> = const { RefCell::new(Vec::new()) };
}

/// The result of a request, by the plan of what is declared of it.
///
/// # Errors
/// [`NoPlan`], as for the plan of the request.
pub(crate) fn answer(request: &Request, level: Level) -> Result<Tensor, NoPlan> {
    let plan = match plan_of(request, level) {
        Ok(plan) => plan,
        // Every run is refused, but perhaps for another reason than this one.
        Err(refused @ NoPlan::Refused(_)) => {
            return Err(Plan::with_level(request, level).err().unwrap_or(refused));
        }
        Err(none) => return Err(none),
    };
    let views: Vec<View<'_>> = request.with_values().map(View::from).collect();
    let result = match request.operation().target_shape() {
        Some(target) => plan.run_onto(&views, target),
        None => plan.run(&views),
    };
    result.map_err(|misfit| match misfit {
        Misfit::NoPlan(none) => none,
        Misfit::Buffers(_)
        | Misfit::Rank { .. }
        | Misfit::Length { .. }
        | Misfit::Strides { .. }
        | Misfit::BelowBuffer { .. }
        | Misfit::Target { .. } => unreachable!("the declared shapes admit the operands: {misfit}"),
    })
}

/// The plan of a request's signature: one of the latest, or a new one.
fn plan_of(request: &Request, level: Level) -> Result<Rc<SignaturePlan>, NoPlan> {
    let (signature, wanted) = (signature_of(request), wanted(request));
    let kept = LATEST.with_borrow(|latest| {
        latest.iter().find(|plan| plan.is_of(&signature, wanted, level)).map(Rc::clone)
    });
    if let Some(plan) = kept {
        return Ok(plan);
    }
    let plan = Rc::new(SignaturePlan::new(&signature, wanted, level)?);
    LATEST.with_borrow_mut(|latest| {
        if latest.len() == PLANS {
            latest.remove(0);
        }
        latest.push(Rc::clone(&plan));
    });
    Ok(plan)
}

fn wanted(request: &Request) -> Wanted {
    match request.operation() {
        // A request with `into` declares no shape (clause INTO-4).
        Operation::Elementwise { .. } | Operation::Into { .. } | Operation::Broadcast { .. } => Wanted::Value,
        Operation::Gradient { wrt, .. } => Wanted::Gradient { wrt: *wrt },
        Operation::Vjp { wrt, .. } => Wanted::Vjp { wrt: *wrt },
    }
}

/// What is declared of a request. Where nothing is declared, the shape itself is known.
fn signature_of(request: &Request) -> Signature {
    let target = |shape: &Shape| Asked::TargetShape(PartialShape::from(shape));
    let asked = match request.operation() {
        Operation::Broadcast { target_shape } => match request.declared_target() {
            Some(declared) => Asked::TargetShape(declared.clone()),
            None => target(target_shape),
        },
        Operation::Vjp { target_shape: Some(target_shape), .. } => target(target_shape),
        Operation::Elementwise { expression }
        | Operation::Into { expression, .. }
        | Operation::Gradient { expression, .. }
        | Operation::Vjp { expression, target_shape: None, .. } => Asked::Expression(expression.clone()),
    };
    let operands = request.operands().iter().map(operand_type).collect();
    Signature::new(request.rules().clone(), asked, operands).expect("as well-formed as the request")
}

fn operand_type(operand: &Operand) -> OperandType {
    let shape = operand.declared().cloned().unwrap_or_else(|| PartialShape::from(operand.shape()));
    let made = OperandType::new(operand.name(), operand.dtype(), shape).expect("the name of an operand");
    match operand.broadcastable() {
        Some(flags) => made.with_broadcastable(flags.to_vec()).expect("one flag per axis"),
        None => made,
    }
}
