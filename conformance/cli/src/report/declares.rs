//! What an implementation declares besides its rule sets and conventions, in words, for the reader who wants
//! to know how it was asked.

use super::clean;
use broadcheck_spec::{Capabilities, DType, Function, OperationKind};
use serde::{Deserialize, Serialize};

/// The most texts of a list that are kept from a file.
const MOST: usize = 100;

/// Operations, functions, dtypes and limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declares {
    /// The operations.
    pub operations: Vec<String>,
    /// The functions.
    pub functions: Vec<String>,
    /// The dtypes of operands.
    pub dtypes: Vec<String>,
    /// What else it takes, and what it does not take, in words.
    pub limits: Vec<String>,
}

impl Declares {
    /// What these capabilities say.
    pub fn of(capabilities: &Capabilities) -> Declares {
        let mut operations: Vec<&str> =
            capabilities.operations.iter().map(|&kind| OperationKind::name(kind)).collect();
        if capabilities.infer {
            operations.push("infer");
        }
        Declares {
            operations: operations.into_iter().map(str::to_owned).collect(),
            functions: capabilities.functions.iter().map(|&one| Function::name(one).to_owned()).collect(),
            dtypes: capabilities.dtypes.iter().map(|&one| DType::name(one).to_owned()).collect(),
            limits: limits(capabilities),
        }
    }

    /// The same with texts that are safe to show and lists of a bounded length.
    #[must_use]
    pub(super) fn cleaned(mut self) -> Declares {
        for list in [&mut self.operations, &mut self.functions, &mut self.dtypes, &mut self.limits] {
            list.truncate(MOST);
            list.iter_mut().for_each(|text| *text = clean::name(text));
        }
        self
    }
}

fn limits(capabilities: &Capabilities) -> Vec<String> {
    let mut limits = Vec::new();
    let flags = [
        (capabilities.strided && capabilities.negative_strides, "takes strided views"),
        (
            capabilities.strided && !capabilities.negative_strides,
            "takes strided views without negative strides",
        ),
        (!capabilities.strided, "takes no strided views"),
        (!capabilities.scalars, "takes no operands of rank 0"),
        (capabilities.equal_ranks, "takes only operands of equal ranks"),
        (capabilities.cotangent, "takes cotangents"),
        (capabilities.into, "writes into an operand"),
        (capabilities.declared, "builds from declared shapes"),
    ];
    limits.extend(flags.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words.to_owned()));
    if capabilities.min_rank > 0 {
        limits.push(format!("ranks from {}", capabilities.min_rank));
    }
    limits.extend(capabilities.max_rank.map(|rank| format!("ranks up to {rank}")));
    limits.extend(capabilities.max_operands.map(|count| format!("up to {count} operands")));
    limits.extend(capabilities.max_calls.map(|count| format!("up to {count} calls of functions")));
    if !capabilities.flushed_subnormals.is_empty() {
        let names: Vec<&str> = capabilities.flushed_subnormals.iter().map(|&one| DType::name(one)).collect();
        limits.push(format!("treats subnormal {} as zero", names.join(", ")));
    }
    limits
}
