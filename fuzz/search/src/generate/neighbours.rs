//! Neighbours of a request: requests that differ from it in one point. A library that keeps a plan or a
//! result under too short a key answers one of them with that of another.

use super::near::{attributes, changed, operations, targets};
use broadcheck_judge::limits::is_as_cheap;
use broadcheck_spec::{Data, Operand, Operation, Request, Rules};

/// Requests that differ from this one in the values, the view, the dtype, the shape or the flags of one
/// operand, in the order of the operands, or in an attribute, a function, the operand of the gradient or the
/// target. At most `most` of them, evenly spread, and none that is expensive: a column whose neighbour is a
/// row turns a vector into a matrix.
pub(crate) fn neighbours(request: &Request, most: usize) -> Vec<Request> {
    let all: Vec<Request> = all(request).into_iter().filter(|one| is_as_cheap(one, request)).collect();
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

fn all(request: &Request) -> Vec<Request> {
    let (rules, operation, operands) = request.clone().into_parts();
    let mut all = Vec::new();
    let mut add = |rules: &Rules, operation: &Operation, operands: Vec<Operand>| {
        let neighbour = Request::new(rules.clone(), operation.clone(), operands).ok();
        all.extend(neighbour.filter(|neighbour| neighbour != request));
    };
    let others: Vec<&Operand> = operands.iter().collect();
    for (place, operand) in operands.iter().enumerate() {
        let like = reread(operand).into_iter().chain(changed(operand, &others));
        for one in like {
            let mut operands = operands.clone();
            operands[place] = one;
            add(&rules, &operation, operands);
        }
    }
    if operands.len() > 1 {
        let mut turned = operands.clone();
        turned.rotate_left(1);
        add(&rules, &operation, turned);
    }
    attributes(&rules, &operation, &operands)
        .iter()
        .for_each(|rules| add(rules, &operation, operands.clone()));
    let operations = operations(&operation, operands.len());
    operations.iter().for_each(|operation| add(&rules, operation, operands.clone()));
    targets(&operation, &operands).iter().for_each(|operation| add(&rules, operation, operands.clone()));
    all
}

/// An operand of the same shape and dtype with other values, with the values in the opposite order along its
/// last axis, and with its elements one place further on.
fn reread(operand: &Operand) -> Vec<Operand> {
    let Ok(values) = Data::from_scalars(operand.dtype(), reversed(operand.values())) else {
        return Vec::new();
    };
    let made = |values: &Data, strides: Option<Vec<i64>>, offset: usize| {
        let shape = operand.shape().clone();
        let operand_like = match strides {
            Some(strides) => Operand::view(operand.name(), shape, values.clone(), Some(strides), offset),
            None => Operand::dense(operand.name(), shape, values.clone()),
        };
        let operand_like = operand_like.ok()?;
        match operand.broadcastable() {
            Some(flags) => operand_like.with_broadcastable(flags.to_vec()).ok(),
            None => Some(operand_like),
        }
    };
    let mut all: Vec<Operand> =
        made(&values, operand.strides().map(<[i64]>::to_vec), operand.offset()).into_iter().collect();
    let strides = operand.strides().map_or_else(|| row_major(operand), <[i64]>::to_vec);
    all.extend(made(operand.values(), Some(strides.clone()), operand.offset() + 1));
    if let (Some(&length), Some(&stride)) = (operand.shape().last(), strides.last())
        && let Some(back) = length.checked_sub(1)
        && let Ok(end) = usize::try_from(operand.offset() as i128 + back as i128 * i128::from(stride))
    {
        let mut strides = strides;
        strides.last_mut().into_iter().for_each(|stride| *stride = stride.wrapping_neg());
        all.extend(made(operand.values(), Some(strides), end));
    }
    all
}

fn reversed(values: &Data) -> Vec<broadcheck_spec::Scalar> {
    let mut scalars: Vec<_> = values.iter().collect();
    scalars.reverse();
    scalars
}

/// The strides of a dense operand; 0 where they do not fit.
fn row_major(operand: &Operand) -> Vec<i64> {
    let mut stride = 1_i64;
    let mut strides: Vec<i64> = Vec::with_capacity(operand.rank());
    for &length in operand.shape().iter().rev() {
        strides.push(stride);
        stride = i64::try_from(length).ok().and_then(|length| stride.checked_mul(length)).unwrap_or(0);
    }
    strides.reverse();
    strides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Profile, Seeded, request};

    #[test]
    fn neighbours_differ_from_the_request_and_are_bounded() {
        let profile = Profile::default();
        let mut counts = Vec::new();
        for seed in 0..300 {
            let request = request(&mut Seeded::new(seed), &profile);
            let found = neighbours(&request, 4);
            assert!(found.len() <= 4 && !found.contains(&request), "{request:?}");
            assert_eq!(found, neighbours(&request, 4));
            counts.push(found.len());
        }
        assert!(counts.iter().filter(|&&count| count >= 3).count() > 200, "{counts:?}");
    }

    #[test]
    fn no_neighbour_is_expensive() {
        let column = |name| Operand::dense(name, [1 << 11, 1], vec![1.0; 1 << 11]).unwrap();
        let expression = broadcheck_spec::Expression::call(
            broadcheck_spec::Function::Add,
            [0, 1].map(broadcheck_spec::Expression::operand),
        )
        .unwrap();
        let operation = Operation::Elementwise { expression };
        let request = Request::new(Rules::Numpy, operation, vec![column("a"), column("b")]).unwrap();
        assert!(
            all(&request).iter().any(|neighbour| !is_as_cheap(neighbour, &request)),
            "a row and a column"
        );
        let found = neighbours(&request, usize::MAX);
        assert!(found.len() > 10 && found.iter().all(|one| is_as_cheap(one, &request)));
    }

    #[test]
    fn values_and_views_are_among_them() {
        let operation = Operation::Elementwise { expression: broadcheck_spec::Expression::operand(0) };
        let operand = Operand::dense("a", [2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let request = Request::new(Rules::Numpy, operation, vec![operand]).unwrap();
        let all = neighbours(&request, usize::MAX);
        let has = |fits: fn(&Operand) -> bool| all.iter().any(|request| fits(&request.operands()[0]));
        assert!(has(|operand| operand.strides() == Some(&[2, -1]) && operand.offset() == 1));
        assert!(has(|operand| operand.shape().len() == 3));
        assert!(has(|operand| operand.dtype() == broadcheck_spec::DType::Bool));
        assert!(has(
            |operand| operand.strides().is_none() && operand.values().get(0).unwrap().as_f64() == Some(4.0)
        ));
    }
}
